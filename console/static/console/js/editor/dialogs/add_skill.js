// Adding a skill: from a template, from a SKILL.md file (or a zip of skill folders), or empty.
import { dialog, h, toast, undoToast, uniqueId } from "../dom.js";
import { addTogether, freeId, freeName } from "./fresh.js";

const EMPTY = { id: "skill", name: "new-skill", description: "", body: "", allowed_tools: [], risk: "low", metadata: {} };

// Asks where the skill comes from, adds it behind `after` and shows it. Resolves with its id, or null.
export async function openAddSkill(store, after) {
  let templates = store.meta.skillTemplates;
  if (!templates.length) {
    const answer = await store.api.skillTemplates().catch(() => []);
    templates = answer.results || answer;
    store.meta.skillTemplates = templates;
  }
  const group = uniqueId("skill");
  const file = h("input", { type: "file", accept: ".md,.zip,text/markdown,application/zip", id: `${group}-file` });
  const notes = h("p", { class: "field__help", role: "status" });
  let chosen = "empty";
  let made = null;
  const radio = (value, title, text, extra) => {
    const input = h("input", { type: "radio", name: group, checked: chosen === value });
    input.addEventListener("change", () => {
      chosen = value;
    });
    return h("li", {}, h("label", { class: "catalogue__entry" }, input, h("span", { class: "catalogue__text" },
      h("span", { class: "catalogue__head" }, h("strong", {}, title)), text && h("span", { class: "small" }, text))), extra);
  };
  file.addEventListener("change", () => {
    chosen = "file";
    file.closest("li").querySelector("input[type=radio]").checked = true;
    notes.textContent = file.files[0] ? `${file.files[0].name} is read when you add it.` : "";
  });
  const label = h("label", { class: "small" }, "File");
  label.htmlFor = file.id;
  await dialog({
    title: "Add a skill",
    isWide: true,
    body: h("fieldset", {}, h("legend", { class: "sr-only" }, "Where the skill comes from"),
      h("ul", { class: "catalogue" },
        radio("empty", "Empty", "Start with nothing."),
        radio("file", "A file", "A SKILL.md in the Agent Skills format, or a zip of folders with one each.", h("div", { class: "catalogue__more field" }, label, file, notes)),
        templates.map((template, index) => radio(index, template.name, template.description)))),
    actions: [
      { label: "Cancel", value: null },
      { label: "Add skill", value: "add", primary: true, onClick: async () => {
        const skills = chosen === "file" ? await readFile(store, file.files[0]) : [chosen === "empty" ? EMPTY : templates[chosen]];
        made = addSkills(store, skills, after);
      } },
    ],
  });
  if (made) store.select("skill", made);
  return made;
}

// The skills in a file, read by the server: it knows the format and which tools they may use here.
async function readFile(store, file) {
  if (!file) throw new Error("Choose a file first.");
  const answer = await store.api.skillFile(file);
  const told = answer.notes.filter((note) => !/was added\.$/.test(note));
  if (told.length) toast(told.join(" "), { tone: "warning", timeout: 0 });
  return answer.skills;
}

const FIELDS = Object.keys(EMPTY);

function addSkills(store, skills, after) {
  const known = new Set(store.list("tool").map((tool) => tool.id));
  const names = [];
  const ids = new Set();
  const additions = skills.map((skill) => {
    const own = Object.fromEntries(FIELDS.map((field) => [field, structuredClone(skill[field] ?? EMPTY[field])]));
    const name = freeName(store, "skill", own.name, names);
    const id = freeId(store, "skill", own.id || name, ids);
    names.push(name);
    ids.add(id);
    return { kind: "skill", component: { ...own, id, name, allowed_tools: own.allowed_tools.filter((tool) => known.has(tool)) } };
  });
  const label = additions.length === 1 ? `Add ${names[0]}` : `Add ${additions.length} skills`;
  const [first] = addTogether(store, additions, { skill: after }, label);
  undoToast(store, additions.length === 1 ? `The skill "${names[0]}" is added.` : `${additions.length} skills are added.`);
  return first;
}
