// What an edit did, as small steps that can be taken back one field at a time: { type, kind, id, … }. Pure functions.
//   field    { field, before, after }            a top-level field of a component
//   added    { component, after }                a component that was not there; `after` is the id before it, or null
//   removed  { component, after }                one that is gone
//   order    { before: [ids], after: [ids] }     the components of a kind in another order
import { KINDS, LISTS } from "./kinds.js";
import { sameJson } from "./paths.js";

const ids = (list) => list.map((item) => item.id);
const before = (list, index) => (index > 0 ? list[index - 1].id : null);

function fieldSteps(kind, id, old, now) {
  if (old === now) return [];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names]
    .filter((field) => !sameJson(old[field], now[field]))
    .map((field) => ({ type: "field", kind, id, field, before: old[field], after: now[field] }));
}

function listSteps(kind, old, now) {
  if (old === now) return [];
  const known = new Map(old.map((item) => [item.id, item]));
  const kept = new Set(ids(now));
  const steps = [];
  old.forEach((component, index) => {
    if (!kept.has(component.id)) steps.push({ type: "removed", kind, id: component.id, component, after: before(old, index) });
  });
  now.forEach((component, index) => {
    const was = known.get(component.id);
    if (!was) steps.push({ type: "added", kind, id: component.id, component, after: before(now, index) });
    else steps.push(...fieldSteps(kind, component.id, was, component));
  });
  const left = ids(old).filter((id) => kept.has(id));
  const right = ids(now).filter((id) => known.has(id));
  if (left.join("\n") !== right.join("\n")) steps.push({ type: "order", kind, id: null, before: ids(old), after: ids(now) });
  return steps;
}

// The steps from one document to another.
export function stepsBetween(old, now) {
  const steps = KINDS.flatMap((kind) => listSteps(kind, old[LISTS[kind]] || [], now[LISTS[kind]] || []));
  steps.push(...fieldSteps("runtime", "runtime", old.runtime || {}, now.runtime || {}));
  return steps;
}

export function inverted(steps) {
  return steps.toReversed().map((step) => {
    if (step.type === "added") return { ...step, type: "removed" };
    if (step.type === "removed") return { ...step, type: "added" };
    return { ...step, before: step.after, after: step.before };
  });
}

function withField(component, field, value) {
  const copy = { ...component };
  if (value === undefined) delete copy[field];
  else copy[field] = value;
  return copy;
}

// `ids` in the order of `wanted`; what `wanted` does not know stays behind its neighbour.
function reordered(list, wanted) {
  const place = new Map(wanted.map((id, index) => [id, index]));
  let last = -1;
  const keyed = list.map((item, index) => {
    last = place.get(item.id) ?? last + 0.5;
    return [last, index, item];
  });
  return keyed.sort((one, other) => one[0] - other[0] || one[1] - other[1]).map((entry) => entry[2]);
}

export function inserted(list, component, after) {
  const at = after === undefined ? list.length : after === null ? 0 : list.findIndex((item) => item.id === after) + 1;
  const index = at === 0 && after !== null && after !== undefined ? list.length : at;
  return [...list.slice(0, index), component, ...list.slice(index)];
}

// The document with the steps taken. A step whose component is gone meanwhile is left out.
export function take(document, steps) {
  return steps.reduce((result, step) => {
    if (step.kind === "runtime") return { ...result, runtime: withField(result.runtime || {}, step.field, step.after) };
    const key = LISTS[step.kind];
    const list = result[key] || [];
    return { ...result, [key]: takeInList(list, step) };
  }, document);
}

function takeInList(list, step) {
  if (step.type === "field") {
    return list.map((item) => (item.id === step.id ? withField(item, step.field, step.after) : item));
  }
  if (step.type === "removed") return list.filter((item) => item.id !== step.id);
  if (step.type === "order") return reordered(list, step.after);
  return list.some((item) => item.id === step.id) ? list : inserted(list, step.component, step.after);
}

// Two runs of steps in one, where both only set fields: the first's "before", the second's "after".
export function joined(first, second) {
  const merged = first.map((step) => ({ ...step }));
  for (const step of second) {
    const earlier = merged.find((item) => item.kind === step.kind && item.id === step.id && item.field === step.field);
    if (earlier) earlier.after = step.after;
    else merged.push(step);
  }
  return merged;
}

const touchKey = (step) => (step.type === "order" ? `${step.kind} order` : `${step.kind} ${step.id} ${step.field ?? ""}`);

// Entries of an undo list that do not touch what another person changed: taking those back would take theirs away.
export function untouchedBy(entries, steps) {
  const touched = new Set(steps.map(touchKey));
  const whole = new Set(steps.filter((step) => !step.field).map((step) => `${step.kind} ${step.id}`));
  return entries.filter(({ steps: own }) => !own.some((step) => touched.has(touchKey(step)) || whole.has(`${step.kind} ${step.id}`)));
}

// A new document in which every component that reads as before is the very same object as before.
export function reconciled(old, now) {
  const result = { ...now };
  for (const key of Object.values(LISTS)) {
    const known = new Map((old[key] || []).map((item) => [item.id, item]));
    const list = (now[key] || []).map((item) => (sameJson(known.get(item.id), item) ? known.get(item.id) : item));
    const isSame = list.length === (old[key] || []).length && list.every((item, index) => item === old[key][index]);
    result[key] = isSame ? old[key] : list;
  }
  result.runtime = sameJson(old.runtime, now.runtime) ? old.runtime : now.runtime || {};
  return result;
}
