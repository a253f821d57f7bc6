// Two people changed the same place: what was before, what you wrote, what they wrote, side by side; choose or write a third.
//
// Nothing is lost: their text is in the saved draft, and choosing it over yours is a step that undo takes back.
import { button, dialog, h, toast } from "./dom.js";
import { KIND_WORDS } from "./kinds.js";
import { clock, personName } from "./recovery.js";
import { marked } from "./text_marks.js";

function shownValue(value, isMissing) {
  if (isMissing) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

class Choice {
  constructor(conflict, other) {
    this.conflict = conflict;
    this.other = other;
    this.edits = null; // what must be done to the joined draft, in which ours stands; null: not decided
    this.node = this.#draw();
  }

  get isDecided() {
    return this.edits !== null;
  }

  #draw() {
    const { kind, component_name: name, component_id: id, field, missing = [] } = this.conflict;
    const where = kind === "runtime" ? KIND_WORDS.runtime : `${KIND_WORDS[kind] || kind} “${name || id}”`;
    const group = `conflict-${this.conflict.key}`;
    const before = shownValue(this.conflict.base, missing.includes("base"));
    const side = (title, key) => {
      const isMissing = missing.includes(key);
      const text = shownValue(this.conflict[key], isMissing);
      const shown = key === "base" ? text : marked(before, text);
      const body = isMissing || text === "" ? h("p", { class: "soft" }, isMissing ? (field ? "(not there)" : "(removed)") : "(empty)") : h("pre", { tabindex: "0", role: "region", "aria-label": `${title}: ${where}` }, shown);
      const pick = key !== "base" && h("label", { class: "check" }, this.#radio(group, key, () => this.#choose(key)), `Keep ${key === "mine" ? "yours" : title}`);
      return h("div", { class: "conflict__side" }, h("h4", {}, title), body, pick);
    };
    this.area = h("textarea", { class: "mono grows", rows: 6, "aria-label": `Your own text for ${where}`, hidden: true });
    this.area.value = shownValue(this.conflict.mine, missing.includes("mine"));
    this.area.addEventListener("input", () => this.#read());
    this.problem = h("p", { class: "field__error", role: "alert", hidden: true });
    const edit = field && field !== "order" && h("label", { class: "check" }, this.#radio(group, "edit", () => this.#edit()), "Write it anew");
    return h(
      "section",
      { class: "conflict", dataset: { key: this.conflict.key } },
      h("h3", {}, where, field && h("span", { class: "soft" }, ` · ${field === "order" ? "order" : field}`)),
      h("div", { class: "conflict__sides" }, side("Before", "base"), side("Yours", "mine"), side(this.other, "theirs")),
      edit,
      this.area,
      this.problem,
    );
  }

  #radio(name, value, onChange) {
    const made = h("input", { type: "radio", name, value });
    made.addEventListener("change", onChange);
    return made;
  }

  #choose(side) {
    this.area.hidden = this.problem.hidden = true;
    this.#set(this.conflict.edits[side]);
  }

  #edit() {
    this.area.hidden = false;
    this.area.focus();
    this.#read();
  }

  #read() {
    const { kind, component_id: id, field, mine, theirs } = this.conflict;
    this.problem.hidden = true;
    try {
      const isText = typeof mine === "string" || typeof theirs === "string";
      const value = isText ? this.area.value : JSON.parse(this.area.value);
      this.#set([{ op: "set", kind, id, fields: { [field]: value } }]);
    } catch (error) {
      this.problem.textContent = `This is no JSON yet: ${error.message}`;
      this.problem.hidden = false;
      this.#set(null);
    }
  }

  #set(edits) {
    this.edits = edits;
    this.node.classList.toggle("is-decided", this.isDecided);
    this.node.dispatchEvent(new CustomEvent("decided", { bubbles: true }));
  }

  pick(choice) {
    const radio = this.node.querySelector(`input[value="${choice}"]`);
    radio.checked = true;
    radio.dispatchEvent(new Event("change"));
  }
}

// The conflict of a save that was refused: looks at it and goes on. Resolves with whether it is decided.
export async function openConflict(store, sync) {
  try {
    await sync.join(); // afresh: both sides may have gone on since
  } catch (error) {
    toast(error.message, { tone: "error" });
    return false;
  }
  const answer = sync.conflict;
  if (!answer) return true;
  const when = answer.at ? ` at ${clock(answer.at)}` : "";
  return choose({
    title: `${personName(answer.by)} changed this draft meanwhile`,
    lead: `Saved${when}. What only one of you changed is joined already. Where both changed the same, choose:`,
    other: `${personName(answer.by)}’s`,
    from: personName(answer.by),
    answer,
    goOn: async (edits) => {
      // First the joined text with ours where both changed, then what was decided as a step of its own, which undo takes back.
      const decided = edits.length ? (await store.api.apply(answer.document, edits)).document : answer.document;
      sync.takeJoined(answer, { isTold: false });
      store.replaceDocument(decided, "Decide a conflict", { source: "merge" });
      sync.save();
    },
  });
}

// What the draft and a newer version both changed. The draft's own stands already, so that nothing needs to be chosen.
export function openVersionConflict(store, answer) {
  return choose({
    title: `Version ${answer.base_number} is taken in`,
    lead: "Where the draft and the version both changed the same, the draft’s own text stands. Choose otherwise where you like:",
    other: `Version ${answer.base_number}`,
    from: `version ${answer.base_number}`,
    answer,
    goOn: (edits) => edits.length && store.apply(edits, "Decide a conflict"),
  });
}

async function choose({ title, lead, other, from, answer, goOn }) {
  const choices = answer.conflicts.map((conflict) => new Choice(conflict, other));
  const count = h("span", { class: "soft small", role: "status" });
  let go;
  const recount = () => {
    const open = choices.filter((choice) => !choice.isDecided).length;
    count.textContent = open ? `${open} of ${choices.length} to decide` : "All decided";
    if (go) go.disabled = open > 0;
  };
  const list = h("div", { class: "conflicts" }, choices.map((choice) => choice.node));
  list.addEventListener("decided", recount);
  const all = (side) => () => choices.forEach((choice) => choice.pick(side));
  const both = h("div", { class: "row" }, button("Keep all of yours", all("mine"), { small: true }), button(`Keep all of ${other}`, all("theirs"), { small: true }), h("span", { class: "push" }, count));
  const done = await dialog({
    title,
    isWide: true,
    body: [h("p", {}, lead), takenList(answer.taken, from), both, list],
    actions: [
      { label: "Later", value: false },
      { label: "Go on with this", value: true, primary: true, disabled: true, ref: (made) => (go = made), onClick: async () => void (await goOn(choices.flatMap((choice) => choice.edits))) },
    ],
    onOpen: recount,
  });
  return Boolean(done);
}

function takenList(taken, from) {
  if (!taken.length) return null;
  return h("details", { class: "fold" }, h("summary", {}, `Joined already: ${taken.length} ${taken.length === 1 ? "change" : "changes"} of ${from}`), h("ul", {}, taken.map((text) => h("li", {}, text))));
}
