// How values change on their way between the tool and the operation: as they are, translated one by one, or converted. The same
// controls serve arguments (which can be read back exactly) and fields of a result.
import { button, h } from "../dom.js";
import { choice, line, valueControl } from "./tool_controls.js";
import { casesOf, pointerOf, sameValues, setTranslation } from "./tool_links.js";
import { isNumeric, kindOf, same, setKeywords, surfacePaths } from "./tool_model.js";

const FACTOR = /^(\d{0,9}[1-9]\d{0,9}|\d{1,9}\.\d{0,8}[1-9])$/;
const WAYS = {
  same: "as it is",
  recode: "values translated",
  scale: "a number, scaled",
  text: "a number, as a text",
  epoch: "a time, in seconds",
};

const wayOf = ({ recode, conversion }) => (recode?.length ? "recode" : conversion ? conversion.kind : "same");

// The schema of single values: that of the entries for a list.
const element = (schema) => (schema?.type === "array" && schema.items ? schema.items : schema ?? {});

// The ways that fit a schema of the operation's side, and the one that is set.
function waysFor(schema, current) {
  const kind = kindOf(element(schema));
  const types = [element(schema).type].flat();
  const fits = (name) => {
    if (name === "scale" || name === "text") return isNumeric(kind) || types.some(isNumeric) || !types[0];
    if (name === "epoch") return kind === "string" || types.includes("string") || !types[0];
    return kind !== "object";
  };
  return Object.entries(WAYS).filter(([name]) => name === current || fits(name));
}

// Starting pairs: every value that the operation knows, as itself.
function firstPairs(schema) {
  const values = element(schema).enum ?? (kindOf(element(schema)) === "boolean" ? [true, false] : []);
  const known = values.filter((value) => value !== null);
  if (!known.length) return [{ operation: "", surface: "" }];
  return known.map((value) => ({ operation: value, surface: typeof value === "boolean" ? (value ? "yes" : "no") : value }));
}

const STARTS = {
  same: () => ({}),
  recode: (schema) => ({ recode: firstPairs(schema) }),
  scale: () => ({ conversion: { kind: "scale", factor: "0.01" } }),
  text: () => ({ conversion: { kind: "text" } }),
  epoch: () => ({ conversion: { kind: "epoch" } }),
};

// A choice of the way, and what that way needs: {head, more}, the latter where it needs room. `read()` gives {recode, conversion} as they are now: what is typed does not draw this
// anew. `onChange({recode, conversion}, {coalesce, source})`.
export function wayControls(form, { key, label, name, read, schema, surface, onChange }) {
  const item = read();
  const way = wayOf(item);
  const head = [
    choice(form, { key: `${key} way`, label, options: waysFor(schema, way), value: way, onChoose: (chosen) => onChange(STARTS[chosen](schema), {}), isBare: true }),
  ];
  const more = way === "recode" ? [pairs(form, { key, name, read, schema: element(schema), surface, onChange })] : [];
  if (way === "scale") head.push(factor(form, { key, item, onChange }));
  if (way === "text") head.push(h("p", { class: "field__help" }, '3 is written "3"'));
  if (way === "epoch") head.push(h("p", { class: "field__help" }, "2026-01-31T20:00:00Z is 1769889600"));
  return { head, more };
}

// The way of one argument, with the offer to let the parameter allow just the translated values.
export function translation(form, index, row, key) {
  const place = surfacePaths(form.tool).find((item) => same(item.path, row.map.path));
  const onChange = (values, options) => form.change(setTranslation(form.tool, index, row, values), { label: `Change how ${row.name} is passed`, ...options });
  const read = () => casesOf(form.tool)[index].arguments.find((map) => map.argument === row.name) ?? row.map;
  const surfaceValues = () => (read().recode ?? []).map((pair) => pair.surface);
  const parts = wayControls(form, { key, label: `How ${row.name} is passed`, name: row.name, read, schema: row.schema, surface: plainSchema(place?.schema), onChange });
  const pointer = pointerOf(form.tool, row.map.path);
  const wanted = surfaceValues();
  const isTold = place && sameValues(place.schema.enum, wanted);
  if (wanted.length && pointer && !isTold && kindOf(place.schema) !== null && !form.store.isReadOnly) {
    const tell = () => {
      const values = surfaceValues();
      form.change(setKeywords(form.tool, pointer, { enum: values, type: typeOf(values) }), { label: `Allow the values of ${row.name}` });
    };
    parts.more.push(button("Tell the model these values", tell, { small: true, title: `The parameter ${row.map.path.join(".")} then allows just these` }));
  }
  return parts;
}

// The schema of a single value the model writes, without what is allowed now: translating says that anew.
function plainSchema(schema) {
  const kind = kindOf(element(schema));
  return { type: ["string", "integer", "number", "boolean"].includes(kind) ? kind : "string" };
}

function typeOf(values) {
  if (values.every((value) => typeof value === "string")) return "string";
  if (values.every((value) => typeof value === "boolean")) return "boolean";
  if (values.every(Number.isInteger)) return "integer";
  return values.every((value) => typeof value === "number") ? "number" : undefined;
}

function factor(form, { key, item, onChange }) {
  const onText = (text, source) => {
    const typed = text.trim();
    if (!FACTOR.test(typed)) return "Write a number greater than 0 without needless zeros, such as 0.01 or 60.";
    onChange({ conversion: { kind: "scale", factor: typed } }, { coalesce: `${key} factor`, source });
    return "";
  };
  const example = Number((12900 * Number(item.conversion.factor)).toPrecision(12));
  return line(form, {
    key: `${key} factor`, label: "Times", value: item.conversion.factor, onText, isMono: true, inputMode: "decimal",
    help: `The operation's 12900 is ${example} to the model. For fen to yuan use 0.01.`,
  });
}

function pairs(form, { key, name, read, schema, surface, onChange }) {
  const now = () => read().recode;
  const list = now();
  const put = (next, options = {}) => onChange({ recode: next }, options);
  const write = (place, side) => (value, source) =>
    put(now().map((pair, at) => (at === place ? { ...pair, [side]: value } : pair)), { coalesce: `${key} ${place} ${side}`, source });
  const remove = (place) => put(now().filter((_, at) => at !== place));
  const rows = list.map((pair, place) => {
    const label = `${name} ${place + 1}`;
    return h("li", { class: "recode__row" },
      valueControl(form, { key: `${key} ${place} surface`, label: `The model's value for ${label}`, schema: surface ?? { type: typeof pair.surface }, value: pair.surface, onValue: write(place, "surface"), isBare: true }),
      h("span", { class: "recode__join", "aria-hidden": "true" }, "↔"),
      valueControl(form, { key: `${key} ${place} operation`, label: `The operation's value for ${label}`, schema, value: pair.operation, onValue: write(place, "operation"), isBare: true }),
      list.length > 1 && !form.store.isReadOnly && button("", () => remove(place), { quiet: true, small: true, icon: "close", title: `Remove the pair ${label}` }),
    );
  });
  const more = () => {
    form.focusNext = `${key} ${list.length} surface`;
    put([...now(), { operation: unusedOption(schema, now()), surface: "" }]);
  };
  return h("div", { class: "recode" },
    h("p", { class: "field__help" }, "Left the model's value, right the operation's."),
    h("ul", { class: "recode__list" }, rows),
    !form.store.isReadOnly && button("Add pair", more, { small: true, icon: "plus" }),
  );
}

function unusedOption(schema, list) {
  const free = (schema.enum ?? []).find((option) => !list.some((pair) => same(pair.operation, option)));
  return free ?? (isNumeric(kindOf(schema)) ? 0 : "");
}
