// A tool's binding as data: which parameter feeds which operation argument, and what a change of it means.
//
// Like tool_model.js, every change takes the tool and gives back the top-level fields that differ. A case is named by its index.
import {
  addParameter, canonical, freeName, isObject, kindOf, orderedNames, pathOf, propertiesOf, requiredOf, resolved, same, setKind, setKeywords, setRequired,
  startsWith, surfacePaths,
} from "./tool_model.js";

export const dotted = (path) => path.join(".");
export const casesOf = (tool) => tool.binding?.cases ?? [];

const argumentSchema = (operation, name) =>
  resolved(propertiesOf(operation.input_schema)[name], operation.input_schema) ?? {};

// One row per argument of a case's operation: how it is supplied. `source` is "parameter", "constant" or "none"; `isMissing` where
// the operation requires it and nobody supplies it; `isKnown` is false for what the operation does not have (any more).
export function argumentRows(tool, index, operation) {
  const one = casesOf(tool)[index];
  const known = operation ? orderedNames(operation.input_schema) : [];
  const required = requiredOf(operation?.input_schema);
  const maps = new Map((one.arguments ?? []).map((map, place) => [map.argument, { map, place }]));
  const constants = one.constants ?? {};
  const names = new Set([...known, ...maps.keys(), ...Object.keys(constants)]);
  return [...names].map((name) => {
    const found = maps.get(name);
    const source = found ? "parameter" : Object.hasOwn(constants, name) ? "constant" : "none";
    const isRequired = required.includes(name);
    return {
      name, source, isRequired,
      isKnown: !operation || known.includes(name),
      isMissing: isRequired && source === "none",
      schema: operation ? argumentSchema(operation, name) : {},
      map: found?.map ?? null,
      place: found?.place ?? -1,
      value: constants[name],
    };
  });
}

// What a parameter does when no argument of this case (null: of any case) is fed by it: "switch", "dictated", "ignored", "other"
// (another case uses it) or "unused".
export function looseRows(tool, index = null) {
  const binding = tool.binding;
  const paths = (isWanted) => casesOf(tool).flatMap((one, place) => (isWanted(place) ? (one.arguments ?? []).map((map) => map.path) : []));
  const own = paths((place) => index === null || place === index);
  const others = paths((place) => index !== null && place !== index);
  const constants = binding.surface_constants ?? [];
  const covers = (paths, path) => paths.some((other) => startsWith(path, other) || startsWith(other, path));
  return surfacePaths(tool)
    .filter((place) => !place.isGroup && !covers(own, place.path))
    .map((place) => {
      const constant = constants.findIndex((item) => same(item.path, place.path));
      const ignored = (binding.ignored ?? []).findIndex((path) => startsWith(place.path, path));
      const isSwitch = Boolean(binding.switch) && same(binding.switch, place.path);
      const role = isSwitch ? "switch" : constant >= 0 ? "dictated" : ignored >= 0 ? "ignored" : covers(others, place.path) ? "other" : "unused";
      return { ...place, role, constant, ignored };
    });
}

function withCase(tool, index, change) {
  const binding = structuredClone(tool.binding);
  change(binding.cases[index], binding);
  return { binding };
}

const mapOf = (argument, path) => ({ argument, path, recode: [], conversion: null, default: null });

// Takes a path out of what dictates or ignores it: it is about to feed an argument.
function freed(binding, path) {
  binding.surface_constants = (binding.surface_constants ?? []).filter((item) => !same(item.path, path));
  binding.ignored = (binding.ignored ?? []).filter((item) => !same(item, path));
}

// Says where an operation argument comes from: {path}, {constant} or {} for nowhere. What stood there before goes.
export function setSource(tool, index, argument, { path, constant }) {
  return withCase(tool, index, (one, binding) => {
    one.constants = { ...(one.constants ?? {}) };
    one.arguments ??= [];
    const place = one.arguments.findIndex((map) => map.argument === argument);
    delete one.constants[argument];
    if (path) {
      freed(binding, path);
      if (place >= 0) one.arguments[place].path = path;
      else one.arguments.push(mapOf(argument, path));
    } else {
      if (place >= 0) one.arguments.splice(place, 1);
      if (constant !== undefined) one.constants[argument] = constant;
    }
  });
}

export function setMap(tool, index, argument, fields) {
  return withCase(tool, index, (one) => Object.assign(one.arguments.find((map) => map.argument === argument), fields));
}

