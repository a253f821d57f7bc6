// What the parts of the tool form share: one place that changes the tool and draws its sections anew, and controls for JSON values.
//
// A section is drawn from the tool as it is. It is drawn anew after every change but those that its own text fields make, later than
// the event (so that Tab and clicks find what they aimed at), and focus and caret go back to the control with the same `data-key`.
import { findingLine, h, listen, toast, uniqueId } from "../dom.js";
import { converted, isNumeric, kindOf, same } from "./tool_model.js";

export class ToolForm {
  constructor(store, id) {
    this.store = store;
    this.id = id;
    this.opened = new Set();
    this.kept = new Map();
    this.sections = [];
    this.timer = 0;
    this.rekey = null; // [old, new]: how the keys of what was renamed last begin
    this.isPressed = false;
    this.waiting = [];
  }

  get tool() {
    return this.store.get("tool", this.id);
  }

  operation(name) {
    return this.store.meta.operations.find((operation) => operation.name === name) ?? null;
  }

  // Sets top-level fields of the tool. `source` is the control that is being typed in: its own section stays as it is.
  change(fields, { label, coalesce, source } = {}) {
    if (!fields) return;
    const name = this.tool.name || this.id;
    const pairs = Object.entries(fields).map(([key, value]) => [[key], value]);
    this.store.set("tool", this.id, pairs, { label: label ? `${label} (${name})` : `Edit ${name}`, coalesce, source: source ?? this });
  }

  // A part of the form. `build` gives its children from the tool as it is.
  section(props, build) {
    const element = h("section", props);
    const section = { element, build, isStale: false };
    this.sections.push(section);
    this.draw(section);
    return element;
  }

  draw(section) {
    section.isStale = false;
    const { element } = section;
    const active = element.contains(document.activeElement) ? document.activeElement : null;
    const focus = active?.dataset.key ? { key: active.dataset.key, start: caretOf(active), end: caretOf(active, "End") } : null;
    element.replaceChildren(...[section.build()].flat(Infinity).filter(Boolean));
    if (focus && !this.focusNext && !this.focusOn(focus, element) && this.rekey) {
      this.focusOn({ ...focus, key: focus.key.replace(...this.rekey) }, element);
    }
    if (this.focusNext && this.focusOn({ key: this.focusNext, isNew: true }, element)) this.focusNext = null;
  }

  focusOn({ key, start, end, isNew }, root) {
    const found = root.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!found) return false;
    found.focus({ preventScroll: !isNew });
    if (isNew && found.select) found.select();
    else if (start !== null && start !== undefined) found.setSelectionRange(start, end);
    return true;
  }

  // Draws what is stale once the event at hand is over; while a pointer is down, after its click.
  later(source) {
    for (const section of this.sections) section.isStale = true;
    this.typing = source instanceof Element ? source : null;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), 0);
  }

  settle() {
    if (this.isPressed || !this.tool) return;
    for (const section of this.sections) {
      const isTyping = this.typing && document.activeElement === this.typing && section.element.contains(this.typing);
      if (section.isStale && !isTyping) this.draw(section);
    }
  }

  // Does something at once or, while a pointer is down, after its click: the click means the form as it is on screen.
  afterPress(work) {
    if (this.isPressed) this.waiting.push(work);
    else work();
  }

  // Starts listening; gives back what stops it.
  attach(container) {
    const stop = this.store.on("change", ({ detail }) => {
      if (detail.kind === "tool" && detail.id === this.id) this.later(detail.source);
    });
    const press = () => {
      this.isPressed = true;
    };
    const release = () => {
      setTimeout(() => {
        this.isPressed = false;
        this.waiting.splice(0).forEach((work) => work());
        this.settle();
      }, 30);
    };
    const leave = () => setTimeout(() => this.settle(), 0);
    container.addEventListener("pointerdown", press);
    document.addEventListener("pointerup", release);
    document.addEventListener("pointercancel", release);
    container.addEventListener("focusout", leave);
    return () => {
      stop();
      clearTimeout(this.timer);
      document.removeEventListener("pointerup", release);
      document.removeEventListener("pointercancel", release);
    };
  }
}

function caretOf(control, side = "Start") {
  try {
    return control[`selection${side}`] ?? null;
  } catch {
    return null;
  }
}

// --- findings ----------------------------------------------------------------------------------------------------------

// Whether a finding's place is `path` or lies within it.
export const isAt = (place, path) => place === path || place.startsWith(`${path}.`) || place.startsWith(`${path}[`);

// A live list of the findings for which `isMine(finding)` holds.
export function findings(form, isMine) {
  const list = h("ul", { class: "field__findings", hidden: true });
  const show = () => {
    const found = form.store.findingsFor("tool", form.id).filter(isMine);
    const text = JSON.stringify(found);
    if (list.dataset.shown === text) return;
    list.dataset.shown = text;
    list.hidden = !found.length;
    list.replaceChildren(...found.map((item) => findingLine(form.store, item)));
  };
  listen(list, form.store, "findings", show);
  show();
  return list;
}

// The longest of `places` that a finding's field lies in: it is shown there and nowhere else.
export function ownerOf(field, places) {
  return places.filter((place) => isAt(field, place)).sort((left, right) => right.length - left.length)[0] ?? null;
}

// --- controls ----------------------------------------------------------------------------------------------------------

