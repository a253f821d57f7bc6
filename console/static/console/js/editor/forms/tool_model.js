// A tool's parameters as data: reading and changing its input schema without touching what the form does not know.
//
// Every change takes the tool as it is and gives back the top-level fields that differ ({input_schema, parameter_order, binding}).
// A place within the schema is a pointer, the JSON keys from the root: [] is the root, ["properties", "address"] the schema of the
// parameter "address", ["properties", "lines", "items"] that of one element of the list "lines". The order in which the model
// reads the parameters is the server's own: parameter_order, then the required ones, then by name.

export const KINDS = [
  ["string", "Text"],
  ["integer", "Whole number"],
  ["number", "Number"],
  ["boolean", "Yes or no"],
  ["array:string", "List of texts"],
  ["array:integer", "List of whole numbers"],
  ["array:number", "List of numbers"],
  ["object", "Group of fields"],
  ["array:object", "List of groups"],
];
const KIND_WORDS = new Map(KINDS);
const TYPE_WORDS = {
  string: "text", integer: "whole number", number: "number", boolean: "yes or no", array: "list", object: "group", null: "nothing",
};
const SIMPLE = new Set(["string", "integer", "number", "boolean", "object"]);
const MAX_REF_HOPS = 20;

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const same = (left, right) => canonical(left) === canonical(right);
export const isNumeric = (kind) => kind === "integer" || kind === "number";

// A JSON value with its keys sorted, as text: equal texts mean equal values.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

export function at(root, pointer) {
  let node = root;
  for (const key of pointer) node = node !== null && typeof node === "object" ? node[key] : undefined;
  return node;
}

// The schema behind local references; null where there is none.
export function resolved(schema, root) {
  for (let hop = 0; hop < MAX_REF_HOPS; hop += 1) {
    if (!isObject(schema)) return null;
    if (typeof schema.$ref !== "string") return schema;
    if (!schema.$ref.startsWith("#")) return null;
    const keys = schema.$ref.slice(1).split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    schema = at(root, keys);
  }
  return null;
}

// What the form calls a schema's type: one of KINDS, or null for what only JSON can say.
export function kindOf(schema) {
  if (!isObject(schema) || typeof schema.type !== "string") return null;
  if (SIMPLE.has(schema.type)) return schema.type;
  const items = schema.type === "array" && isObject(schema.items) ? schema.items.type : null;
  return KIND_WORDS.has(`array:${items}`) ? `array:${items}` : null;
}

// A schema's type in words: "whole number", "text or nothing", "one of 3 values".
export function typeWords(schema, root = schema) {
  const node = resolved(schema, root);
  if (!node) return "any value";
  if (Array.isArray(node.enum)) return `one of ${node.enum.length} values`;
  if ("const" in node) return `always ${JSON.stringify(node.const)}`;
  const kind = kindOf(node);
  if (kind) return KIND_WORDS.get(kind).toLowerCase();
  const types = Array.isArray(node.type) ? node.type : typeof node.type === "string" ? [node.type] : [];
  return types.map((type) => TYPE_WORDS[type] ?? String(type)).join(" or ") || "any value";
}

export function requiredOf(schema) {
  return Array.isArray(schema?.required) ? schema.required.filter((key) => typeof key === "string") : [];
}

export function propertiesOf(schema) {
  return isObject(schema?.properties) ? schema.properties : {};
}

export function orderedNames(schema, order = []) {
  const properties = propertiesOf(schema);
  const known = [...order, ...requiredOf(schema)].filter((name) => Object.hasOwn(properties, name));
  return [...new Set([...known, ...Object.keys(properties).sort()])];
}

export const parameterNames = (tool) => orderedNames(tool.input_schema, tool.parameter_order ?? []);

// Every place in a tool's arguments that a binding can name: parameters, and the fields of groups, outermost first.
export function surfacePaths(tool) {
  const root = tool.input_schema;
  const found = [];
  const walk = (schema, path, isRequired, order) => {
    if (path.length > 8 || found.length > 500) return;
    for (const name of orderedNames(schema, order)) {
      const inner = resolved(schema.properties[name], root) ?? {};
      const own = [...path, name];
      const given = isRequired && requiredOf(schema).includes(name);
      const fields = Object.keys(propertiesOf(inner));
      found.push({ path: own, schema: inner, isRequired: given, isGroup: fields.length > 0 });
      if (fields.length) walk(inner, own, given, []);
    }
  };
  if (isObject(root)) walk(resolved(root, root) ?? {}, [], true, tool.parameter_order ?? []);
  return found;
}

