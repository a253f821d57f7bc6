// What validation says of the draft as it is now, errors first, each with the way to its place and, where there is one, its mend.
import { findingLine, h, listen } from "./dom.js";
import { KIND_WORDS } from "./kinds.js";

const ORDER = { error: 0, warning: 1, info: 2 };
const MAX_SHOWN = 200;

const keyOf = (item) => `${item.code} ${item.component_kind} ${item.component_id} ${item.field} ${item.message}`;

export class FindingsPanel {
  // `go(kind, id, field)` shows a place.
  constructor(container, store, go) {
    this.store = store;
    this.go = go;
    this.list = h("ol", { class: "findings" });
    this.notes = h("ol", { class: "findings" });
    this.notesFold = h("details", { class: "fold gap-above" }, h("summary", {}), this.notes);
    this.summary = h("p", { class: "findings__sum", role: "status" });
    this.current = null;
    container.append(this.summary, this.list, this.notesFold);
    listen(container, store, "findings", () => this.draw());
    this.draw();
  }

  get sorted() {
    return [...this.store.findings].sort((one, other) => ORDER[one.severity] - ORDER[other.severity]);
  }

  draw() {
    const all = this.sorted;
    const { problem } = this.store.checked;
    const count = (severity) => all.filter((item) => item.severity === severity).length;
    const parts = [
      [count("error"), "error", "errors"],
      [count("warning"), "warning", "warnings"],
    ];
    const words = parts.filter(([number]) => number).map(([number, one, many]) => `${number} ${number === 1 ? one : many}`);
    const text = problem ? `Not checked: ${problem}` : words.join(", ") || "Nothing to mend.";
    if (this.summary.textContent !== text) this.summary.textContent = text;
    const notes = all.filter((item) => item.severity === "info");
    const summary = this.notesFold.firstElementChild;
    summary.textContent = notes.length === 1 ? "1 note" : `${notes.length} notes`;
    this.notesFold.hidden = !notes.length;
    this.#fill(this.list, all.filter((item) => item.severity !== "info"));
    this.#fill(this.notes, notes);
  }

  // Draws what is new and keeps the lines that stay: the focus may be in one of them.
  #fill(list, items) {
    const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
    const shown = items.slice(0, MAX_SHOWN).map((item) => {
      const key = `${keyOf(item)} ${JSON.stringify(item.fix)} ${this.store.isReadOnly} ${this.#name(item)}`;
      return known.get(key) || this.#row(item, key);
    });
    if (items.length > MAX_SHOWN) shown.push(h("li", { class: "soft small" }, `${items.length - MAX_SHOWN} more; mend some first.`));
    const isSame = shown.length === list.children.length && shown.every((node, index) => node === list.children[index]);
    if (!isSame) list.replaceChildren(...shown);
  }

  #name(item) {
    if (item.component_kind === "harness") return "Whole harness";
    if (item.component_kind === "runtime") return "Runtime settings";
    return `${KIND_WORDS[item.component_kind]} “${this.store.nameOf(item.component_kind, item.component_id)}”`;
  }

  #row(item, key) {
    const line = findingLine(this.store, item);
    const where = h("button", { type: "button", class: "findings__where", onClick: () => this.#open(item) }, this.#name(item), item.field && h("span", { class: "soft" }, ` · ${item.field}`));
    line.classList.add("findings__item");
    line.dataset.key = key;
    line.prepend(where);
    return line;
  }

  #open(item) {
    this.current = keyOf(item);
    this.go(item.component_kind, item.component_kind === "runtime" ? "runtime" : item.component_id, item.field);
  }

  // F8: the next place with a finding (or, with -1, the one before).
  step(by) {
    const all = this.sorted.filter((item) => item.component_kind !== "harness");
    if (!all.length) return false;
    const here = all.findIndex((item) => keyOf(item) === this.current);
    const next = here < 0 ? (by > 0 ? 0 : all.length - 1) : (here + by + all.length) % all.length;
    this.#open(all[next]);
    return true;
  }
}
