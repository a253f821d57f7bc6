// Saving as one types, checking as one types, and what may go wrong on the way: no network, no session, another person's save.
//
// The document is always the person's own: a save that is refused changes nothing here. Work that is not saved is kept in this browser
// (recovery.js) until it is.
import { ApiError, Offline } from "./api.js";
import { sameJson } from "./paths.js";

const SAVE_MS = 700;
const MAX_WAIT_MS = 4000;
const FIRST_CHECK_MS = 10; // after a pause: what the first key brings is told at once
const CHECK_MS = 120; // between the keys of quick typing
const PAUSE_MS = 400;
const MAX_UNCHECKED_MS = 600;
const RETRY_MS = [2000, 4000, 8000, 15000, 30000];
const SIGNED_OUT_MS = 8000;

export class Sync extends EventTarget {
  // Events: `joined` { taken, by } after another person's changes were taken in; `lost` { reason } when the draft can be edited no more.
  constructor(store, backup) {
    super();
    this.store = store;
    this.api = store.api;
    this.backup = backup;
    this.revision = 0;
    this.saved = null;
    this.savedAt = null;
    this.saving = null;
    this.failures = 0;
    this.unsavedSince = null;
    store.on("document", ({ detail }) => this.#changed(detail.source));
    window.addEventListener("online", () => this.#retryNow());
    window.addEventListener("focus", () => this.store.status === "signed_out" && this.#retryNow());
  }

  get isDirty() {
    return this.saved !== null && this.store.document !== this.saved;
  }

  // Takes the draft as the server has it.
  start(draft) {
    this.store.load(draft.document);
    this.#isSaved(this.store.document, draft);
    this.store.setChecked({ findings: draft.findings || [] });
    this.#checkSoon();
  }

  #changed(source) {
    if (this.saved === null || !this.isDirty || source === "load") return;
    this.backup.keep(this.store.document, this.revision);
    this.#checkSoon();
    if (this.store.isReadOnly || this.store.status === "conflict") return;
    if (["offline", "signed_out"].includes(this.store.status)) return;
    if (this.store.status !== "saving") this.store.setStatus("dirty");
    this.#saveSoon();
  }

  #saveSoon() {
    const now = performance.now();
    this.unsavedSince ??= now;
    clearTimeout(this.saveTimer);
    const wait = Math.max(0, Math.min(SAVE_MS, MAX_WAIT_MS - (now - this.unsavedSince)));
    this.saveTimer = setTimeout(() => this.save(), wait);
  }

  // --- saving --------------------------------------------------------------------------------------------------------

  // Saves what is there now. Resolves with whether everything is saved.
  async save() {
    clearTimeout(this.saveTimer);
    while (this.saving) await this.saving;
    if (!this.isDirty) return true;
    if (this.store.isReadOnly) return false;
    this.saving = this.#put();
    try {
      await this.saving;
    } finally {
      this.saving = null;
    }
    if (!this.isDirty) return true;
    if (this.store.status === "dirty") this.#saveSoon();
    return false;
  }

  async #put() {
    const { document } = this.store;
    const wasConflict = this.store.status === "conflict";
    if (wasConflict) return;
    this.unsavedSince = null;
    this.store.setStatus("saving");
    try {
      const answer = await this.api.save(document, this.revision);
      this.failures = 0;
      this.#isSaved(document, answer);
      if (this.store.document === document) this.#checked(answer);
    } catch (error) {
      await this.#failed(error);
    }
  }

