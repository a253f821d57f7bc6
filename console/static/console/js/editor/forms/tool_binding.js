// What a tool does, as a two-column map: left what the model fills in, right what the operation takes, rows that join the two.
import { button, dialog, h } from "../dom.js";
import { choice, findings, fold, isAt, line, ownerOf, readValue, shown, tick, valueControl } from "./tool_controls.js";
import {
  addCase, addFeedingParameter, argumentRows, casesOf, dotted, feedFrom, fittingParameters, looseRows, pointerOf, removeCase, setMap,
  setOperation, setRole, setSource, setWhen,
} from "./tool_links.js";
import { isObject, kindOf, removeParameter, same, setKeywords, surfacePaths, typeWords } from "./tool_model.js";
import { resultMap } from "./tool_result.js";
import { translation } from "./tool_values.js";

// The whole map. Cases one after another, then the parameters that feed nothing.
export function bindingMap(form) {
  const { binding } = form.tool;
  if (!binding) return unbound(form);
  return [
    ...casesOf(form.tool).map((one, index) => caseCard(form, one, index)),
    looseParameters(form),
    findings(form, (item) => isAt(item.field, "binding") && !ownerOf(item.field, [...claimedPlaces(form), ...casesOf(form.tool).map((_, index) => `binding.cases[${index}]`)])),
    !form.store.isReadOnly && h("div", { class: "row" },
      button("Add another operation", () => chooseCase(form), { small: true, icon: "plus" }),
      button("Disconnect", () => form.change({ binding: null }, { label: "Disconnect" }), { quiet: true, small: true }),
    ),
  ];
}

// The places within the binding that some row shows the findings of.
function claimedPlaces(form) {
  const { binding } = form.tool;
  return ["binding.switch", ...(binding.surface_constants ?? []).map((_, index) => `binding.surface_constants[${index}]`), ...(binding.ignored ?? []).map((_, index) => `binding.ignored[${index}]`)];
}

const operationOptions = (form) =>
  [...form.store.meta.operations]
    .sort((left, right) => (left.title || left.name).localeCompare(right.title || right.name))
    .map((operation) => [operation.name, operation.title ? `${operation.title} (${operation.name})` : operation.name]);

function unbound(form) {
  const connect = (name) => form.change(setOperation(form.tool, 0, form.operation(name)), { label: "Connect" });
  return [
    h("p", { class: "note note--warn" }, "This tool is not connected to an operation: the model can call it, and every call fails."),
    findings(form, (item) => isAt(item.field, "binding") && item.code !== "unbound_tool"),
    choice(form, { key: "connect", label: "Connect it to", options: operationOptions(form), value: null, onChoose: (name) => name && connect(name) }),
  ];
}

async function chooseCase(form) {
  let wanted = operationOptions(form)[0]?.[0];
  const box = choice(form, { key: "case", label: "Operation", options: operationOptions(form), value: wanted, onChoose: (name) => { wanted = name; } });
  const help = form.tool.binding.switch
    ? `The parameter "${dotted(form.tool.binding.switch)}" chooses between the operations.`
    : 'The tool gets a parameter "action", by which the model chooses what to do.';
  const answer = await dialog({
    title: "One tool, several operations",
    body: h("div", { class: "form" }, box, h("p", { class: "field__help" }, help)),
    actions: [{ label: "Cancel", value: null }, { label: "Add", value: "add", primary: true }],
  });
  if (answer !== "add" || !wanted) return;
  form.change(addCase(form.tool, form.operation(wanted), casesOf(form.tool)[0].operation), { label: `Add ${wanted}` });
}

// --- one case ------------------------------------------------------------------------------------------------------------

