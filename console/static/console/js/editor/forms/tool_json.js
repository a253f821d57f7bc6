// A tool's JSON Schema as text, both ways, with completion that knows the keywords of JSON Schema and the names in this schema.
//
// Text that is no JSON object is kept as typed and told with its line; the tool stays as it was until the text can be read.
import { openEditor } from "../ace.js";
import { button, h, listen } from "../dom.js";
import { JsonTextError, caretContext, lineAndColumn, readJson } from "../json_text.js";
import { discard, keep, kept } from "./kept.js";
import { at, isObject, propertiesOf, same } from "./tool_model.js";

const written = (value) => (value === null || value === undefined ? "" : JSON.stringify(value, null, 2));

// Mounts the editor of `input_schema` or `output_schema`. Gives { focus, unmount }.
export function mountSchemaJson(host, form, field, label) {
  const { store, id } = form;
  const place = `tool/${id}/${field}`;
  const isOptional = field === "output_schema";
  const problem = h("p", { class: "note note--bad", role: "status", hidden: true });
  const box = h("div", { class: "schema-json" }, h("p", { class: "label" }, label), problem);
  let editor = null;
  let isGone = false;
  let wantsFocus = false;
  host.append(box);
  const source = document.createElement("span"); // stands for this editor as the source of its own changes

  const now = () => store.get("tool", id)?.[field];
  const tell = (message, line = null) => {
    problem.hidden = !message;
    problem.replaceChildren(message ? `${line === null ? "" : `Line ${line + 1}: `}${message} Nothing is changed until this can be read. ` : "",
      message ? button("Go back to what is saved", reset, { quiet: true, small: true }) : "");
    editor?.mark(message && line !== null ? [{ line, column: 0, text: message, severity: "error" }] : []);
  };

  function reset() {
    discard(store, place);
    editor.setText(written(now()));
    tell("");
  }

  function take() {
    const text = editor.getText();
    if (text === written(now())) return tell("");
    if (isOptional && !text.trim()) return accept(null);
    try {
      const { value } = readJson(text);
      if (!isObject(value)) throw new JsonTextError("A schema is a JSON object: { … }", 0);
      return accept(value);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      keep(store, place, text, written(now()));
      return tell(error.message, lineAndColumn(text, error.offset).line);
    }
  }

  function accept(value) {
    discard(store, place);
    tell("");
    if (!same(value, now() ?? null)) form.change({ [field]: value }, { label: `Edit the ${field.replace("_", " ")}`, coalesce: `${field} json`, source });
  }

  const stop = listen(box, store, "change", ({ detail }) => {
    if (!editor || detail.kind !== "tool" || detail.id !== id || detail.source === source || !store.get("tool", id)) return;
    const shown = readable(editor.getText());
    if (shown === undefined ? kept(store, place) : same(shown, now() ?? null)) return;
    editor.setText(written(now()));
    tell("");
  });

  openEditor(box, {
    text: kept(store, place)?.text ?? written(now()),
    label,
    isReadOnly: store.isReadOnly,
    complete: (text, offset) => schemaSuggestions(caretContext(text, offset), readable(text) ?? now()),
  }).then((made) => {
    if (isGone) return made.destroy();
    editor = made;
    editor.onChange(take);
    if (kept(store, place)) take();
    if (wantsFocus) editor.focus();
  });

  return {
    focus: () => (editor ? editor.focus() : (wantsFocus = true)),
    unmount: () => {
      isGone = true;
      stop();
      editor?.destroy();
      box.remove();
    },
  };
}

function readable(text) {
  try {
    return text.trim() ? readJson(text).value : null;
  } catch {
    return undefined;
  }
}

// --- completion --------------------------------------------------------------------------------------------------------

const TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"];
const FORMATS = ["date-time", "date", "time", "email", "uri", "uuid"];

