// Places within a component: "binding.cases[0].operation" or ["binding", "cases", 0, "operation"]; a key that is no plain word stands
// in brackets and quotes, `properties["a.b"]`, as on the server (harnesses/core/fieldpaths.py). Objects are never changed in place:
// what was not touched stays the same object, so that a change is found by comparing references.

const STEP = /\.?([^.[\]"\s]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

// The steps of a path. A text that is no path is one key.
export function parsePath(path) {
  if (Array.isArray(path)) return path;
  const text = String(path);
  const steps = [];
  let end = 0;
  for (const match of text.matchAll(STEP)) {
    const [whole, plain, index, quoted] = match;
    steps.push(plain ?? (index !== undefined ? Number(index) : JSON.parse(quoted)));
    end += whole.length;
  }
  return end === text.length ? steps : [text];
}

export function formatPath(path) {
  if (!Array.isArray(path)) return String(path ?? "");
  return path.reduce((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (/[.[\]"\s]/.test(step) || step === "") return `${text}[${JSON.stringify(step)}]`;
    return text ? `${text}.${step}` : step;
  }, "");
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
