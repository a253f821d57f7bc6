// The parameters of a tool as rows: name, type, required, description, order, and what values are allowed.
//
// Groups and lists of groups are edited one level deep; what lies deeper, and what only JSON can say, is told and left as it is.
import { button, h } from "../dom.js";
import { choice, findings, fold, line, ownerOf, readValue, shown, tick, valueControl } from "./tool_controls.js";
import {
  KINDS, addParameter, at, fieldsPointer, freeName, isNumeric, isObject, kindOf, moveParameter, nameProblem, orderedNames, parameterNames,
  pathOf, propertiesOf, removeParameter, renameParameter, requiredOf, setKeywords, setKind, setRequired, typeWords,
} from "./tool_model.js";

const EDITED = new Set([
  "type", "description", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "items", "properties",
  "required", "additionalProperties",
]);

// The rows. `openJson` shows the same as JSON.
export function parameterRows(form, openJson) {
  const names = parameterNames(form.tool);
  const places = names.flatMap((name) => placesOf(form.tool, ["properties", name]));
  const isElsewhere = (item) => /^(input_schema|parameter_order)/.test(item.field) && !ownerOf(item.field, places);
  return [
    findings(form, isElsewhere),
    names.length
      ? h("ol", { class: "params" }, names.map((name, index) => row(form, { container: [], name, index, count: names.length, places, openJson })))
      : h("p", { class: "soft small" }, "The model fills in nothing when it calls this tool."),
    !form.store.isReadOnly && button("Add parameter", () => add(form, []), { small: true, icon: "plus" }),
  ];
}

// The places that findings name for a parameter and, where it has fields, for each of those.
function placesOf(tool, pointer) {
  const path = pathOf(pointer);
  if (!path) return [];
  const own = [`input_schema.${path.join(".")}`];
  const schema = at(tool.input_schema, pointer);
  const inner = kindOf(schema) === "object" ? Object.keys(propertiesOf(schema)) : [];
  return [...own, ...inner.flatMap((name) => placesOf(tool, [...pointer, "properties", name]))];
}

function add(form, container) {
  const name = freeName(form.tool, container, container.length ? "field" : "parameter");
  form.focusNext = keyOf([...container, "properties", name], "name");
  form.change(addParameter(form.tool, container, name, { type: "string", description: "" }, false), { label: "Add parameter" });
}

const keyOf = (pointer, part) => `param ${pointer.join("/")} ${part}`;

function row(form, { container, name, index, count, places, openJson, isNested }) {
  const pointer = [...container, "properties", name];
  const schema = at(form.tool.input_schema, pointer);
  const path = pathOf(pointer)?.join(".");
  const isMine = (item) => path && ownerOf(item.field, places) === `input_schema.${path}`;
  const parts = isObject(schema)
    ? [controls(form, { container, pointer, name, schema, isNested }), details(form, { pointer, schema, openJson, isNested })]
    : [h("p", { class: "soft" }, h("code", {}, name), " takes any value. ", button("Edit as JSON", openJson, { quiet: true, small: true }))];
  const made = h("li", { class: isNested ? "param param--nested" : "param", "aria-label": `Parameter ${name}`, dataset: path ? { path: `input_schema.${path}` } : {} },
    !isNested && mover(form, name, index, count),
    h("div", { class: "param__body" }, parts, findings(form, isMine)),
    !form.store.isReadOnly && button("", () => remove(form, container, name), { quiet: true, small: true, icon: "trash", title: `Remove parameter ${name}` }),
  );
  if (!isNested && !form.store.isReadOnly) reorder(form, made, name, index);
  return made;
}

function remove(form, container, name) {
  const others = orderedNames(at(form.tool.input_schema, container), container.length ? [] : form.tool.parameter_order).filter((other) => other !== name);
  if (others.length) form.focusNext = keyOf([...container, "properties", others[0]], "name");
  form.change(removeParameter(form.tool, container, name), { label: `Remove parameter ${name}` });
}

// --- order -------------------------------------------------------------------------------------------------------------

function move(form, name, index) {
  form.focusNext = keyOf(["properties", name], "grip");
  form.change(moveParameter(form.tool, name, index), { label: `Move parameter ${name}` });
}

