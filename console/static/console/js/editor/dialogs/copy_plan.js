// What copying components into a harness means: what they refer to, what is called differently here, what this world does not have.
import { addTogether, freeId, freeName, isTaken } from "./fresh.js";

const NAMED = new Set(["tool", "skill", "hook"]);
const REFERENCE = /\b(tool|skill|param|call)\(\s*["']([^"']+)["']/g;

// The components of the same spec that one refers to by id: tools of a skill or hook, and what its texts name in placeholders.
function references(kind, component) {
  const found = [...(component.allowed_tools ?? []), ...(component.matcher ?? [])].map((id) => ["tool", id]);
  const texts = [component.body, component.action?.text, component.action?.reason, component.action?.replacement, component.action?.message];
  for (const text of texts.filter(Boolean)) {
    for (const [, word, id] of text.matchAll(REFERENCE)) found.push([word === "skill" ? "skill" : "tool", id]);
  }
  return found;
}

const unknownOperations = (store, tool) =>
  (tool.binding?.cases ?? []).map((item) => item.operation).filter((name) => !store.meta.operations.some((operation) => operation.name === name));

// For the chosen items: `missing` (components of the spec that they use and this harness has not), `unknown` (tools whose operations
// this world has not), `made` (item → the free name that it gets).
export function needsOf(store, spec, items) {
  const lists = { tool: spec.tools ?? [], skill: spec.skills ?? [] };
  const chosen = new Set(items.map((item) => `${item.kind} ${item.component.id}`));
  const missing = new Map();
  for (const item of items) {
    for (const [kind, id] of references(item.kind, item.component)) {
      const component = lists[kind].find((other) => other.id === id);
      if (component && !store.get(kind, id) && !chosen.has(`${kind} ${id}`)) missing.set(`${kind} ${id}`, { kind, component });
    }
  }
  const unknown = items
    .filter((item) => item.kind === "tool")
    .map((item) => ({ item, operations: [...new Set(unknownOperations(store, item.component))] }))
    .filter(({ operations }) => operations.length);
  const made = new Map();
  const names = { tool: [], skill: [], hook: [] };
  for (const item of items.filter(({ kind }) => NAMED.has(kind))) {
    const isOwn = item.name !== item.component.name && !isTaken(store, item.kind, item.name, names[item.kind]);
    const name = isOwn ? item.name : freeName(store, item.kind, item.component.name, names[item.kind]);
    names[item.kind].push(name);
    made.set(item, name);
  }
  return { missing: [...missing.values()], unknown, made };
}

// The items as components of this harness, references between them kept: { list, add(label) → ids }.
export function prepared(store, items) {
  const ids = new Map();
  const taken = new Set();
  for (const { kind, component } of items) {
    const id = freeId(store, kind, component.id, taken);
    taken.add(id);
    ids.set(`${kind} ${component.id}`, id);
  }
  const list = items.map(({ kind, component, name }) => ({ kind, component: adapted(store, kind, component, name, ids) }));
  return { list, add: (label) => addTogether(store, list, {}, label) };
}

function adapted(store, kind, component, name, ids) {
  const copy = structuredClone(component);
  const mapped = (other, id) => ids.get(`${other} ${id}`) ?? id;
  copy.id = mapped(kind, component.id);
  if (NAMED.has(kind)) copy.name = name;
  // What is not here stays named: to drop the last tool of a matcher would widen a hook to all of them. A finding asks for it.
  for (const field of ["allowed_tools", "matcher"]) if (copy[field]) copy[field] = copy[field].map((id) => mapped("tool", id));
  const retarget = (text) => text.replace(REFERENCE, (_, word, id) => `${word}("${mapped(word === "skill" ? "skill" : "tool", id)}"`);
  if (copy.body) copy.body = retarget(copy.body);
  for (const field of ["text", "reason", "replacement", "message"]) if (copy.action?.[field]) copy.action[field] = retarget(copy.action[field]);
  if (kind === "tool") connect(store, copy);
  return copy;
}

// Drops the cases whose operation this world does not have; a tool without any is not connected.
function connect(store, tool) {
  const unknown = new Set(unknownOperations(store, tool));
  if (!unknown.size) return;
  const cases = tool.binding.cases.filter((item) => !unknown.has(item.operation));
  tool.binding = cases.length ? { ...tool.binding, cases } : null;
}
