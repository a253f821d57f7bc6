// The prompt as the model reads it, with its tokens part by part, of the draft as it is now.
import { h } from "./dom.js";

const WAIT_MS = 500;
const TONES = { section: 0, skills: 1, skill: 1, tools: 2, calls: 3, examples: 4 };
const KINDS = { section: "prompt section", skills: "skill list", skill: "skill", tools: "tools", calls: "call format", examples: "chat turns" };
const PLACES = { section: "prompt", skill: "skill", tools: "tool" };
const SVG = "http://www.w3.org/2000/svg";
const number = (value) => value.toLocaleString("en");

export class PreviewPanel {
  constructor(container, store, go) {
    this.store = store;
    this.go = go;
    this.container = container;
    this.isShown = false;
    this.asked = null;
    this.head = h("div", { class: "budget" });
    this.parts = h("div", { class: "preview__parts" });
    container.append(this.head, this.parts);
    store.on("document", () => this.#soon());
  }

  // Only a panel that is looked at asks the server.
  show(isShown) {
    this.isShown = isShown;
    if (isShown) this.#ask();
  }

  #soon() {
    clearTimeout(this.timer);
    if (this.isShown) this.timer = setTimeout(() => this.#ask(), WAIT_MS);
  }

  async #ask() {
    const { document } = this.store;
    if (this.asked === document || this.isBusy) return;
    this.isBusy = true;
    try {
      const answer = await this.store.api.prompt(document);
      this.asked = document;
      this.#draw(answer);
    } catch (error) {
      this.head.replaceChildren(h("p", { class: "soft" }, `The prompt cannot be shown now. ${error.message}`));
    } finally {
      this.isBusy = false;
    }
    if (this.asked === document && document !== this.store.document) this.#soon();
  }

  #draw({ parts, prompt_tokens: total, budget_tokens: budget, problem }) {
    if (problem) {
      this.head.replaceChildren(h("p", { class: "note note--bad" }, h("strong", {}, "The prompt cannot be rendered. "), `${problem.message} ${problem.mend || ""}`));
      return;
    }
    const percent = Math.round((100 * total) / Math.max(1, budget));
    const rest = budget - total;
    this.head.replaceChildren(
      h("p", { class: "budget__numbers" }, h("span", {}, h("strong", {}, number(total)), ` of ${number(budget)} tokens (${percent} %)`)),
      this.#bar(parts, total, budget),
      h("p", { class: rest < 0 ? "small finding finding--error" : "small soft" }, rest < 0 ? `${number(-rest)} tokens too many: shorten a part or raise the budget.` : `${number(rest)} tokens left for comments, tool results and replies. Rendered with sample values.`),
    );
    this.parts.replaceChildren(...parts.map((part) => this.#part(part)));
  }

  #bar(parts, total, budget) {
    const scale = Math.max(total, budget, 1);
    const bar = document.createElementNS(SVG, "svg");
    bar.setAttribute("role", "img");
    bar.setAttribute("preserveAspectRatio", "none");
    bar.setAttribute("aria-label", `${number(total)} of ${number(budget)} tokens`);
    let used = 0;
    for (const part of parts) {
      const piece = document.createElementNS(SVG, "rect");
      piece.setAttribute("class", `part-${TONES[part.kind] ?? 4}`);
      piece.setAttribute("x", `${(100 * used) / scale}%`);
      piece.setAttribute("width", `${(100 * part.tokens) / scale}%`);
      piece.setAttribute("height", "100%");
      bar.append(piece);
      used += part.tokens;
    }
    return bar;
  }

  #part(part) {
    const kind = PLACES[part.kind];
    const title = part.title || part.id;
    const isPlace = kind && this.store.get(kind, part.id);
    const name = isPlace ? h("button", { type: "button", class: "findings__where", onClick: () => this.go(kind, part.id) }, title) : title;
    return h(
      "article",
      { class: "part" },
      h("div", { class: "part__head" }, h("h3", {}, h("span", { class: `swatch part-${TONES[part.kind] ?? 4}`, "aria-hidden": "true" }), name), h("span", { class: "soft small" }, KINDS[part.kind] || part.kind), h("span", { class: "num" }, `${number(part.tokens)} tokens`)),
      h("pre", { tabindex: "0", role: "region", "aria-label": `${title}, text` }, part.text),
    );
  }
}
