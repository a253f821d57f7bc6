// Renaming a component that others mention: what refers to it by its id follows by itself, what writes its name by hand is listed, and
// a person says which of it shall follow.
import { button, dialog, h, toast, undoToast } from "../dom.js";
import { KIND_WORDS } from "../kinds.js";
import { editedBy, fieldWords, keyOf, takeLines } from "./lines.js";

const NAME_FIELDS = { prompt: "title" };
const wordOf = (kind) => KIND_WORDS[kind].toLowerCase();

// Renames at once where no text mentions the name; else asks. Resolves with whether it was renamed.
export async function renameWithFollow(store, kind, id, newName) {
  const field = NAME_FIELDS[kind] || "name";
  const old = store.get(kind, id)?.[field];
  if (old === undefined || old === newName) return false;
  const label = `Rename ${old || id}`;
  const rename = () => store.set(kind, id, { [field]: newName }, { label });
  if (!newName.trim() || !old.trim()) return rename();
  let found;
  try {
    found = await store.api.mentions(store.document, kind, id, newName);
  } catch (error) {
    rename();
    toast(`Renamed. Whether texts mention "${old}" could not be looked up: ${error.message}`, { tone: "warning" });
    return true;
  }
  if (!found.mentions.length) {
    rename();
    if (found.references) toast(`Renamed. ${counted(found.references, "place follows", "places follow")} by itself.`);
    return true;
  }
  return ask(store, { kind, id, old, newName, label, rename, ...found });
}

const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

// `found`: every mention; several of one line are one choice.
async function ask(store, { kind, id, old, newName, label, rename, mentions: found, references }) {
  const mentions = [...new Map(found.map((mention) => [keyOf(mention), mention])).values()];
  const chosen = new Set(mentions.map(keyOf));
  let go = null;
  const boxes = new Map();
  const refresh = () => {
    if (go) go.textContent = chosen.size ? `Rename and change ${counted(chosen.size, "line", "lines")}` : "Rename only";
    for (const [key, box] of boxes) box.checked = chosen.has(key);
  };
  const pick = (keys) => {
    chosen.clear();
    keys.forEach((key) => chosen.add(key));
    refresh();
  };
  const body = h("div", { class: "stack--tight" },
    h("p", {}, "Texts of this harness mention ", h("code", {}, old), ` by hand. Choose which shall say `, h("code", {}, newName), " from now on."),
    references > 0 && h("p", { class: "field__help" }, `${counted(references, "place refers", "places refer")} to it by its id and follow by themselves.`),
    h("div", { class: "row" },
      button("All", () => pick(mentions.map(keyOf)), { small: true }),
      button("None", () => pick([]), { small: true })),
    h("ul", { class: "mentions" }, mentions.map((mention) => item(mention, old, newName, chosen, boxes, refresh))),
  );
  const answer = await dialog({
    title: `Rename the ${wordOf(kind)} to “${newName}”`,
    body,
    isWide: true,
    actions: [
      { label: "Cancel", value: null },
      { label: "Rename", value: "go", primary: true, ref: (made) => { go = made; refresh(); }, onClick: () => perform(store, { kind, id, old, newName, label, rename, mentions, chosen }) },
    ],
  });
  return answer === "go";
}

async function perform(store, { kind, id, newName, label, rename, mentions, chosen }) {
  if (!chosen.size) return void rename();
  const wanted = mentions.filter((mention) => chosen.has(keyOf(mention)));
  const field = NAME_FIELDS[kind] || "name";
  const make = (before, after) => {
    if (wanted.length === mentions.length) return after;
    const key = { prompt: "prompt", skill: "skills", tool: "tools", hook: "hooks" }[kind];
    const taken = takeLines(before, after, wanted);
    return { ...taken, [key]: taken[key].map((component) => (component.id === id ? { ...component, [field]: newName } : component)) };
  };
  await editedBy(store, [{ op: "rename", kind, id, name: newName, follow: true }], make, label);
  undoToast(store, `Renamed, and ${counted(wanted.length, "line", "lines")} changed.`);
}

function item(mention, old, newName, chosen, boxes, refresh) {
  const key = keyOf(mention);
  const box = h("input", { type: "checkbox", checked: true });
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(key);
    else chosen.delete(key);
    refresh();
  });
  boxes.set(key, box);
  const where = `${mention.component_name || wordOf(mention.kind)}: ${fieldWords(mention.field, mention.line)}`;
  return h("li", {}, h("label", { class: "check" }, box, h("span", {},
    h("span", { class: "mentions__where" }, `${wordOf(mention.kind)} `, where),
    h("span", { class: "mentions__text" }, replacedExcerpt(mention.excerpt, old, newName)))));
}

// The excerpt with the old name struck out and the new one beside it.
function replacedExcerpt(excerpt, old, newName) {
  const parts = excerpt.split(old);
  return parts.flatMap((part, index) => (index < parts.length - 1 ? [part, h("del", {}, old), h("ins", {}, newName)] : [part]));
}