// The type that the model's side takes by a conversion of an operation's value; null where the type may stay.
function surfaceKind(conversion, schema) {
  if (!conversion) return ["integer", "number"].includes(kindOf(schema)) ? kindOf(schema) : null;
  return { text: "string", epoch: "integer", scale: "number" }[conversion.kind];
}

// Sets how values are translated on the way: {recode}, {conversion} or {} for as they are. The parameter's type follows a
// conversion, and its allowed values follow those of a recode where they were the same before; unless the parameter does not exist,
// only JSON can say what it is, or another case uses it too.
export function setTranslation(tool, index, row, { recode = [], conversion = null }) {
  const fields = setMap(tool, index, row.name, { recode, conversion });
  const place = surfacePaths(tool).find((item) => same(item.path, row.map.path));
  const isShared = casesOf(tool).some((one, other) => other !== index && (one.arguments ?? []).some((map) => same(map.path, row.map.path)));
  const pointer = place && !isShared && kindOf(place.schema) !== null ? pointerOf(tool, row.map.path) : null;
  if (!pointer) return fields;
  const before = (casesOf(tool)[index].arguments.find((map) => map.argument === row.name)?.recode ?? []).map((pair) => pair.surface);
  if (recode.length && before.length && sameValues(place.schema.enum, before)) {
    return { ...setKeywords(tool, pointer, { enum: recode.map((pair) => pair.surface) }), ...fields };
  }
  const wanted = recode.length ? null : surfaceKind(conversion, row.schema);
  return wanted && kindOf(place.schema) !== wanted ? { ...setKind(tool, pointer, wanted), ...fields } : fields;
}

// Whether two lists hold the same values, in whatever order.
export function sameValues(left, right) {
  return Array.isArray(left) && same([...left].map(canonical).sort(), [...right].map(canonical).sort());
}

// The pointer of a parameter by its path; null where a reference lies on the way: what is shared is not changed for one place.
export function pointerOf(tool, path) {
  const pointer = path.flatMap((key) => ["properties", key]);
  let node = tool.input_schema;
  for (const key of path) node = isObject(node) && !("$ref" in node) ? propertiesOf(node)[key] : undefined;
  return isObject(node) && !("$ref" in node) ? pointer : null;
}

// What a loose parameter does: "dictated" (with a value), "ignored", "switch" or "unused".
export function setRole(tool, path, role, value) {
  const binding = structuredClone(tool.binding);
  freed(binding, path);
  if (binding.switch && same(binding.switch, path)) binding.switch = null;
  if (role === "dictated") binding.surface_constants.push({ path, value });
  if (role === "ignored") binding.ignored.push(path);
  if (role === "switch") binding.switch = path;
  return { binding };
}

// --- mends: what one click does for an argument that nobody supplies -----------------------------------------------------

// The parameters that could feed an argument: loose ones of the same name or, failing that, of the same type.
export function fittingParameters(tool, index, row) {
  const loose = looseRows(tool, index).filter((place) => ["unused", "ignored", "other"].includes(place.role));
  const named = loose.filter((place) => place.path.at(-1).toLowerCase() === row.name.toLowerCase());
  return named.length ? named : loose.filter((place) => place.role !== "other" && kindOf(place.schema) === kindOf(row.schema));
}

// A schema as a parameter of a tool: closed in itself, without the dialect's address. Null where it points elsewhere.
function asParameter(schema) {
  const copy = structuredClone(schema ?? {});
  delete copy.$schema;
  return JSON.stringify(copy).includes('"$ref"') ? null : copy;
}

// Adds a parameter that looks like the operation's argument and feeds it.
export function addFeedingParameter(tool, index, row) {
  const name = freeName(tool, [], row.name);
  const isRequired = row.isRequired && casesOf(tool).length === 1;
  const schema = asParameter(row.schema) ?? { type: "string", description: row.schema.description ?? "" };
  const fields = addParameter(tool, [], name, schema, isRequired);
  return { ...fields, ...setSource({ ...tool, ...fields }, index, row.name, { path: [name] }) };
}

// Feeds an argument from a parameter, which becomes required where the operation insists and no other case exists.
export function feedFrom(tool, index, row, path) {
  const fields = setSource(tool, index, row.name, { path });
  if (!row.isRequired || casesOf(tool).length > 1 || path.length > 1) return fields;
  return { ...setRequired(tool, [], path[0], true), ...fields };
}