function caseCard(form, one, index) {
  const operation = form.operation(one.operation);
  const place = `binding.cases[${index}]`;
  const count = casesOf(form.tool).length;
  const rows = argumentRows(form.tool, index, operation);
  const claimed = [`${place}.operation`, `${place}.when`, `${place}.result`, ...rows.map((item) => placeOf(place, item))];
  const isMissingTold = (item) => item.code === "missing_operation_argument" && rows.some((row) => row.isMissing && item.message.includes(`"${row.name}"`));
  return h("div", { class: "case", role: "group", "aria-label": `Operation ${one.operation}`, dataset: { path: place } },
    count > 1 && caseHead(form, one, index),
    operationChoice(form, one, index, operation),
    findings(form, (item) => isAt(item.field, place) && !ownerOf(item.field, claimed) && !isMissingTold(item)),
    h("div", { class: "map", role: "table", "aria-label": `How ${one.operation} gets its arguments` },
      h("div", { class: "map__head", role: "row" },
        h("span", { role: "columnheader" }, "The model fills in"), h("span", { role: "columnheader" }, "which reaches it"), h("span", { role: "columnheader" }, "The operation takes")),
      rows.map((row) => mapRow(form, index, row, place)),
    ),
    !rows.length && h("p", { class: "soft small" }, "This operation takes no arguments."),
    resultMap(form, one, index, operation),
  );
}

const placeOf = (place, row) => (row.source === "parameter" ? `${place}.arguments[${row.place}]` : `${place}.constants.${row.name}`);

function caseHead(form, one, index) {
  const { binding } = form.tool;
  const schema = surfacePaths(form.tool).find((item) => binding.switch && same(item.path, binding.switch))?.schema ?? { type: "string" };
  const kind = kindOf(schema);
  const options = (binding.switch ? surfacePaths(form.tool).filter((item) => !item.isGroup) : []).map((item) => [item.path, dotted(item.path)]);
  const onWhen = (text) => {
    const value = readValue(text, kind);
    if (value === undefined || text === "") return "Say which value chooses this operation.";
    const isTaken = casesOf(form.tool).some((other, place) => place !== index && same(other.when, value));
    if (isTaken) return "Another operation is chosen by this value.";
    form.change(setWhen(form.tool, index, value), { label: "Change what chooses" });
    return "";
  };
  return h("div", { class: "case__head" },
    index === 0
      ? choice(form, { key: `switch ${index}`, label: "When", options, value: binding.switch ?? null, onChoose: (path) => path && form.change(setRole(form.tool, path, "switch"), { label: "Change the switch" }) })
      : h("p", { class: "case__when" }, "When ", h("code", {}, binding.switch ? dotted(binding.switch) : "(no parameter)")),
    line(form, { key: `when ${index}`, label: "is", value: one.when === null || one.when === undefined ? "" : shown(one.when), onText: onWhen, isLazy: true, isMono: true }),
    index === 0 && findings(form, (item) => isAt(item.field, "binding.switch")),
    findings(form, (item) => isAt(item.field, `binding.cases[${index}].when`)),
    !form.store.isReadOnly && button("", () => form.change(removeCase(form.tool, index), { label: `Remove ${one.operation}` }), { quiet: true, small: true, icon: "trash", title: `Remove the operation ${one.operation}` }),
  );
}

function operationChoice(form, one, index, operation) {
  const choose = (name) => form.change(setOperation(form.tool, index, form.operation(name)), { label: `Change the operation to ${name}` });
  return h("div", { class: "case__operation", dataset: { path: `binding.cases[${index}].operation` } },
    choice(form, { key: `operation ${index}`, label: "Does", options: operationOptions(form), value: one.operation, onChoose: choose }),
    operation && h("p", { class: "case__about" },
      h("span", { class: operation.effect === "write" ? "badge badge--warn" : "badge" }, operation.effect === "write" ? "changes the room" : "only reads"), " ", operation.description),
    findings(form, (item) => isAt(item.field, `binding.cases[${index}].operation`)),
  );
}

// --- one row -------------------------------------------------------------------------------------------------------------

