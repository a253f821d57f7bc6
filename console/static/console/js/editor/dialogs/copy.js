// Copying components from another harness: pick harness, version and components; what they need comes along, names that are taken get
// others, and a tool whose operation this world does not have is told.
import { request } from "../api.js";
import { button, dialog, h, undoToast, uniqueId } from "../dom.js";
import { KINDS, KIND_TITLES, LISTS } from "../kinds.js";
import { needsOf, prepared } from "./copy_plan.js";
import { isTaken } from "./fresh.js";

const WAIT_MS = 200;

// Opens the dialog; `kind` opens that kind's list first. Resolves with the ids of what was copied, or null.
export function openCopyComponent(store, kind = null) {
  return new Copy(store, kind).open();
}

class Copy {
  constructor(store, kind) {
    this.store = store;
    this.kind = kind;
    this.chosen = new Map(); // "kind id" → { kind, component, name }
    this.spec = null;
    this.problem = h("p", { class: "note note--bad", role: "alert", hidden: true });
    this.harness = h("select", { id: uniqueId("copy") });
    this.version = h("select", { id: uniqueId("copy") });
    this.search = h("input", { type: "search", id: uniqueId("copy"), autocomplete: "off", placeholder: "Part of its name", autofocus: true });
    this.list = h("div", { class: "copy__list" }, h("p", { class: "soft" }, "Loading…"));
    this.plan = h("div", { class: "copy__plan", role: "status" });
  }

