// JSON as a text that someone is writing: where each value stands, what is wrong and on which line, and what the caret is in.
// Paths are written as findings write them: binding.cases[0].operation. Lines and columns count from 0.

export class JsonTextError extends Error {
  constructor(message, offset) {
    super(message);
    this.offset = offset;
  }
}

const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const MAX_DEPTH = 100;
const STRING = /(?:[^"\\\n]|\\.)*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;

// Reads strict JSON. Gives {value, places}: places maps a path to the offset where its value (or its key) starts.
// Throws JsonTextError with the offset of what is wrong.
export function readJson(text) {
  const reader = new Reader(text);
  reader.skip();
  if (reader.at >= text.length) throw new JsonTextError("There is nothing here. Write a JSON object: { … }", 0);
  const value = reader.value("", 0);
  reader.skip();
  if (reader.at < text.length) {
    throw new JsonTextError(`Nothing may follow the end of the JSON, but here is ${reader.shown()}.`, reader.at);
  }
  return { value, places: reader.places };
}

function joinPath(path, key) {
  if (typeof key === "number") return `${path}[${key}]`;
  return path ? `${path}.${key}` : key;
}

// The offset of a path, or of the nearest one around it that is there.
export function placeOf(places, path) {
  for (let rest = path; rest; rest = rest.replace(/(\.[^.[\]]*|\[\d+\]|^[^.[\]]+)$/, "")) {
    if (places.has(rest)) return places.get(rest);
    if (!/[.[]/.test(rest)) break;
  }
  return places.get("") ?? 0;
}

let lines = { text: null, starts: [0] };

export function lineAndColumn(text, offset) {
  if (lines.text !== text) lines = { text, starts: [0, ...[...text.matchAll(/\n/g)].map((found) => found.index + 1)] };
  const { starts } = lines;
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, column: offset - starts[low] };
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.places = new Map();
  }

  skip() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at += 1;
  }

  shown() {
    if (this.at >= this.text.length) return "the end of the text";
    const word = /^[\p{L}\p{N}_$.+-]+/u.exec(this.text.slice(this.at, this.at + 30));
    return `“${word ? word[0] : this.text[this.at]}”`;
  }

  fail(message, offset = this.at) {
    throw new JsonTextError(message, offset);
  }

  value(path, depth) {
    if (!this.places.has(path)) this.places.set(path, this.at);
    if (depth > MAX_DEPTH) this.fail(`This is nested more than ${MAX_DEPTH} levels deep.`);
    const char = this.text[this.at];
    if (char === "{") return this.object(path, depth);
    if (char === "[") return this.list(path, depth);
    if (char === '"') return this.string();
    if (char === "'") this.fail("JSON texts stand in double quotes.");
    return this.word();
  }

  object(path, depth) {
    const made = {};
    const start = this.at;
    this.at += 1;
    this.skip();
    if (this.text[this.at] === "}") return (this.at += 1, made);
    for (;;) {
      this.skip();
      const keyAt = this.at;
      if (this.text[this.at] !== '"') {
        this.fail(this.text[this.at] === "}" ? "A comma stands before the closing brace. Remove it." :
          `A key in double quotes was expected, but here is ${this.shown()}.`);
      }
      const key = this.string();
      if (Object.hasOwn(made, key)) this.fail(`The key "${key}" stands here twice. Remove one.`, keyAt);
      const inner = joinPath(path, key);
      this.places.set(inner, keyAt);
      this.skip();
      if (this.text[this.at] !== ":") this.fail(`A colon was expected after "${key}", but here is ${this.shown()}.`);
      this.at += 1;
      this.skip();
      // Not made[key]: that would take "__proto__" for the prototype.
      Object.defineProperty(made, key, { value: this.value(inner, depth + 1), enumerable: true, writable: true, configurable: true });
      this.skip();
      if (this.text[this.at] === "}") return (this.at += 1, made);
      if (this.text[this.at] !== ",") this.fail(this.missing("}", "object", start));
      this.at += 1;
    }
  }

  list(path, depth) {
    const made = [];
    const start = this.at;
    this.at += 1;
    this.skip();
    if (this.text[this.at] === "]") return (this.at += 1, made);
    for (;;) {
      this.skip();
      if (this.text[this.at] === "]") this.fail("A comma stands before the closing bracket. Remove it.");
      made.push(this.value(joinPath(path, made.length), depth + 1));
      this.skip();
      if (this.text[this.at] === "]") return (this.at += 1, made);
      if (this.text[this.at] !== ",") this.fail(this.missing("]", "list", start));
      this.at += 1;
    }
  }

  missing(end, what, start) {
    const { line } = lineAndColumn(this.text, start);
    return `A comma or “${end}” was expected, but here is ${this.shown()}. (The ${what} starts on line ${line + 1}.)`;
  }

  string() {
    const start = this.at;
    let made = "";
    for (this.at += 1; ; ) {
      PLAIN.lastIndex = this.at;
      made += PLAIN.exec(this.text)[0];
      this.at = PLAIN.lastIndex;
      const char = this.text[this.at];
      if (char === '"') return (this.at += 1, made);
      if (char === undefined || char === "\n") this.fail("A text starts here and its closing quote is missing.", start);
      if (char !== "\\") this.fail("A tab or control character stands in a text. Write it as an escape, such as \\t.");
      made += this.escape();
      this.at += 1;
    }
  }

  escape() {
    this.at += 1;
    const char = this.text[this.at];
    if (char === "u") {
      const digits = this.text.slice(this.at + 1, this.at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail("\\u takes four hexadecimal digits.");
      this.at += 4;
      return String.fromCharCode(parseInt(digits, 16));
    }
    if (!Object.hasOwn(ESCAPES, char ?? "")) this.fail(`\\${char ?? ""} is no JSON escape. For a backslash write \\\\.`);
    return ESCAPES[char];
  }

  word() {
    const start = this.at;
    const word = /^[^\s,:[\]{}"]*/.exec(this.text.slice(this.at, this.at + 400))[0];
    const known = { true: true, false: false, null: null };
    if (Object.hasOwn(known, word)) return (this.at += word.length, known[word]);
    if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(word)) {
      this.at += word.length;
      const number = Number(word);
      if (!Number.isFinite(number)) this.fail(`${word} is too large a number.`, start);
      return number;
    }
    return this.fail(word ? `“${word}” is no JSON value. Texts stand in double quotes.` : `A value was expected, but here is ${this.shown()}.`);
  }
}

// --- the caret ---------------------------------------------------------------------------------------------------------

// What is being written at an offset, also in a text that is not JSON yet:
// {path: [...], place: "key" | "value", typed, start, isInString, keys: keys already in this object}.
export function caretContext(text, offset) {
  const stack = [];
  let state = { place: "value", typed: "", start: offset, isInString: false };
  for (let at = 0; at < offset; ) {
    const char = text[at];
    const top = stack[stack.length - 1];
    if (char === '"') {
      const end = stringEnd(text, at, offset);
      const isKey = Boolean(top && top.isObject && !top.hasColon);
      if (end < 0) {
        state = { place: isKey ? "key" : "value", typed: text.slice(at + 1, offset), start: at, isInString: true };
        return { ...state, path: pathOf(stack, isKey), keys: keysAround(text, at, top) };
      }
      if (isKey) top.key = unquoted(text.slice(at, end));
      at = end;
      continue;
    }
    if (char === "{" || char === "[") stack.push({ isObject: char === "{", key: null, hasColon: false, index: 0, at });
    else if (char === "}" || char === "]") stack.pop();
    else if (char === ":" && top) top.hasColon = true;
    else if (char === "," && top) Object.assign(top, { hasColon: false, key: null, index: top.index + 1 });
    at += 1;
  }
  const top = stack[stack.length - 1];
  const isKey = Boolean(top && top.isObject && !top.hasColon);
  const typed = /[\w.-]*$/.exec(text.slice(Math.max(0, offset - 200), offset))[0];
  state = { place: isKey ? "key" : "value", typed, start: offset - typed.length, isInString: false };
  return { ...state, path: pathOf(stack, isKey), keys: keysAround(text, offset, top) };
}

function pathOf(stack, isKey) {
  const path = stack.map((level) => (level.isObject ? level.key : level.index));
  return isKey ? path.slice(0, -1) : path;
}

function stringEnd(text, at, limit) {
  STRING.lastIndex = at + 1;
  STRING.exec(text);
  const end = STRING.lastIndex;
  if (end >= limit) return text[limit - 1] === '"' && end === limit - 1 ? limit : -1;
  return text[end] === '"' ? end + 1 : end;
}

function unquoted(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

// The keys of the object that opens at `level.at`, before and after the caret (the one being written left out).
function keysAround(text, caret, level) {
  if (!level || !level.isObject) return [];
  const keys = [];
  let depth = 0;
  for (let at = level.at; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at, text.length);
      if (end < 0) break;
      if (depth === 1 && at !== caret && /^\s*:/.test(text.slice(end, end + 40))) keys.push(unquoted(text.slice(at, end)));
      at = end - 1;
    } else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) break;
    }
  }
  return keys;
}
