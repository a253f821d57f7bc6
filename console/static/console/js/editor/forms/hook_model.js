// What fits together in a hook, as data: which operations it can mean, what a condition can look at and how, which actions an event
// allows. The tables themselves come from the server (language.hooks); nothing here draws.
import { shapeOf } from "./schema_form.js";
import { resolved } from "./tool_model.js";

const MAX_DEPTH = 3;

export const EVENTS = {
  SessionStart: "a session starts",
  UserPromptSubmit: "a viewer's comment arrives",
  PreToolUse: "a tool is about to be called",
  PostToolUse: "a tool has given its result",
  Stop: "the reply is ready",
};
export const FIELDS = {
  comment: "the comment",
  reply: "the reply",
  argument: "the argument",
  result: "the result's",
  context: "the room's",
};
const OPERATORS = {
  contains_any: "contains any of",
  contains_none: "contains none of",
  equals_any: "is one of",
  equals_none: "is none of",
  above: "is above",
  below: "is below",
  exists: "is there",
  missing: "is missing",
};
export const SLOTS = {
  system_tail: "at the end of the system prompt",
  user_prefix: "before the comment",
  user_suffix: "after the comment",
  tool_result_suffix: "after the tool's result",
};
export const WRAPPERS = {
  none: "as it is",
  tag: "in a tag of the hook's name",
  bracket: "after the hook's name in brackets",
  quote: "as a quotation, after the hook's name",
};
export const ACTIONS = {
  add_context: "add a text",
  deny: "refuse it",
  rewrite_input: "set arguments of the call",
  replace_output: "change the result",
  check_reply: "check the reply's words",
};
export const VIOLATIONS = {
  replace: "send this reply instead",
  revise: "tell the model, and let it write again",
  block: "send the fallback reply",
};
export const NEEDS_PATH = ["argument", "result", "context"];

const PREFERRED_SLOTS = { SessionStart: "system_tail", PreToolUse: "tool_result_suffix", PostToolUse: "tool_result_suffix" };

export const isToolEvent = (language, event) => language.hooks.tool_events.includes(event);

export function pairs(words, allowed = Object.keys(words)) {
  return allowed.map((value) => [value, words[value] || value]);
}

// The operations behind the tools that a hook is for (all tools where it names none).
export function matchedOperations(store, hook) {
  const matcher = hook.matcher || [];
  const names = new Set(
    store.list("tool").filter((tool) => !matcher.length || matcher.includes(tool.id)).flatMap((tool) => (tool.binding?.cases || []).map((item) => item.operation)),
  );
  return store.meta.operations.filter((item) => names.has(item.name));
}

// What a condition on `field` can look at: [{ path, text, shape }], in the schemas' order, each path once.
export function lookable(store, language, hook, field) {
  const schemas = field === "context" ? [language.templates.context] : matchedOperations(store, hook).map((item) => (field === "argument" ? item.input_schema : item.output_schema));
  const found = new Map();
  for (const schema of schemas) walk(schema, schema, [], found);
  return [...found.values()];
}

function walk(schema, root, path, found) {
  const here = resolved(schema, root) || {};
  const inner = here.items ? resolved(here.items, root) || {} : here;
  for (const [name, part] of Object.entries(inner.properties || {})) {
    const next = [...path, name];
    const key = next.join("\n");
    if (!found.has(key)) found.set(key, { path: next, text: next.join(" › "), shape: shapeOf(part, root) });
    if (next.length < MAX_DEPTH) walk(part, root, next, found);
  }
}

// How a value can be compared: text by what it contains, numbers by size, choices by being one of them.
export function operatorsFor(field, shape) {
  if (!NEEDS_PATH.includes(field)) return ["contains_any", "contains_none", "equals_any", "equals_none"];
  const type = shape?.types.length === 1 ? shape.types[0] : null;
  const presence = ["exists", "missing"];
  if (!shape || !type) return Object.keys(OPERATORS);
  if (type === "object" || type === "array") {
    return type === "array" ? ["contains_any", "contains_none", ...presence] : presence;
  }
  if (shape.enum || type === "boolean") return ["equals_any", "equals_none", ...presence];
  if (type === "integer" || type === "number") return ["above", "below", "equals_any", "equals_none", ...presence];
  return ["contains_any", "contains_none", "equals_any", "equals_none", ...presence];
}

