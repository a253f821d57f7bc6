// The source view: one component, or the whole harness, as JSON, both ways.
//
// What is typed goes into the draft as soon as it is JSON and the server says that it has the shape of a harness. Until then it stays
// exactly as typed, here and in this browser's storage, with what is wrong at its line; nothing that comes from elsewhere writes over it.
import { ApiError, Offline } from "./api.js";
import { openEditor } from "./ace.js";
import { button, h, toast } from "./dom.js";
import { discard, keep, kept } from "./forms/kept.js";
import { loadLanguage } from "./forms/parts.js";
import { LISTS } from "./kinds.js";
import { suggestions } from "./json_completion.js";
import { JsonTextError, caretContext, lineAndColumn, placeOf, readJson } from "./json_text.js";
import { getIn } from "./paths.js";

const TAKE_MS = 300;
const KEEP_MS = 250;
const RETRY_MS = 5000;
const MAX_SHOWN = 50;
const WORDS = { error: "Error", warning: "Warning", info: "Note" };

const written = (value) => JSON.stringify(value, null, 2);

// Shows the source of a component, or of the whole harness where `kind` is left out. Gives back the function that takes it away.
export function mountSource(container, { store, kind = null, id = null }) {
  const view = new SourceView(container, store, kind, id);
  view.open();
  return () => view.unmount();
}

class SourceView {
  constructor(container, store, kind, id) {
    Object.assign(this, { container, store, kind, id, root: null, places: new Map(), language: null, isGone: false, isTyped: false, isOwn: false, wrong: [], timers: {} });
    this.place = kind ? `${kind}:${id}:source` : "harness:source";
    this.base = written(this.current());
    this.text = this.base;
    this.host = h("div", { class: "source__editor" });
    this.state = h("p", { class: "source__state", role: "status" });
    this.notice = h("div", { class: "source__notice", hidden: true });
    this.list = h("ul", { class: "source__problems", "aria-label": "What is wrong, by line" });
    this.node = h("div", { class: "source" }, this.tools(), this.notice, this.host, this.list);
    container.replaceChildren(this.node);
  }

  // The value in the draft; undefined where the component is gone.
  current() {
    return this.kind ? this.store.get(this.kind, this.id) : this.store.document;
  }

  get name() {
    return this.kind ? this.store.nameOf(this.kind, this.id) : "the harness";
  }

  tools() {
    const tidy = button("Tidy up", () => this.tidy(), { small: true, quiet: true, title: "Indent the JSON evenly; keys keep their order" });
    const copy = button("Copy", () => navigator.clipboard?.writeText(this.text).then(() => toast("Copied.")), { small: true, quiet: true });
    return h("div", { class: "source__tools" }, this.state, h("span", { class: "row" }, !this.store.isReadOnly && tidy, copy));
  }

  async open() {
    const old = this.store.isReadOnly ? null : kept(this.store, this.place);
    if (old && old.text !== this.base) this.restore(old);
    this.stops = ["document", "findings", "meta"].map((type) => this.store.on(type, ({ detail }) => this.hear(type, detail)));
    const label = this.kind ? `Source of ${this.name} (JSON)` : "Source of the whole harness (JSON)";
    const complete = (text, offset) => this.complete(text, offset);
    const editor = await openEditor(this.host, { text: this.text, label, isReadOnly: this.store.isReadOnly, complete });
    if (this.isGone) return editor.destroy();
    this.editor = editor;
    this.node.append(h("p", { class: "field__help source__help" }, editor.kind === "ace" ? "Ctrl+Space suggests what can stand at the caret. Esc leaves the editor, Enter goes back in. Ctrl+F finds." : "The source editor could not be loaded; this plain text area does the same without suggestions."));
    if (editor.getText() !== this.text) this.show(this.text); // it changed while the editor was loading
    editor.onChange(() => this.typed());
    this.read();
    if (this.isTyped) this.takeSoon();
    loadLanguage(this.store).then((language) => (this.language = language), () => {});
    return undefined;
  }

  unmount() {
    this.isGone = true;
    (this.stops || []).forEach((stop) => stop());
    clearTimeout(this.timers.keep);
    if (this.isTyped) {
      this.keepNow();
      this.take().then(() => this.isTyped && toast(`The source of ${this.name} is not in the draft yet: ${this.why || "it waits for the server"}. It is kept as typed; open Source to go on.`));
    }
    this.editor?.destroy();
    this.node.remove();
  }

  // --- typing --------------------------------------------------------------------------------------------------------

  typed() {
    if (this.isOwn) return;
    this.text = this.editor.getText();
    this.isTyped = true;
    clearTimeout(this.timers.keep);
    this.timers.keep = setTimeout(() => this.keepNow(), KEEP_MS);
    this.wrong = [];
    if (this.read()) this.say("Checking …");
    this.takeSoon();
  }