  async open() {
    const labelled = (text, control) => h("div", { class: "field" }, h("label", { htmlFor: control.id }, text), control);
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.loadHarnesses(), WAIT_MS);
    });
    this.harness.addEventListener("change", () => this.loadVersions());
    this.version.addEventListener("change", () => this.loadSpec());
    this.loadHarnesses();
    let ids = null;
    await dialog({
      title: "Copy from another harness",
      isWide: true,
      body: h("div", { class: "stack--tight" },
        h("div", { class: "form__row" }, labelled("Find a harness", this.search), labelled("Harness", this.harness), labelled("Version", this.version)),
        this.problem, this.list, this.plan),
      actions: [
        { label: "Cancel", value: null },
        { label: "Copy", value: "copy", primary: true, ref: (made) => { this.go = made; this.refresh(); }, onClick: () => { ids = this.copy(); } },
      ],
    });
    clearTimeout(this.timer);
    return ids;
  }

  async ask(work) {
    this.problem.hidden = true;
    try {
      return await work();
    } catch (error) {
      this.problem.textContent = error.message;
      this.problem.hidden = false;
      this.list.replaceChildren();
      return null;
    }
  }

  // Those a person may see: the server leaves out the rest.
  async loadHarnesses() {
    const search = this.search.value.trim();
    const answer = await this.ask(() => request("GET", `${this.store.api.root}/harnesses?search=${encodeURIComponent(search)}`));
    if (!answer || search !== this.search.value.trim()) return;
    const found = (answer.results ?? answer).filter((item) => item.version_count > 0);
    const before = this.harness.value;
    this.harness.replaceChildren(...found.map((item) => h("option", { value: item.slug }, `${item.title} (${item.slug})${item.slug === this.store.meta.slug ? ", this one" : ""}`)));
    const others = found.filter((item) => item.slug !== this.store.meta.slug);
    const wanted = found.some((item) => item.slug === before) ? before : (others[0] ?? found[0])?.slug;
    if (!wanted) {
      this.version.replaceChildren();
      this.list.replaceChildren(h("p", { class: "soft" }, "No harness is called like that."));
      return;
    }
    this.harness.value = wanted;
    if (wanted !== before) await this.loadVersions();
  }

  async loadVersions() {
    const slug = this.harness.value;
    const answer = await this.ask(() => request("GET", `${this.store.api.root}/harnesses/${encodeURIComponent(slug)}/versions`));
    if (!answer || slug !== this.harness.value) return;
    const versions = answer.results ?? answer;
    this.version.replaceChildren(...versions.map((item) => h("option", { value: String(item.number) }, `v${item.number}: ${short(item.message)}`)));
    await this.loadSpec();
  }

  async loadSpec() {
    const place = `${this.harness.value}/versions/${this.version.value}`;
    const answer = await this.ask(() => request("GET", `${this.store.api.root}/harnesses/${place}`));
    if (!answer || place !== `${this.harness.value}/versions/${this.version.value}`) return;
    this.spec = answer.spec;
    this.chosen.clear();
    this.draw();
    this.refresh();
  }

  draw() {
    const groups = KINDS.map((kind) => [kind, KIND_TITLES[kind], this.spec[LISTS[kind]] ?? []]).filter(([, , items]) => items.length);
    this.boxes = new Map();
    this.list.replaceChildren(...groups.map(([kind, title, items]) => this.group(kind, title, items)));
    if (!groups.length) this.list.replaceChildren(h("p", { class: "soft" }, "This version has no components."));
  }

  group(kind, title, items) {
    const rows = items.map((component) => {
      const key = `${kind} ${component.id}`;
      const box = h("input", { type: "checkbox", dataset: { copies: key } });
      box.addEventListener("change", () => this.choose(kind, component, box.checked));
      this.boxes.set(key, box);
      const name = nameOf(component);
      return h("li", {}, h("label", { class: "check" }, box, h("span", {}, name, " ", h("span", { class: "small soft" }, describe(kind, component)))));
    });
    return h("details", { class: "fold", open: !this.kind || this.kind === kind },
      h("summary", {}, `${title} (${items.length})`), h("ul", { class: "copy__items" }, rows));
  }

  choose(kind, component, isChosen) {
    const key = `${kind} ${component.id}`;
    if (isChosen) this.chosen.set(key, { kind, component, name: component.name });
    else this.chosen.delete(key);
    this.boxes.get(key).checked = isChosen;
    this.refresh();
  }

  // What the choice means here: names that are taken, what is missing, what this world does not have.
  refresh() {
    const items = [...this.chosen.values()];
    if (this.go) {
      this.go.disabled = !items.length;
      this.go.textContent = items.length > 1 ? `Copy ${items.length} components` : "Copy";
    }
    if (!this.spec) return;
    const { missing, unknown, made } = needsOf(this.store, this.spec, items);
    for (const item of items) item.name = made.get(item) ?? item.name;
    const names = items.filter((item) => item.component.name && item.name !== item.component.name);
    this.plan.replaceChildren(...[
      missing.length > 0 && h("div", { class: "note note--warn" },
        h("p", {}, `${list(missing.map((item) => nameOf(item.component)))} ${missing.length === 1 ? "is" : "are"} used by what you copy, and not in this harness.`),
        button("Copy too", () => missing.forEach((item) => this.choose(item.kind, item.component, true)), { small: true })),
      ...unknown.map(({ item, operations }) => h("p", { class: "note note--warn" },
        `"${nameOf(item.component)}" stands for ${list(operations)}, which this harness's world does not have. It is copied without that connection: choose another operation afterwards.`)),
      ...names.map((item) => this.nameField(item)),
    ].filter(Boolean));
  }

  nameField(item) {
    const control = h("input", { type: "text", class: "mono", id: uniqueId("copy"), value: item.name, autocomplete: "off", spellcheck: false });
    const problem = h("p", { class: "field__error", role: "alert" });
    control.addEventListener("change", () => {
      const besides = [...this.chosen.values()].filter((other) => other !== item && other.kind === item.kind).map((other) => other.name);
      const isWrong = !control.value.trim() || isTaken(this.store, item.kind, control.value, besides);
      problem.textContent = isWrong ? "This name is taken or empty. Choose another." : "";
      if (!isWrong) item.name = control.value;
    });
    return h("div", { class: "field" }, h("label", { htmlFor: control.id }, `"${item.component.name}" is taken here; the copy is called`), control, problem);
  }

  copy() {
    const items = [...this.chosen.values()];
    const additions = prepared(this.store, items);
    const label = items.length === 1 ? `Copy ${nameOf(items[0].component)}` : `Copy ${items.length} components`;
    const ids = additions.add(label);
    const [first] = additions.list;
    this.store.select(first.kind, ids[0]);
    undoToast(this.store, `${items.length === 1 ? "One component is" : `${items.length} components are`} copied from ${this.harness.value} v${this.version.value}.`);
    return ids;
  }
}

const nameOf = (component) => component.name || component.title || short(component.comment || component.id);
const short = (text) => (String(text).length > 60 ? `${String(text).slice(0, 59)}…` : String(text));
const list = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0] ?? "");

function describe(kind, component) {
  if (kind === "tool") return short((component.binding?.cases ?? []).map((item) => item.operation).join(", ") || "not connected");
  if (kind === "skill") return short(component.description);
  if (kind === "hook") return component.event;
  return "";
}
