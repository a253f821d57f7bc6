// Search and replace over all texts of the harness: live matches by component, a preview of every replacement, one or all of them.
import { button, dialog, h, toast, undoToast } from "../dom.js";
import { KINDS, KIND_TITLES, KIND_WORDS } from "../kinds.js";
import { editedBy, fieldWords, takeLines } from "./lines.js";

const SEARCHED = [...KINDS, "runtime"];
const WAIT_MS = 150;
const MAX_SHOWN = 300;

// What was looked for last, for the next time the dialog opens.
const last = { find: "", replace: "", isCaseSensitive: false, kinds: new Set(SEARCHED) };

export function openSearchReplace(store) {
  return new Search(store).open();
}

class Search {
  constructor(store) {
    this.store = store;
    this.matches = [];
    this.asked = 0;
    this.done = 0;
    const selected = String(window.getSelection() || "").trim();
    if (selected && selected.length < 80 && !selected.includes("\n")) last.find = selected;
    this.find = h("input", { type: "search", value: last.find, autocomplete: "off", spellcheck: false, autofocus: true, id: "search-find" });
    this.replace = h("input", { type: "text", value: last.replace, autocomplete: "off", spellcheck: false, id: "search-replace" });
    this.caseBox = h("input", { type: "checkbox", checked: last.isCaseSensitive });
    this.count = h("p", { class: "small soft", role: "status" });
    this.results = h("div", { class: "found", tabindex: "0", role: "region", "aria-label": "Matches" });
  }

  async open() {
    const stop = this.store.on("document", () => this.soon());
    const kinds = SEARCHED.map((kind) => this.kindBox(kind, KIND_TITLES[kind]));
    for (const control of [this.find, this.replace]) control.addEventListener("input", () => this.changed());
    this.caseBox.addEventListener("change", () => this.changed());
    const labelled = (text, control) => h("div", { class: "field" }, h("label", { htmlFor: control.id }, text), control);
    const body = h("div", { class: "search" },
      h("div", { class: "form__row" }, labelled("Find", this.find), !this.store.isReadOnly && labelled("Replace with", this.replace)),
      h("div", { class: "row search__options" },
        h("label", { class: "check" }, this.caseBox, h("span", {}, "Match case")),
        h("fieldset", { class: "row" }, h("legend", { class: "sr-only" }, "Where to look"), kinds)),
      this.count, this.results);
    this.ask();
    const answer = await dialog({
      title: this.store.isReadOnly ? "Search" : "Search and replace",
      body, isWide: true,
      onOpen: (box) => {
        this.box = box;
        this.find.select();
      },
      actions: [
        { label: "Close", value: null },
        !this.store.isReadOnly && { label: "Undo", quiet: true, value: "undo", ref: (made) => { this.undo = made; made.hidden = true; }, onClick: () => this.undoOne() },
        !this.store.isReadOnly && { label: "Replace all", value: "all", primary: true, ref: (made) => { this.all = made; }, onClick: () => this.replaceAll() },
      ].filter(Boolean),
    });
    clearTimeout(this.timer);
    stop();
    return answer;
  }

  kindBox(kind, label) {
    const box = h("input", { type: "checkbox", checked: last.kinds.has(kind) });
    box.addEventListener("change", () => {
      if (box.checked) last.kinds.add(kind);
      else last.kinds.delete(kind);
      this.changed();
    });
    return h("label", { class: "check" }, box, h("span", {}, label));
  }

