// A copy of unsaved work in this browser, so that no crash, lost network or ended session loses a word.
//
// Every tab keeps its own copy while it has unsaved changes. What a tab left behind is found by the next one that opens the draft; a
// tab that is still open is told from a dead one by the lock it holds.
import { button, h } from "./dom.js";
import { stepsBetween } from "./history.js";
import { KINDS, LISTS } from "./kinds.js";
import { sameJson } from "./paths.js";

const PREFIX = "tackroom-draft";
const WRITE_MS = 250;

export const clock = (moment) => new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

// "Li Wei" of "Li Wei (li)", as the server names who did something.
export const personName = (text) => (text || "").replace(/ \([^()]*\)$/, "") || "Somebody";

export class Backup {
  constructor({ slug, draftId, username }) {
    this.prefix = `${PREFIX}:${slug}:${draftId}:`;
    this.username = username;
    this.key = this.prefix + Math.random().toString(36).slice(2);
    this.timer = null;
    this.waiting = null;
    // Held until the tab goes, however it goes.
    navigator.locks?.request(this.key, () => new Promise(() => {})).catch(() => {});
  }

  // Keeps a document soon; `revision` is the save it started from.
  keep(document, revision) {
    this.waiting = { document, revision };
    this.timer ||= setTimeout(() => this.flush(), WRITE_MS);
  }

  // Keeps at once what waits. Gives back whether the copy is there.
  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    if (!this.waiting) return true;
    try {
      localStorage.setItem(this.key, JSON.stringify({ ...this.waiting, at: Date.now(), username: this.username }));
      this.waiting = null;
      return true;
    } catch {
      return false; // the browser's store is full or closed to us: the page still holds the text, and warns before it is left
    }
  }

  drop(key = this.key) {
    if (key === this.key) {
      clearTimeout(this.timer);
      this.timer = this.waiting = null;
    }
    try {
      localStorage.removeItem(key);
    } catch {
      // nothing was kept either
    }
  }

  // What tabs left behind, newest first: [{ key, document, revision, at }].
  async found() {
    const held = new Set(((await navigator.locks?.query().catch(() => null))?.held || []).map((lock) => lock.name));
    const copies = [];
    for (const key of storedKeys(this.prefix)) {
      if (key === this.key || held.has(key)) continue;
      try {
        const copy = JSON.parse(localStorage.getItem(key));
        if (copy?.document && (!copy.username || copy.username === this.username)) copies.push({ key, ...copy });
      } catch {
        this.drop(key);
      }
    }
    return copies.sort((one, other) => other.at - one.at);
  }
}

function storedKeys(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

// The names of the components in which two documents differ.
function differingNames(old, now) {
  const name = ({ kind, id }) => {
    if (kind === "runtime") return "Runtime settings";
    const item = [...(now[LISTS[kind]] || []), ...(old[LISTS[kind]] || [])].find((component) => component.id === id);
    return item ? item.name || item.title || item.comment || id : `order of ${kind}s`;
  };
  return [...new Set(stepsBetween(old, now).map(name))];
}

function isHarnessShaped(document) {
  return document !== null && typeof document === "object" && KINDS.every((kind) => Array.isArray(document[LISTS[kind]] ?? []));
}

// Offers what was left behind in a bar at the top; `restore(copy)` brings it in.
export async function offerRecovery(place, { backup, store, restore }) {
  for (const copy of await backup.found()) {
    if (!isHarnessShaped(copy.document) || sameJson(copy.document, store.document)) {
      backup.drop(copy.key);
      continue;
    }
    const names = differingNames(store.document, copy.document);
    const bar = h("div", { class: "note note--warn editor__note", role: "alert" });
    const done = () => {
      backup.drop(copy.key);
      bar.remove();
    };
    const bringBack = async () => {
      await restore(copy);
      done();
    };
    const shown = names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ");
    bar.append(
      h("p", {}, h("strong", {}, `Unsaved changes from ${clock(copy.at)} were found`), ` in this browser: ${shown}.`),
      h("div", { class: "row" }, button("Restore them", bringBack, { primary: true, small: true }), button("Discard them", done, { small: true })),
    );
    place.append(bar);
  }
}
