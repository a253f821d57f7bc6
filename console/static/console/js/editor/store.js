// The harness that is being edited, as one plain JSON document, with undo across components, findings, selection and status.
//
// Events (CustomEvent, `detail`):
//   change    { kind, id, fields, source, what }   one component; `what` is field | added | removed | order (then id is null)
//   document  { source, steps }                    once for every edit, after its `change` events
//   findings  {}    status {}    select { kind, id }    reveal { kind, id, field }    history {}    meta {}    base {}
// The document and everything in it is read-only for others: change it through the methods.
import { inserted, inverted, joined, reconciled, stepsBetween, take, untouchedBy } from "./history.js";
import { LISTS } from "./kinds.js";
import { formatPath, getIn, parsePath, setIn } from "./paths.js";

const COALESCE_MS = 1500;
const MAX_STEP_MS = 8000;
const MAX_HISTORY = 500;
const NOTHING = { schema_version: 1, prompt: [], skills: [], tools: [], hooks: [], examples: [], runtime: {} };

export class Store extends EventTarget {
  // `meta`: { slug, draftId, urls, canEdit, operations, skillTemplates, … }; `api`: the draft's endpoints (api.js).
  constructor({ meta = {}, api = null } = {}) {
    super();
    this.meta = { operations: [], skillTemplates: [], urls: {}, canEdit: true, ...meta };
    this.api = api;
    this.document = NOTHING;
    this.findings = [];
    this.checked = { prompt_tokens: null, budget_tokens: null, changes: null };
    this.selection = { kind: null, id: null };
    this.status = "saved";
    this.statusDetail = {};
    this.undoList = [];
    this.redoList = [];
  }

  emit(type, detail = {}) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // Listens; gives back the function that stops listening.
  on(type, listener) {
    this.addEventListener(type, listener);
    return () => this.removeEventListener(type, listener);
  }

  get isReadOnly() {
    return !this.meta.canEdit;
  }

  // --- reading -------------------------------------------------------------------------------------------------------

  // A component, the runtime settings (`get("runtime", "runtime")`), or undefined.
  get(kind, id) {
    if (kind === "runtime") return this.document.runtime;
    return (this.document[LISTS[kind]] || []).find((item) => item.id === id);
  }

  list(kind) {
    return this.document[LISTS[kind]] || [];
  }

  value(kind, id, path) {
    return getIn(this.get(kind, id), path);
  }

  // What people call a component.
  nameOf(kind, id) {
    const found = this.get(kind, id);
    if (kind === "runtime") return "Runtime settings";
    return found ? found.name || found.title || found.comment || found.id : id;
  }

  // An id that no component of the kind has, made from a name.
  freshId(kind, name) {
    const plain = String(name).toLowerCase().replace(/[^a-z0-9_.-]+/g, "-").replace(/^[^a-z0-9]+|-+$/g, "");
    const base = plain.slice(0, 56) || kind;
    let id = base;
    for (let count = 2; this.get(kind, id); count += 1) id = `${base}-${count}`;
    return id;
  }

  // Findings about a component, or about one field of it and what lies within ("binding" finds "binding.cases[0].operation").
  findingsFor(kind, id, field) {
    const path = field === undefined ? null : formatPath(field);
    return this.findings.filter((item) => {
      if (item.component_kind !== kind || (kind !== "runtime" && kind !== "harness" && item.component_id !== id)) return false;
      if (path === null) return true;
      return item.field === path || item.field.startsWith(`${path}.`) || item.field.startsWith(`${path}[`);
    });
  }

  // --- changing ------------------------------------------------------------------------------------------------------

  // Sets places of one component: { "dotted.path": value } or [[path, value], …]; undefined takes a key away. `coalesce` (true or
  // a key) joins quick edits of one place in one undo step. Gives back whether anything changed.
  set(kind, id, fields, { label, coalesce, source } = {}) {
    const old = this.get(kind, id);
    if (!old) return false;
    const pairs = Array.isArray(fields) ? fields : Object.entries(fields);
    const now = pairs.reduce((value, [path, next]) => setIn(value, parsePath(path), next), old);
    const key = coalesce === true ? pairs.map(([path]) => formatPath(path)).join() : coalesce;
    const text = label || `Edit ${this.nameOf(kind, id)}`;
    return this.#commit(this.#withComponent(kind, id, now), { label: text, coalesce: key && `${kind} ${id} ${key}`, source });
  }

  // Adds a component behind another (null: first; left out: last) and gives back its id, which is made where it is missing or taken.
  add(kind, component, after, { label, source } = {}) {
    const wanted = component.id && !this.get(kind, component.id) ? component.id : null;
    const id = wanted || this.freshId(kind, component.id || component.name || component.title || kind);
    const { id: _, ...rest } = component;
    const list = inserted(this.list(kind), { id, ...rest }, after);
    const next = { ...this.document, [LISTS[kind]]: list };
    return this.#commit(next, { label: label || `Add ${component.name || component.title || kind}`, source }) ? id : null;
  }