  keepNow() {
    if (this.isTyped && !keep(this.store, this.place, this.text, this.base)) this.say("This browser keeps no copy of what you type here: its storage is full or closed.", "warn");
  }

  takeSoon() {
    clearTimeout(this.timers.take);
    this.timers.take = setTimeout(() => this.take(), TAKE_MS);
  }

  // Reads the text: what it says, where everything stands, or what is wrong.
  read() {
    try {
      const { value, places } = readJson(this.text);
      this.root = value;
      this.places = places;
      this.syntax = this.refusal(value);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      this.syntax = { offset: error.offset, message: error.message };
    }
    this.showProblems();
    return !this.syntax;
  }

  // Why a JSON value cannot be this component, as far as that can be told here.
  refusal(value) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return { offset: 0, message: "An object is needed here: { … }" };
    if (this.kind && this.kind !== "runtime" && value.id !== this.id) {
      return { offset: placeOf(this.places, "id"), message: `"id" must stay "${this.id}": it is how a rename is known to be one. Change the name instead.` };
    }
    return this.kind ? null : this.twice(value);
  }

  twice(value) {
    for (const list of Object.values(LISTS)) {
      const seen = new Set();
      for (const [index, item] of (Array.isArray(value[list]) ? value[list] : []).entries()) {
        if (item?.id !== undefined && seen.has(item.id)) return { offset: placeOf(this.places, `${list}[${index}].id`), message: `The id "${item.id}" stands twice in ${list}. Give one of them another.` };
        seen.add(item?.id);
      }
    }
    return null;
  }

  // --- into the draft ------------------------------------------------------------------------------------------------

  // Takes what is typed into the draft, if it is fit for it.
  async take() {
    clearTimeout(this.timers.take);
    if (!this.isTyped || this.store.isReadOnly) return;
    if (!this.read()) return this.wait(`line ${this.lineOf(this.syntax.offset)} is not right`);
    if (written(this.current()) !== this.base) return this.ask();
    const { text, root } = this;
    if (written(root) === this.base) return this.taken();
    this.say("Checking …");
    try {
      await this.store.api?.check(this.candidate(root));
    } catch (error) {
      if (text === this.text) this.refused(error);
      return;
    }
    if (text !== this.text) return;
    if (written(this.current()) !== this.base) return this.ask();
    this.isTyped = false;
    this.put(root);
    this.taken();
  }

  // The whole document with this text in it.
  candidate(value) {
    const { document } = this.store;
    if (!this.kind) return value;
    if (this.kind === "runtime") return { ...document, runtime: value };
    const list = LISTS[this.kind];
    return { ...document, [list]: document[list].map((item) => (item.id === this.id ? value : item)) };
  }

  put(value) {
    if (!this.kind) return this.store.replaceDocument(value, "Edit the source of the harness", { source: this });
    const names = new Set([...Object.keys(this.current()), ...Object.keys(value)]);
    const fields = [...names].map((name) => [[name], value[name]]);
    return this.store.set(this.kind, this.id, fields, { label: `Edit the source of ${this.name}`, coalesce: "source", source: this });
  }

  taken() {
    this.isTyped = false;
    this.wrong = [];
    this.why = "";
    this.base = written(this.current());
    discard(this.store, this.place);
    this.tell("");
    this.say("");
    this.showProblems();
  }

  refused(error) {
    if (error instanceof Offline || (error instanceof ApiError && (error.isSignedOut || error.status >= 500))) {
      this.wait(error instanceof Offline ? "the server cannot be reached" : error.message);
      if (!this.isGone) this.timers.take = setTimeout(() => this.take(), RETRY_MS);
      return;
    }
    if (!(error instanceof ApiError)) throw error;
    const errors = error.errors.length ? error.errors : [{ field: "", message: error.message, mend: "" }];
    this.wrong = errors.map((item) => ({ field: this.within(String(item.field || "").replace(/^document\.?/, "")), message: [item.message, item.mend].filter(Boolean).join(" ") }));
    this.wait("it does not have the shape of a harness");
    this.showProblems();
  }

  // A path within the whole document as one within this text.
  within(field) {
    if (!this.kind) return field;
    if (this.kind === "runtime") return field.replace(/^runtime\.?/, "");
    const index = this.store.list(this.kind).findIndex((item) => item.id === this.id);
    const start = `${LISTS[this.kind]}[${index}]`;
    return field.startsWith(start) ? field.slice(start.length).replace(/^\./, "") : field;
  }

  wait(why) {
    this.why = why;
    this.say(`Not in the draft yet: ${why}. Kept as typed.`, "warn");
  }

  // --- from elsewhere ------------------------------------------------------------------------------------------------

  hear(type, detail) {
    if (type === "meta") return;
    if (type === "findings") return this.showProblems();
    if (detail.source === this || this.current() === undefined) return;
    const now = written(this.current());
    if (now === this.base) return;
    if (this.isTyped) return this.ask();
    this.base = now;
    this.show(now);
  }

  show(text) {
    this.text = text;
    this.isOwn = true;
    this.editor?.setText(text);
    this.isOwn = false;
    this.read();
  }

  // The draft changed under a text that is not in it: the person decides, nothing is lost meanwhile.
  ask() {
    if (this.current() === undefined) return this.wait("this part was removed meanwhile");
    this.wait("this part was changed elsewhere while you were typing");
    this.keepNow();
    const mine = button("Use my text", () => {
      this.base = written(this.current());
      this.tell("");
      this.take();
    }, { small: true });
    this.tell("This part changed elsewhere (undo, another tab or another person) while your text was not in the draft.", mine, this.theirs("Show the changed one, drop mine"));
  }

  theirs(label) {
    return button(label, () => {
      const { text } = this;
      this.isTyped = false;
      this.base = written(this.current());
      this.show(this.base);
      this.taken();
      toast("Your text was put away.", { action: { label: "Bring it back", onClick: () => this.bringBack(text) } });
    }, { small: true, quiet: true });
  }

  bringBack(text) {
    if (this.isGone) {
      keep(this.store, this.place, text, written(this.current()));
      return;
    }
    this.show(text);
    this.isTyped = true;
    this.take();
  }

  restore(old) {
    this.text = old.text;
    this.isTyped = true;
    if (old.base) this.base = old.base;
    const time = new Date(old.at).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" });
    this.tell(`This is what you typed here (${time}). It is not in the draft yet.`, this.theirs("Drop it, show the draft"));
  }

  tell(text, ...buttons) {
    this.notice.replaceChildren(...(text ? [h("p", {}, text), h("div", { class: "row" }, buttons)] : []));
    this.notice.hidden = !text;
  }

  // --- what is wrong -------------------------------------------------------------------------------------------------

  say(text, tone = "") {
    if (this.isGone) return;
    this.state.className = `source__state ${tone ? `source__state--${tone}` : ""}`;
    this.state.textContent = text || (this.store.isReadOnly ? "To read only." : "Taken into the draft as you type.");
  }

  lineOf(offset) {
    return lineAndColumn(this.text, offset).line + 1;
  }

  problems() {
    if (this.syntax) return [{ ...this.syntax, severity: "error", text: this.syntax.message }];
    const at = (field) => placeOf(this.places, field);
    if (this.wrong.length) return this.wrong.map((item) => ({ offset: at(item.field), severity: "error", text: [item.field, item.message].filter(Boolean).join(" ") }));
    return this.store.findings.filter((item) => this.isHere(item)).map((item) => ({ offset: at(this.fieldOf(item)), severity: item.severity, text: [item.message, item.mend].filter(Boolean).join(" ") }));
  }

  isHere(finding) {
    if (!this.kind) return true;
    return finding.component_kind === this.kind && (this.kind === "runtime" || finding.component_id === this.id);
  }

  fieldOf(finding) {
    if (this.kind) return finding.field;
    if (finding.component_kind === "runtime") return `runtime.${finding.field}`;
    const list = LISTS[finding.component_kind];
    const index = (getIn(this.root, [list]) || []).findIndex((item) => item?.id === finding.component_id);
    return list && index >= 0 ? `${list}[${index}].${finding.field}` : finding.field;
  }

  showProblems() {
    if (this.isGone) return;
    if (!this.state.textContent) this.say("");
    const found = this.problems().map((item) => ({ ...item, ...lineAndColumn(this.text, item.offset) })).sort((one, other) => one.line - other.line);
    this.editor?.mark(found);
    const key = JSON.stringify(found);
    if (key === this.shown) return;
    this.shown = key;
    const rows = found.slice(0, MAX_SHOWN).map((item) => {
      const go = button(`Line ${item.line + 1}`, () => this.editor?.goTo(item.line, item.column), { small: true, quiet: true });
      return h("li", { class: `finding finding--${item.severity}` }, go, h("span", { class: "finding__word" }, `${WORDS[item.severity]}: `), item.text);
    });
    if (found.length > MAX_SHOWN) rows.push(h("li", { class: "soft" }, `and ${found.length - MAX_SHOWN} more`));
    this.list.replaceChildren(...rows);
  }

  tidy() {
    if (!this.read()) return this.editor.goTo(this.lineOf(this.syntax.offset) - 1, 0);
    const neat = written(this.root);
    if (neat === this.text) return toast("It is tidy already.");
    this.show(neat);
    this.isTyped = true;
    return this.take();
  }

  complete(text, offset) {
    if (!this.language) return [];
    const context = caretContext(text, offset);
    return suggestions({ context, store: this.store, language: this.language, kind: this.kind, root: this.root });
  }
}