function mapRow(form, index, row, place) {
  const way = row.source === "parameter" ? translation(form, index, row, key(index, row, "join")) : { head: [joinWord(row)], more: [] };
  const state = !row.isKnown ? "unknown" : row.isMissing ? "missing" : row.source;
  return h("div", { class: `map__row map__row--${state}`, role: "row", dataset: { argument: row.name, path: placeOf(place, row) } },
    h("div", { class: "map__cell map__cell--model", role: "cell" }, sourceControls(form, index, row)),
    h("div", { class: "map__cell map__cell--join", role: "cell" }, way.head),
    h("div", { class: "map__cell map__cell--operation", role: "cell" }, argumentFacts(form, index, row)),
    (row.isMissing || row.source !== "none") && h("div", { class: "map__more", role: "cell" }, way.more, row.isMissing && missing(form, index, row), findings(form, (item) => isAt(item.field, placeOf(place, row)))),
  );
}

const key = (index, row, part) => `map ${index} ${row.name} ${part}`;

function sourceControls(form, index, row) {
  const places = surfacePaths(form.tool);
  const options = [
    { label: "A parameter of the tool", options: places.map((item) => [{ path: item.path }, dotted(item.path)]) },
    { label: "Without the model", options: [[{ isConstant: true }, "always the same value"], [{}, row.isRequired ? "nothing" : "left out"]] },
    ...(form.store.isReadOnly || !row.isKnown ? [] : [{ label: "New", options: [[{ isNew: true }, "a new parameter like it"]] }]),
  ];
  const value = row.source === "parameter" ? { path: row.map.path } : row.source === "constant" ? { isConstant: true } : {};
  const choose = ({ path, isConstant, isNew }) => {
    const label = `Change where ${row.name} comes from`;
    if (isNew) return form.change(addFeedingParameter(form.tool, index, row), { label });
    if (path) return form.change(setSource(form.tool, index, row.name, { path }), { label });
    return form.change(setSource(form.tool, index, row.name, { constant: isConstant ? firstValue(row.schema) : undefined }), { label });
  };
  return [
    choice(form, { key: key(index, row, "source"), label: `Feeds ${row.name}`, options, value, onChoose: choose, isBare: true }),
    row.source === "parameter" && leftOut(form, index, row, places),
    row.source === "constant" && valueControl(form, {
      key: key(index, row, "constant"), label: `The value of ${row.name}`, schema: row.schema, value: row.value, isBare: true,
      onValue: (next, source) => form.change(setSource(form.tool, index, row.name, { constant: next }), { label: `Fix ${row.name}`, coalesce: key(index, row, "constant"), source }),
    }),
  ];
}

// What stands in a constant before anyone said: what the operation itself would take, else something of the right type.
function firstValue(schema) {
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  return { string: "", integer: schema.minimum ?? 0, number: schema.minimum ?? 0, boolean: true, object: {} }[kindOf(schema)] ?? (schema.type === "array" ? [] : "");
}

// What the operation receives when the model leaves the parameter out.
function leftOut(form, index, row, places) {
  const place = places.find((item) => same(item.path, row.map.path));
  const hasDefault = row.map.default !== null && row.map.default !== undefined;
  if (place?.isRequired && !hasDefault) return null;
  return valueControl(form, {
    key: key(index, row, "default"), label: "If the model leaves it out", schema: row.schema, value: row.map.default ?? undefined, canBeNone: true,
    noneText: "nothing is passed", help: row.schema.default === undefined || hasDefault ? undefined : `Then the operation takes ${shown(row.schema.default)}.`,
    onValue: (next, source) => form.change(setMap(form.tool, index, row.name, { default: next ?? null }), { label: `Default of ${row.name}`, coalesce: key(index, row, "default"), source }),
  });
}

function joinWord(row) {
  const words = row.source === "constant" ? "fixed" : row.isMissing ? "nothing yet" : "the operation decides";
  return h("p", { class: "map__word" }, words);
}

function argumentFacts(form, index, row) {
  const rules = [];
  if (Array.isArray(row.schema.enum)) rules.push(row.schema.enum.map(shown).join(", "));
  if (row.schema.minimum !== undefined) rules.push(`at least ${row.schema.minimum}`);
  if (row.schema.maximum !== undefined) rules.push(`at most ${row.schema.maximum}`);
  return [
    h("p", { class: "map__name" }, h("code", {}, row.name), " ",
      !row.isKnown ? h("span", { class: "badge badge--bad" }, "not known") : row.isRequired ? h("span", { class: "badge badge--leather badge--plain" }, "required") : null),
    row.isKnown && h("p", { class: "small soft" }, [typeWords(row.schema), ...rules].join("; ")),
    row.schema.description && h("p", { class: "small" }, row.schema.description),
    row.schema.items && isObject(row.schema.items.properties) && fold(form, `fields ${index} ${row.name}`, "Its fields", h("pre", {}, JSON.stringify(row.schema.items, null, 2))),
  ];
}

