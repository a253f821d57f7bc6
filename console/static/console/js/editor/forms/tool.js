// The form of a tool: what it is called, what the model fills in, what that reaches, what the model reads back.
import { button, h, select, textArea, textInput, field } from "../dom.js";
import { renameWithFollow } from "../dialogs/rename.js";
import { bindingMap } from "./tool_binding.js";
import { ToolForm, findings, fold, isAt, line } from "./tool_controls.js";
import { mountSchemaJson } from "./tool_json.js";
import { parameterRows } from "./tool_schema.js";

const HINTS = [
  ["readOnlyHint", "Only reads, changes nothing"],
  ["destructiveHint", "May destroy something"],
  ["idempotentHint", "Twice is the same as once"],
  ["openWorldHint", "Reaches beyond the shop"],
];
const SAID = [[undefined, "not said"], [true, "yes"], [false, "no"]];

// Draws the form of one tool; gives back what takes it away.
export function mount(container, { store, id }) {
  const form = new ToolForm(store, id);
  const root = h("div", { class: "tool-form" });
  let isJson = false;
  let json = null;
  const parameters = h("div", { class: "card__body" });
  const showAs = (wanted) => {
    isJson = wanted;
    toggles.forEach(([value, made]) => made.setAttribute("aria-pressed", String(value === isJson)));
    json?.unmount();
    json = null;
    rows.hidden = isJson;
    if (isJson) json = mountSchemaJson(parameters, form, "input_schema", "The parameters as JSON Schema");
  };
  const openJson = () => {
    showAs(true);
    json.focus();
  };
  const toggles = [[false, button("Form", () => showAs(false), { small: true })], [true, button("JSON", () => showAs(true), { small: true })]];
  const rows = form.section({ class: "stack--tight", "aria-label": "Parameters", dataset: { path: "input_schema" } }, () => parameterRows(form, openJson));
  parameters.append(rows);
  root.append(
    h("div", { class: "card" }, about(form)),
    h("div", { class: "card" },
      h("div", { class: "card__head" }, h("h2", {}, "What the model fills in"), h("div", { class: "segments push", role: "group", "aria-label": "Show the parameters as" }, toggles.map(([, made]) => made))),
      parameters),
    h("div", { class: "card" },
      h("div", { class: "card__head" }, h("h2", {}, "What it does")),
      form.section({ class: "card__body stack--tight", "aria-label": "Binding", dataset: { path: "binding" } }, () => bindingMap(form))),
    h("div", { class: "card" }, h("div", { class: "card__body" }, more(form))),
  );
  container.append(root);
  showAs(false);
  const detach = form.attach(root);
  return () => {
    detach();
    json?.unmount();
    root.remove();
  };
}

function about(form) {
  const { store, id } = form;
  const place = { store, kind: "tool", id };
  return h("div", { class: "card__body form" },
    h("div", { class: "form__row" },
      form.section({ dataset: { path: "name" } }, () => nameLine(form)),
      field({ ...place, path: "title", label: "Title", isOptional: true, control: textInput({ ...place, path: "title" }) })),
    field({ ...place, path: "description", label: "Description", help: "What the tool is good for, in the words by which the model should choose it.", control: textArea({ ...place, path: "description", rows: 2 }) }),
  );
}

function nameLine(form) {
  const { store, id, tool } = form;
  const rename = (text) => {
    if (text !== form.tool.name) renameWithFollow(store, "tool", id, text).finally(() => form.later());
  };
  return [
    line(form, { key: "name", label: "Name", value: tool.name, onText: rename, isLazy: true, isMono: true, help: 'What the model writes to call it: letters, digits, "_" and "-".' }),
    findings(form, (item) => item.field === "name" || item.field === "id"),
  ];
}

function more(form) {
  const { store, id } = form;
  const place = { store, kind: "tool", id };
  const hints = HINTS.map(([name, label]) => field({ ...place, path: ["annotations", name], label, control: select({ ...place, path: ["annotations", name], options: SAID }) }));
  const output = h("div", {});
  let json = null;
  const toggle = (isOpen) => {
    json?.unmount();
    json = isOpen ? mountSchemaJson(output, form, "output_schema", "The result as JSON Schema (optional)") : null;
  };
  const made = fold(form, "more", "More: hints for clients, schema of the result", [
    h("p", { class: "field__help" }, "Hints go to clients that list the tools; the model in service does not read them."),
    h("div", { class: "form__row" }, hints),
    findings(form, (item) => isAt(item.field, "output_schema") || item.field === "annotations"),
    output,
  ]);
  made.dataset.path = "output_schema";
  made.addEventListener("toggle", () => toggle(made.open));
  return made;
}
