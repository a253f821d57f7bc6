// What can stand at the caret of a harness's JSON: property names, allowed values, and the names and ids of this harness's own
// components and operations. Plain data in, suggestions out: { value, insert, note, meta }.
import { LISTS } from "./kinds.js";
import { at, resolved } from "./forms/tool_model.js";

// `context` is json_text's caretContext; `language` the server's; `root` the value that has been read last (for choosing among the
// kinds of an action); `kind` the component's kind, or null for the whole harness.
export function suggestions({ context, store, language, kind, root }) {
  const schema = language.spec_schema;
  const start = kind ? componentSchema(schema, kind) : schema;
  const path = context.path;
  const places = schemasAt(start, schema, path, root);
  if (context.place === "key") return keys(places, schema, context, store, kind, path, root);
  return [...ownValues(store, kind, path, root), ...places.flatMap((place) => values(place, schema))];
}

const DEFINITIONS = { prompt: "PromptSection", skill: "Skill", tool: "Tool", hook: "Hook", example: "Example", runtime: "RuntimeSettings" };

function componentSchema(schema, kind) {
  return schema.$defs[DEFINITIONS[kind]];
}

// The schemas that a place can have; a choice between kinds is narrowed down by what is written there already.
function schemasAt(start, root, path, value) {
  let places = branches(start, root, value);
  let here = value;
  for (const step of path) {
    here = here !== null && typeof here === "object" ? here[step] : undefined;
    const next = here;
    places = places.flatMap((place) => branches(stepInto(place, step), root, next));
  }
  return places;
}

function stepInto(place, step) {
  if (typeof step === "number") return place.prefixItems?.[step] || place.items;
  return place.properties?.[step] || (typeof place.additionalProperties === "object" ? place.additionalProperties : null);
}

function branches(schema, root, value) {
  const found = schema && resolved(schema, root);
  if (!found) return [];
  const choices = found.oneOf || found.anyOf;
  if (!choices) return [found];
  const all = choices.flatMap((choice) => branches(choice, root, value));
  const tag = found.discriminator?.propertyName;
  const chosen = tag && value && all.filter((choice) => choice.properties?.[tag]?.const === value[tag]);
  return chosen?.length ? chosen : all;
}

function keys(places, root, context, store, kind, path, value) {
  const found = new Map();
  for (const place of places) {
    for (const [name, schema] of Object.entries(place.properties || {})) {
      if (context.keys.includes(name) || found.has(name)) continue;
      const isRequired = (place.required || []).includes(name);
      found.set(name, { value: name, insert: name, isKey: true, start: opening(schema, root), meta: isRequired ? "needed" : typeOf(schema, root), note: resolved(schema, root)?.description || "" });
    }
  }
  for (const own of ownKeys(store, kind, path, value)) if (!context.keys.includes(own.value) && !found.has(own.value)) found.set(own.value, { isKey: true, start: "", ...own });
  return [...found.values()];
}

// How a value of this schema begins, so that a chosen key can be written out with it.
function opening(schema, root) {
  const found = branches(schema, root, undefined)[0] || {};
  return { object: "{}", array: "[]", string: '""' }[found.type] || (found.properties ? "{}" : "");
}

function typeOf(schema, root) {
  const found = branches(schema, root, undefined);
  return [...new Set(found.map((item) => (item.enum ? "choice" : item.type || (item.properties ? "object" : "value"))))].join(" or ");
}

function values(place, root) {
  const found = resolved(place, root) || {};
  const allowed = found.const !== undefined ? [found.const] : found.enum || [];
  const list = allowed.map((value) => ({ value: String(value), json: value, meta: "allowed value" }));
  if (found.type === "boolean") list.push(...[true, false].map((value) => ({ value: String(value), json: value, meta: "yes or no" })));
  if (found.type === "null") list.push({ value: "null", json: null, meta: "nothing" });
  return list;
}

// --- this harness's own words --------------------------------------------------------------------------------------------

// The path within the component, its kind, and the component, whichever way the text is rooted.
function placed(kind, path, root) {
  if (kind) return { kind, inner: path, component: root };
  const found = Object.entries(LISTS).find(([, list]) => list === path[0]);
  if (!found) return path[0] === "runtime" ? { kind: "runtime", inner: path.slice(1), component: root?.runtime } : { kind: null, inner: path };
  return { kind: found[0], inner: path.slice(2), component: at(root, path.slice(0, 2)) };
}

const shapeOfPath = (path) => path.map((step) => (typeof step === "number" ? "*" : step)).join(".");

function ownValues(store, kind, path, root) {
  const { kind: here, inner, component } = placed(kind, path, root);
  const shape = `${here}:${shapeOfPath(inner)}`;
  const operations = store.meta.operations;
  if (["skill:allowed_tools.*", "hook:matcher.*"].includes(shape)) return ids(store, "tool");
  if (["tool:binding.cases.*.operation", "example:calls.*.operation"].includes(shape)) {
    return operations.map((item) => ({ value: item.name, json: item.name, meta: "operation", note: item.title }));
  }
  const operation = (name) => operations.find((item) => item.name === name);
  if (shape === "tool:binding.cases.*.arguments.*.argument") return names(operation(at(component, inner.slice(0, 3))?.operation)?.input_schema, "argument");
  if (shape === "tool:binding.cases.*.result.fields.*.path.*") return names(operation(at(component, inner.slice(0, 3))?.operation)?.output_schema, "result field");
  if (/^tool:binding\.(cases\.\*\.arguments\.\*\.path|switch|ignored\.\*|surface_constants\.\*\.path)\.\*$/.test(shape)) return names(component?.input_schema, "parameter");
  if (["tool:parameter_order.*", "tool:input_schema.required.*"].includes(shape)) return names(component?.input_schema, "parameter");
  return [];
}

function ownKeys(store, kind, path, root) {
  const { kind: here, inner, component } = placed(kind, path, root);
  const shape = `${here}:${shapeOfPath(inner)}`;
  const operation = (name) => store.meta.operations.find((item) => item.name === name);
  const asKeys = (list) => list.map(({ value, meta, note }) => ({ value, insert: value, meta, note }));
  if (shape === "example:calls.*.arguments") return asKeys(names(operation(at(component, inner.slice(0, 2))?.operation)?.input_schema, "argument"));
  if (shape === "example:calls.*.result") return asKeys(names(operation(at(component, inner.slice(0, 2))?.operation)?.output_schema, "result field"));
  if (shape === "tool:binding.cases.*.constants") return asKeys(names(operation(at(component, inner.slice(0, 3))?.operation)?.input_schema, "argument"));
  if (shape === "hook:action.set") {
    const side = component?.event === "PostToolUse" ? "output_schema" : "input_schema";
    return asKeys(store.meta.operations.flatMap((item) => names(item[side], item.name)));
  }
  return [];
}

function ids(store, kind) {
  return store.list(kind).map((item) => ({ value: item.id, json: item.id, meta: kind, note: `now “${item.name}”` }));
}

function names(schema, meta) {
  return Object.entries(schema?.properties || {}).map(([name, inner]) => ({ value: name, json: name, meta, note: inner.description || "" }));
}