function mover(form, name, index, count) {
  if (form.store.isReadOnly || count < 2) return null;
  const grip = button("", null, { quiet: true, small: true, icon: "grip", title: `Move ${name}: drag, or press the up and down arrows. It is number ${index + 1} of ${count}` });
  grip.dataset.key = keyOf(["properties", name], "grip");
  grip.classList.add("param__grip");
  grip.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || event.altKey) return;
    event.preventDefault();
    move(form, name, index + step);
  });
  return grip;
}

// Lets a parameter be dragged by its grip (only then: text in its fields stays selectable), be dropped here, and moved with Alt and the
// arrows from any control of the row.
function reorder(form, element, name, index) {
  element.addEventListener("pointerdown", (event) => {
    element.draggable = Boolean(event.target.closest(".param__grip"));
  });
  element.addEventListener("dragstart", (event) => {
    if (!element.draggable) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", name);
    form.dragged = name;
  });
  element.addEventListener("dragend", () => {
    form.dragged = null;
    element.draggable = false;
  });
  const mark = (isOver) => element.classList.toggle("is-drop", isOver);
  element.addEventListener("keydown", (event) => {
    const step = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    move(form, name, index + step);
  });
  element.addEventListener("dragover", (event) => {
    if (!form.dragged || form.dragged === name) return;
    event.preventDefault();
    mark(true);
  });
  element.addEventListener("dragleave", () => mark(false));
  element.addEventListener("drop", (event) => {
    mark(false);
    if (!form.dragged || form.dragged === name) return;
    event.preventDefault();
    move(form, form.dragged, index);
  });
}

// --- one parameter -------------------------------------------------------------------------------------------------------

function controls(form, { container, pointer, name, schema, isNested }) {
  const kind = kindOf(schema);
  const kinds = isNested ? KINDS.filter(([value]) => !value.endsWith("object")) : KINDS;
  const known = kinds.some(([value]) => value === kind);
  const options = known ? kinds : [[kind, `${typeWords(schema, form.tool.input_schema)} (as JSON)`], ...kinds];
  const rename = (text) => {
    if (!isObject(at(form.tool.input_schema, pointer))) return "";
    const problem = nameProblem(form.tool, container, text, name);
    if (problem || text === name) return problem;
    form.rekey = [keyOf(pointer, ""), keyOf([...container, "properties", text], "")];
    form.change(renameParameter(form.tool, container, name, text), { label: `Rename parameter ${name}` });
    return "";
  };
  const describe = (text, source) =>
    form.change(setKeywords(form.tool, pointer, { description: text || undefined }), { label: `Describe ${name}`, coalesce: keyOf(pointer, "text"), source });
  return h("div", { class: "param__row" },
    line(form, { key: keyOf(pointer, "name"), label: "Name", value: name, onText: rename, isLazy: true, isMono: true }),
    choice(form, {
      key: keyOf(pointer, "type"), label: "Type", options, value: kind,
      onChoose: (chosen) => chosen && form.change(setKind(form.tool, pointer, chosen), { label: `Change the type of ${name}` }),
    }),
    line(form, { key: keyOf(pointer, "description"), label: "Description", value: schema.description, onText: describe }),
    tick(form, {
      key: keyOf(pointer, "required"), label: "Required", value: requiredOf(at(form.tool.input_schema, container)).includes(name),
      onTick: (isRequired) => form.change(setRequired(form.tool, container, name, isRequired), { label: `Require ${name}` }),
    }),
  );
}

// What values are allowed, in words, for the closed fold.
function summaryOf(schema) {
  if (kindOf(schema) === null) return "as the JSON says";
  const parts = [];
  if (Array.isArray(schema.enum)) parts.push(`one of: ${schema.enum.map(shown).join(", ")}`);
  if (Array.isArray(schema.items?.enum)) parts.push(`each one of: ${schema.items.enum.map(shown).join(", ")}`);
  const bounds = { minimum: "at least", maximum: "at most", minItems: "at least", maxItems: "at most", minLength: "at least", maxLength: "at most" };
  const units = { minItems: " entries", maxItems: " entries", minLength: " characters", maxLength: " characters" };
  for (const [key, words] of Object.entries(bounds)) if (schema[key] !== undefined) parts.push(`${words} ${schema[key]}${units[key] ?? ""}`);
  if (schema.default !== undefined) parts.push(`${shown(schema.default)} if left out`);
  const text = parts.join("; ");
  return text.length > 160 ? `${text.slice(0, 159)}…` : text || "any value";
}

