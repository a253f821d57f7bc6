// Making page parts: elements, labelled fields that are bound to a place of the document, buttons, dialogs, toasts.
//
// A bound control writes to the store as one types (coalesced) and takes on what comes from elsewhere (undo, merge, source view),
// but is never written to while it already says the same: focus and caret stay. Its listeners go when it leaves the page.
import { icon } from "./icons.js";
import { formatPath, getIn, parsePath } from "./paths.js";

let counter = 0;
export const uniqueId = (prefix = "e") => `${prefix}-${(counter += 1)}`;

// An element. `props`: class, dataset, on… (listeners), style (an object), hidden and other properties or attributes.
export function h(tag, props, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "dataset") Object.assign(made.dataset, value);
    else if (name === "style") for (const [key, item] of Object.entries(value)) made.style.setProperty(key, item);
    else if (name.startsWith("on") && typeof value === "function") made.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name in made && !name.startsWith("aria") && !["list", "form", "role"].includes(name)) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Listens to a store for as long as `element` is in the page.
export function listen(element, store, type, listener) {
  let wasShown = false;
  const stop = store.on(type, (event) => {
    if (element.isConnected) wasShown = true;
    else if (wasShown) return stop();
    listener(event);
  });
  return stop;
}

// --- fields ----------------------------------------------------------------------------------------------------------

const SEVERITIES = { error: "Error", warning: "Warning", info: "Note" };

// A label, a control, a help line and the findings about this place, live. `path` may be left out where there are none.
export function field({ label, help, control, path, kind, id, store, isOptional }) {
  const target = control.matches("input, select, textarea") ? control : control.querySelector("input, select, textarea") || control;
  target.id ||= uniqueId("field");
  const helpId = help ? uniqueId("help") : null;
  const slot = h("ul", { class: "field__findings", id: uniqueId("findings"), hidden: true });
  const isBox = target.type === "checkbox";
  const optional = isOptional && h("span", { class: "field__optional" }, " (optional)");
  const text = h("label", { for: target.id, class: isBox ? "check" : null }, isBox ? [control, ` ${label}`] : [label, optional]);
  text.htmlFor = target.id;
  const made = h("div", { class: "field" }, text, !isBox && control, help && h("p", { class: "field__help", id: helpId }, help), slot);
  const describe = () => target.setAttribute("aria-describedby", [helpId, !slot.hidden && slot.id].filter(Boolean).join(" "));
  if (helpId) describe();
  if (store && path !== undefined && kind) {
    const show = () => {
      showFindings(slot, target, store, kind, id, path);
      if (helpId || !slot.hidden) describe();
      else target.removeAttribute("aria-describedby");
    };
    listen(made, store, "findings", show);
    made.dataset.path = formatPath(path);
    show();
  }
  return made;
}

function showFindings(slot, target, store, kind, id, path) {
  const found = store.findingsFor(kind, id, path);
  const text = JSON.stringify(found);
  if (slot.dataset.shown === text) return;
  slot.dataset.shown = text;
  slot.hidden = !found.length;
  slot.replaceChildren(...found.map((item) => findingLine(store, item)));
  if (found.some((item) => item.severity === "error")) target.setAttribute("aria-invalid", "true");
  else target.removeAttribute("aria-invalid");
}

// One finding with its mend: a button where the mend can be made at once.
export function findingLine(store, item) {
  const mend = item.fix && !store.isReadOnly && button(item.fix.label, () => mendFinding(store, item), { quiet: true, small: true });
  return h(
    "li",
    { class: `finding finding--${item.severity}` },
    h("span", { class: "finding__word" }, `${SEVERITIES[item.severity] || item.severity}: `),
    `${item.message} `,
    h("span", { class: "finding__mend" }, item.mend),
    mend,
  );
}

async function mendFinding(store, item) {
  try {
    await store.apply(item.fix.edits, item.fix.label);
    undoToast(store, `${item.fix.label}: done.`);
  } catch (error) {
    toast(error.message, { tone: "error" });
  }
}