// A label over a control, with a line for what is wrong with what was typed. Gives {element, fail(message)}.
export function labelled(label, control, { help, isBare, extra } = {}) {
  control.id ||= uniqueId("tool");
  const problem = h("p", { class: "field__error", id: uniqueId("problem"), role: "alert", hidden: true });
  const about = help ? h("p", { class: "field__help", id: uniqueId("help") }, help) : null;
  const text = h("label", {}, label);
  text.htmlFor = control.id;
  control.setAttribute("aria-describedby", [about?.id, problem.id].filter(Boolean).join(" "));
  const element = h("div", { class: isBare ? "field field--bare" : "field" }, text, control, about, problem, extra);
  const fail = (message) => {
    problem.hidden = !message;
    problem.textContent = message;
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  return { element, control, fail };
}

// A choice that calls `onChoose(value)`. `options`: [[value, text] or {label, options}]; values are any JSON.
export function choice(form, { key, label, options, value, onChoose, isBare, help, isDisabled }) {
  const values = [];
  const option = ([item, text]) => {
    values.push(item);
    return h("option", { value: String(values.length - 1), selected: same(item, value) }, text);
  };
  const control = h("select", { dataset: { key } }, options.map((item) =>
    Array.isArray(item) ? option(item) : item.options.length ? h("optgroup", { label: item.label }, item.options.map(option)) : null,
  ));
  if (!values.some((item) => same(item, value))) {
    control.prepend(option([value, value === null || value === undefined ? "Choose…" : `${JSON.stringify(value)} (not known)`]));
    control.value = String(values.length - 1);
  }
  control.disabled = form.store.isReadOnly || Boolean(isDisabled);
  control.addEventListener("change", () => onChoose(values[Number(control.value)]));
  return labelled(label, control, { isBare, help }).element;
}

export function tick(form, { key, label, value, onTick, isBare }) {
  const control = h("input", { type: "checkbox", checked: value, dataset: { key }, disabled: form.store.isReadOnly });
  control.addEventListener("change", () => onTick(control.checked));
  return h("label", { class: isBare ? "check check--bare" : "check" }, control, h("span", {}, label));
}

// A line (or several) of text. `onText(text, control)` gives back what is wrong with it, or nothing when it was taken. `isLazy`
// waits until the line is left or Enter pressed: for names, where half a name means something else.
export function line(form, { key, label, value, onText, isBare, help, isLazy, isMono, rows, placeholder, inputMode, extra }) {
  const props = { dataset: { key }, placeholder, inputMode, autocomplete: "off", spellcheck: !isMono, class: isMono ? "mono" : null };
  const control = rows ? h("textarea", { ...props, rows }) : h("input", { ...props, type: "text" });
  control.value = value ?? "";
  control.readOnly = form.store.isReadOnly;
  const made = labelled(label, control, { isBare, help, extra });
  const take = () => {
    const problem = onText(control.value, control) || "";
    if (problem && !control.isConnected) toast(problem, { tone: "error" });
    made.fail(problem);
  };
  control.addEventListener(isLazy ? "change" : "input", () => (isLazy ? form.afterPress(take) : take()));
  return made.element;
}

const NONE = undefined;

// A control for one JSON value of a schema. `onValue(value, source)`; NONE where it is emptied (and `canBeNone`).
export function valueControl(form, { key, label, schema, value, onValue, canBeNone, noneText = "nothing", isBare, help }) {
  const kind = kindOf(schema);
  const fixed = Array.isArray(schema?.enum) ? schema.enum : kind === "boolean" ? [true, false] : null;
  if (fixed) {
    const texts = fixed.map((option) => [option, option === true ? "yes" : option === false ? "no" : shown(option)]);
    const options = canBeNone ? [[null, noneText], ...texts] : texts;
    const onChoose = (chosen) => onValue(canBeNone && chosen === null ? NONE : chosen);
    return choice(form, { key, label, options, value: value ?? null, onChoose, isBare, help });
  }
  const isText = kind === "string";
  const text = value === undefined || value === null ? "" : isText && typeof value === "string" ? value : JSON.stringify(value);
  const onText = (typed, source) => {
    const read = readValue(typed, kind);
    if (typed === "" && canBeNone) return onValue(NONE, source);
    if (read === undefined) return isNumeric(kind) ? `Write a ${kind === "integer" ? "whole number" : "number"}.` : 'Write JSON: a text stands in quotes, such as "red".';
    onValue(read, source);
    return "";
  };
  const placeholder = canBeNone ? noneText : undefined;
  return line(form, { key, label, value: text, onText, isBare, help, placeholder, isMono: !isText, inputMode: isNumeric(kind) ? "decimal" : undefined });
}

// What was typed as a value of a kind; undefined where it is none.
export function readValue(typed, kind) {
  if (kind === "string") return typed;
  if (isNumeric(kind)) return converted(typed.trim(), kind);
  try {
    return JSON.parse(typed);
  } catch {
    return undefined;
  }
}

export const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// A part that opens and closes; whether it is open outlives drawing anew.
export function fold(form, key, summary, content, { isOpen = false } = {}) {
  const seen = `seen ${key}`;
  if (isOpen && !form.kept.has(seen)) form.opened.add(key);
  form.kept.set(seen, true);
  const made = h("details", { class: "fold", open: form.opened.has(key) }, h("summary", { dataset: { key: `fold ${key}` } }, summary), content);
  made.addEventListener("toggle", () => (made.open ? form.opened.add(key) : form.opened.delete(key)));
  return made;
}