// --- operations and cases ------------------------------------------------------------------------------------------------

function emptyCase(operation, when = null) {
  return { operation, when, arguments: [], constants: {}, result: { fields: [], wrap: [], format: "json" } };
}

// Connects a tool, or changes what a case stands for. Maps and constants of arguments that the new operation has as well stay, and
// so do result fields that it gives; parameters named like one of its arguments are joined to it.
export function setOperation(tool, index, operation) {
  const binding = structuredClone(tool.binding) ?? { cases: [emptyCase(operation.name)], switch: null, surface_constants: [], ignored: [] };
  const one = binding.cases[index];
  one.operation = operation.name;
  const known = orderedNames(operation.input_schema);
  one.arguments = (one.arguments ?? []).filter((map) => known.includes(map.argument));
  one.constants = Object.fromEntries(Object.entries(one.constants ?? {}).filter(([name]) => known.includes(name)));
  const fields = resultPaths(operation);
  one.result ??= { fields: [], wrap: [], format: "json" };
  one.result.fields = (one.result.fields ?? []).filter((field) => fields.some((place) => same(place.path, field.path)));
  joinByName({ ...tool, binding }, index, known);
  return { binding };
}

function joinByName(tool, index, known) {
  const one = tool.binding.cases[index];
  const supplied = new Set([...one.arguments.map((map) => map.argument), ...Object.keys(one.constants)]);
  for (const place of looseRows(tool, index)) {
    const name = place.path.at(-1);
    if (!known.includes(name) || supplied.has(name) || !["unused", "other"].includes(place.role)) continue;
    one.arguments.push(mapOf(name, place.path));
    supplied.add(name);
  }
}

// Adds a case. The first further one needs a switch: a parameter with the operations to choose from is made for it.
export function addCase(tool, operation, oldOperation) {
  let fields = {};
  let current = tool;
  if (!tool.binding.switch) {
    const name = freeName(tool, [], "action");
    const options = [oldOperation, operation.name];
    const schema = { type: "string", description: "what to do", enum: options };
    fields = addParameter(tool, [], name, schema, true);
    const binding = structuredClone(tool.binding);
    binding.switch = [name];
    binding.cases[0].when = oldOperation;
    current = { ...tool, ...fields, binding };
  } else {
    fields = allowSwitchValue(tool, operation.name);
    current = { ...tool, ...fields };
  }
  const binding = structuredClone(current.binding);
  binding.cases.push(emptyCase(operation.name, operation.name));
  const joined = { ...current, binding };
  joinByName(joined, binding.cases.length - 1, orderedNames(operation.input_schema));
  return { ...fields, binding };
}

// The switch's parameter with one more allowed value, where it lists them.
function allowSwitchValue(tool, value, old) {
  const pointer = tool.binding.switch ? pointerOf(tool, tool.binding.switch) : null;
  const schema = pointer ? pointer.reduce((node, key) => node[key], tool.input_schema) : null;
  if (!Array.isArray(schema?.enum)) return {};
  const kept = old === undefined ? schema.enum : schema.enum.filter((option) => !same(option, old));
  return setKeywords(tool, pointer, { enum: kept.some((option) => same(option, value)) ? kept : [...kept, value] });
}

// Removes a case; with the last further one the switch goes too. The value that chose it is no longer allowed.
export function removeCase(tool, index) {
  const binding = structuredClone(tool.binding);
  const [gone] = binding.cases.splice(index, 1);
  const pointer = binding.switch ? pointerOf(tool, binding.switch) : null;
  const schema = pointer ? pointer.reduce((node, key) => node[key], tool.input_schema) : null;
  let fields = {};
  if (Array.isArray(schema?.enum) && schema.enum.length > 1) {
    fields = setKeywords(tool, pointer, { enum: schema.enum.filter((option) => !same(option, gone.when)) });
  }
  if (binding.cases.length === 1) {
    binding.switch = null;
    binding.cases[0].when = null;
  }
  return { ...fields, binding };
}

export function setWhen(tool, index, value) {
  const fields = allowSwitchValue(tool, value, casesOf(tool)[index].when ?? undefined);
  return { ...fields, ...withCase({ ...tool, ...fields }, index, (one) => { one.when = value; }) };
}

// --- results -------------------------------------------------------------------------------------------------------------