// The binding's path of the parameter behind a pointer; null within a list, where bindings do not reach.
export function pathOf(pointer) {
  const path = [];
  for (let index = 0; index < pointer.length; index += 2) {
    if (pointer[index] !== "properties") return null;
    path.push(pointer[index + 1]);
  }
  return path;
}

// Where the fields of the parameter behind a pointer lie: within itself, or within the elements of a list of groups.
export function fieldsPointer(pointer, schema) {
  return kindOf(schema) === "array:object" ? [...pointer, "items"] : pointer;
}

// --- changes -----------------------------------------------------------------------------------------------------------

// The root with the schema at `pointer` replaced by what `change` makes of a copy of it; key order is kept.
function changed(root, pointer, change) {
  const copy = structuredClone(root);
  if (!pointer.length) return change(copy) ?? copy;
  const parent = at(copy, pointer.slice(0, -1));
  const key = pointer.at(-1);
  parent[key] = change(parent[key]) ?? parent[key];
  return copy;
}

// Keeps the order on screen (and before the model) where a change of `required` or of names would shuffle it.
function withOrder(tool, schema, names) {
  const before = tool.parameter_order ?? [];
  const natural = orderedNames(schema, []);
  const order = before.length === 0 && same(natural, names) ? [] : names;
  return same(order, before) ? { input_schema: schema } : { input_schema: schema, parameter_order: order };
}

function setOrDelete(node, key, value) {
  if (value === undefined) delete node[key];
  else node[key] = value;
}

// Sets keywords of one parameter; undefined takes a keyword away.
export function setKeywords(tool, pointer, keywords) {
  return {
    input_schema: changed(tool.input_schema, pointer, (schema) => {
      for (const [key, value] of Object.entries(keywords)) setOrDelete(schema, key, value);
    }),
  };
}

export function setRequired(tool, container, name, isRequired) {
  const schema = changed(tool.input_schema, container, (node) => {
    const others = requiredOf(node).filter((other) => other !== name);
    node.required = isRequired ? [...others, name] : others;
  });
  return container.length ? { input_schema: schema } : withOrder(tool, schema, parameterNames(tool));
}

const spelled = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// A value in another type, where it has a plain counterpart there; undefined where it has none.
export function converted(value, kind) {
  const text = spelled(value);
  if (kind === "string") return text;
  if (kind === "boolean") return { true: true, false: false, yes: true, no: false }[text.toLowerCase()];
  if (!isNumeric(kind) || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) && (kind === "number" || Number.isInteger(number)) ? number : undefined;
}

// Changes a parameter's type. Allowed values and default come along where they all have a counterpart; the bounds of numbers and
// the insides of groups and lists go with their type; every other keyword stays.
function withKind(schema, kind) {
  const made = { ...schema };
  const [outer, inner] = kind.split(":");
  made.type = outer;
  if (!isNumeric(kind)) ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"].forEach((key) => delete made[key]);
  if (outer !== "object") ["properties", "required", "additionalProperties"].forEach((key) => delete made[key]);
  else made.properties = propertiesOf(schema);
  if (outer !== "array") delete made.items;
  else made.items = inner === "object" ? { type: "object", properties: {}, ...asGroup(schema.items) } : { ...asPlain(schema.items), type: inner };
  const isPlain = outer !== "object" && outer !== "array";
  const options = isPlain && Array.isArray(made.enum) ? made.enum.map((value) => converted(value, kind)) : null;
  if (options?.length && options.every((value) => value !== undefined)) made.enum = options;
  else delete made.enum;
  const fallback = isPlain && "default" in made ? converted(made.default, kind) : undefined;
  setOrDelete(made, "default", fallback);
  if (made.const !== undefined) setOrDelete(made, "const", isPlain ? converted(made.const, kind) : undefined);
  return made;
}

const asGroup = (items) => (isObject(items) && items.type === "object" ? items : {});
const asPlain = (items) => (isObject(items) && items.type !== "object" ? items : {});

export function setKind(tool, pointer, kind) {
  return { input_schema: changed(tool.input_schema, pointer, (schema) => withKind(schema, kind)) };
}

// A name that is free in the object schema at `container`.
export function freeName(tool, container, wanted) {
  const taken = propertiesOf(at(tool.input_schema, container));
  let name = wanted;
  for (let number = 2; Object.hasOwn(taken, name); number += 1) name = `${wanted}_${number}`;
  return name;
}