// Ties a control to a place: `read` gives its value, `write` shows one, `type` is the event by which it changes.
export function bind(control, { store, kind, id, path, type = "input", read, write, coalesce = true, label }) {
  const steps = parsePath(path);
  const current = () => getIn(store.get(kind, id), steps);
  write(current());
  control.dataset.bound = "";
  control.disabled = store.isReadOnly && !("readOnly" in control && control.type !== "checkbox" && control.type !== "radio");
  if (store.isReadOnly && "readOnly" in control) control.readOnly = true;
  control.addEventListener(type, () => {
    const value = read();
    if (value === INVALID) return;
    store.set(kind, id, [[steps, value]], { coalesce, source: control, label });
  });
  listen(control, store, "change", ({ detail }) => {
    if (detail.kind !== kind || detail.id !== id || detail.source === control) return;
    if (store.get(kind, id)) write(current());
  });
  return control;
}

// What `read` gives back where the control holds nothing that can be stored (a number half typed): the document stays as it was.
export const INVALID = Symbol("invalid");

// Shows another text; in the field that has the focus, the caret goes behind what changed, as with a browser's own undo.
export function setText(control, text) {
  const old = control.value;
  if (old === text) return;
  control.value = text;
  if (document.activeElement !== control || control.type === "number") return;
  let same = 0;
  while (same < Math.min(old.length, text.length) && old.at(-1 - same) === text.at(-1 - same)) same += 1;
  const caret = text.length - same;
  control.setSelectionRange(caret, caret);
}

// A line of text. `empty` is what an empty line stores (left out: an empty text). `type: "number"` stores numbers.
export function textInput({ store, kind, id, path, empty = "", type = "text", min, max, step, placeholder, list, isMono, label }) {
  const control = h("input", { type, min, max, step, placeholder, list, class: isMono ? "mono" : null, autocomplete: "off", spellcheck: isMono ? "false" : null });
  const read = () => {
    if (type !== "number") return control.value === "" ? empty : control.value;
    if (control.value === "") return empty === "" || !control.validity.valid ? INVALID : empty;
    return control.validity.badInput ? INVALID : Number(control.value);
  };
  const write = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const saysTheSame = type === "number" && control.value !== "" && Number(control.value) === value;
    if (!saysTheSame) setText(control, text);
  };
  if (type === "number") control.addEventListener("blur", () => write(getIn(store.get(kind, id), path)));
  return bind(control, { store, kind, id, path, read, write, label });
}

// A text of several lines, as tall as what it holds (between `rows` and a screen).
export function textArea({ store, kind, id, path, empty = "", rows = 3, placeholder, isMono, label }) {
  const control = h("textarea", { rows, placeholder, class: isMono ? "mono grows" : "grows", spellcheck: isMono ? "false" : null });
  const read = () => (control.value === "" ? empty : control.value);
  return bind(control, { store, kind, id, path, read, write: (value) => setText(control, value ?? ""), label });
}

// A choice. `options`: [[value, text], …] or [value, …]; values may be anything JSON, null included.
export function select({ store, kind, id, path, options, label, onChange }) {
  const pairs = options.map((option) => (Array.isArray(option) ? option : [option, String(option)]));
  const control = h("select", {}, pairs.map(([, text], index) => h("option", { value: String(index) }, text)));
  const read = () => pairs[Number(control.value)][0];
  const write = (value) => {
    let index = pairs.findIndex(([item]) => item === (value ?? null) || item === value);
    if (index < 0) {
      pairs.push([value ?? null, value === null || value === undefined ? "(none)" : `${value} (not known)`]);
      index = pairs.length - 1;
      control.append(h("option", { value: String(index) }, pairs[index][1]));
    }
    control.value = String(index);
  };
  bind(control, { store, kind, id, path, type: "change", read, write, coalesce: false, label });
  if (onChange) control.addEventListener("change", () => onChange(read()));
  return control;
}