// Every field of an operation's result, outermost first; lists on the way count as their elements.
function resultPaths(operation) {
  const root = operation?.output_schema;
  const found = [];
  const walk = (schema, path) => {
    const node = resolved(schema, root);
    const inner = node?.items && !node.properties ? resolved(node.items, root) : node;
    for (const [name, raw] of Object.entries(propertiesOf(inner))) {
      const own = [...path, name];
      if (own.length > 8 || found.length > 500) return;
      found.push({ path: own, schema: resolved(raw, root) ?? {} });
      walk(raw, own);
    }
  };
  if (isObject(root)) walk(root, []);
  return found;
}

// Rows of a result map in the order in which the model reads the fields, each group followed by its own. As on the server, a
// name's place in the map decides, then the name. `field` is null for one that is shown as it is. What lies within a hidden group is
// left out.
export function resultRows(one, operation) {
  const declared = resultPaths(operation);
  const fields = one.result?.fields ?? [];
  const mapped = new Map(fields.map((field) => [JSON.stringify(field.path), field]));
  const shownName = (path) => mapped.get(JSON.stringify(path))?.name || path.at(-1);
  const ranks = new Map(fields.map((field, index) => [field.name || field.path.at(-1), index]).reverse());
  const rows = declared.map((place) => ({ ...place, isKnown: true, field: mapped.get(JSON.stringify(place.path)) ?? null }));
  for (const field of fields) {
    if (!declared.some((place) => same(place.path, field.path))) rows.push({ path: field.path, schema: {}, isKnown: !operation, field });
  }
  const key = (path) => path.map((_, depth) => {
    const name = shownName(path.slice(0, depth + 1));
    return [ranks.get(name) ?? 10_000, name];
  });
  const isWithinHidden = (path) => path.slice(0, -1).some((_, depth) => mapped.get(JSON.stringify(path.slice(0, depth + 1)))?.is_hidden);
  const shown = rows.filter((row) => !row.isKnown || !isWithinHidden(row.path));
  return shown.map((row) => [key(row.path), row]).sort(([left], [right]) => byKeys(left, right)).map(([, row]) => row);
}

function byKeys(left, right) {
  for (let depth = 0; depth < Math.min(left.length, right.length); depth += 1) {
    if (left[depth][0] !== right[depth][0]) return left[depth][0] - right[depth][0];
    if (left[depth][1] !== right[depth][1]) return left[depth][1] < right[depth][1] ? -1 : 1;
  }
  return left.length - right.length;
}

const isPlain = (field) => !field.is_hidden && field.name === null && !field.recode?.length && !field.conversion;

function withResult(tool, index, change) {
  return withCase(tool, index, (one) => {
    one.result = { fields: [], wrap: [], format: "json", ...one.result };
    change(one.result);
  });
}

export function setResult(tool, index, values) {
  return withResult(tool, index, (result) => Object.assign(result, values));
}

// Changes how one field is shown; a map entry is made where there is none, and stays where it is for the sake of the order.
export function setResultField(tool, index, path, values) {
  return withResult(tool, index, (result) => {
    const found = result.fields.find((field) => same(field.path, path));
    if (found) return Object.assign(found, values);
    return result.fields.push({ path, name: null, recode: [], conversion: null, is_hidden: false, ...values });
  });
}

export function dropResultField(tool, index, path) {
  return withResult(tool, index, (result) => {
    result.fields = result.fields.filter((field) => !same(field.path, path));
  });
}

// Moves a field before or after its neighbour of the same parent. The order among all shown neighbours is written down, since
// those that the map does not mention would go by name.
export function moveResultField(tool, index, operation, path, step) {
  const parent = path.slice(0, -1);
  const rows = resultRows(casesOf(tool)[index], operation).filter((row) => same(row.path.slice(0, -1), parent));
  const place = rows.findIndex((row) => same(row.path, path));
  const target = place + step;
  if (target < 0 || target >= rows.length) return null;
  rows.splice(target, 0, ...rows.splice(place, 1));
  return withResult(tool, index, (result) => {
    const made = rows.map((row) => row.field ?? { path: row.path, name: null, recode: [], conversion: null, is_hidden: false });
    const others = result.fields.filter((field) => !same(field.path.slice(0, -1), parent));
    result.fields = [...made, ...others];
  });
}

// Whether a map entry says nothing but its place.
export const saysNothing = (field) => !field || isPlain(field);
export { pathOf };