  changed() {
    Object.assign(last, { find: this.find.value, replace: this.replace.value, isCaseSensitive: this.caseBox.checked });
    this.soon();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), WAIT_MS);
  }

  get options() {
    return { is_case_sensitive: last.isCaseSensitive, kinds: last.kinds.size === SEARCHED.length ? null : [...last.kinds] };
  }

  async ask() {
    const number = (this.asked += 1);
    if (!last.find || !last.kinds.size) return this.show([]);
    try {
      const { matches } = await this.store.api.search(this.store.document, last.find, this.options);
      if (number === this.asked) this.show(matches);
    } catch (error) {
      if (number === this.asked) this.tell(error.message);
    }
    return null;
  }

  tell(message) {
    this.count.textContent = message;
    this.results.replaceChildren();
  }

  show(matches) {
    this.matches = matches;
    const total = matches.reduce((sum, match) => sum + match.count, 0);
    const groups = grouped(matches);
    const found = `${total} ${total === 1 ? "match" : "matches"} in ${groups.size} ${groups.size === 1 ? "part" : "parts"}`;
    this.count.textContent = !last.find ? "Placeholders such as {{ tool(\"price\") }} are left alone: they follow by themselves." : total ? found : "Nothing found.";
    if (this.all) {
      this.all.disabled = !total;
      this.all.textContent = total ? `Replace all ${total}` : "Replace all";
    }
    let left = MAX_SHOWN;
    this.results.replaceChildren(...[...groups.values()].map((group) => {
      const shown = group.slice(0, Math.max(0, left));
      left -= shown.length;
      return shown.length ? this.group(group, shown) : "";
    }));
    if (matches.length > MAX_SHOWN) this.results.append(h("p", { class: "small soft" }, `${matches.length - MAX_SHOWN} more lines are not shown; “Replace all” changes them too.`));
  }

  group(group, shown) {
    const [first] = group;
    const name = first.component_name || first.component_id;
    const word = KIND_WORDS[first.kind];
    return h("section", { class: "found__group", "aria-label": `${word}: ${name}` },
      h("div", { class: "found__head" },
        h("span", { class: "badge badge--plain" }, word), h("strong", {}, name),
        this.canReplace() && group.length > 1 && named(button("Replace here", () => this.replaceLines(group), { small: true }), `Replace here: all in ${name}`)),
      h("ul", { class: "found__list" }, shown.map((match) => this.line(match))));
  }

  canReplace() {
    return !this.store.isReadOnly;
  }

  line(match) {
    const where = fieldWords(match.field, match.line);
    const go = () => {
      this.box.close();
      this.store.select(match.kind, match.component_id);
    };
    return h("li", { class: "found__line" },
      named(button(where, go, { quiet: true, small: true }), `${where}: go there`),
      h("span", { class: "found__text" }, this.preview(match)),
      this.canReplace() && named(button("Replace", () => this.replaceLines([match]), { small: true }), `Replace in ${where}`));
  }

  // The line with what was found marked and, where there is a replacement, what would stand there.
  preview({ excerpt }) {
    const pattern = new RegExp(`(${last.find.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, last.isCaseSensitive ? "u" : "iu");
    const pieces = excerpt.split(/(\{\{.*?\}\}|\{%.*?%\})/u);
    const hasBraces = /\{\{|\}\}|\{%|%\}/.test(last.find);
    const mark = (text) => text.split(new RegExp(pattern.source, `g${pattern.flags}`)).map((part, index) =>
      index % 2 === 0 ? part : last.replace && this.canReplace() ? [h("del", {}, part), h("ins", {}, last.replace)] : h("mark", {}, part));
    return hasBraces ? mark(excerpt) : pieces.map((piece, index) => (index % 2 ? piece : mark(piece)));
  }

  edit() {
    return { op: "replace_text", find: last.find, replace: last.replace, ...this.options };
  }

  async replaceLines(matches) {
    const count = matches.reduce((sum, match) => sum + match.count, 0);
    try {
      await editedBy(this.store, [this.edit()], (before, after) => takeLines(before, after, matches), `Replace "${last.find}"`);
      this.counted(count);
    } catch (error) {
      toast(error.message, { tone: "error" });
    }
  }

  async replaceAll() {
    const total = this.matches.reduce((sum, match) => sum + match.count, 0);
    if (!total) return false;
    await editedBy(this.store, [this.edit()], (_, after) => after, `Replace "${last.find}"`);
    undoToast(this.store, `${total} ${total === 1 ? "match" : "matches"} replaced.`);
    return true;
  }

  counted(count) {
    this.done += 1;
    if (this.undo) {
      this.undo.hidden = false;
      this.undo.textContent = `Undo (${count})`;
    }
  }

  undoOne() {
    this.store.undo();
    this.done -= 1;
    if (!this.done) this.undo.hidden = true;
    else this.undo.textContent = "Undo";
    return false;
  }
}

// What a button is called to those who do not see what it stands beside.
function named(control, name) {
  control.setAttribute("aria-label", name);
  return control;
}

const groupKey = (match) => `${match.kind} ${match.component_id}`;

function grouped(matches) {
  const groups = new Map();
  for (const match of matches) groups.set(groupKey(match), [...(groups.get(groupKey(match)) ?? []), match]);
  return groups;
}
