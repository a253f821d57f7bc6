// The "if …" of a hook: one row for each condition, all of which must hold.
import { button, h } from "../dom.js";
import { FIELDS, NEEDS_PATH, lookable, operatorWords, operatorsFor, pairs, valuesFor } from "./hook_model.js";
import { choice, findingSlot, labelled, tokenInput } from "./parts.js";

export function conditionRows(form) {
  const rows = form.hook.when || [];
  const add = button(rows.length ? "and …" : "Add a condition", () => addRow(form), { small: true, icon: "plus" });
  add.dataset.key = "add";
  return [
    rows.length ? rows.map((item, index) => conditionRow(form, item, index)) : h("p", { class: "soft" }, "in every case"),
    !form.store.isReadOnly && add,
  ];
}

function addRow(form) {
  const field = (form.language.hooks.fields_by_event[form.hook.event] || ["comment"])[0];
  const index = (form.hook.when || []).length;
  const op = operatorsFor(field, null)[0];
  form.set({ when: [...(form.hook.when || []), { field, path: null, op, values: [] }] }, "Add a condition");
  form.focus(`field-${index}`);
}

function conditionRow(form, item, index) {
  const { store, place } = form;
  const path = `when[${index}]`;
  const looks = NEEDS_PATH.includes(item.field) ? lookable(store, form.language, form.hook, item.field) : [];
  const look = looks.find((one) => JSON.stringify(one.path) === JSON.stringify(item.path));
  const remove = button("", () => removeRow(form, index), { quiet: true, small: true, icon: "close", title: `Remove condition ${index + 1}` });
  const part = (name, key, control) => {
    control.dataset.key = `${key}-${index}`;
    return labelled({ ...place, path: `${path}.${key}`, label: `${name} of condition ${index + 1}`, isHidden: true, control });
  };
  return h(
    "div",
    { class: "condition", role: "group", "aria-label": `Condition ${index + 1}` },
    h("span", { class: "condition__and" }, index ? "and" : ""),
    h(
      "div",
      { class: "condition__parts" },
      part("Subject", "field", fieldChoice(form, item, index)),
      NEEDS_PATH.includes(item.field) && part("Field", "path", pathChoice(form, item, index, looks)),
      part("Test", "op", operatorChoice(form, item, index, look)),
      needsValues(item.op) && part("Values", "values", valueControl(form, item, index, look)),
    ),
    !store.isReadOnly && h("div", { class: "rows__tools" }, remove),
    findingSlot({ ...place, path, isExact: true }),
  );
}

const needsValues = (op) => op !== "exists" && op !== "missing";

function removeRow(form, index) {
  form.set({ when: form.hook.when.filter((_, at) => at !== index) }, "Remove a condition");
  form.focus(index ? `field-${index - 1}` : "add");
}

function change(form, index, fields) {
  const when = form.hook.when.map((item, at) => (at === index ? { ...item, ...fields } : item));
  form.set({ when }, "Change a condition");
}

function fieldChoice(form, item, index) {
  const allowed = form.language.hooks.fields_by_event[form.hook.event] || Object.keys(FIELDS);
  const onChange = (field) => {
    const op = operatorsFor(field, null).includes(item.op) ? item.op : operatorsFor(field, null)[0];
    change(form, index, { field, path: null, op, values: valuesFor(op, item.values || []) });
  };
  return choice({ store: form.store, label: "Subject", options: pairs(FIELDS, allowed), value: item.field, onChange });
}

function pathChoice(form, item, index, looks) {
  const onChange = (path) => {
    const shape = looks.find((one) => one.path === path)?.shape;
    const allowed = operatorsFor(item.field, shape);
    const op = allowed.includes(item.op) ? item.op : allowed[0];
    change(form, index, { path, op, values: valuesFor(op, item.values || []) });
  };
  const control = choice({ store: form.store, label: "Field", options: looks.map((one) => [one.path, one.text]), value: item.path, onChange });
  const look = looks.find((one) => JSON.stringify(one.path) === JSON.stringify(item.path));
  if (look?.shape.description) control.title = look.shape.description;
  return control;
}

function operatorChoice(form, item, index, look) {
  const onChange = (op) => change(form, index, { op, values: valuesFor(op, item.values || []) });
  return choice({ store: form.store, label: "Test", options: pairs(operatorWords(look?.shape), operatorsFor(item.field, look?.shape)), value: item.op, onChange });
}

function valueControl(form, item, index, look) {
  const type = look?.shape.types[0];
  const set = (values) => form.store.set("hook", form.id, [[["when", index, "values"], values]], { source: form, label: "Change a condition's values", coalesce: `values ${index}` });
  const values = item.values || [];
  if (item.op === "above" || item.op === "below") return numberControl(form, values, set);
  if (type === "boolean" && values.length <= 1) {
    return choice({ store: form.store, label: "Values", options: [[true, "yes (true)"], [false, "no (false)"]], value: values[0], onChange: (value) => set([value]) });
  }
  const isText = item.op.startsWith("contains");
  const suggestions = isText ? [] : look?.shape.enum || [];
  return tokenInput({ store: form.store, label: `Values of condition ${index + 1}`, values, onChange: set, suggestions, parse: (text) => parsed(text, isText ? "string" : type, look?.shape.enum), show: shown, placeholder: isText ? "A phrase, then Enter" : "A value, then Enter" });
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

function parsed(text, type, allowed) {
  if (allowed?.length && !allowed.map(String).includes(text)) throw new Error(`“${text}” never comes up here. It is one of: ${allowed.join(", ")}.`);
  if (type === "integer" || type === "number") {
    const value = Number(text.replace(",", "."));
    if (Number.isNaN(value)) throw new Error(`“${text}” is no number.`);
    return value;
  }
  if (type === "boolean") {
    if (!["true", "false"].includes(text)) throw new Error("Write true or false.");
    return text === "true";
  }
  return text;
}

function numberControl(form, values, set) {
  const control = h("input", { type: "text", inputmode: "decimal", class: "condition__number", value: values[0] ?? "", readOnly: form.store.isReadOnly, autocomplete: "off" });
  const problem = h("p", { class: "field__error", role: "alert", hidden: true });
  control.addEventListener("input", () => {
    const value = Number(control.value.replace(",", "."));
    const isWrong = control.value.trim() !== "" && Number.isNaN(value);
    problem.textContent = isWrong ? `“${control.value}” is no number.` : "";
    problem.hidden = !isWrong;
    if (!isWrong) set(control.value.trim() === "" ? [] : [value]);
  });
  return h("div", {}, control, problem);
}
