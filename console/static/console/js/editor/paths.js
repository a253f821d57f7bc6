// Places within a component: "binding.cases[0].operation" or ["binding", "cases", 0, "operation"]. Objects are never changed in
// place: what was not touched stays the same object, so that a change is found by comparing references.

export function parsePath(path) {
  if (Array.isArray(path)) return path;
  const steps = [];
  for (const part of String(path).split(".")) {
    const [, name, indexes] = /^([^[]*)((?:\[\d+\])*)$/.exec(part) || [null, part, ""];
    if (name !== "") steps.push(name);
    for (const index of indexes.matchAll(/\[(\d+)\]/g)) steps.push(Number(index[1]));
  }
  return steps;
}

export function formatPath(path) {
  if (!Array.isArray(path)) return String(path ?? "");
  return path.reduce((text, step) => (typeof step === "number" ? `${text}[${step}]` : text ? `${text}.${step}` : step), "");
}

export function getIn(value, path) {
  for (const step of parsePath(path)) {
    if (value === null || typeof value !== "object") return undefined;
    value = value[step];
  }
  return value;
}

// A copy of `value` with one place set; `undefined` takes the key (or the list entry) away. Missing objects on the way are made.
export function setIn(value, path, next) {
  const [step, ...rest] = parsePath(path);
  if (step === undefined) return next;
  const isList = Array.isArray(value) || (value === undefined && typeof step === "number");
  const copy = isList ? [...(value || [])] : { ...(value !== null && typeof value === "object" ? value : {}) };
  const inner = rest.length ? setIn(copy[step], rest, next) : next;
  if (inner !== undefined) copy[step] = inner;
  else if (isList) copy.splice(step, 1);
  else delete copy[step];
  return copy;
}

// Whether two JSON values read the same; the order of an object's keys counts, since the author's order is kept.
export function sameJson(left, right) {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
