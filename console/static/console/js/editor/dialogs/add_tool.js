// Adding tools from the catalogue of operations: parameters and binding come filled in. What no tool covers yet stands out.
import { dialog, h, undoToast } from "../dom.js";
import { addTogether, freeId, freeName } from "./fresh.js";

const EMPTY = {
  id: "tool", name: "new_tool", title: "", description: "",
  input_schema: { type: "object", properties: {}, required: [], additionalProperties: false },
  output_schema: null, annotations: {}, parameter_order: [], binding: null,
};

// Which tools stand for an operation.
function covering(store, name) {
  return store.list("tool").filter((tool) => (tool.binding?.cases ?? []).some((item) => item.operation === name));
}

// Asks which operations to add, adds a tool for each behind `after` and shows the first. Resolves with its id, or null.
export async function openAddTool(store, after) {
  let { operations } = store.meta;
  if (!operations.length) {
    const answer = await store.api.operations().catch(() => []);
    operations = answer.results || answer;
    store.meta.operations = operations;
  }
  const chosen = new Set();
  let made = null;
  let go = null;
  const search = h("input", { type: "search", id: "add-tool-search", autocomplete: "off", autofocus: true, placeholder: "Search by what it does" });
  const only = h("input", { type: "checkbox" });
  const list = h("ul", { class: "catalogue" });
  const status = h("p", { class: "small soft", role: "status" });
  const refresh = () => {
    if (!go) return;
    go.disabled = !chosen.size;
    go.textContent = chosen.size > 1 ? `Add ${chosen.size} tools` : "Add tool";
  };
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = operations.filter((operation) => {
      const text = `${operation.name} ${operation.title} ${operation.description}`.toLowerCase();
      return words.every((word) => text.includes(word)) && (!only.checked || !covering(store, operation.name).length);
    });
    const open = operations.filter((operation) => !covering(store, operation.name).length).length;
    status.textContent = `${shown.length} of ${operations.length} operations; ${open === 0 ? "every one is covered by a tool" : `no tool covers ${open} of them yet`}.`;
    list.replaceChildren(...shown.map((operation) => entry(store, operation, chosen, refresh)));
    if (!shown.length) list.append(h("li", { class: "soft" }, "No operation is like that."));
  };
  search.addEventListener("input", draw);
  only.addEventListener("change", draw);
  draw();
  await dialog({
    title: "Add a tool",
    isWide: true,
    body: h("div", { class: "stack--tight" },
      h("p", { class: "field__help" }, "A tool stands for an operation of the platform. Choose what the model should be able to do; parameters and binding come filled in."),
      h("div", { class: "field" }, h("label", { htmlFor: search.id }, "Operation"), search),
      h("label", { class: "check" }, only, h("span", {}, "Only what no tool covers yet")),
      status, list),
    actions: [
      { label: "Cancel", value: null },
      { label: "Empty tool", value: "empty", onClick: () => { made = addEmpty(store, after); } },
      { label: "Add tool", value: "add", primary: true, ref: (control) => { go = control; refresh(); }, onClick: async () => { made = await add(store, operations, chosen, after); } },
    ],
  });
  if (made) store.select("tool", made);
  return made;
}

function entry(store, operation, chosen, refresh) {
  const box = h("input", { type: "checkbox", checked: chosen.has(operation.name), dataset: { operation: operation.name } });
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(operation.name);
    else chosen.delete(operation.name);
    refresh();
  });
  const tools = covering(store, operation.name);
  const covered = tools.length
    ? h("span", { class: "small soft" }, `covered by ${tools.map((tool) => tool.name).join(", ")}`)
    : h("span", { class: "badge badge--leather" }, "no tool yet");
  return h("li", {}, h("label", { class: "catalogue__entry" }, box, h("span", { class: "catalogue__text" },
    h("span", { class: "catalogue__head" },
      h("strong", {}, operation.title || operation.name), h("code", {}, operation.name),
      operation.effect === "write" && h("span", { class: "badge badge--warn" }, "changes the room"), covered),
    h("span", { class: "small" }, operation.description))));
}

function addEmpty(store, after) {
  const component = { ...structuredClone(EMPTY), id: store.freshId("tool", EMPTY.id), name: freeName(store, "tool", EMPTY.name) };
  return store.add("tool", component, after, { label: "Add an empty tool" });
}

async function add(store, operations, chosen, after) {
  const wanted = operations.filter((operation) => chosen.has(operation.name));
  const tools = await Promise.all(wanted.map((operation) => store.api.operationTool(operation.name)));
  const names = [];
  const ids = new Set();
  const additions = tools.map((tool) => {
    const name = freeName(store, "tool", tool.name, names);
    const id = freeId(store, "tool", tool.id || tool.name, ids);
    names.push(name);
    ids.add(id);
    return { kind: "tool", component: { ...tool, id, name } };
  });
  const label = additions.length === 1 ? `Add ${names[0]}` : `Add ${additions.length} tools`;
  const [first] = addTogether(store, additions, { tool: after }, label);
  undoToast(store, additions.length === 1 ? `The tool "${names[0]}" is added.` : `${additions.length} tools are added.`);
  return first;
}
