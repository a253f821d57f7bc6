// Names that are free in this harness, compared as validation compares them: case and Unicode form make no difference.
const twinKey = (name) => String(name).normalize("NFKC").toLowerCase().normalize("NFKC");

// A tool and a skill of one name would be mistaken for one another, so they share their names.
export function isTaken(store, kind, name, besides = []) {
  const key = twinKey(name);
  const kinds = kind === "hook" ? ["hook"] : ["tool", "skill"];
  const names = kinds.flatMap((other) => store.list(other).map((item) => item.name));
  if (kind !== "hook") names.push(store.document.runtime?.skill_tool_name ?? "");
  return [...names, ...besides].some((other) => twinKey(other) === key);
}

// `name`, or the first of name_2, name_3 … that is free. Skills and hooks are written with a hyphen and a space.
export function freeName(store, kind, name, besides = []) {
  const joint = { skill: "-", hook: " " }[kind] ?? "_";
  let made = name;
  for (let count = 2; isTaken(store, kind, made, besides); count += 1) made = `${name}${joint}${count}`;
  return made;
}

// Adds several components as one step that can be taken back. `additions`: [{ kind, component }]; each goes behind `after[kind]` (an id;
// left out: at the end). Gives back their ids.
export function addTogether(store, additions, after, label) {
  const lists = { prompt: "prompt", skill: "skills", tool: "tools", hook: "hooks", example: "examples" };
  const document = { ...store.document };
  const ids = additions.map(({ kind, component }) => {
    const list = [...(document[lists[kind]] ?? [])];
    const place = after[kind] === undefined ? list.length : list.findIndex((item) => item.id === after[kind]) + 1;
    list.splice(place, 0, component);
    document[lists[kind]] = list;
    after[kind] = component.id;
    return component.id;
  });
  store.replaceDocument(document, label);
  return ids;
}

// An id that neither the harness nor `besides` has.
export function freeId(store, kind, wanted, besides) {
  let id = store.freshId(kind, wanted);
  for (let count = 2; besides.has(id); count += 1) id = store.freshId(kind, `${wanted}-${count}`);
  return id;
}