// How the operators read: of what is only one thing or the other, "is" rather than "is one of".
export function operatorWords(shape) {
  return shape?.types[0] === "boolean" ? { ...OPERATORS, equals_any: "is", equals_none: "is not" } : OPERATORS;
}

// The values that still make sense under another operator.
export function valuesFor(op, values) {
  if (op === "exists" || op === "missing") return [];
  if (op === "above" || op === "below") return values.map(Number).filter((value) => !Number.isNaN(value)).slice(0, 1);
  return op.startsWith("contains") ? values.map(String).filter(Boolean) : values;
}

// An action of another type with the words of the old one carried over, as far as it has a place for them.
export function actionOf(type, event, old, language) {
  const words = [old.text, old.reason, old.message, old.replacement].find((text) => text) || "";
  const slots = language.hooks.slots_by_event[event] || [];
  if (type === "add_context") {
    const wanted = [old.slot, PREFERRED_SLOTS[event], "user_suffix"].find((slot) => slots.includes(slot));
    return { type, text: words, slot: wanted || slots[0], wrapper: old.wrapper || "none" };
  }
  if (type === "deny") return { type, reason: words };
  if (type === "rewrite_input") return { type, set: old.set || {} };
  if (type === "replace_output") return { type, set: old.set || {}, drop: old.drop || [] };
  return { type, mode: old.mode || "forbid", phrases: old.phrases?.length ? old.phrases : [""], on_violation: old.on_violation || "replace", replacement: old.replacement || words, message: old.message || words };
}

// The hook under another event: an action that the event does not know becomes the first one that it does.
export function underEvent(hook, event, language) {
  const allowed = language.hooks.actions_by_event[event] || [];
  const action = hook.action || {};
  const type = allowed.includes(action.type) ? action.type : allowed[0];
  const fits = type === action.type && (type !== "add_context" || language.hooks.slots_by_event[event].includes(action.slot));
  return { event, action: fits ? action : actionOf(type, event, action, language), ...(isToolEvent(language, event) ? {} : { matcher: [] }) };
}

// --- the whole rule as a sentence ----------------------------------------------------------------------------------------

const quoted = (value) => (typeof value === "string" ? `“${value}”` : JSON.stringify(value));
const short = (text) => (text.length > 90 ? `${text.slice(0, 88)} …` : text);

export function sentence(store, hook) {
  const tools = (hook.matcher || []).map((id) => store.get("tool", id)?.name || id);
  const when = { PreToolUse: `${tools.join(" or ") || "any tool"} is about to be called`, PostToolUse: `${tools.join(" or ") || "any tool"} has given its result` };
  const start = `When ${when[hook.event] || EVENTS[hook.event] || hook.event}`;
  const tests = (hook.when || []).map(test);
  const text = `${start}${tests.length ? ` and ${tests.join(" and ")}` : ""}, then ${deed(hook.action || {})}`;
  return /[.!?…]”?$/.test(text) ? text : `${text}.`;
}

const ONE = { contains_any: "contains", contains_none: "does not contain", equals_any: "is", equals_none: "is not" };

function test({ field, path, op, values }) {
  const words = (values?.length === 1 && ONE[op]) || OPERATORS[op];
  return [FIELDS[field], (path || []).join(" › "), words, values?.map(quoted).join(", ")].filter(Boolean).join(" ");
}

function deed(action) {
  const set = Object.entries(action.set || {}).map(([name, value]) => `${name} to ${quoted(value)}`);
  const phrases = (action.phrases || []).filter(Boolean).map(quoted).join(", ") || "…";
  const after = { replace: `send ${quoted(short(action.replacement || "…"))} instead`, revise: "let the model write again", block: "send the fallback reply" };
  return {
    add_context: () => `add ${quoted(short(action.text || "…"))} ${SLOTS[action.slot] || ""}`,
    deny: () => `refuse it and say ${quoted(short(action.reason || "…"))}`,
    rewrite_input: () => `set ${set.join(", ") || "…"}`,
    replace_output: () => [set.length && `set ${set.join(", ")}`, action.drop?.length && `leave out ${action.drop.join(", ")}`].filter(Boolean).join(" and ") || "change …",
    check_reply: () => `${action.mode === "require" ? "unless the reply says one of" : "if the reply says any of"} ${phrases}, ${after[action.on_violation] || "…"}`,
  }[action.type]?.() || "…";
}
