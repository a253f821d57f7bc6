// Parts that several forms share: groups with their findings, check lists of tools, phrases as tokens, names that are followed.
import { button, findingLine, h, listen, textInput, uniqueId } from "../dom.js";
import { formatPath, getIn } from "../paths.js";
import { request } from "../api.js";

// What the server tells of harnesses: { spec_schema, templates, hooks }. Asked for once a page.
let language = null;
export function loadLanguage(store) {
  language ||= request("GET", store.meta.urls.language || "/editor/language.json").catch((error) => {
    language = null;
    throw error;
  });
  return language;
}

// Fills a container with a form that needs the language: `draw(language)` gives its nodes. Until then, and where the server cannot be
// reached, it says so. Gives back the function that takes the form away.
export function mountWithLanguage(container, store, draw) {
  let isGone = false;
  const load = () => {
    container.replaceChildren(h("p", { class: "soft", role: "status" }, "Loading the form …"));
    loadLanguage(store).then(
      (found) => isGone || container.replaceChildren(...[draw(found)].flat(Infinity).filter(Boolean)),
      (error) => isGone || container.replaceChildren(h("p", { class: "note note--bad" }, `${error.message} `, button("Try again", load, { small: true }))),
    );
  };
  load();
  return () => {
    isGone = true;
    container.replaceChildren();
  };
}

// --- findings and groups -----------------------------------------------------------------------------------------------

// The findings about a place, live. `isExact` leaves out those about what lies within; `except` those that others show.
export function findingSlot({ store, kind, id, path, isExact, except = () => false }) {
  const wanted = formatPath(path);
  const slot = h("ul", { class: "field__findings", id: uniqueId("findings"), hidden: true });
  const show = () => {
    const found = store.findingsFor(kind, id, wanted).filter((item) => (!isExact || item.field === wanted) && !except(item));
    const text = JSON.stringify(found);
    if (slot.dataset.shown === text) return;
    slot.dataset.shown = text;
    slot.hidden = !found.length;
    slot.replaceChildren(...found.map((item) => findingLine(store, item)));
  };
  listen(slot, store, "findings", show);
  show();
  return slot;
}

// Several controls under one heading, with help and the findings of the place. `path` left out: no findings.
export function group({ label, help, store, kind, id, path, isExact, isOptional, tools, className = "" }, ...content) {
  const helpId = help ? uniqueId("help") : null;
  const slot = path !== undefined ? findingSlot({ store, kind, id, path, isExact }) : null;
  return h(
    "fieldset",
    { class: `group ${className}`.trim(), "aria-describedby": [helpId, slot?.id].filter(Boolean).join(" ") || null, dataset: path === undefined ? {} : { path: formatPath(path) } },
    h("legend", {}, label, isOptional && h("span", { class: "field__optional" }, " (optional)")),
    tools,
    help && h("p", { class: "field__help", id: helpId }, help),
    content,
    slot,
  );
}

// A label over a control of our own making, with the findings of a place.
export function labelled({ label, help, control, isHidden, ...place }) {
  const target = control.matches("input, select, textarea") ? control : control.querySelector("input, select, textarea");
  if (target) {
    target.id ||= uniqueId("field");
    target.removeAttribute("aria-label"); // this label names it
  }
  const slot = place.path !== undefined ? findingSlot(place) : null;
  const helpId = help ? uniqueId("help") : null;
  const described = [helpId, slot?.id].filter(Boolean).join(" ");
  if (target && described) target.setAttribute("aria-describedby", described);
  const text = h("label", { class: isHidden ? "sr-only" : null }, label);
  if (target) text.htmlFor = target.id;
  return h("div", { class: "field", dataset: place.path === undefined ? {} : { path: formatPath(place.path) } }, text, control, help && h("p", { class: "field__help", id: helpId }, help), slot);
}

// A choice that is not bound to a place: `options` [[value, text], …] (values compared as JSON), `onChange(value)`.
export function choice({ label, options, value, onChange, store, isInline }) {
  const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
  const pairs = [...options];
  let index = pairs.findIndex(([item]) => same(item, value));
  if (index < 0) {
    const shown = Array.isArray(value) ? value.join(".") : value;
    pairs.push([value, shown === undefined || shown === null || shown === "" ? "(choose)" : `${shown} (does not fit here)`]);
    index = pairs.length - 1;
  }
  const control = h("select", { "aria-label": label, disabled: store?.isReadOnly, class: isInline ? "inline-choice" : null }, pairs.map(([, text], at) => h("option", { value: String(at) }, text)));
  control.value = String(index);
  control.addEventListener("change", () => onChange(pairs[Number(control.value)][0]));
  return control;
}

// --- check lists -------------------------------------------------------------------------------------------------------