  remove(kind, id, { label, source } = {}) {
    const name = this.nameOf(kind, id);
    const list = this.list(kind).filter((item) => item.id !== id);
    return this.#commit({ ...this.document, [LISTS[kind]]: list }, { label: label || `Remove ${name}`, source });
  }

  // Moves a component behind another (null: to the front).
  move(kind, id, after, { label, source } = {}) {
    const component = this.get(kind, id);
    if (!component || after === id) return false;
    const list = inserted(this.list(kind).filter((item) => item.id !== id), component, after);
    return this.#commit({ ...this.document, [LISTS[kind]]: list }, { label: label || `Move ${this.nameOf(kind, id)}`, source });
  }

  // Another document in place of this one, as one step that can be taken back.
  replaceDocument(document, label = "Edit the source", { source } = {}) {
    return this.#commit(reconciled(this.document, document), { label, source });
  }

  // Takes edits of the REST contract ({op: …}) by way of the server, which knows how to follow a rename or replace text.
  async apply(edits, label = "Edit") {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const start = this.document;
      const { document, applied } = await this.api.apply(start, edits);
      if (start !== this.document) continue;
      this.replaceDocument(document, label, { source: "apply" });
      return applied;
    }
    throw new Error("The draft kept changing meanwhile. Nothing was done; try again.");
  }

  #withComponent(kind, id, now) {
    if (kind === "runtime") return { ...this.document, runtime: now };
    const key = LISTS[kind];
    return { ...this.document, [key]: this.document[key].map((item) => (item.id === id ? now : item)) };
  }

  #commit(next, { label, coalesce = null, source = null }) {
    if (this.isReadOnly) return false;
    const steps = stepsBetween(this.document, next);
    if (!steps.length) return false;
    const last = this.undoList.at(-1);
    const now = performance.now();
    if (coalesce && last?.coalesce === coalesce && now - last.at < COALESCE_MS && now - last.since < MAX_STEP_MS) {
      last.steps = joined(last.steps, steps);
      last.at = now;
    } else {
      this.undoList.push({ label, steps, coalesce, at: now, since: now });
      if (this.undoList.length > MAX_HISTORY) this.undoList.shift();
    }
    this.redoList = [];
    this.#become(next, steps, source);
    return true;
  }

  #become(next, steps, source) {
    this.document = next;
    const groups = new Map();
    for (const step of steps) {
      const key = `${step.type} ${step.kind} ${step.id}`;
      if (!groups.has(key)) groups.set(key, { kind: step.kind, id: step.id, what: step.type, fields: [], source });
      if (step.field) groups.get(key).fields.push(step.field);
    }
    for (const detail of groups.values()) this.emit("change", detail);
    this.emit("document", { source, steps });
    this.emit("history");
  }

  // --- undo ----------------------------------------------------------------------------------------------------------

  get undoLabel() {
    return this.undoList.at(-1)?.label ?? null;
  }

  get redoLabel() {
    return this.redoList.at(-1)?.label ?? null;
  }

  // Takes the last edit back, wherever it was made, and shows the place. Gives back its label, or null where there is none.
  undo() {
    return this.#turn(this.undoList, this.redoList, "undo");
  }

  redo() {
    return this.#turn(this.redoList, this.undoList, "redo");
  }

  #turn(from, to, source) {
    if (this.isReadOnly || !from.length) return null;
    const entry = from.pop();
    const next = take(this.document, source === "undo" ? inverted(entry.steps) : entry.steps);
    to.push({ ...entry, coalesce: null });
    this.#become(next, stepsBetween(this.document, next), source);
    const place = entry.steps.find((step) => step.id && this.get(step.kind, step.id));
    if (place) this.select(place.kind, place.id);
    return entry.label;
  }

  // --- what comes from the server ------------------------------------------------------------------------------------

  // The draft as the server has it: what was undone or could be is forgotten.
  load(document) {
    this.undoList = [];
    this.redoList = [];
    const next = reconciled(this.document, { ...NOTHING, ...document });
    this.#become(next, stepsBetween(this.document, next), "load");
  }

  // What other people changed, joined with ours. It is no step of ours: undo skips what they touched.
  merge(document, source = "merge") {
    const next = reconciled(this.document, document);
    const steps = stepsBetween(this.document, next);
    if (!steps.length) return;
    this.undoList = untouchedBy(this.undoList, steps);
    this.redoList = untouchedBy(this.redoList, steps);
    this.#become(next, steps, source);
  }

  setChecked({ findings, ...rest }) {
    Object.assign(this.checked, rest);
    if (findings) this.findings = findings;
    this.emit("findings");
  }

  // status: saved | dirty | saving | offline | conflict | signed_out | error | read_only; `detail` says more for the toolbar.
  setStatus(status, detail = {}) {
    this.status = status;
    this.statusDetail = detail;
    this.emit("status");
  }

  select(kind, id) {
    if (this.selection.kind === kind && this.selection.id === id) return;
    this.selection = { kind, id };
    this.emit("select", { kind, id });
  }
}
