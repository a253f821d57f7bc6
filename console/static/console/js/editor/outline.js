// The parts of the harness in the order in which the model reads them: choose, add, duplicate, remove, reorder by drag or keyboard.
import { button, h, undoToast } from "./dom.js";
import { icon } from "./icons.js";
import { KINDS, KIND_TITLES, KIND_WORDS } from "./kinds.js";

const FILTER_FROM = 12;

const EMPTY = {
  prompt: () => ({ title: "New section", body: "", is_policy: false }),
  hook: () => ({ name: "New hook", event: "UserPromptSubmit", matcher: [], when: [], action: { type: "add_context", text: "", slot: "user_suffix", wrapper: "none" } }),
  example: () => ({ comment: "", calls: [], reply: "" }),
};

const FIRST_FIELD = { prompt: "title", hook: "name", example: "comment" };

export function mountOutline(container, store) {
  const outline = new Outline(container, store);
  outline.draw();
  return outline;
}

// Adds a component of a kind behind another and shows it; Skills and tools ask first what it shall be.
async function addComponent(store, kind, after) {
  if (kind === "tool") return (await import("./dialogs/add_tool.js")).openAddTool(store, after);
  if (kind === "skill") return (await import("./dialogs/add_skill.js")).openAddSkill(store, after);
  const id = store.add(kind, EMPTY[kind](), after);
  store.select(kind, id);
  store.emit("reveal", { kind, id, field: FIRST_FIELD[kind] });
  return id;
}

async function copyComponent(store, kind) {
  const { openCopyComponent } = await import("./dialogs/copy.js");
  return openCopyComponent(store, kind);
}

export function duplicate(store, kind, id) {
  const { id: _, ...copy } = structuredClone(store.get(kind, id));
  if (copy.name) copy.name = freshName(store, kind, copy.name);
  const made = store.add(kind, { ...copy, id: store.freshId(kind, `${id}-copy`) }, id, { label: `Duplicate ${store.nameOf(kind, id)}` });
  store.select(kind, made);
}

// A name that no other component of the kind has: names are what the model calls by.
function freshName(store, kind, name) {
  const joint = /[-_]/.exec(name)?.[0] || (kind === "hook" ? " " : kind === "tool" ? "_" : "-");
  const taken = new Set(store.list(kind).map((item) => item.name));
  let made = `${name}${joint}copy`;
  for (let count = 2; taken.has(made); count += 1) made = `${name}${joint}copy${joint}${count}`;
  return made;
}

export function remove(store, kind, id) {
  const list = store.list(kind);
  const index = list.findIndex((item) => item.id === id);
  const name = store.nameOf(kind, id);
  if (!store.remove(kind, id)) return;
  const next = list[index + 1] || list[index - 1];
  if (next) store.select(kind, next.id);
  else store.select("runtime", "runtime");
  undoToast(store, `${KIND_WORDS[kind]} “${short(name)}” is removed.`);
}

// Moves a component one place up (-1) or down (+1).
export function shift(store, kind, id, by) {
  const list = store.list(kind);
  const index = list.findIndex((item) => item.id === id);
  const target = index + by;
  if (index < 0 || target < 0 || target >= list.length) return false;
  const others = list.filter((item) => item.id !== id);
  return store.move(kind, id, target === 0 ? null : others[target - 1].id);
}

const short = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