// A list of ids as boxes, in the order of the choices; what is listed but not among them stays until it is taken out.
// `choices()`: [[value, text, note], …], asked again whenever the document changes.
export function checkList({ store, kind, id, path, choices, empty, unknown = "no longer there" }) {
  const made = h("ul", { class: "checks checks--columns" });
  const chosen = () => getIn(store.get(kind, id), path) || [];
  const put = (value, isOn) => {
    const known = choices().map(([item]) => item);
    const next = isOn ? [...chosen(), value] : chosen().filter((item) => item !== value);
    const order = (item) => (known.includes(item) ? known.indexOf(item) : known.length);
    store.set(kind, id, [[path, [...next].sort((one, other) => order(one) - order(other))]], { source: made });
    draw();
  };
  let drawn = "";
  const draw = () => {
    if (!store.get(kind, id)) return;
    const known = choices();
    const strangers = chosen().filter((value) => !known.some(([item]) => item === value));
    const rows = [...known, ...strangers.map((value) => [value, value, unknown])];
    const text = JSON.stringify([rows, chosen()]);
    if (text === drawn) return;
    drawn = text;
    const focused = made.contains(document.activeElement) ? document.activeElement.value : null;
    made.replaceChildren(...rows.map(([value, name, note]) => row(value, name, note, strangers.includes(value))));
    if (!rows.length) made.replaceChildren(h("li", { class: "soft small" }, empty));
    if (focused !== null) [...made.querySelectorAll("input")].find((input) => input.value === focused)?.focus();
  };
  const row = (value, name, note, isStranger) => {
    const box = h("input", { type: "checkbox", value, checked: chosen().includes(value), disabled: store.isReadOnly });
    box.addEventListener("change", () => put(value, box.checked));
    const text = h("span", {}, h("span", { class: "mono" }, name), note && h("span", { class: isStranger ? "check__note check__note--bad" : "check__note" }, ` ${note}`));
    return h("li", {}, h("label", { class: "check" }, box, text));
  };
  listen(made, store, "document", draw);
  draw();
  return made;
}

// The harness's tools by the name that the model sees.
export function toolChoices(store) {
  return () => store.list("tool").map((tool) => [tool.id, tool.name, tool.title && tool.title !== tool.name ? tool.title : ""]);
}

// --- tokens ------------------------------------------------------------------------------------------------------------

// A list of short values as tokens: Enter or a comma adds what is written, Backspace in an empty line takes the last one back for
// mending, a pasted list becomes one token a line. `parse(text)` gives the value, or throws an Error that says why not.
export function tokenInput({ store, label, values, onChange, parse = (text) => text, show = (value) => String(value), suggestions = [], placeholder = "Write, then Enter" }) {
  const made = h("div", { class: "tokens" });
  const listId = suggestions.length ? uniqueId("list") : null;
  const input = h("input", { type: "text", class: "tokens__input", placeholder, "aria-label": label, autocomplete: "off", list: listId });
  const problem = h("p", { class: "field__error", role: "alert", hidden: true });
  const live = h("span", { class: "sr-only", role: "status" });
  let items = [...values];
  const say = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
  const put = (next) => {
    items = next;
    draw();
    onChange(items);
  };
  const take = (text) => {
    try {
      const fresh = text.split(/\n/).map((part) => part.trim()).filter(Boolean).map(parse);
      const next = [...items];
      for (const value of fresh) if (!next.some((item) => show(item) === show(value))) next.push(value);
      if (fresh.length && next.length === items.length) say(`“${show(fresh[0])}” is there already.`);
      else say("");
      if (next.length > items.length) {
        put(next);
        live.textContent = `${fresh.map(show).join(", ")} added`;
      }
      input.value = "";
      return true;
    } catch (error) {
      say(error.message);
      return false;
    }
  };
  const draw = () => {
    const tokens = items.map((value, index) => {
      const remove = h("button", { type: "button", class: "token__remove", "aria-label": `Remove ${show(value)}` }, "✕");
      remove.addEventListener("click", () => {
        put(items.filter((_, at) => at !== index));
        (made.querySelectorAll(".token__remove")[Math.max(0, index - 1)] || input).focus();
      });
      return h("li", { class: "token" }, h("span", { class: "token__text" }, show(value)), !store.isReadOnly && remove);
    });
    list.replaceChildren(...tokens);
  };
  const list = h("ul", { class: "tokens__list", "aria-label": label });
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" || (event.key === "," && input.value.trim())) {
      event.preventDefault();
      take(input.value);
    } else if (event.key === "Backspace" && !input.value && items.length) {
      event.preventDefault();
      const last = items.at(-1);
      put(items.slice(0, -1));
      input.value = show(last);
    }
  });
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!text.includes("\n")) return;
    event.preventDefault();
    take(`${input.value}${text}`);
  });
  // What is written and not yet a token counts as one when the line is left: it must not be lost.
  input.addEventListener("blur", () => input.value.trim() && take(input.value));
  made.append(list, ...(store.isReadOnly ? [] : [input]), problem, live);
  if (listId) made.append(h("datalist", { id: listId }, suggestions.map((value) => h("option", { value: show(value) }))));
  draw();
  made.showValues = (next) => {
    if (JSON.stringify(next) === JSON.stringify(items)) return;
    items = [...next];
    draw();
  };
  return made;
}

// --- names -------------------------------------------------------------------------------------------------------------

// A name that the model sees. It takes effect when the line is left or Enter is pressed: what mentions it can then be followed through.
export function nameInput({ store, kind, id }) {
  const shadow = textInput({ store: readOnlyView(store), kind, id, path: "name", isMono: true });
  if (store.isReadOnly) return shadow;
  shadow.readOnly = false;
  shadow.addEventListener("keydown", (event) => {
    if (event.key === "Enter") shadow.blur();
    if (event.key === "Escape") shadow.value = store.get(kind, id).name;
  });
  shadow.addEventListener("change", async () => {
    const name = shadow.value.trim();
    if (name === store.get(kind, id)?.name) return;
    try {
      const { renameWithFollow } = await import("../dialogs/rename.js");
      await renameWithFollow(store, kind, id, name);
    } catch {
      store.set(kind, id, { name });
    }
    shadow.value = store.get(kind, id)?.name ?? name;
  });
  return shadow;
}

// The store as `textInput` needs it for showing alone: it hears changes and writes nothing.
function readOnlyView(store) {
  return { isReadOnly: true, get: (...place) => store.get(...place), on: (...event) => store.on(...event), set: () => false };
}
