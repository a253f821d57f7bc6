// Edits that the server made on a copy, taken over line by line: so that a person can choose which of them to keep.
import { LISTS } from "../kinds.js";
import { getIn, parsePath, setIn } from "../paths.js";

export const keyOf = (place) => `${place.kind} ${place.component_id} ${place.field} ${place.line}`;

function componentOf(document, kind, id) {
  return kind === "runtime" ? document.runtime : (document[LISTS[kind]] || []).find((item) => item.id === id);
}

function withComponent(document, kind, component) {
  if (kind === "runtime") return { ...document, runtime: component };
  const key = LISTS[kind];
  return { ...document, [key]: document[key].map((item) => (item.id === component.id ? component : item)) };
}

// `before` with the chosen lines as they are in `after`. `chosen`: [{ kind, component_id, field, line }], lines from 1. The edit must
// not have changed how many lines a text has.
export function takeLines(before, after, chosen) {
  let result = before;
  for (const place of chosen) {
    const own = componentOf(result, place.kind, place.component_id);
    const other = componentOf(after, place.kind, place.component_id);
    const path = parsePath(place.field);
    const text = getIn(own, path);
    const edited = getIn(other, path);
    if (typeof text !== "string" || typeof edited !== "string") continue;
    const lines = text.split("\n");
    lines[place.line - 1] = edited.split("\n")[place.line - 1] ?? lines[place.line - 1];
    result = withComponent(result, place.kind, setIn(own, path, lines.join("\n")));
  }
  return result;
}

// Asks the server for edits on the document as it is, and hands its answer and the document to `make`, which gives the document to
// have. Asks again where the document changed meanwhile.
export async function editedBy(store, edits, make, label) {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const start = store.document;
    const { document } = await store.api.apply(start, edits);
    if (start === store.document) return store.replaceDocument(make(start, document), label, { source: "apply" });
  }
  throw new Error("The draft kept changing meanwhile. Nothing was done; try again.");
}

// Where a place is, in words: "Prompt section “Rules”, body, line 3".
const FIELD_WORDS = {
  body: "text", description: "description", name: "name", title: "title", comment: "comment", reply: "reply", fallback_reply: "fallback reply",
};

export function fieldWords(field, line) {
  const words = FIELD_WORDS[field] || field.replace(/^action\./, "").replace(/^(input|output)_schema\.properties\./, "parameter ").replaceAll(".properties.", ".");
  return line > 1 ? `${words}, line ${line}` : words;
}
