// The form of a Skill: what the model sees of it first, its text with a live preview, what it may use, and notes for people.
import { Offline, request } from "../api.js";
import { button, field, h, listen, select, textArea } from "../dom.js";
import { checkList, findingSlot, group, mountWithLanguage, nameInput, toolChoices } from "./parts.js";
import { templateText } from "./template_text.js";

const PREVIEW_MS = 350;
const RISKS = [
  ["low", "Low: wrong advice is a nuisance"],
  ["medium", "Medium: wrong advice costs trust or money"],
  ["high", "High: wrong advice can do harm or break a promise"],
];

export function mount(container, { store, id }) {
  const place = { store, kind: "skill", id };
  const made = { stop: null };
  const unmount = mountWithLanguage(container, store, (language) => {
    const shown = preview(store, id);
    made.stop = shown.stop;
    return h(
      "div",
      { class: "form form--skill" },
      h(
        "div",
        { class: "form__row" },
        field({ ...place, path: "name", label: "Name", help: "Lower-case letters, digits and hyphens. The model sees it.", control: nameInput(place) }),
        field({ ...place, path: "risk", label: "Risk", help: "For reviewers; the model does not see it.", control: select({ ...place, path: "risk", options: RISKS }) }),
      ),
      field({ ...place, path: "description", label: "Description", help: "What it is for and when to use it. Where Skills load on demand, the model decides by this line alone.", control: textArea({ ...place, path: "description", rows: 2 }) }),
      h("div", { class: "writing" }, templateText({ ...place, language, path: "body", label: "Text (Markdown)", rows: 14, isShort: true, isMono: true, placeholder: "Steps, in the order in which the model should take them." }), shown.node),
      group({ ...place, path: "allowed_tools", label: "Tools it uses", isOptional: true, help: "What the Skill needs. The list travels with it, and a tool that is missing is told. It forbids the model nothing." }, checkList({ ...place, path: "allowed_tools", choices: toolChoices(store), empty: "The harness has no tools yet." })),
      group({ ...place, path: "metadata", isExact: true, label: "Notes for people", isOptional: true, help: "Names and values that travel with the Skill, such as author or licence. The model does not see them." }, metadataRows(place)),
    );
  });
  return () => {
    made.stop?.();
    unmount();
  };
}

// --- preview -----------------------------------------------------------------------------------------------------------

// The text as the model gets it, filled in with a sample room, and what it costs.
function preview(store, id) {
  const body = h("div", { class: "markdown", tabindex: "0", role: "region", "aria-label": "Preview of the text" });
  const count = h("span", { class: "badge badge--plain" });
  const note = h("p", { class: "small soft preview__note", role: "status", hidden: true });
  const node = h("section", { class: "preview" }, h("div", { class: "preview__head" }, h("h3", {}, "Preview"), count), note, body);
  const state = { timer: 0, asked: "", isGone: false };
  const say = (text) => {
    note.textContent = text;
    note.hidden = !text;
  };
  const show = async () => {
    const skill = store.get("skill", id);
    if (!skill || state.isGone) return;
    const sent = { text: skill.body, document: /\{[{%]/.test(skill.body) ? namesOf(store) : {} };
    const asked = JSON.stringify(sent);
    const inline = store.get("runtime", "runtime")?.disclosure !== "on_demand";
    if (asked === state.asked) return costs(inline);
    state.asked = asked;
    try {
      const { html, tokens, note: told } = await request("POST", store.meta.urls.markdown || "/editor/markdown/", { body: sent });
      if (state.asked !== asked || state.isGone) return;
      body.innerHTML = html; // cleaned by the server
      if (!skill.body.trim()) body.replaceChildren(h("p", { class: "soft" }, "Nothing written yet."));
      state.tokens = tokens;
      costs(inline);
      say(told);
    } catch (error) {
      state.asked = "";
      say(error instanceof Offline ? "The preview waits for the server." : error.message);
      if (error instanceof Offline && !state.isGone) state.timer = setTimeout(show, 5000);
    }
  };
  const costs = (isInline) => {
    count.textContent = `${(state.tokens ?? 0).toLocaleString("en")} tokens`;
    count.title = isInline ? "In every prompt: Skills stand in it whole." : "Only in turns in which the model loads this Skill.";
  };
  listen(node, store, "document", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(show, PREVIEW_MS);
  });
  show();
  const stop = () => {
    state.isGone = true;
    clearTimeout(state.timer);
  };
  return { node, stop };
}

// The parts of the harness that a text can name.
function namesOf(store) {
  const { tools, skills, runtime } = store.document;
  return { tools, skills, runtime };
}

// --- notes for people --------------------------------------------------------------------------------------------------

// Names and values as rows. A row without a name, or with one that is there already, stays as typed and is told.
function metadataRows({ store, kind, id }) {
  const made = h("div", { class: "pairs" });
  let rows = [];
  const read = () => Object.entries(store.get(kind, id)?.metadata || {});
  const wrong = (index) => {
    const name = rows[index][0].trim();
    if (!name) return rows[index][1] ? "Give it a name; until then it is not kept." : "";
    return rows.findIndex((row) => row[0].trim() === name) < index ? `“${name}” is there already; this one is not kept.` : "";
  };
  const write = () => {
    const kept = rows.filter((row, index) => row[0].trim() && !wrong(index)).map(([name, value]) => [name.trim(), value]);
    store.set(kind, id, { metadata: Object.fromEntries(kept) }, { coalesce: true, source: made });
  };
  const draw = () => {
    made.replaceChildren(...rows.map((_, index) => row(index)), ...(store.isReadOnly ? [] : [add]));
  };
  const row = (index) => {
    const problem = h("p", { class: "field__error", role: "alert", hidden: true });
    const line = (at, label) => {
      const control = h("input", { type: "text", value: rows[index][at], "aria-label": `${label} of note ${index + 1}`, placeholder: label, readOnly: store.isReadOnly, autocomplete: "off" });
      control.addEventListener("input", () => {
        rows[index][at] = control.value;
        write();
        problem.textContent = wrong(index);
        problem.hidden = !problem.textContent;
      });
      return control;
    };
    const remove = button("", () => {
      rows.splice(index, 1);
      write();
      draw();
      (made.querySelectorAll("input")[Math.max(0, index * 2 - 2)] || add).focus();
    }, { quiet: true, small: true, icon: "close", title: `Remove note ${index + 1}` });
    const name = rows[index][0];
    return h("div", { class: "pairs__row" }, line(0, "Name"), line(1, "Value"), !store.isReadOnly && remove, problem, findingSlot({ store, kind, id, path: `metadata.${name}` }));
  };
  const add = button("Add a note", () => {
    rows.push(["", ""]);
    draw();
    made.querySelectorAll("input")[rows.length * 2 - 2].focus();
  }, { small: true, icon: "plus" });
  listen(made, store, "change", ({ detail }) => {
    if (detail.kind !== kind || detail.id !== id || detail.source === made || !store.get(kind, id)) return;
    if (JSON.stringify(read()) === JSON.stringify(rows.filter((_, index) => rows[index][0].trim() && !wrong(index)))) return;
    rows = read();
    draw();
  });
  rows = read();
  draw();
  return made;
}
