// The bar at the top: who else is here, whether everything is saved, and what can be done with the draft as a whole.
import { openCommit } from "./commit.js";
import { openConflict } from "./conflict.js";
import { button, dialog, h, toast } from "./dom.js";
import { icon } from "./icons.js";
import { clock, personName } from "./recovery.js";
import { openRevisions } from "./revisions.js";

// A label that only its icon shows where there is little room.
const shrinking = (text) => h("span", { class: "shrinks" }, text);

export class Toolbar {
  constructor(container, { store, sync, pane }) {
    Object.assign(this, { store, sync, pane });
    this.status = h("p", { class: "status" });
    this.live = h("p", { class: "sr-only", role: "status" }); // not every "Saving…": only what one must know
    this.statusAction = h("span", { class: "status__action" });
    this.people = h("ul", { class: "people", "aria-label": "Who else is editing" });
    this.tools = h("div", { class: "row editor__tools" });
    container.replaceChildren(this.people, h("div", { class: "status__box" }, this.status, this.live, this.statusAction), this.tools);
    store.on("status", () => this.drawStatus());
    store.on("history", () => this.#drawHistory());
    store.on("meta", () => this.draw());
    this.draw();
  }

  draw() {
    const { meta, isReadOnly } = this.store;
    this.undo = button("", () => this.store.undo(), { quiet: true, icon: "undo" });
    this.redo = button("", () => this.store.redo(), { quiet: true, icon: "redo" });
    const search = button("", () => openSearch(this.store), { quiet: true, icon: "search", title: "Search and replace (Ctrl+Shift+F)" });
    this.tools.replaceChildren(
      ...[
        !isReadOnly && this.undo,
        !isReadOnly && this.redo,
        !isReadOnly && search,
        meta.canPlay && button(shrinking("Try it"), () => this.open(meta.urls.playground), { icon: "play", title: "Save, then talk to this draft in the playground (a new tab)" }),
        button(shrinking("Compare"), () => this.open(meta.urls.compare), { icon: "compare", title: "Save, then compare this draft with any version (a new tab)" }),
        this.#menu(),
        !isReadOnly && button("Commit", () => openCommit(this.store, this.sync), { primary: true, title: "Make a version of this draft" }),
      ].filter(Boolean),
    );
    this.#drawHistory();
    this.drawStatus();
  }

  #menu() {
    const entry = (label, onClick) => h("button", { type: "button", onClick: () => this.#close(onClick) }, label);
    this.menu = h(
      "details",
      { class: "menu" },
      h("summary", { class: "button button--quiet button--icon", "aria-label": "More" }, icon("more")),
      h(
        "div",
        { class: "menu__list" },
        entry("Source of the whole harness", () => this.pane.showWholeSource()),
        entry("Earlier saves", () => openRevisions(this.store, this.sync)),
        entry("Download as JSON", () => download(this.store)),
        entry("Keys (?)", openKeys),
        h("a", { href: this.store.meta.urls.drafts }, "All drafts"),
      ),
    );
    return this.menu;
  }

  #close(onClick) {
    this.menu.open = false;
    onClick();
  }

  #drawHistory() {
    const show = (control, label, verb, keys) => {
      control.disabled = !label;
      control.title = label ? `${verb}: ${label} (${keys})` : `Nothing to ${verb.toLowerCase()}`;
      control.setAttribute("aria-label", control.title);
    };
    show(this.undo, this.store.undoLabel, "Undo", "Ctrl+Z");
    show(this.redo, this.store.redoLabel, "Redo", "Ctrl+Shift+Z");
  }

  // Saves, then opens an address in a new tab. The tab is made at once: later the browser would block it.
  async open(url) {
    if (!this.sync.isDirty) {
      window.open(url, "_blank", "noopener");
      return;
    }
    const tab = window.open("about:blank", "_blank");
    if (await this.sync.save()) {
      if (tab) {
        tab.opener = null;
        tab.location = url;
      }
    } else {
      tab?.close();
      toast(`The draft is not saved, so it cannot be shown there yet. ${this.#words()[0]}`, { tone: "error" });
    }
  }

  drawStatus() {
    const [text, tone, action] = this.#words();
    if (this.status.textContent !== text) this.status.textContent = text;
    const spoken = tone === "warn" || tone === "bad" ? text : "";
    if (this.live.textContent !== spoken) this.live.textContent = spoken;
    this.status.className = `status status--${tone}`;
    this.status.title = this.sync.revision ? `Save ${this.sync.revision} of this draft` : "";
    this.statusAction.replaceChildren(...(action ? [action] : []));
  }

  #words() {
    const { status, statusDetail: detail, meta } = this.store;
    const again = () => button("Try now", () => this.sync.save(), { small: true });
    switch (status) {
      case "saved":
        return [`Saved ${clock(detail.at || new Date())}`, "ok"];
      case "dirty":
      case "saving":
        return ["Saving…", "mute"];
      case "offline":
        return ["Not saved: no connection; your text is safe here", "warn", again()];
      case "signed_out":
        return ["Not saved: you are signed out; your text is safe here", "warn", h("a", { class: "button button--small", href: meta.urls.login, target: "_blank", rel: "noopener" }, "Log in")];
      case "conflict":
        return [`${personName(detail.by)} changed this draft meanwhile`, "warn", button("Look at both", () => openConflict(this.store, this.sync), { small: true, primary: true })];
      case "error":
        return [`Not saved: ${detail.message || "the server could not do it"}`, "bad", again()];
      default:
        return [detail.isUnsaved ? "Read only; what you changed last is not saved" : "Read only", "mute"];
    }
  }

  // Who else is here: [{ username, name }].
  showPeople(people) {
    const text = JSON.stringify(people);
    if (this.shownPeople === text) return;
    this.shownPeople = text;
    this.people.replaceChildren(...people.map(({ name, username }) => h("li", { class: "badge badge--info", title: `${name || username} has this draft open too. What you both change is joined.` }, `${name || username} is editing`, h("span", { class: "sr-only" }, " this harness"))));
  }
}

export async function openSearch(store) {
  const { openSearchReplace } = await import("./dialogs/search.js");
  return openSearchReplace(store);
}

function download(store) {
  const blob = new Blob([JSON.stringify(store.document, null, 2)], { type: "application/json" });
  const link = h("a", { href: URL.createObjectURL(blob), download: `${store.meta.slug}-draft-${store.meta.draftId}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const KEYS = [
  ["Ctrl+S", "Save now (everything is saved by itself a moment after you stop typing)"],
  ["Ctrl+Z, Ctrl+Shift+Z", "Undo and redo, in the order in which you edited, across all parts; in the source view, within its text"],
  ["Alt+↑, Alt+↓", "Move the chosen part up or down"],
  ["F8, Shift+F8", "Go to the next or previous finding"],
  ["Ctrl+Shift+F", "Search and replace in all parts"],
  ["↑, ↓ in the list of parts", "Go to the next part; Enter opens it, Delete removes it"],
  ["?", "Show these keys"],
];

export function openKeys() {
  const rows = KEYS.map(([keys, does]) => h("tr", {}, h("th", { scope: "row" }, keys.split(", ").flatMap((key, at) => [at > 0 && ", ", h("kbd", {}, key)])), h("td", {}, does)));
  return dialog({ title: "Keys", isWide: true, body: [h("table", { class: "keys" }, h("tbody", {}, rows)), h("p", { class: "small" }, "On a Mac, ⌘ stands for Ctrl.")] });
}
