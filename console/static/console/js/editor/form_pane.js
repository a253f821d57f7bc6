// The middle: the chosen part as a form or as its source, with what can be done with it as a whole.
import { button, h } from "./dom.js";
import { KIND_WORDS } from "./kinds.js";
import { duplicate, remove, shift } from "./outline.js";

const FORMS = {
  prompt: () => import("./forms/section.js"),
  skill: () => import("./forms/skill.js"),
  tool: () => import("./forms/tool.js"),
  hook: () => import("./forms/hook.js"),
  example: () => import("./forms/example.js"),
  runtime: () => import("./forms/runtime.js"),
};

export class FormPane {
  constructor(container, store) {
    this.container = container;
    this.store = store;
    this.mode = "form";
    this.unmount = null;
    this.shown = null;
    this.turn = 0;
    // All forms are fetched while there is a connection: it may be gone when the next part is chosen.
    for (const load of Object.values(FORMS)) load().catch(() => {});
    store.on("select", () => this.draw());
    store.on("meta", () => this.draw());
    store.on("change", ({ detail }) => {
      const { kind, id } = store.selection;
      if (detail.kind !== kind) return;
      if (detail.what !== "field" && !store.get(kind, id)) this.#gone();
      else if (detail.id === id && detail.what !== "field") this.draw();
      else this.#head();
    });
  }

  setMode(mode) {
    this.mode = mode;
    this.draw();
  }

  async draw() {
    const { kind, id } = this.store.selection;
    this.#clear();
    const turn = (this.turn += 1);
    if (kind === "harness") return this.#source(turn, {});
    if (!kind || !this.store.get(kind, id)) return this.#nothing();
    this.head = h("div", { class: "form-pane__head" });
    const body = h("div", { class: "form-pane__body" });
    this.container.replaceChildren(this.head, body);
    this.#head();
    if (this.mode === "source") return this.#source(turn, { kind, id }, body);
    const form = await this.#loaded(FORMS[kind], body);
    if (form && turn === this.turn) this.unmount = form.mount(body, { store: this.store, id });
  }

  // A module, or nothing where it cannot be loaded: then the pane says so.
  async #loaded(load, body) {
    try {
      return await load();
    } catch {
      const again = button("Try again", () => this.draw(), { small: true });
      body.replaceChildren(h("div", { class: "note note--warn", role: "alert" }, h("p", {}, "This could not be loaded: there is no connection. What you typed elsewhere is safe."), again));
      return null;
    }
  }

  #clear() {
    if (typeof this.unmount === "function") this.unmount();
    this.unmount = null;
  }

  async #source(turn, place, body = h("div", { class: "form-pane__body" })) {
    if (!place.kind) {
      const back = button("Back to the form", () => this.#leaveSource(), { small: true });
      this.container.replaceChildren(h("div", { class: "form-pane__head" }, h("h2", {}, "Source of the whole harness"), h("span", { class: "push" }, back)), body);
    }
    const source = await this.#loaded(() => import("./source.js"), body);
    if (source && turn === this.turn) this.unmount = source.mountSource(body, { store: this.store, ...place });
  }

  #leaveSource() {
    const first = this.before && this.store.get(this.before.kind, this.before.id) ? this.before : { kind: "runtime", id: "runtime" };
    this.store.select(first.kind, first.id);
  }

  // Shows the JSON of everything.
  showWholeSource() {
    this.before = this.store.selection;
    this.store.select("harness", "harness");
  }

  #head() {
    if (!this.head?.isConnected) return;
    const { kind, id } = this.store.selection;
    const list = this.store.list(kind);
    const index = list.findIndex((item) => item.id === id);
    const key = JSON.stringify([kind, id, index, list.length, this.mode, this.store.isReadOnly, this.store.nameOf(kind, id)]);
    if (this.shown === key && this.head.childElementCount) return;
    this.shown = key;
    const noun = KIND_WORDS[kind];
    const isPart = kind !== "runtime" && !this.store.isReadOnly;
    const focused = this.head.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    const tools = isPart && [
      button("", () => this.#shift(-1), { quiet: true, small: true, icon: "up", title: "Move up (Alt+↑)", disabled: index === 0 }),
      button("", () => this.#shift(1), { quiet: true, small: true, icon: "down", title: "Move down (Alt+↓)", disabled: index === list.length - 1 }),
      button("", () => duplicate(this.store, kind, id), { quiet: true, small: true, icon: "copy", title: `Duplicate this ${noun.toLowerCase()}` }),
      button("", () => remove(this.store, kind, id), { quiet: true, small: true, icon: "trash", title: `Remove this ${noun.toLowerCase()}` }),
    ];
    const tab = (mode, label) => button(label, () => this.setMode(mode), { small: true, pressed: this.mode === mode });
    this.head.replaceChildren(
      h("div", { class: "form-pane__name" }, h("p", { class: "soft small" }, noun, kind !== "runtime" && [" · id ", h("code", { title: "Stays the same for ever; the model never sees it." }, id)]), h("h2", {}, this.store.nameOf(kind, id).split("\n")[0] || "(no text yet)")),
      h("div", { class: "row form-pane__tools" }, tools, h("div", { class: "segments", role: "group", "aria-label": "Shown as" }, tab("form", "Form"), tab("source", "Source"))),
    );
    if (focused) this.head.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
  }

  #shift(by) {
    const { kind, id } = this.store.selection;
    shift(this.store, kind, id, by);
  }

  #gone() {
    this.#clear();
    this.#nothing();
  }

  #nothing() {
    this.container.replaceChildren(
      h("div", { class: "empty" }, h("h2", {}, "Choose a part"), h("p", {}, "The parts of the harness are on the left, in the order in which the model reads them. “?” shows the keys.")),
    );
  }

  // Shows a place within the chosen part: opens folds around it and gives its field the focus.
  async reveal(field) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 60)));
    for (let path = field; path; path = path.replace(/(\.[^.[\]]*|\[\d+\]|^[^.[\]]+)$/, "")) {
      const place = this.container.querySelector(`[data-path="${CSS.escape(path)}"]`);
      if (place) {
        for (let fold = place.closest("details:not([open])"); fold; fold = place.closest("details:not([open])")) fold.open = true;
        place.scrollIntoView({ block: "center" });
        place.querySelector("input, select, textarea, button")?.focus({ preventScroll: true });
        return true;
      }
    }
    this.container.scrollTop = 0;
    return false;
  }
}
