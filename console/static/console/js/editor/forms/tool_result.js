// What the model reads back: the fields of an operation's result shown, renamed, hidden, translated; their order, what they are
// wrapped in, the format; and beside it an example, an operation's result as it would stand before the model.
import { ApiError } from "../api.js";
import { button, h } from "../dom.js";
import { choice, findings, fold, isAt, labelled, line, tick } from "./tool_controls.js";
import { casesOf, dotted, dropResultField, moveResultField, resultRows, saysNothing, setResult, setResultField } from "./tool_links.js";
import { canonical, same, typeWords } from "./tool_model.js";
import { wayControls } from "./tool_values.js";

const FORMATS = [
  ["json", "JSON"],
  ["lines", "Lines, such as price: 129"],
  ["table", "A table"],
  ["prose", "A sentence"],
];
const WAIT_MS = 150;

export function resultMap(form, one, index, operation) {
  const place = `binding.cases[${index}].result`;
  const rows = resultRows(one, operation);
  const fields = one.result?.fields ?? [];
  const placeOf = (row) => `${place}.fields[${fields.indexOf(row.field)}]`;
  const claimed = [...rows.filter((row) => row.field).map(placeOf), `${place}.wrap`];
  const top = rows.filter((row) => row.path.length === 1);
  const count = top.filter((row) => !row.field?.is_hidden).length;
  const summary = ["What the model reads back ", h("span", { class: "soft small" }, `${count} of ${top.length} fields, as ${formatWords(one)}`)];
  const body = h("div", { class: "result" },
    h("div", { class: "result__fields" },
      rows.length ? h("ul", { class: "result__list" }, rows.map((row) => fieldRow(form, index, operation, row, row.field && placeOf(row)))) : h("p", { class: "soft small" }, "Nothing is said about this operation's result; it is shown as it comes."),
      outer(form, one, index, place),
    ),
    example(form, one, index),
  );
  const found = findings(form, (item) => isAt(item.field, place) && !claimed.some((other) => isAt(item.field, other)));
  const made = fold(form, `result ${index}`, summary, [found, body], { isOpen: index === 0 });
  made.dataset.path = place;
  return made;
}

const formatWords = (one) => ({ json: "JSON", lines: "lines", table: "a table", prose: "a sentence" })[one.result?.format ?? "json"];

// --- fields ------------------------------------------------------------------------------------------------------------------

function fieldRow(form, index, operation, row, place) {
  const path = dotted(row.path);
  const key = `result ${index} ${path}`;
  const set = (values, label, options) => form.change(setResultField(form.tool, index, row.path, values), { label: `${label} ${path}`, ...options });
  const isHidden = Boolean(row.field?.is_hidden);
  const rename = (text, source) => set({ name: text === "" || text === row.path.at(-1) ? null : text }, "Name the field", { coalesce: `${key} name`, source });
  const isGroup = Boolean(row.schema.properties || row.schema.items?.properties);
  const read = () => ({ recode: [], ...casesOf(form.tool)[index].result?.fields.find((field) => same(field.path, row.path)) });
  const onChange = ({ recode = [], conversion = null }, options) => set({ recode, conversion }, "Change how to show", options);
  const way = isGroup ? { head: [], more: [] } : wayControls(form, { key, label: `How ${path} is shown`, name: path, read, schema: row.schema, onChange });
  const names = ["result__row", isHidden && "is-hidden", !row.isKnown && "is-unknown"];
  return h("li", { class: names.filter(Boolean).join(" "), style: { "--depth": String(Math.min(row.path.length - 1, 4)) }, dataset: { field: path, ...(place ? { path: place } : {}) } },
    tick(form, { key: `${key} shown`, label: h("span", { class: "result__name" }, h("code", {}, row.path.at(-1)), row.path.length > 1 && h("span", { class: "sr-only" }, ` in ${dotted(row.path.slice(0, -1))}`)), value: !isHidden, onTick: (isShown) => set({ is_hidden: !isShown }, isShown ? "Show" : "Hide") }),
    h("p", { class: "result__about small soft" }, row.isKnown ? aboutField(row.schema, operation) : h("span", { class: "badge badge--bad" }, "not in the result")),
    !isHidden && line(form, { key: `${key} name`, label: `Name of ${path} for the model`, value: row.field?.name ?? "", onText: rename, isBare: true, isMono: true, placeholder: row.path.at(-1) }),
    !isHidden && h("div", { class: "result__way" }, way.head),
    !isHidden && way.more.length > 0 && h("div", { class: "result__more" }, way.more),
    !form.store.isReadOnly && h("div", { class: "result__tools" }, rowTools(form, index, operation, row, key)),
    place && h("div", { class: "result__findings" }, findings(form, (finding) => isAt(finding.field, place))),
  );
}

const aboutField = (schema, operation) => [schema.description, operation && `(${typeWords(schema)})`].filter(Boolean).join(" ");