export function checkbox({ store, kind, id, path, label }) {
  const control = h("input", { type: "checkbox" });
  const write = (value) => {
    control.checked = Boolean(value);
  };
  return bind(control, { store, kind, id, path, type: "change", read: () => control.checked, write, coalesce: false, label });
}

// --- buttons, dialogs, toasts ----------------------------------------------------------------------------------------

export function button(label, onClick, { quiet, danger, primary, small, icon: drawing, title, pressed, disabled } = {}) {
  const tones = { "button--quiet": quiet, "button--danger": danger, "button--primary": primary, "button--small": small, "button--icon": drawing && !label };
  const names = ["button", ...Object.keys(tones).filter((name) => tones[name])];
  const made = h("button", { type: "button", class: names.join(" "), title, disabled, "aria-label": label ? null : title }, drawing && icon(drawing), label);
  if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
  if (onClick) made.addEventListener("click", onClick);
  return made;
}

// A dialog. `actions`: [{ label, value, primary, danger, disabled, onClick }]; `onClick` may be async and keeps the dialog open by giving
// back false or throwing (the message is shown). Resolves with the action's value (its label where it has none), or null when dismissed.
export function dialog({ title, body, actions = [{ label: "Close", value: null }], isWide, onOpen }) {
  const problem = h("p", { class: "note note--bad", role: "alert", hidden: true });
  const heading = h("h2", { id: uniqueId("dialog") }, title);
  const foot = h("div", { class: "row dialog__foot" });
  const content = h("div", { class: "dialog__body" }, typeof body === "string" ? h("p", {}, body) : body);
  const box = h("dialog", { class: isWide ? "dialog dialog--wide" : "dialog", "aria-labelledby": heading.id }, heading, content, problem, foot);
  return new Promise((resolve) => {
    let result = null;
    for (const action of actions) {
      const made = button(action.label, () => run(action, made), action);
      if (action.ref) action.ref(made);
      foot.append(made);
    }
    async function run(action, made) {
      if (made.classList.contains("is-busy")) return;
      made.classList.add("is-busy");
      problem.hidden = true;
      try {
        const answer = action.onClick ? await action.onClick() : undefined;
        if (answer === false) return;
        result = action.value !== undefined ? action.value : action.label;
        box.close();
      } catch (error) {
        problem.textContent = error.message;
        problem.hidden = false;
      } finally {
        made.classList.remove("is-busy");
      }
    }
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !event.target.matches('input:not([type="checkbox"], [type="radio"])')) return;
      event.preventDefault();
      foot.querySelector(".button--primary:enabled, .button--danger:enabled")?.click();
    });
    box.addEventListener("close", () => {
      box.remove();
      resolve(result);
    });
    document.body.append(box);
    box.showModal();
    (box.querySelector("[autofocus]") || content.querySelector("input, textarea, select") || foot.lastElementChild)?.focus();
    if (onOpen) onOpen(box);
  });
}

// A short message at the corner. `action`: { label, onClick }. Errors stay until dismissed.
export function toast(text, { tone = "info", action, timeout = tone === "error" ? 0 : 8000 } = {}) {
  const made = h("div", { class: `toast toast--${tone}`, dataset: { toast: "" } }, h("p", {}, text));
  const close = () => made.remove();
  if (action) {
    made.append(
      button(action.label, () => {
        close();
        action.onClick();
      }, { quiet: true, small: true }),
    );
  }
  made.append(h("button", { type: "button", "aria-label": "Dismiss this message", onClick: close }, "✕"));
  document.querySelector("#toasts").append(made);
  if (timeout) setTimeout(close, timeout);
  return close;
}

// A message about the last edit that can be taken back; it goes when that edit is no longer the last.
export function undoToast(store, text) {
  const edit = store.undoList.at(-1);
  const close = toast(text, { action: { label: "Undo", onClick: () => store.undo() } });
  const stop = store.on("history", () => {
    if (store.undoList.at(-1) === edit) return;
    close();
    stop();
  });
}