  #isSaved(document, { revision }) {
    this.revision = revision;
    this.saved = document;
    this.savedAt = new Date();
    if (this.store.document === document) {
      this.backup.drop();
      this.store.setStatus(this.store.isReadOnly ? "read_only" : "saved", { at: this.savedAt, revision });
    } else {
      this.store.setStatus("dirty");
    }
  }

  async #failed(error, isJoining = false) {
    this.backup.flush();
    if (error instanceof Offline) return this.#waitAndRetry("offline", RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)]);
    if (!(error instanceof ApiError)) {
      this.store.setStatus("error", { message: error.message });
      throw error;
    }
    if (error.isSignedOut) return this.#waitAndRetry("signed_out", SIGNED_OUT_MS);
    if (error.code === "stale_draft" && !isJoining) return this.join().catch((problem) => this.#failed(problem, true));
    if (error.status >= 500) return this.#waitAndRetry("error", RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)], error);
    if ([403, 404, 409, 410].includes(error.status) && error.code !== "stale_draft") return this.lose(error.message);
    this.store.setStatus("error", { message: error.message, errors: error.errors });
  }

  #waitAndRetry(status, wait, error = null) {
    this.failures += 1;
    this.store.setStatus(status, { since: this.savedAt, message: error?.message });
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.#retryNow(), wait);
  }

  #retryNow() {
    clearTimeout(this.retryTimer);
    if (["offline", "signed_out", "error"].includes(this.store.status) && !this.saving) this.save();
  }

  // Editing is over: archived, right withdrawn, draft committed or discarded. What is unsaved stays here to be copied.
  lose(reason) {
    this.backup.flush();
    this.store.meta.canEdit = false;
    this.store.meta.reason = reason;
    this.store.setStatus("read_only", { reason, isUnsaved: this.isDirty });
    this.store.emit("meta");
    this.dispatchEvent(new CustomEvent("lost", { detail: { reason } }));
  }

  // --- another person's save -----------------------------------------------------------------------------------------

  // Joins the saved draft with what is here. Without conflicts that is all; with some, the person chooses (conflict.js).
  async join() {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const { document } = this.store;
      const answer = await this.api.merge(document, this.revision);
      if (document !== this.store.document) continue;
      if (answer.conflicts.length) {
        this.backup.flush();
        this.conflict = answer;
        this.store.setStatus("conflict", { by: answer.by, at: answer.at, count: answer.conflicts.length });
        return;
      }
      this.takeJoined(answer);
      return;
    }
    this.store.setStatus("dirty"); // typing goes on; the next pause joins
  }

  // The joined document, with ours where both changed: it goes on from the other person's save. `isTold`: whether to say so.
  takeJoined(answer, { isTold = true } = {}) {
    this.conflict = null;
    this.revision = answer.revision;
    this.store.merge(answer.document);
    this.store.setStatus("dirty");
    if (isTold) this.dispatchEvent(new CustomEvent("joined", { detail: answer }));
    this.#saveSoon();
  }

  // Takes the newest version into a draft that is saved: the server joins both, saves that and gives back what both changed.
  async takeNewest() {
    const answer = await this.api.rebase(this.revision);
    if (this.isDirty) await this.join(); // something was typed meanwhile
    else this.#takeSaved(answer);
    this.#knowBase(answer);
    return answer;
  }

  // Looks for a newer save. A clean editor takes it on; one with unsaved work is left alone: its next save joins both.
  async refresh({ isTold = true } = {}) {
    if (this.saving || this.saved === null || this.store.status === "conflict") return;
    const wasDirty = this.isDirty;
    const draft = await this.api.read();
    if (draft.state !== "open") {
      this.lose(closedReason(draft));
      return;
    }
    if (draft.revision === this.revision || wasDirty || this.isDirty || this.saving) return;
    const isSame = sameJson(draft.document, this.store.document);
    this.#takeSaved(draft);
    if (!isSame && isTold) this.dispatchEvent(new CustomEvent("joined", { detail: { by: draft.updated_by, taken: [], isOnlyTheirs: true } }));
  }

  #takeSaved(draft) {
    this.saved = null; // taking on what is saved is no edit of ours
    this.store.merge(draft.document, "remote");
    this.#isSaved(this.store.document, draft);
    this.#knowBase(draft);
    if (draft.findings) this.store.setChecked({ findings: draft.findings });
    this.#checkSoon();
  }

  #knowBase({ base_number: number }) {
    if (number === undefined || number === this.store.meta.baseNumber) return;
    this.store.meta.baseNumber = number;
    this.store.emit("base");
  }

  // --- checking ------------------------------------------------------------------------------------------------------

  #checkSoon() {
    const now = performance.now();
    const isFirst = now - (this.editedAt ?? -PAUSE_MS) >= PAUSE_MS;
    this.editedAt = now;
    this.uncheckedSince ??= now;
    const latest = Math.max(0, this.uncheckedSince + MAX_UNCHECKED_MS - now);
    clearTimeout(this.checkTimer);
    this.checkTimer = setTimeout(() => this.check(), Math.min(isFirst ? FIRST_CHECK_MS : CHECK_MS, latest));
  }

  // Asks for the findings of what is there now; one question at a time, and the newest text is always asked about.
  async check() {
    if (this.checking) {
      this.isCheckDue = true;
      return;
    }
    this.checking = true;
    this.uncheckedSince = null;
    const { document } = this.store;
    try {
      const answer = await this.api.check(document);
      if (document === this.store.document) this.#checked(answer);
    } catch (error) {
      if (error instanceof ApiError && error.status === 422) this.store.setChecked({ problem: error.message });
    } finally {
      this.checking = false;
    }
    if (this.isCheckDue || document !== this.store.document) {
      this.isCheckDue = false;
      this.#checkSoon();
    }
  }

  #checked({ findings, prompt_tokens, budget_tokens, changes }) {
    const known = { prompt_tokens, budget_tokens, changes };
    const told = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
    this.store.setChecked({ findings, problem: null, ...told });
  }
}

function closedReason({ state, updated_by, committed_number }) {
  if (state === "committed") return `This draft was committed${committed_number ? ` as version ${committed_number}` : ""}.`;
  return `This draft was discarded${updated_by ? ` by ${updated_by}` : ""}.`;
}