class Outline {
  constructor(container, store) {
    this.store = store;
    this.container = container;
    this.lists = new Map();
    this.filter = "";
    store.on("change", ({ detail }) => {
      if (detail.kind !== "runtime" && (detail.what !== "field" || detail.fields.some((name) => ["name", "title", "comment"].includes(name)))) this.drawKind(detail.kind);
    });
    store.on("findings", () => this.#mark());
    store.on("select", () => this.#select());
    store.on("meta", () => this.draw());
    container.addEventListener("keydown", (event) => this.#key(event));
  }

  draw() {
    const filter = h("input", { type: "search", placeholder: "Filter parts", "aria-label": "Filter parts by name", class: "outline__filter", value: this.filter });
    filter.addEventListener("input", () => {
      this.filter = filter.value.trim().toLowerCase();
      KINDS.forEach((kind) => this.drawKind(kind));
    });
    this.live = h("p", { class: "sr-only", role: "status" });
    this.filterBox = filter;
    this.container.replaceChildren(filter, ...KINDS.map((kind) => this.#group(kind)), this.#runtime(), this.live);
    KINDS.forEach((kind) => this.drawKind(kind));
    this.#mark();
    this.#select();
  }

  #group(kind) {
    const list = h("ul", { class: "outline__list", dataset: { kind } });
    const count = h("span", { class: "count" });
    this.lists.set(kind, { list, count });
    this.#dropOn(list, kind);
    const noun = `${kind === "example" ? "an" : "a"} ${KIND_WORDS[kind].toLowerCase()}`;
    const add = !this.store.isReadOnly && [
      button("", () => copyComponent(this.store, kind), { quiet: true, small: true, icon: "copy", title: `Copy ${noun} from another harness` }),
      button("", () => addComponent(this.store, kind, this.#behind(kind)), { quiet: true, small: true, icon: "plus", title: `Add ${noun}` }),
    ];
    return h("div", { class: "outline__group" }, h("div", { class: "outline__head" }, h("h2", {}, KIND_TITLES[kind]), count, h("span", { class: "push" }, add)), list);
  }

  #runtime() {
    const entry = h("button", { type: "button", class: "outline__item", dataset: { kind: "runtime", id: "runtime" }, onClick: () => this.store.select("runtime", "runtime") }, h("span", { class: "outline__name" }, "Runtime settings"), h("span", { class: "outline__mark" }));
    return h("div", { class: "outline__group" }, h("ul", { class: "outline__list" }, h("li", {}, entry)));
  }

  // What is added comes behind what is chosen, or to the end.
  #behind(kind) {
    const { selection } = this.store;
    return selection.kind === kind && this.store.get(kind, selection.id) ? selection.id : undefined;
  }

  drawKind(kind) {
    const { list, count } = this.lists.get(kind);
    const items = this.store.list(kind);
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    const shown = items.filter((item) => !this.filter || `${this.store.nameOf(kind, item.id)} ${item.id}`.toLowerCase().includes(this.filter));
    const known = new Map([...list.children].map((node) => [node.dataset.id, node]));
    list.replaceChildren(...shown.map((item) => this.#item(kind, item, known.get(item.id))));
    if (!shown.length) list.append(h("li", { class: "outline__none" }, this.filter ? "No match" : "None yet"));
    count.textContent = String(items.length);
    if (focused) this.#button(kind, focused)?.focus({ preventScroll: false });
    this.filterBox.hidden = KINDS.reduce((sum, name) => sum + this.store.list(name).length, 0) < FILTER_FROM && !this.filter;
    this.#mark(kind);
    this.#select();
  }

  #item(kind, item, known) {
    const name = short(this.store.nameOf(kind, item.id).split("\n")[0]) || "(no text yet)";
    if (known && known.querySelector(".outline__name")) {
      known.querySelector(".outline__name").textContent = name;
      return known;
    }
    const { id } = item;
    const choose = h("button", { type: "button", class: "outline__item", dataset: { kind, id }, onClick: () => this.store.select(kind, id) }, h("span", { class: kind === "tool" || kind === "skill" ? "outline__name mono" : "outline__name" }, name), h("span", { class: "outline__mark" }));
    const row = h("li", { class: "outline__row", dataset: { id }, draggable: !this.store.isReadOnly }, !this.store.isReadOnly && h("span", { class: "outline__grip", "aria-hidden": "true" }, icon("grip")), choose);
    row.addEventListener("dragstart", (event) => {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", id);
      this.dragged = { kind, id };
      row.classList.add("is-dragged");
    });
    row.addEventListener("dragend", () => {
      row.classList.remove("is-dragged");
      this.#hint(null);
      this.dragged = null;
    });
    return row;
  }

  // --- drag ----------------------------------------------------------------------------------------------------------

  #dropOn(list, kind) {
    list.addEventListener("dragover", (event) => {
      if (this.dragged?.kind !== kind) return;
      event.preventDefault();
      this.#hint(this.#rowAfter(list, event.clientY), list);
    });
    list.addEventListener("drop", (event) => {
      if (this.dragged?.kind !== kind) return;
      event.preventDefault();
      const { id } = this.dragged;
      const rows = [...list.querySelectorAll(".outline__row")].filter((row) => row.dataset.id !== id);
      const before = this.#rowAfter(list, event.clientY);
      const index = before ? rows.indexOf(before) : rows.length;
      if (before?.dataset.id !== id) this.store.move(kind, id, index > 0 ? rows[index - 1].dataset.id : null);
      this.store.select(kind, id);
    });
  }

  #rowAfter(list, y) {
    return [...list.querySelectorAll(".outline__row")].find((row) => {
      const box = row.getBoundingClientRect();
      return y < box.top + box.height / 2;
    });
  }

  #hint(row, list) {
    for (const marked of this.container.querySelectorAll(".is-drop-before, .is-drop-end")) marked.classList.remove("is-drop-before", "is-drop-end");
    if (row) row.classList.add("is-drop-before");
    else if (list) list.classList.add("is-drop-end");
  }

  // --- keyboard ------------------------------------------------------------------------------------------------------

  #key(event) {
    const { kind, id } = event.target.dataset || {};
    if (!id) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step && event.altKey) return; // main.js reorders, wherever the focus is
    if (step) {
      const entries = [...this.container.querySelectorAll(".outline__item")];
      entries[entries.indexOf(event.target) + step]?.focus();
      event.preventDefault();
    } else if (event.key === "Delete" && kind !== "runtime" && !this.store.isReadOnly) {
      event.preventDefault();
      remove(this.store, kind, id);
    }
  }