export function addParameter(tool, container, name, schema, isRequired) {
  const names = parameterNames(tool);
  const made = changed(tool.input_schema, container, (node) => {
    node.properties = { ...propertiesOf(node), [name]: schema };
    if (isRequired) node.required = [...requiredOf(node), name];
    node.type ??= "object";
  });
  return container.length ? { input_schema: made } : withOrder(tool, made, [...names, name]);
}

export function moveParameter(tool, name, index) {
  const names = parameterNames(tool).filter((other) => other !== name);
  names.splice(Math.max(0, Math.min(index, names.length)), 0, name);
  const order = same(orderedNames(tool.input_schema, []), names) ? [] : names;
  return { parameter_order: order };
}

// Why a parameter cannot be called this; empty where it can.
export function nameProblem(tool, container, name, old) {
  if (!name) return "A parameter needs a name.";
  if (name !== name.trim()) return "A name neither begins nor ends with a space.";
  if (name !== old && Object.hasOwn(propertiesOf(at(tool.input_schema, container)), name)) {
    return `There already is a parameter "${name}". Choose another name.`;
  }
  return "";
}

// Renames a parameter or a field of a group; required, order and every path of the binding follow.
export function renameParameter(tool, container, old, name) {
  const schema = changed(tool.input_schema, container, (node) => {
    node.properties = Object.fromEntries(Object.entries(node.properties).map(([key, value]) => [key === old ? name : key, value]));
    if (Array.isArray(node.required)) node.required = node.required.map((key) => (key === old ? name : key));
    if (isObject(node.dependentRequired)) node.dependentRequired = renamedDependents(node.dependentRequired, old, name);
  });
  const fields = { input_schema: schema };
  if (!container.length) {
    const names = parameterNames(tool).map((key) => (key === old ? name : key));
    Object.assign(fields, withOrder(tool, schema, names));
  }
  const path = pathOf(container);
  if (path && tool.binding) {
    const from = [...path, old];
    fields.binding = mapPaths(tool.binding, (own) => (startsWith(own, from) ? [...path, name, ...own.slice(from.length)] : own));
    if (same(fields.binding, tool.binding)) delete fields.binding;
  }
  return fields;
}

function renamedDependents(dependents, old, name) {
  const swap = (key) => (key === old ? name : key);
  return Object.fromEntries(
    Object.entries(dependents).map(([key, list]) => [swap(key), Array.isArray(list) ? list.map(swap) : list]),
  );
}

// Removes a parameter, and from the binding whatever was fed by it.
export function removeParameter(tool, container, name) {
  const schema = changed(tool.input_schema, container, (node) => {
    delete node.properties[name];
    if (Array.isArray(node.required)) node.required = node.required.filter((key) => key !== name);
  });
  const fields = { input_schema: schema };
  if (!container.length && (tool.parameter_order ?? []).includes(name)) {
    fields.parameter_order = tool.parameter_order.filter((key) => key !== name);
  }
  const path = pathOf(container);
  if (path && tool.binding) {
    const gone = [...path, name];
    fields.binding = withoutPaths(tool.binding, (own) => startsWith(own, gone));
    if (same(fields.binding, tool.binding)) delete fields.binding;
  }
  return fields;
}

// --- paths of a binding ------------------------------------------------------------------------------------------------

export const startsWith = (path, start) => start.every((key, index) => path[index] === key);

// A binding with every path of the tool's arguments passed through `change`.
function mapPaths(binding, change) {
  const made = structuredClone(binding);
  for (const one of made.cases) for (const argument of one.arguments ?? []) argument.path = change(argument.path);
  if (made.switch) made.switch = change(made.switch);
  for (const constant of made.surface_constants ?? []) constant.path = change(constant.path);
  made.ignored = (made.ignored ?? []).map(change);
  return made;
}

// A binding without the maps, dictated values and ignored ones whose path is gone. A switch stays where cases hang on it: what to
// do with them is for a person to say, and a finding asks.
function withoutPaths(binding, isGone) {
  const made = structuredClone(binding);
  for (const one of made.cases) one.arguments = (one.arguments ?? []).filter((argument) => !isGone(argument.path));
  if (made.switch && isGone(made.switch) && made.cases.length === 1) {
    made.switch = null;
    made.cases[0].when = null;
  }
  made.surface_constants = (made.surface_constants ?? []).filter((constant) => !isGone(constant.path));
  made.ignored = (made.ignored ?? []).filter((path) => !isGone(path));
  return made;
}