// Keyword: how its value begins, and what it means. `for` names the types it is for; left out, it is for all.
const KEYWORDS = {
  type: { start: '""', note: "Which type of value" },
  description: { start: '""', note: "What the model reads about it" },
  title: { start: '""', note: "A short name" },
  enum: { start: "[]", note: "The allowed values" },
  const: { start: "", note: "The one allowed value" },
  default: { start: "", note: "What holds if it is left out" },
  examples: { start: "[]", note: "Values that show what is meant" },
  properties: { start: "{}", note: "The fields of a group", for: ["object"] },
  required: { start: "[]", note: "Which fields must be given", for: ["object"] },
  additionalProperties: { start: "false", note: "false: no other fields", for: ["object"] },
  items: { start: "{}", note: "What every entry of the list is", for: ["array"] },
  minItems: { start: "", note: "Fewest entries", for: ["array"] },
  maxItems: { start: "", note: "Most entries", for: ["array"] },
  uniqueItems: { start: "true", note: "No entry twice", for: ["array"] },
  minimum: { start: "", note: "The least number", for: ["integer", "number"] },
  maximum: { start: "", note: "The greatest number", for: ["integer", "number"] },
  multipleOf: { start: "", note: "A multiple of this", for: ["integer", "number"] },
  minLength: { start: "", note: "Fewest characters", for: ["string"] },
  maxLength: { start: "", note: "Most characters", for: ["string"] },
  pattern: { start: '""', note: "A regular expression", for: ["string"] },
  format: { start: '""', note: "date-time, email, …", for: ["string"] },
  anyOf: { start: "[]", note: "One of several schemas, or more" },
  oneOf: { start: "[]", note: "Exactly one of several schemas" },
  $ref: { start: '""', note: 'A definition of this schema: "#/$defs/…"' },
  $defs: { start: "{}", note: "Definitions to refer to" },
};
const MAPS = new Set(["properties", "$defs", "definitions", "patternProperties"]);
const SCHEMAS = new Set(["items", "additionalProperties", "not", "if", "then", "else"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf"]);

// What stands at a path of a schema: "schema", "map" (of schemas), "list" (of schemas) or the keyword whose value it is.
function placeIn(path) {
  let place = "schema";
  for (const step of path) {
    if (place === "map" || place === "list") place = "schema";
    else if (place !== "schema") return null;
    else if (MAPS.has(step)) place = "map";
    else if (LISTS.has(step)) place = "list";
    else if (!SCHEMAS.has(step)) place = `keyword ${step}`;
  }
  return place;
}

// Suggestions for the caret of a schema's text; `root` is the schema as it was read last.
function schemaSuggestions(context, root) {
  if (context.place === "key") return placeIn(context.path) === "schema" ? keywordsFor(at(root, context.path), context.keys) : [];
  const path = typeof context.path.at(-1) === "number" ? context.path.slice(0, -1) : context.path;
  const place = placeIn(path);
  const owner = at(root, path.slice(0, -1));
  const asValues = (list, meta) => list.map((value) => ({ value: String(value), json: value, meta }));
  if (place === "keyword type") return asValues(TYPES, "type");
  if (place === "keyword format") return asValues(FORMATS, "format");
  if (place === "keyword required") return asValues(Object.keys(propertiesOf(owner)).filter((name) => !(owner.required ?? []).includes(name)), "parameter");
  if (place === "keyword $ref") return asValues(Object.keys(root?.$defs ?? {}).map((name) => `#/$defs/${name}`), "definition");
  if (place === "keyword default" || place === "keyword const") return asValues(owner?.enum ?? (owner?.type === "boolean" ? [true, false] : []), "allowed value");
  if (place === "keyword uniqueItems" || path.at(-1) === "additionalProperties") return asValues([true, false], "yes or no");
  return [];
}

function keywordsFor(schema, present) {
  const types = [schema?.type].flat().filter(Boolean);
  return Object.entries(KEYWORDS)
    .filter(([name, keyword]) => !present.includes(name) && (!keyword.for || !types.length || keyword.for.some((type) => types.includes(type))))
    .map(([name, { start, note }]) => ({ value: name, insert: name, isKey: true, start, meta: "keyword", note }));
}
