// The form of a worked example: what the viewer writes, the operations that answer it with their values, and the reply.
import { button, field, h, listen, textArea } from "../dom.js";
import { choice, findingSlot, group, labelled } from "./parts.js";
import { jsonField, schemaForm, skeleton } from "./schema_form.js";

export function mount(container, { store, id }) {
  const place = { store, kind: "example", id };
  container.replaceChildren(
    h(
      "div",
      { class: "form form--example" },
      field({ ...place, path: "comment", label: "The viewer writes", control: textArea({ ...place, path: "comment", rows: 2 }) }),
      group(
        { label: "The model calls", help: "In the operations' own names and values. The model sees each call through the tool that is bound to it, so the example follows every rename." },
        calls(place),
      ),
      field({ ...place, path: "reply", label: "The model replies", help: "Word for word, as the viewer would read it.", control: textArea({ ...place, path: "reply", rows: 3 }) }),
    ),
  );
  return () => container.replaceChildren();
}

// The calls, one card each. Drawn anew only when a call comes, goes, moves or changes its operation.
function calls(place) {
  const { store, kind, id } = place;
  const made = h("div", { class: "calls" });
  const list = () => store.get(kind, id)?.calls || [];
  const asJson = new Set();
  let drawn = "";
  const put = (next, label, focusAt) => {
    store.set(kind, id, { calls: next }, { label });
    draw();
    if (focusAt !== undefined) (made.querySelectorAll(":scope > .call select")[focusAt] || add).focus();
  };
  const draw = () => {
    if (!store.get(kind, id)) return;
    const shape = JSON.stringify([list().map((call) => [call.operation, Object.keys(call.arguments || {}), Object.keys(call.result || {})]), [...asJson], store.meta.operations.length]);
    const hasFocus = made.contains(document.activeElement);
    if (shape === drawn || (hasFocus && sameCalls(shape, drawn))) return;
    drawn = shape;
    made.replaceChildren(...list().map((call, index) => card(call, index)), ...(list().length ? [] : [h("p", { class: "soft small" }, "None: the reply needs no look-up.")]), ...(store.isReadOnly ? [] : [add]));
  };
  const card = (call, index) => {
    const path = `calls[${index}]`;
    const operation = store.meta.operations.find((item) => item.name === call.operation);
    const parts = { ...place, path, operation, index, asJson, redraw: () => ((drawn = ""), draw()) };
    return h(
      "section",
      { class: "call", "aria-label": `Call ${index + 1}` },
      h("div", { class: "call__head" }, operationChoice(parts, call, put, list), !store.isReadOnly && h("div", { class: "rows__tools" }, tools(index))),
      operation && h("p", { class: "small soft" }, operation.description),
      findingSlot({ ...place, path, isExact: true }),
      h("div", { class: "call__sides" }, side(parts, "arguments", "Asks with", operation?.input_schema), side(parts, "result", "Gets back", operation?.output_schema)),
    );
  };
  const swap = (index, other) => {
    const next = [...list()];
    [next[index], next[other]] = [next[other], next[index]];
    put(next, "Reorder calls", other);
  };
  const tools = (index) => [
    index > 0 && button("", () => swap(index, index - 1), { quiet: true, small: true, icon: "up", title: `Move call ${index + 1} up` }),
    index < list().length - 1 && button("", () => swap(index, index + 1), { quiet: true, small: true, icon: "down", title: `Move call ${index + 1} down` }),
    button("", () => put(list().filter((_, at) => at !== index), "Remove a call", Math.max(0, index - 1)), { quiet: true, small: true, icon: "close", title: `Remove call ${index + 1}` }),
  ].filter(Boolean);
  const add = button("Add a call", () => put([...list(), { operation: "", arguments: {}, result: {} }], "Add a call", list().length), { small: true, icon: "plus" });
  listen(made, store, "change", ({ detail }) => detail.kind === kind && detail.id === id && draw());
  listen(made, store, "meta", draw);
  draw();
  return made;
}

// Whether two shapes have the same calls: a property that comes or goes while one types in it must not take the focus away.
function sameCalls(one, other) {
  if (!one || !other) return false;
  const [left, right] = [JSON.parse(one), JSON.parse(other)];
  const names = (shape) => JSON.stringify([shape[0].map(([operation]) => operation), shape[1]]);
  return names(left) === names(right);
}

// Another operation brings its own arguments and result: values of the same name stay, the others are begun anew.
function operationChoice({ store, kind, id, path, index }, call, put, list) {
  const options = store.meta.operations.map((item) => [item.name, `${item.title} (${item.name})`]);
  const control = choice({
    store,
    options,
    value: call.operation,
    onChange: (name) => {
      const operation = store.meta.operations.find((item) => item.name === name);
      const next = list().map((item, at) => (at === index ? { ...item, operation: name, arguments: fitting(item.arguments, operation?.input_schema), result: fitting(item.result, operation?.output_schema) } : item));
      put(next, "Choose an operation", index);
    },
  });
  control.removeAttribute("aria-label");
  return labelled({ store, kind, id, path: `${path}.operation`, label: `${index + 1}. Operation`, control });
}

function fitting(value, schema) {
  if (!schema) return value || {};
  const kept = Object.entries(value || {}).filter(([name]) => name in (schema.properties || {}));
  return { ...skeleton(schema, schema), ...Object.fromEntries(kept) };
}

// Arguments or result: a form by the operation's schema, or JSON.
function side({ asJson, redraw, operation, ...place }, name, title, schema) {
  const path = `${place.path}.${name}`;
  const key = `${place.index} ${name}`;
  const isJson = !schema || asJson.has(key);
  const turn = button(isJson ? "As a form" : "As JSON", () => {
    if (!asJson.delete(key)) asJson.add(key);
    redraw();
  }, { quiet: true, small: true, title: `${title}: ${isJson ? "as a form" : "as JSON"}` });
  const content = isJson
    ? jsonField({ ...place, path, label: `${title}, as JSON`, isHidden: true, rows: 4, mustBe: "object" })
    : [findingSlot({ ...place, path, isExact: true }), schemaForm({ ...place, path, schema, nothing: name === "arguments" ? "It takes no arguments." : "It gives nothing back." })];
  return h("div", { class: "call__side", role: "group", "aria-label": `${title}, call ${place.index + 1}` }, h("div", { class: "call__title" }, h("h3", {}, title), schema && turn), content);
}
