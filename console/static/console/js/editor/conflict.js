// Two people changed the same place: what was before, what you wrote, what they wrote, side by side; choose or write a third.
//
// Nothing is lost: their text is in the saved draft, and choosing it over yours is a step that undo takes back.
import { button, dialog, h, toast } from "./dom.js";
import { LISTS, inserted, take } from "./history.js";
import { KIND_WORDS } from "./outline.js";
import { setIn } from "./paths.js";
import { clock } from "./recovery.js";
import { marked } from "./text_marks.js";

const isAbsent = (value) => value === null || value === undefined;

export function shownValue(value) {
  if (isAbsent(value)) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

// A document in which one conflict is decided: `value` stands at its place; null where the whole part is to be gone.
export function decide(document, conflict, value) {
  const { kind, component_id: id, field } = conflict;
  if (kind === "runtime") return { ...document, runtime: setIn(document.runtime, field, value ?? undefined) };
  const key = LISTS[kind];
  if (field === "order") return take(document, [{ type: "order", kind, after: value }]);
  const list = document[key];
  if (field) return { ...document, [key]: list.map((item) => (item.id === id ? setIn(item, field, value ?? undefined) : item)) };
  if (isAbsent(value)) return { ...document, [key]: list.filter((item) => item.id !== id) };
  const isThere = list.some((item) => item.id === id);
  return { ...document, [key]: isThere ? list.map((item) => (item.id === id ? value : item)) : inserted(list, value) };
}

class Choice {
  constructor(conflict, by) {
    this.conflict = conflict;
    this.by = by;
    this.value = undefined;
    this.node = this.#draw();
  }

  get isDecided() {
    return this.value !== undefined;
  }

  #draw() {
    const { kind, component_name: name, component_id: id, field, base, mine, theirs } = this.conflict;
    const where = kind === "runtime" ? KIND_WORDS.runtime : `${KIND_WORDS[kind] || kind} “${name || id}”`;
    const group = `conflict-${this.conflict.key}`;
    const side = (title, value, marks, choice) => {
      const text = isAbsent(value) ? h("p", { class: "soft" }, field ? "(empty)" : "(removed)") : h("pre", { tabindex: "0", role: "region", "aria-label": `${title}: ${where}` }, marks || shownValue(value));
      const pick = choice && h("label", { class: "check" }, this.#radio(group, choice, () => this.#choose(value ?? null)), `Keep ${title.toLowerCase()}`);
      return h("div", { class: "conflict__side" }, h("h4", {}, title), text, pick);
    };
    const before = shownValue(base);
    const other = this.by ? `${this.by}’s` : "Theirs";
    this.area = h("textarea", { class: "mono", rows: 6, "aria-label": `Your own text for ${where}`, hidden: true });
    this.area.value = shownValue(mine);
    this.area.addEventListener("input", () => this.#read());
    this.problem = h("p", { class: "field__error", role: "alert", hidden: true });
    const edit = field !== "order" && h("label", { class: "check" }, this.#radio(group, "edit", () => this.#edit()), "Write it anew");
    return h(
      "section",
      { class: "conflict", dataset: { key: this.conflict.key } },
      h("h3", {}, where, field && h("span", { class: "soft" }, ` · ${field === "order" ? "order" : field}`)),
      h("div", { class: "conflict__sides" }, side("Before", base), side("Yours", mine, marked(before, shownValue(mine)), "mine"), side(other, theirs, marked(before, shownValue(theirs)), "theirs")),
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

  #choose(value) {
    this.area.hidden = this.problem.hidden = true;
    this.#set(value);
  }

  #edit() {
    this.area.hidden = false;
    this.area.focus();
    this.#read();
  }

  #read() {
    const isText = [this.conflict.mine, this.conflict.theirs].every((value) => isAbsent(value) || typeof value === "string");
    this.problem.hidden = true;
    if (isText) return this.#set(this.area.value);
    try {
      this.#set(JSON.parse(this.area.value));
    } catch (error) {
      this.problem.textContent = `This is no JSON yet: ${error.message}`;
      this.problem.hidden = false;
      this.#set(undefined);
    }
  }

  #set(value) {
    this.value = value;
    this.node.classList.toggle("is-decided", value !== undefined);
    this.node.dispatchEvent(new CustomEvent("decided", { bubbles: true }));
  }

  pick(choice) {
    const radio = this.node.querySelector(`input[value="${choice}"]`);
    radio.checked = true;
    radio.dispatchEvent(new Event("change"));
  }
}

// Shows what is in conflict and goes on with what was decided. Resolves with whether it was.
export async function openConflict(store, sync) {
  try {
    await sync.join(); // afresh: both sides may have gone on since
  } catch (error) {
    toast(error.message, { tone: "error" });
    return false;
  }
  const answer = sync.conflict;
  if (!answer) return true;
  const choices = answer.conflicts.map((conflict) => new Choice(conflict, answer.by));
  const count = h("span", { class: "soft small", role: "status" });
  let take;
  const recount = () => {
    const open = choices.filter((choice) => !choice.isDecided).length;
    count.textContent = open ? `${open} of ${choices.length} to decide` : "All decided";
    if (take) take.disabled = open > 0;
  };
  const list = h("div", { class: "conflicts" }, choices.map((choice) => choice.node));
  list.addEventListener("decided", recount);
  const all = (side) => () => choices.forEach((choice) => choice.pick(side));
  const when = answer.at ? ` at ${clock(answer.at)}` : "";
  const done = await dialog({
    title: `${answer.by || "Somebody"} changed this draft meanwhile`,
    isWide: true,
    body: [
      h("p", {}, `Saved${when}. What only one of you changed is joined already. Where both changed the same, choose:`),
      takenList(answer),
      h("div", { class: "row" }, button("Keep all of mine", all("mine"), { small: true }), button(`Keep all of ${answer.by ? `${answer.by}’s` : "theirs"}`, all("theirs"), { small: true }), h("span", { class: "push" }, count)),
      list,
    ],
    actions: [
      { label: "Later", value: false },
      { label: "Go on with this", value: true, primary: true, disabled: true, ref: (made) => (take = made) },
    ],
    onOpen: recount,
  });
  if (!done) return false;
  goOn(store, sync, answer, choices);
  return true;
}

// First the joined text with ours where both changed, then what was decided as a step of its own, which undo takes back.
function goOn(store, sync, answer, choices) {
  sync.takeJoined(answer, answer.document);
  const decided = choices.reduce((document, choice) => decide(document, choice.conflict, choice.value), answer.document);
  store.replaceDocument(decided, "Decide a conflict", { source: "merge" });
  sync.save();
}

function takenList({ taken = [], by }) {
  if (!taken.length) return null;
  return h("details", { class: "fold" }, h("summary", {}, `Joined already: ${taken.length} ${taken.length === 1 ? "change" : "changes"} of ${by || "others"}`), h("ul", {}, taken.map((text) => h("li", {}, text))));
}
