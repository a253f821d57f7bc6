// Who else is editing this draft: told and asked every few seconds while the page is looked at.
const EVERY_MS = 10_000;

export class Presence {
  constructor(store, sync, toolbar) {
    Object.assign(this, { store, sync, toolbar });
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.beat()));
    window.addEventListener("pagehide", () => this.store.api.leave().catch(() => {}));
    this.beat();
  }

  stop() {
    clearTimeout(this.timer);
  }

  async beat() {
    this.stop();
    try {
      if (this.store.isReadOnly) return this.toolbar.showPeople([]);
      const answer = await this.store.api.presence();
      this.toolbar.showPeople(answer.people.filter((person) => !person.is_you));
      if (answer.revision !== this.sync.revision || answer.state !== "open") await this.sync.refresh();
    } catch {
      this.toolbar.showPeople([]); // saving tells of a lost connection or session; being seen is only a courtesy
    }
    return document.hidden || this.#again();
  }

  #again() {
    this.timer = setTimeout(() => this.beat(), EVERY_MS);
  }
}