// A required argument that nobody supplies, with the ways out.
function missing(form, index, row) {
  const give = (path) => form.change(feedFrom(form.tool, index, row, path), { label: `Supply ${row.name}` });
  return h("div", { class: "map__missing", role: "note" },
    h("span", { class: "badge badge--bad" }, "Nobody supplies it"),
    !form.store.isReadOnly && [
      ...fittingParameters(form.tool, index, row).slice(0, 3).map((place) => button(`Use "${dotted(place.path)}"`, () => give(place.path), { small: true })),
      button(`Add a parameter "${row.name}"`, () => form.change(addFeedingParameter(form.tool, index, row), { label: `Supply ${row.name}` }), { small: true, icon: "plus" }),
    ],
  );
}

// --- parameters that feed nothing ----------------------------------------------------------------------------------------

const ROLES = [
  ["unused", "nothing yet"],
  ["ignored", "nothing, on purpose"],
  ["dictated", "nothing, but must be"],
];

function looseParameters(form) {
  const rows = looseRows(form.tool).filter((place) => place.role !== "switch");
  if (!rows.length) return null;
  return h("div", { class: "loose" },
    h("h4", {}, "Parameters that no operation takes"),
    rows.map((place) => looseRow(form, place)),
  );
}

function looseRow(form, place) {
  const name = dotted(place.path);
  const id = `loose ${name}`;
  const { binding } = form.tool;
  const field = place.role === "dictated" ? `binding.surface_constants[${place.constant}]` : place.role === "ignored" ? `binding.ignored[${place.ignored}]` : "";
  const dictate = (value, source) => form.change(setRole(form.tool, place.path, "dictated", value), { label: `Dictate ${name}`, coalesce: id, source });
  const choose = (role) => (role === "dictated" ? dictateFirst(form, place) : form.change(setRole(form.tool, place.path, role), { label: `Change what ${name} does` }));
  return h("div", { class: `loose__row loose__row--${place.role}`, dataset: field ? { path: field } : {} },
    h("p", { class: "map__name" }, h("code", {}, name), h("span", { class: "small soft" }, ` ${typeWords(place.schema, form.tool.input_schema)}`)),
    choice(form, { key: `${id} role`, label: `${name} reaches`, options: ROLES, value: place.role, onChoose: choose, isBare: true }),
    place.role === "dictated" && valueControl(form, { key: `${id} value`, label: `${name} must be`, schema: { ...place.schema, const: undefined }, value: binding.surface_constants[place.constant].value, onValue: dictate, isBare: true }),
    place.role === "unused" && !form.store.isReadOnly && place.path.length === 1 &&
      button(`Remove "${name}"`, () => form.change(removeParameter(form.tool, [], name), { label: `Remove parameter ${name}` }), { quiet: true, small: true }),
    place.role === "dictated" && tick(form, {
      key: `${id} const`, label: "The schema says so to the model", value: "const" in place.schema,
      onTick: (isSaid) => say(form, place, isSaid),
    }),
    field && findings(form, (item) => isAt(item.field, field)),
  );
}

function dictateFirst(form, place) {
  const value = "const" in place.schema ? place.schema.const : firstValue(place.schema);
  form.change(setRole(form.tool, place.path, "dictated", value), { label: `Dictate ${dotted(place.path)}` });
}

function say(form, place, isSaid) {
  const pointer = pointerOf(form.tool, place.path);
  if (!pointer) return;
  const value = form.tool.binding.surface_constants[place.constant].value;
  form.change(setKeywords(form.tool, pointer, { const: isSaid ? value : undefined }), { label: `Describe ${dotted(place.path)}` });
}