function rowTools(form, index, operation, row, key) {
  const path = dotted(row.path);
  const move = (step, part) => {
    form.focusNext = `${key} ${part}`;
    form.change(moveResultField(form.tool, index, operation, row.path, step), { label: `Move ${path}` });
  };
  const tool = (drawing, part, title, onClick) => {
    const made = button("", onClick, { quiet: true, small: true, icon: drawing, title });
    made.dataset.key = `${key} ${part}`;
    return made;
  };
  const drop = () => form.change(dropResultField(form.tool, index, row.path), { label: `Reset ${path}` });
  return [
    tool("up", "up", `Move ${path} up`, () => move(-1, "up")),
    tool("down", "down", `Move ${path} down`, () => move(1, "down")),
    row.field && (!saysNothing(row.field) || !row.isKnown) && tool("undo", "reset", row.isKnown ? `Show ${path} as it comes` : `Remove ${path}`, drop),
  ];
}

function outer(form, one, index, place) {
  const wrap = one.result?.wrap ?? [];
  const onWrap = (text, source) => {
    const keys = text.split(".").map((item) => item.trim()).filter(Boolean);
    form.change(setResult(form.tool, index, { wrap: keys }), { label: "Wrap the result", coalesce: `wrap ${index}`, source });
  };
  const setFormat = (format) => form.change(setResult(form.tool, index, { format }), { label: "Change the format" });
  return h("div", { class: "form__row result__outer" },
    choice(form, { key: `format ${index}`, label: "Format", options: FORMATS, value: one.result?.format ?? "json", onChoose: setFormat }),
    h("div", {},
      line(form, { key: `wrap ${index}`, label: "Wrapped in", value: wrap.join("."), onText: onWrap, isMono: true, placeholder: "nothing", help: "Outer keys, from the outside in, with dots between: data.result" }),
      findings(form, (item) => isAt(item.field, `${place}.wrap`))),
  );
}

// --- example -----------------------------------------------------------------------------------------------------------------

// A result in the operation's terms on one side, what the model reads on the other. What was typed is kept while the form is open.
function example(form, one, index) {
  const key = `example ${index} ${one.operation}`;
  const source = h("textarea", { rows: 8, class: "mono", spellcheck: false, dataset: { key } });
  const about = h("p", { class: "field__help" });
  const given = labelled("An example of what the operation gives", source, { extra: about });
  const shown = h("pre", { class: "example__text", tabIndex: 0, role: "region", "aria-label": "What the model reads", dataset: { example: String(index) } });
  const tokens = h("span", { class: "soft small" });
  const problem = h("p", { class: "note note--bad", role: "status", hidden: true });
  const show = ({ answer, origin }) => {
    shown.textContent = answer?.text ?? "";
    tokens.textContent = answer?.text ? ` ${answer.tokens} tokens` : "";
    problem.hidden = !answer?.error;
    problem.textContent = answer?.error?.message ?? "";
    about.textContent = answer?.mismatch || origin || "";
  };
  const kept = form.kept.get(key) ?? {};
  source.value = kept.text ?? "";
  show(kept);

  async function ask() {
    const typed = source.value.trim();
    const { binding } = form.tool ?? {};
    if (!binding || (form.kept.get(key)?.answer && form.kept.get(key).asked === canonical([binding, typed]))) return;
    let sample;
    try {
      sample = typed ? { result: JSON.parse(typed), origin: form.kept.get(key)?.origin ?? "" } : firstSample(form, one.operation);
    } catch (error) {
      return given.fail(`This is no JSON yet: ${error.message}`);
    }
    given.fail("");
    try {
      const answer = await form.store.api.exampleResult({ tool: form.tool, case: index, result: sample.result });
      if (!source.isConnected || source.value.trim() !== typed) return;
      if (!typed) source.value = JSON.stringify(answer.result, null, 2);
      const next = { text: source.value, origin: sample.origin ?? answer.origin, answer, asked: canonical([binding, source.value.trim()]) };
      form.kept.set(key, next);
      show(next);
    } catch (error) {
      if (error instanceof ApiError) show({ answer: { text: "", error: { message: error.message } } });
    }
  }

  const soon = () => {
    clearTimeout(form.kept.get(`${key} timer`));
    form.kept.set(`${key} timer`, setTimeout(ask, WAIT_MS));
  };
  source.addEventListener("input", () => {
    form.kept.set(key, { ...form.kept.get(key), text: source.value, origin: "" });
    soon();
  });
  soon();
  return h("div", { class: "example" }, given.element,
    h("div", { class: "example__shown" }, h("p", { class: "label" }, "What the model reads", tokens), shown, problem));
}

// A result that this harness's own examples show; else nothing, and the server makes one from the operation's schema.
function firstSample(form, operation) {
  const calls = (form.store.document.examples ?? []).flatMap((item) => item.calls ?? []);
  const found = calls.find((call) => call.operation === operation && Object.keys(call.result ?? {}).length);
  return found ? { result: found.result, origin: "From an example of this harness. Write your own to see how it reads." } : {};
}