  say(text) {
    this.live.textContent = text;
  }

  #button(kind, id) {
    return this.container.querySelector(`.outline__item[data-kind="${kind}"][data-id="${CSS.escape(id)}"]`);
  }

  #select() {
    const { kind, id } = this.store.selection;
    for (const entry of this.container.querySelectorAll('.outline__item[aria-current="true"]')) entry.removeAttribute("aria-current");
    if (!kind) return;
    const entry = this.#button(kind, id);
    entry?.setAttribute("aria-current", "true");
    entry?.scrollIntoView({ block: "nearest" });
  }

  // How many findings each part has; a part with an error is told from one with a warning in words too.
  #mark(only) {
    const counts = new Map();
    for (const item of this.store.findings) {
      const key = `${item.component_kind} ${item.component_kind === "runtime" ? "runtime" : item.component_id}`;
      const found = counts.get(key) || { error: 0, warning: 0, info: 0 };
      found[item.severity] += 1;
      counts.set(key, found);
    }
    for (const entry of this.container.querySelectorAll(".outline__item")) {
      if (only && entry.dataset.kind !== only) continue;
      const found = counts.get(`${entry.dataset.kind} ${entry.dataset.id}`);
      const severity = found?.error ? "error" : found?.warning ? "warning" : null;
      const text = severity ? `${found[severity]} ${severity}${found[severity] === 1 ? "" : "s"}` : "";
      const mark = entry.querySelector(".outline__mark");
      if (mark.dataset.text === text) continue;
      mark.dataset.text = text;
      mark.className = severity ? `outline__mark count count--${severity === "error" ? "bad" : "warn"}` : "outline__mark";
      mark.title = text;
      mark.replaceChildren(...(severity ? [h("span", { "aria-hidden": "true" }, String(found[severity])), h("span", { class: "sr-only" }, text)] : []));
    }
  }
}
