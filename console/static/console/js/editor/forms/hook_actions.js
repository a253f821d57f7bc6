// The "then …" of a hook: what it does, with the fields that this kind of action has.
import { button, h, select } from "../dom.js";
import { ACTIONS, SLOTS, VIOLATIONS, WRAPPERS, actionOf, matchedOperations, pairs } from "./hook_model.js";
import { choice, findingSlot, group, labelled, tokenInput } from "./parts.js";
import { controlFor, jsonField, shapeOf, skeleton } from "./schema_form.js";
import { templateText } from "./template_text.js";

export function actionFields(form) {
  const { action, event } = form.hook;
  const allowed = form.language.hooks.actions_by_event[event] || Object.keys(ACTIONS);
  const type = choice({
    store: form.store,
    options: pairs(ACTIONS, allowed),
    value: action.type,
    label: "Action",
    onChange: (next) => {
      form.earlier.set(action.type, action);
      form.set({ action: form.earlier.get(next) || actionOf(next, event, action, form.language) }, "Change what a hook does");
    },
  });
  type.dataset.key = "action";
  const fields = { add_context: addContext, deny, rewrite_input: rewriteInput, replace_output: replaceOutput, check_reply: checkReply }[action.type];
  return [labelled({ ...form.place, path: "action.type", label: "Action", isHidden: true, control: type }), fields ? fields(form, action) : null];
}

// A choice that is bound to a field of the action; `key` brings the focus back after the clauses were drawn anew.
function bound(form, name, label, options) {
  const control = select({ ...form.place, path: `action.${name}`, options });
  control.dataset.key = `action.${name}`;
  return labelled({ ...form.place, path: `action.${name}`, label, control });
}

function text(form, name, label, help, rows = 3) {
  return templateText({ ...form.place, language: form.language, path: `action.${name}`, label, help, rows, isShort: true });
}

function addContext(form) {
  const slots = form.language.hooks.slots_by_event[form.hook.event] || Object.keys(SLOTS);
  return [
    text(form, "text", "Text"),
    h("div", { class: "form__row" }, bound(form, "slot", "Where it stands", pairs(SLOTS, slots)), bound(form, "wrapper", "How it is marked", pairs(WRAPPERS))),
  ];
}

function deny(form) {
  const isComment = form.hook.event === "UserPromptSubmit";
  return text(form, "reason", isComment ? "Reply to the viewer" : "Tell the model why", isComment ? "The model is not asked; the viewer gets this text." : "The call is not made; the model reads this instead of a result.");
}

function checkReply(form, action) {
  const phrases = tokenInput({
    store: form.store,
    label: "Phrases",
    values: (action.phrases || []).filter(Boolean),
    placeholder: "A phrase, then Enter",
    // A rule needs one phrase at least: without any an empty one stands in, and a finding says so.
    onChange: (next) => form.store.set("hook", form.id, [[["action", "phrases"], next.length ? next : [""]]], { source: form, label: "Change the phrases", coalesce: "phrases" }),
  });
  return [
    bound(form, "mode", "The reply", [["forbid", "must not say any of these"], ["require", "must say one of these"]]),
    labelled({ ...form.place, path: "action.phrases", label: "Phrases", help: "Upper and lower case do not matter. Paste a list to add one a line.", control: phrases }),
    bound(form, "on_violation", "Otherwise", pairs(VIOLATIONS)),
    action.on_violation === "replace" && text(form, "replacement", "Reply to send instead", null, 2),
    action.on_violation === "revise" && text(form, "message", "Tell the model what has to change", "It writes again as often as the runtime settings allow; then the fallback reply is sent.", 2),
  ];
}

// --- arguments and results ---------------------------------------------------------------------------------------------

// Names that every operation behind the tools knows (arguments), or any of them (results): { name: [schema, root] }.
function known(form, side, needsAll) {
  const operations = matchedOperations(form.store, form.hook);
  const found = new Map();
  for (const operation of operations) {
    for (const [name, schema] of Object.entries(operation[side]?.properties || {})) {
      const isEverywhere = operations.every((other) => name in (other[side]?.properties || {}));
      if (!found.has(name) && (isEverywhere || !needsAll)) found.set(name, [schema, operation[side]]);
    }
  }
  return found;
}

function rewriteInput(form, action) {
  return setRows(form, action, known(form, "input_schema", true), { title: "Arguments to set", add: "Set an argument …", nothing: "The tools have no argument in common. Choose tools above." });
}

function replaceOutput(form, action) {
  const names = known(form, "output_schema", false);
  const drop = tokenInput({
    store: form.store,
    label: "Left out",
    values: action.drop || [],
    suggestions: [...names.keys()],
    placeholder: "A field, then Enter",
    parse: (name) => {
      if (names.size && !names.has(name)) throw new Error(`No result has a field “${name}”. There are: ${[...names.keys()].join(", ")}.`);
      return name;
    },
    onChange: (next) => form.store.set("hook", form.id, [[["action", "drop"], next]], { source: form, label: "Change what is left out", coalesce: "drop" }),
  });
  return [
    setRows(form, action, names, { title: "Fields to set", add: "Set a field …", nothing: "No operation is behind the tools. Choose tools above." }),
    labelled({ ...form.place, path: "action.drop", label: "Fields to leave out", help: "The model does not see them.", control: drop }),
  ];
}

// One row for each name that is set: its value by the operation's own schema.
function setRows(form, action, names, words) {
  const set = action.set || {};
  const put = (next, label) => form.set([[["action", "set"], next]], label);
  const rows = Object.keys(set).map((name) => setRow(form, name, names.get(name), () => put(Object.fromEntries(Object.entries(set).filter(([key]) => key !== name)), `Do not set ${name}`)));
  const free = [...names.keys()].filter((name) => !(name in set));
  const add = free.length > 0 && choice({
    store: form.store,
    label: words.add,
    options: [[null, words.add], ...free.map((name) => [name, name])],
    value: null,
    onChange: (name) => {
      put({ ...set, [name]: firstValue(names.get(name)) }, `Set ${name}`);
      form.focus(`set-${name}`);
    },
  });
  if (add) add.dataset.key = "set";
  return group({ ...form.place, path: "action.set", isExact: true, label: words.title }, rows, !names.size && h("p", { class: "soft small" }, words.nothing), !form.store.isReadOnly && add);
}

function firstValue([schema, root]) {
  const { isNullable, ...rest } = shapeOf(schema, root);
  return skeleton({ ...rest.schema, type: rest.types, ...(rest.enum ? { enum: rest.enum } : {}) }, root) ?? (isNullable ? null : "");
}

function setRow(form, name, schema, onRemove) {
  const place = { ...form.place, path: ["action", "set", name] };
  const control = schema && controlFor(place, shapeOf(...schema), true);
  const line = control ? labelled({ ...place, label: name, help: shapeOf(...schema).description, control }) : jsonField({ ...place, label: name, help: schema ? "As JSON." : "Not known to the operations." });
  line.dataset.key = `set-${name}`;
  const remove = button("", onRemove, { quiet: true, small: true, icon: "close", title: `Do not set ${name}` });
  return h("div", { class: "set-row" }, line, !form.store.isReadOnly && remove, schema ? null : findingSlot({ ...place, isExact: true }));
}
