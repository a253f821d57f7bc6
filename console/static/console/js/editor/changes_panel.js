// What the draft changes against the version it is based on: by meaning, family by family.
import { h, listen } from "./dom.js";

const MEANINGS = {
  preserving: ["Preserving", "ok", "The same operations stay reachable with the same meaning."],
  not_preserving: ["Not preserving", "bad", "What the harness can do, or must do, changes."],
  unknown: ["Unknown", "warn", "It cannot be told from the structure whether the meaning stays."],
};
export const REVIEWS = { none: "no review beyond the harness's own rule", one_reviewer: "one reviewer", two_reviewers: "two reviewers" };

function meaningBadge(preserving) {
  const [label, tone, hint] = MEANINGS[preserving] || [preserving, "mute", ""];
  return h("span", { class: `badge badge--${tone}`, title: hint }, label);
}

// The changes as a list, one family after the other, in the order of their first change.
export function changeList(changes, go) {
  const families = new Map();
  for (const change of changes) {
    const key = change.family || "";
    if (!families.has(key)) families.set(key, []);
    families.get(key).push(change);
  }
  return [...families].map(([family, items]) =>
    h(
      "section",
      { class: "family" },
      h("h3", {}, h("span", { class: "badge badge--plain badge--leather" }, family || "no family"), " ", capitalised(items[0].family_title || "")),
      h("ul", {}, items.map((item) => changeLine(item, go))),
    ),
  );
}

function changeLine(item, go) {
  const text = item.headline.replace(/ \([^()]*\)$/, "");
  const isThere = go && item.action !== "removed" && item.component_id;
  const title = isThere ? h("button", { type: "button", class: "findings__where", onClick: () => go(item.kind, item.component_id, item.field) }, text) : text;
  return h("li", {}, title, " ", meaningBadge(item.preserving), item.reason && h("p", { class: "small soft" }, item.reason));
}

const capitalised = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

export class ChangesPanel {
  constructor(container, store, go) {
    this.store = store;
    this.go = go;
    this.body = h("div", { class: "families" });
    this.head = h("p", { class: "findings__sum", role: "status" });
    container.append(this.head, this.body);
    this.drawn = null;
    listen(container, store, "findings", () => this.draw());
    listen(container, store, "base", () => this.draw());
    this.draw();
  }

  draw() {
    const { changes } = this.store.checked;
    const { baseNumber } = this.store.meta;
    const base = baseNumber ? `version ${baseNumber}` : "an empty harness";
    const text = changes === null ? "Comparing…" : `${changes.length === 1 ? "1 change" : `${changes.length} changes`} against ${base}.`;
    if (this.head.textContent !== text) this.head.textContent = text;
    const key = JSON.stringify(changes);
    if (key === this.drawn || changes === null) return;
    this.drawn = key;
    this.body.replaceChildren(...(changes.length ? changeList(changes, this.go) : [h("p", { class: "soft" }, "The draft reads as its base.")]));
  }
}
