// The form of a prompt section: title, text, and whether the text sets rules.
import { bind, field, h, textInput, uniqueId } from "../dom.js";
import { group, mountWithLanguage } from "./parts.js";
import { templateText } from "./template_text.js";

const MEANINGS = [
  [false, "Guidance", "Style, background, how to go about it. Other words for the same thing leave the right answers as they are."],
  [true, "A rule (policy)", "Prices, promises, what must be refused. A change to it changes what is the right answer, so it is reviewed and tested as one."],
];

export function mount(container, { store, id }) {
  const place = { store, kind: "prompt", id };
  return mountWithLanguage(container, store, (language) =>
    h(
      "div",
      { class: "form form--section" },
      field({ ...place, path: "title", label: "Title", help: "The heading that the model reads above the text.", control: textInput({ ...place, path: "title" }) }),
      templateText({ ...place, language, path: "body", label: "Text", rows: 12, placeholder: "What the model should know or do." }),
      group({ ...place, path: "is_policy", label: "What is this text?" }, meanings(place)),
    ),
  );
}

function meanings(place) {
  const name = uniqueId("policy");
  return MEANINGS.map(([value, title, note]) => {
    const box = h("input", { type: "radio", name, value: String(value) });
    const write = (now) => {
      box.checked = Boolean(now) === value;
    };
    bind(box, { ...place, path: "is_policy", type: "change", read: () => value, write, coalesce: false });
    return h("label", { class: "meaning" }, box, h("span", {}, h("strong", {}, title), h("span", { class: "meaning__note" }, note)));
  });
}
