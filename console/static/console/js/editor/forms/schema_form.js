// Small forms for JSON values that have a schema: one control for each property, JSON where a control would not do.
//
// Absent is not empty: a property that is not needed can be left out, and one that may be null can say so.
import { INVALID, bind, button, field, h, select, textInput } from "../dom.js";
import { formatPath, getIn, parsePath } from "../paths.js";
import { JsonTextError, lineAndColumn, readJson } from "../json_text.js";
import { discard, keep, kept } from "./kept.js";
import { labelled } from "./parts.js";
import { at, resolved } from "./tool_model.js";

const LEFT_OUT = [undefined, "(left out)"];

// What a schema allows, in short: { types, enum, isNullable }.
export function shapeOf(schema, root) {
  const found = resolved(schema, root) || {};
  const types = [found.type || []].flat().filter((type) => type !== "null");
  const isNullable = [found.type || []].flat().includes("null") || (found.enum || []).includes(null);
  const values = found.const !== undefined ? [found.const] : found.enum;
  return { schema: found, types, isNullable, enum: values?.filter((value) => value !== null), description: found.description || "" };
}

// The least value that a schema takes: needed properties, first choices, empty texts, zeros, null where that is allowed.
export function skeleton(schema, root, depth = 0) {
  const shape = shapeOf(schema, root);
  if (shape.schema.default !== undefined) return shape.schema.default;
  if (shape.isNullable) return null;
  if (shape.enum?.length) return shape.enum[0];
  const type = shape.types[0];
  if (type === "object" && depth < 6) {
    const names = shape.schema.required || [];
    return Object.fromEntries(names.map((name) => [name, skeleton(at(shape.schema, ["properties", name]) || {}, root, depth + 1)]));
  }
  return { array: [], integer: shape.schema.minimum ?? 0, number: shape.schema.minimum ?? 0, boolean: false, object: {} }[type] ?? "";
}

// The controls for an object value at `path`: the schema's properties in its order, then keys that the schema does not know.
export function schemaForm({ store, kind, id, path, schema, nothing }) {
  const steps = parsePath(path);
  const known = Object.entries(schema?.properties || {});
  const value = getIn(store.get(kind, id), steps) || {};
  const strangers = Object.keys(value).filter((name) => !known.some(([key]) => key === name));
  const rows = known.map(([name, inner]) => property({ store, kind, id, path: [...steps, name] }, name, inner, schema));
  rows.push(...strangers.map((name) => jsonField({ store, kind, id, path: [...steps, name], label: name, help: "Not known to the operation.", isRemovable: true })));
  if (!rows.length) return h("p", { class: "soft small" }, nothing || "It takes nothing.");
  return h("div", { class: "schema-form" }, rows);
}

function property(place, name, inner, schema) {
  const isRequired = (schema.required || []).includes(name);
  const shape = shapeOf(inner, schema);
  const label = name;
  const help = shape.description;
  const control = controlFor(place, shape, isRequired);
  if (!control) return jsonField({ ...place, label, help, isOptional: !isRequired, isRemovable: !isRequired });
  const made = field({ ...place, label, help, control, isOptional: !isRequired });
  made.querySelector("label")?.classList.add("mono");
  return made;
}

// The control for a simple value; null where only JSON will do.
export function controlFor(place, shape, isRequired) {
  const ends = [...(isRequired ? [] : [LEFT_OUT]), ...(shape.isNullable ? [[null, "(nothing: null)"]] : [])];
  if (shape.enum) return select({ ...place, options: [...ends, ...shape.enum.map((value) => [value, String(value)])] });
  if (shape.types.length !== 1) return null;
  if (shape.types[0] === "boolean") return select({ ...place, options: [...ends, [true, "yes (true)"], [false, "no (false)"]] });
  if (["integer", "number"].includes(shape.types[0])) return textInput({ ...place, type: "number", step: shape.types[0] === "integer" ? 1 : "any", empty: emptyValue(shape, isRequired), placeholder: emptyWord(shape, isRequired) });
  if (shape.types[0] === "string") return textInput({ ...place, empty: emptyValue(shape, isRequired), placeholder: emptyWord(shape, isRequired) });
  return null;
}

// What an emptied line stores: nothing at all where the property may be left out, null where it may be that, else an empty text.
function emptyValue(shape, isRequired) {
  if (!isRequired) return undefined;
  return shape.isNullable ? null : "";
}

function emptyWord(shape, isRequired) {
  if (!isRequired) return "(left out)";
  return shape.isNullable ? "(nothing: null)" : null;
}

// A JSON value as text. What is not JSON stays as typed, here and when one comes back, and the document keeps what it had.
export function jsonField({ store, kind, id, path, label, help, isOptional, isRemovable, rows = 2, isHidden, mustBe }) {
  const steps = parsePath(path);
  const where = `${kind}:${id}:${formatPath(path)}`;
  const area = h("textarea", { class: "mono grows", rows, spellcheck: false, placeholder: isRemovable ? "(left out)" : null });
  const problem = h("p", { class: "field__error", role: "alert", hidden: true });
  const say = (text) => {
    problem.replaceChildren(text, " ", button("Discard what is typed", forget, { quiet: true, small: true }));
    problem.hidden = !text;
    if (text) area.setAttribute("aria-invalid", "true");
    else area.removeAttribute("aria-invalid");
  };
  const read = () => {
    if (!area.value.trim() && isRemovable) return undefined;
    const { value } = readJson(area.value);
    if (mustBe === "object" && (value === null || typeof value !== "object" || Array.isArray(value))) throw new JsonTextError("An object is needed here: { … }", 0);
    return value;
  };
  // What is no JSON yet is never written over: it goes when it is mended or discarded.
  const write = (value) => {
    const text = value === undefined ? "" : JSON.stringify(value, null, 2);
    if (!problem.hidden || sameText(area.value, text)) return;
    area.value = text;
  };
  const forget = () => {
    discard(store, where);
    say("");
    write(getIn(store.get(kind, id), steps));
    area.focus();
  };
  const old = kept(store, where);
  bind(area, { store, kind, id, path, read: () => readOr(area, read, say, where, store), write });
  if (old && !store.isReadOnly) {
    area.value = old.text;
    readOr(area, read, say, where, store);
  }
  const made = labelled({ label: h("span", { class: isHidden ? "" : "mono" }, label, isOptional && h("span", { class: "field__optional" }, " (optional)")), help, isHidden, control: h("div", {}, area, problem), store, kind, id, path: steps });
  return made;
}

function readOr(area, read, say, where, store) {
  try {
    const value = read();
    say("");
    discard(store, where);
    return value;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const { line } = lineAndColumn(area.value, error.offset);
    say(`Line ${line + 1}: ${error.message} Kept as typed; not used until it is mended.`);
    keep(store, where, area.value);
    return INVALID;
  }
}

function sameText(typed, text) {
  if (typed === text) return true;
  try {
    return typed !== "" && JSON.stringify(JSON.parse(typed)) === JSON.stringify(JSON.parse(text));
  } catch {
    return false;
  }
}