function details(form, { pointer, schema, openJson, isNested }) {
  const kind = kindOf(schema);
  const others = Object.keys(schema).filter((key) => !EDITED.has(key));
  const content = [
    h("div", { class: "param__more" }, ruleControls(form, pointer, schema, kind)),
    (others.length > 0 || kind === null) &&
      h("p", { class: "field__help" }, others.length ? `Also set: ${others.join(", ")}. ` : "This type can only be written as JSON. ", button("Edit as JSON", openJson, { quiet: true, small: true })),
  ];
  const hasRules = kind !== "object" || others.length > 0;
  const parts = [hasRules && fold(form, keyOf(pointer, "rules"), ["Allowed: ", h("span", { class: "param__summary" }, summaryOf(schema))], content)];
  if (kind === "object" || kind === "array:object") parts.push(isNested ? deeper(schema, openJson) : fieldRows(form, pointer, schema, openJson));
  return parts;
}

function deeper(schema, openJson) {
  const names = orderedNames(schema.type === "array" ? schema.items : schema);
  return h("p", { class: "field__help" }, `Holds ${names.length ? names.join(", ") : "nothing yet"}. `, button("Edit as JSON", openJson, { quiet: true, small: true }));
}

function fieldRows(form, pointer, schema, openJson) {
  const container = fieldsPointer(pointer, schema);
  const group = at(form.tool.input_schema, container);
  const names = orderedNames(group);
  const places = placesOf(form.tool, pointer);
  return h("div", { class: "param__fields" },
    h("p", { class: "small soft" }, schema.type === "array" ? "Every entry of the list holds" : "The group holds"),
    names.length > 0 && h("ul", { class: "params" }, names.map((name, index) => row(form, { container, name, index, count: names.length, places, openJson, isNested: true }))),
    !form.store.isReadOnly && button("Add field", () => add(form, container), { small: true, icon: "plus" }),
  );
}

function ruleControls(form, pointer, schema, kind) {
  const set = (key) => (value, source) =>
    form.change(setKeywords(form.tool, pointer, { [key]: value }), { label: `Change ${pointer.at(-1)}`, coalesce: source && keyOf(pointer, key), source });
  const bound = (key, label) => valueControl(form, {
    key: keyOf(pointer, key), label, schema: { type: kind === "number" ? "number" : "integer" }, value: schema[key], onValue: set(key), canBeNone: true, noneText: "no limit",
  });
  const parts = [];
  if (kind === "string" || isNumeric(kind)) parts.push(optionLines(form, pointer, schema, kind, set("enum")));
  if (kind?.startsWith("array:") && kind !== "array:object") {
    const setItems = (values, source) =>
      form.change(setKeywords(form.tool, [...pointer, "items"], { enum: values }), { label: `Change ${pointer.at(-1)}`, coalesce: keyOf(pointer, "items"), source });
    parts.push(optionLines(form, [...pointer, "items"], schema.items, kind.slice(6), setItems));
  }
  if (isNumeric(kind)) parts.push(bound("minimum", "At least"), bound("maximum", "At most"));
  if (kind === "string") parts.push(bound("minLength", "Shortest, in characters"), bound("maxLength", "Longest, in characters"));
  if (kind?.startsWith("array")) parts.push(bound("minItems", "Fewest entries"), bound("maxItems", "Most entries"));
  if (["string", "boolean"].includes(kind) || isNumeric(kind)) {
    parts.push(valueControl(form, { key: keyOf(pointer, "default"), label: "If left out", schema, value: schema.default, onValue: set("default"), canBeNone: true, noneText: "not said" }));
  }
  return parts;
}

// Allowed values, one a line; no line means any value.
function optionLines(form, pointer, schema, kind, onOptions) {
  const onText = (text, source) => {
    const lines = text.split("\n").filter((item) => item !== "");
    const values = lines.map((item) => readValue(item, kind));
    const wrong = lines[values.indexOf(undefined)];
    if (wrong !== undefined) return `"${wrong}" is no ${kind === "integer" ? "whole number" : "number"}. Write one on every line.`;
    const twice = lines.find((item, index) => lines.indexOf(item) !== index);
    if (twice !== undefined) return `"${twice}" stands twice. Write every value once.`;
    onOptions(values.length ? values : undefined, source);
    return "";
  };
  return line(form, {
    key: keyOf(pointer, "enum"), label: "Allowed values, one a line", value: (schema.enum ?? []).map(shown).join("\n"), onText,
    rows: Math.min(8, Math.max(2, (schema.enum ?? []).length + 1)), placeholder: "any", isMono: true,
  });
}
