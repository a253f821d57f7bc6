// The form of the runtime settings: every setting with its unit, its default, and what it does to the model.
import { INVALID, bind, button, field, h, listen, select, textArea, textInput } from "../dom.js";
import { group, mountWithLanguage } from "./parts.js";

// Per setting: label, what it does, and its unit (of numbers) or its choices.
const PARTS = [
  ["What the model reads", [
    ["disclosure", "Skills", "Whole Skills in the prompt cost tokens in every turn; loaded on demand, the model first sees names and descriptions and has to ask for the rest.", { choices: [["inline", "Whole, in the prompt"], ["on_demand", "Names first, loaded on demand"]] }],
    ["skill_tool_name", "Name of the tool that loads a Skill", "The model calls it by this name. Only used when Skills are loaded on demand.", { isMono: true }],
    ["heading_style", "Headings of sections", "How the titles in the prompt are written.", { choices: [["markdown", "Markdown: ## Title"], ["plain", "Plain: Title"], ["numbered", "Numbered: 1. Title"], ["bracketed", "In brackets: [Title]"]] }],
    ["tool_document_format", "Tool descriptions are written as", "Lines are shorter and easier for small models; JSON is what many larger ones were trained on.", { choices: [["lines", "Lines"], ["json", "JSON"]] }],
    ["tool_document_order", "Order within a tool's description", "What a model reads first weighs more with small models.", { choices: [["description_first", "Description, then name"], ["name_first", "Name, then description"]] }],
    ["context_budget_tokens", "Token budget", "Prompt, conversation and reply together. Past it the turn ends with the fallback reply.", { unit: "tokens" }],
  ]],
  ["How the model calls tools", [
    ["call_format", "Calls are written as", "The model is told to write calls this way. Another format asks a trained model to do what it did not learn.", { choices: [["plain", "Plain: CALL name; key: value"], ["hermes", "Hermes: JSON in <tool_call> tags"]] }],
    ["max_tool_rounds", "Tool rounds in a turn", "How often the model may call tools before it has to reply. 0: no tools.", { unit: "rounds" }],
  ]],
  ["How the model replies", [
    ["temperature", "Temperature", "0 gives the likeliest reply every time; higher gives more varied ones.", {}],
    ["max_reply_tokens", "Longest reply", "The reply is cut off here.", { unit: "tokens" }],
    ["max_revisions", "Most revisions", "How often a hook may send a reply back to be written again. After that the fallback reply is sent.", {}],
  ]],
  ["When it does not work out", [
    ["deadline_ms", "Time for a turn", "Past it the viewer gets the fallback reply.", { unit: "ms" }],
    ["fallback_reply", "Fallback reply", "What the viewer gets when a turn ends without a reply of the model's own.", { isText: true }],
  ]],
];

export function mount(container, { store }) {
  return mountWithLanguage(container, store, (language) => {
    const schema = language.spec_schema.$defs.RuntimeSettings.properties;
    return h("div", { class: "form form--runtime" }, PARTS.map(([title, settings]) => group({ label: title, className: "group--card" }, h("div", { class: "settings" }, settings.map((item) => setting(store, schema, item))))));
  });
}

function setting(store, schema, [path, label, help, how]) {
  const place = { store, kind: "runtime", id: "runtime", path };
  const rule = schema[path] || {};
  const control = controlOf(place, rule, how);
  const made = field({ ...place, label, help: [help, range(rule)].filter(Boolean).join(" "), control: how.choices || how.isText || how.isMono ? control : h("div", { class: "with-unit" }, control, h("span", { class: "with-unit__unit" }, how.unit)) });
  made.classList.add("setting");
  if (how.isText) made.classList.add("setting--wide");
  made.append(defaultLine(place, rule, how));
  return made;
}

function controlOf(place, rule, how) {
  if (how.choices) {
    const known = how.choices.map(([value]) => value);
    const others = (rule.enum || []).filter((value) => !known.includes(value)).map((value) => [value, value]);
    return select({ ...withDefault(place, rule), options: [...how.choices, ...others] });
  }
  if (how.isText) return textArea({ ...withDefault(place, rule), rows: 2 });
  if (!["integer", "number"].includes(rule.type)) return textInput({ ...withDefault(place, rule), isMono: how.isMono });
  return numberInput(place, rule, how);
}

// A number that is stored once it is one and within its bounds; what is not is told at the field and stays as typed.
function numberInput(place, rule, how) {
  const control = h("input", { type: "text", inputmode: rule.type === "integer" ? "numeric" : "decimal", autocomplete: "off" });
  const current = () => place.store.get("runtime", "runtime")?.[place.path] ?? rule.default;
  const problem = h("p", { class: "field__error", role: "alert", hidden: true });
  const wrong = (text) => {
    const value = Number(text.replace(",", "."));
    if (!text.trim() || Number.isNaN(value)) return `“${text}” is no number. It is still ${current()}.`;
    if (rule.type === "integer" && !Number.isInteger(value)) return `Write a whole number. It is still ${current()}.`;
    if (value < rule.minimum || value > rule.maximum) return `${range(rule)} It is still ${current()}.`;
    return "";
  };
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
  let last;
  bind(control, {
    ...place,
    read: () => (wrong(control.value) ? INVALID : Number(control.value.replace(",", "."))),
    write: (value) => {
      const shown = String(value ?? rule.default);
      if (shown === last && wrong(control.value)) return; // half typed, and nothing new to show
      last = shown;
      if (Number(control.value.replace(",", ".")) !== Number(shown) || control.value === "") control.value = shown;
      say("");
    },
  });
  control.addEventListener("input", () => say(wrong(control.value)));
  return h("div", { class: "number" }, control, problem);
}

function range(rule) {
  return rule.minimum === undefined ? "" : `Between ${rule.minimum.toLocaleString("en")} and ${rule.maximum.toLocaleString("en")}.`;
}

// The store as bound controls see it: a setting that is not written down reads as its default.
function withDefault(place, rule) {
  const { store } = place;
  const view = {
    get isReadOnly() {
      return store.isReadOnly;
    },
    get: (kind, id) => ({ [place.path]: rule.default, ...store.get(kind, id) }),
    set: (...change) => store.set(...change),
    on: (...event) => store.on(...event),
  };
  return { ...place, store: view };
}

// "Default: 4 rounds", and the way back to it where the setting differs.
function defaultLine(place, rule, how) {
  const shown = how.choices?.find(([value]) => value === rule.default)?.[1] ?? rule.default;
  const written = typeof shown === "number" ? shown.toLocaleString("en") : shown;
  const text = how.isText ? "The default is another text." : `Default: ${[written, how.unit].filter(Boolean).join(" ")}`;
  const back = button("Back to the default", () => place.store.set("runtime", "runtime", { [place.path]: rule.default }), { quiet: true, small: true });
  const made = h("p", { class: "setting__default" });
  const show = () => {
    const isSame = (place.store.get("runtime", "runtime")?.[place.path] ?? rule.default) === rule.default;
    made.replaceChildren(...(isSame ? [how.isText ? "This is the default." : text] : [text, " ", place.store.isReadOnly ? "" : back]));
  };
  listen(made, place.store, "change", ({ detail }) => detail.kind === "runtime" && show());
  show();
  return made;
}
