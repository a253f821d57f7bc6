// A text with template tags: a tall, growing area, and beside it what can be put in, at the caret, by click or by keyboard.
import { field, h, listen, textArea, uniqueId } from "../dom.js";

// What a text may say in this harness, in groups: [{ title, entries: [{ code, note, insert, select }] }]. `select` is the part of
// `insert` that is marked afterwards, to be written over.
function vocabulary(store, language) {
  const moments = Object.entries(language.templates.context.properties).flatMap(([name, schema]) => {
    if (schema.type === "array") return [];
    const isMaybe = Array.isArray(schema.type);
    return Object.entries(schema.properties || {}).map(([key, inner]) => ({ code: `{{ ${name}.${key} }}`, note: inner.description, ...(isMaybe ? guarded(name, key) : {}) }));
  });
  const lists = Object.entries(language.templates.context.properties)
    .filter(([, schema]) => schema.type === "array")
    .map(([name, schema]) => ({ code: `{% for entry in ${name} %}`, note: schema.description, insert: `{% for entry in ${name} %}{{ entry.name }} {% endfor %}`, select: "{{ entry.name }} " }));
  const choice = { code: "{% if item %}", note: "only while an item is on show", insert: "{% if item %}…{% endif %}", select: "…" };
  return [
    { title: "The moment", entries: [...moments, ...lists, choice] },
    { title: "Tools, by today's name", entries: store.list("tool").map((tool) => named("tool", tool)) },
    { title: "Skills, by today's name", entries: store.list("skill").map((skill) => named("skill", skill)) },
    { title: "Parameters and calls", entries: parameters(store) },
  ].filter((part) => part.entries.length);
}

function guarded(name, key) {
  return { insert: `{% if ${name} %}{{ ${name}.${key} }}{% endif %}` };
}

function named(kind, component) {
  return { code: `{{ ${kind}("${component.id}") }}`, note: `now “${component.name}”` };
}

function parameters(store) {
  return store.list("tool").flatMap((tool) =>
    (tool.binding?.cases || []).slice(0, 1).flatMap((item) => {
      const names = (item.arguments || []).map((map) => map.argument);
      const call = names.length ? `{{ call("${tool.id}", ${names[0]}="…") }}` : `{{ call("${tool.id}") }}`;
      return [
        ...names.map((name) => ({ code: `{{ param("${tool.id}", "${name}") }}`, note: `the parameter of ${tool.name} for ${name}` })),
        { code: call, note: `a whole call of ${tool.name}`, select: "…" },
      ];
    }),
  );
}

// Puts text in at the caret as if it were typed: the browser's own undo takes it back, and what listens hears it.
function insertAtCaret(area, text, select) {
  area.focus();
  const start = area.selectionStart;
  if (!document.execCommand("insertText", false, text)) {
    area.setRangeText(text, start, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const at = select ? text.indexOf(select) : -1;
  if (at >= 0) area.setSelectionRange(start + at, start + at + select.length);
}

// The words beside a text. `area` is where they go.
function wordList(store, language, area) {
  const find = h("input", { type: "search", placeholder: "Find a word", "aria-label": "Find a variable or function", class: "words__find" });
  const rows = h("div", { class: "words__rows" });
  let drawn = "";
  const draw = () => {
    const wanted = find.value.trim().toLowerCase();
    const parts = vocabulary(store, language);
    const text = JSON.stringify([wanted, parts]);
    if (text === drawn) return;
    drawn = text;
    const shown = parts
      .map((part) => ({ ...part, entries: part.entries.filter((entry) => `${entry.code} ${entry.note}`.toLowerCase().includes(wanted)) }))
      .filter((part) => part.entries.length);
    rows.replaceChildren(...shown.map((part) => partOf(part, area)));
    if (!shown.length) rows.replaceChildren(h("p", { class: "soft small" }, "Nothing by that name."));
  };
  find.addEventListener("input", draw);
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    rows.querySelector(".words__entry")?.click();
  });
  listen(rows, store, "document", ({ detail }) => {
    if (detail.steps.some((step) => step.kind === "tool" || step.kind === "skill")) draw();
  });
  draw();
  const filters = h("p", { class: "field__help" }, "Filters, as in ", h("code", {}, "{{ host.name | upper }}"), `: ${language.templates.filters.join(", ")}.`);
  return [find, rows, filters];
}

function partOf(part, area) {
  const entries = part.entries.map((entry) => {
    const made = h("button", { type: "button", class: "words__entry", title: "Put in at the caret" }, h("code", {}, entry.code), h("span", {}, entry.note));
    // The area keeps the focus, and with it the caret.
    made.addEventListener("mousedown", (event) => event.preventDefault());
    made.addEventListener("click", () => insertAtCaret(area, entry.insert || entry.code, entry.select));
    return h("li", {}, made);
  });
  return h("details", { class: "words__part", open: part.title === "The moment" }, h("summary", {}, `${part.title} (${entries.length})`), h("ul", { class: "words__list" }, entries));
}

// A labelled template text. `rows` is its least height; `isShort` puts the words below it, folded until they are asked for.
export function templateText({ store, language, kind, id, path, label, help, rows = 10, isShort, isMono = !isShort, placeholder }) {
  const area = textArea({ store, kind, id, path, rows, placeholder, isMono });
  const made = field({ label, help, control: area, path, kind, id, store });
  if (store.isReadOnly) return made;
  const words = h("details", { class: "words", open: !isShort && window.matchMedia("(min-width: 52rem)").matches, id: uniqueId("words") }, h("summary", {}, "What the text can show"));
  const fill = () => words.children.length > 1 || words.append(h("div", { class: "words__body" }, wordList(store, language, area)));
  words.addEventListener("toggle", () => words.open && fill());
  if (words.open) fill();
  return h("div", { class: isShort ? "with-words with-words--short" : "with-words" }, made, words);
}
