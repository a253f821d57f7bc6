// The form of a hook: one sentence, "When … if … then …", with a choice wherever the sentence has one. Only what fits together is offered.
import { field, h, listen, textInput } from "../dom.js";
import { actionFields } from "./hook_actions.js";
import { conditionRows } from "./hook_conditions.js";
import { EVENTS, isToolEvent, matchedOperations, pairs, sentence, underEvent } from "./hook_model.js";
import { checkList, choice, findingSlot, labelled, mountWithLanguage, toolChoices } from "./parts.js";

export function mount(container, { store, id }) {
  return mountWithLanguage(container, store, (language) => {
    const form = new HookForm(store, id, language);
    return h(
      "div",
      { class: "form form--hook" },
      field({ store, kind: "hook", id, path: "name", label: "Name", help: "In traces, and before texts that are marked with it.", control: textInput({ store, kind: "hook", id, path: "name", isMono: true }) }),
      form.node,
    );
  });
}

// The sentence. Words and numbers are bound and stay; a choice that changes what else can be chosen draws the clauses anew, and the
// focus goes back to where it was.
class HookForm {
  constructor(store, id, language) {
    Object.assign(this, { store, id, language, kind: "hook", shape: "", earlier: new Map() });
    this.read = h("p", { class: "sentence__read" });
    this.clauses = h("div", { class: "sentence__clauses" });
    this.node = h("section", { class: "sentence", "aria-label": "The rule" }, this.read, this.clauses);
    this.place = { store, kind: "hook", id };
    listen(this.node, store, "document", ({ detail }) => this.hear(detail));
    listen(this.node, store, "meta", () => this.draw());
    this.draw();
  }

  get hook() {
    return this.store.get("hook", this.id);
  }

  hear({ source }) {
    if (!this.hook) return;
    const isOwn = source === this || (source instanceof Node && this.node.contains(source));
    if (isOwn && this.shapeNow() === this.shape) this.say();
    else this.draw();
  }

  // Sets places of the hook. What else can be chosen is worked out again.
  set(fields, label) {
    this.store.set("hook", this.id, fields, { source: this, label, coalesce: label ? undefined : true });
  }

  // What the clauses look like, apart from words and numbers.
  shapeNow() {
    const { event, matcher, when, action } = this.hook;
    const tools = this.store.list("tool").map((tool) => [tool.id, tool.name]);
    const operations = matchedOperations(this.store, this.hook).map((item) => item.name);
    return JSON.stringify([event, matcher, (when || []).map((item) => [item.field, item.path, item.op]), action.type, action.slot, action.on_violation, action.mode, Object.keys(action.set || {}), tools, operations]);
  }

  say() {
    this.read.textContent = sentence(this.store, this.hook);
  }

  draw() {
    if (!this.hook) return;
    this.shape = this.shapeNow();
    const key = this.clauses.contains(document.activeElement) ? document.activeElement.closest("[data-key]")?.dataset.key : null;
    this.say();
    this.clauses.replaceChildren(clause("When", this.when()), clause("if", conditionRows(this)), clause("then", actionFields(this)));
    if (key) this.focus(key);
  }

  focus(key) {
    const found = this.clauses.querySelector(`[data-key="${CSS.escape(key)}"]`);
    (found?.matches("select, input, button, textarea, summary") ? found : found?.querySelector("select, input, button, textarea"))?.focus();
  }

  when() {
    const event = choice({ store: this.store, label: "When", options: pairs(EVENTS), value: this.hook.event, onChange: (value) => this.setEvent(value) });
    event.dataset.key = "event";
    return [labelled({ ...this.place, path: "event", label: "Event", isHidden: true, control: event }), isToolEvent(this.language, this.hook.event) && this.tools(), findingSlot({ ...this.place, path: "matcher" })];
  }

  // An event that allows another action gets one; going back brings the old one back.
  setEvent(event) {
    this.earlier.set(this.hook.event, { action: this.hook.action, matcher: this.hook.matcher || [] });
    const next = underEvent(this.hook, event, this.language);
    const before = this.earlier.get(event);
    if (before && next.action !== this.hook.action) next.action = before.action;
    if (before && isToolEvent(this.language, event) && !this.hook.matcher?.length) next.matcher = before.matcher;
    this.set(next, "Change when a hook fires");
  }

  tools() {
    const chosen = (this.hook.matcher || []).map((toolId) => this.store.get("tool", toolId)?.name || toolId);
    const list = checkList({ ...this.place, path: "matcher", choices: toolChoices(this.store), empty: "The harness has no tools yet.", unknown: "no such tool" });
    const title = h("summary", { dataset: { key: "tools" } }, "for ", h("strong", {}, chosen.join(" or ") || "any tool"));
    const made = h("details", { class: "tool-choice", open: this.areToolsOpen }, title, h("p", { class: "field__help" }, "None ticked: any tool."), list);
    made.addEventListener("toggle", () => {
      this.areToolsOpen = made.open;
    });
    return made;
  }
}

function clause(word, ...content) {
  return h("fieldset", { class: "clause" }, h("legend", {}, word), h("div", { class: "clause__body" }, content));
}
