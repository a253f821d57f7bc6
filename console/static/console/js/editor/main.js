// The editor of a draft: puts the parts together and listens to the keys that work everywhere.
import { Api } from "./api.js";
import { ChangesPanel } from "./changes_panel.js";
import { openVersionConflict } from "./conflict.js";
import { button, h, toast } from "./dom.js";
import { FindingsPanel } from "./findings_panel.js";
import { FormPane } from "./form_pane.js";
import { KIND_WORDS } from "./kinds.js";
import { mountOutline, shift } from "./outline.js";
import { Presence } from "./presence.js";
import { PreviewPanel } from "./preview_panel.js";
import { Backup, offerRecovery, personName } from "./recovery.js";
import { Store } from "./store.js";
import { Sync } from "./sync.js";
import { Toolbar, openKeys, openSearch } from "./toolbar.js";

const root = document.querySelector("[data-editor]");
const meta = JSON.parse(document.querySelector("#editor-data").textContent);
const part = (name) => root.querySelector(`[data-${name}]`);
const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

const store = new Store({ meta, api: new Api(meta.api) });
const backup = new Backup(meta);
const sync = new Sync(store, backup);

async function start() {
  try {
    const [draft, operations, templates] = await Promise.all([store.api.read(), optional(store.api.operations()), optional(store.api.skillTemplates())]);
    Object.assign(store.meta, { operations, skillTemplates: templates });
    sync.start(draft);
  } catch (error) {
    part("form").replaceChildren(h("div", { class: "note note--bad", role: "alert" }, h("p", {}, h("strong", {}, "The draft could not be loaded. "), error.message), button("Try again", () => window.location.reload(), { small: true })));
    return;
  }
  build();
}

// What only helps while editing must not keep the editor from opening.
async function optional(promise) {
  try {
    const answer = await promise;
    return answer.results || answer;
  } catch {
    return [];
  }
}

function build() {
  const pane = new FormPane(part("form"), store);
  const outline = mountOutline(part("outline"), store);
  const toolbar = new Toolbar(part("toolbar"), { store, sync, pane });
  const go = async (kind, id, field) => {
    if (!kind || kind === "harness") return;
    setView("form");
    store.select(kind, id);
    if (pane.mode === "form") await pane.reveal(field || "");
  };
  const findings = sidePanels(go);
  views();
  store.on("select", () => remember());
  // Where one pane is shown at a time, a part that is chosen already must open too.
  part("outline").addEventListener("click", (event) => event.target.closest(".outline__item") && setView("form"));
  store.on("reveal", async ({ detail }) => {
    await go(detail.kind, detail.id, detail.field);
    document.activeElement.select?.(); // a stand-in that the first key replaces
  });
  sync.addEventListener("joined", ({ detail }) => tellJoined(detail));
  sync.addEventListener("lost", () => notice());
  store.on("base", () => notice());
  notice();
  keys({ outline, findings });
  guardLeaving();
  const place = placeInAddress() || firstPlace();
  store.select(place.kind, place.id);
  if (place.field) pane.reveal(place.field);
  // An address changed by hand, a link into the page, or the browser's back and forward.
  window.addEventListener("hashchange", () => {
    const there = placeInAddress();
    if (there) go(there.kind, there.id, there.field);
  });
  offerRecovery(part("notes"), { backup, store, restore });
  new Presence(store, sync, toolbar);
}

// --- places ----------------------------------------------------------------------------------------------------------

function placeInAddress() {
  const [kind, id, field] = window.location.hash.slice(1).split("/").map(plain);
  return kind && store.get(kind, id) ? { kind, id, field } : null;
}

// A part of an address as it was meant; one that was typed wrong stays as it is.
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function firstPlace() {
  const first = store.list("prompt")[0];
  return first ? { kind: "prompt", id: first.id } : { kind: "runtime", id: "runtime" };
}

function remember() {
  const { kind, id } = store.selection;
  if (kind) window.history.replaceState(null, "", `#${kind}/${encodeURIComponent(id)}`);
  if (root.dataset.view === "outline") setView("form");
}

// On narrow screens one pane at a time.
const VIEWS = [
  ["outline", "Parts"],
  ["form", "Edit"],
  ["check", "Check"],
];

function views() {
  const count = h("span", { class: "count count--bad" });
  const show = () => {
    const errors = store.findings.filter((item) => item.severity === "error").length;
    count.textContent = String(errors);
    count.hidden = !errors;
  };
  part("views").replaceChildren(...VIEWS.map(([view, label]) => h("button", { type: "button", dataset: { to: view }, onClick: () => setView(view) }, label, view === "check" && [" ", count])));
  store.on("findings", show);
  show();
  setView("form");
}

function setView(view) {
  root.dataset.view = view;
  for (const entry of part("views").children) entry.setAttribute("aria-pressed", String(entry.dataset.to === view));
}

function sidePanels(go) {
  const side = part("side");
  const made = {};
  const panels = { findings: ["Findings", FindingsPanel], prompt: ["Prompt", PreviewPanel], changes: ["Changes", ChangesPanel] };
  const tabs = h("div", { class: "side__tabs", role: "tablist", "aria-label": "Check" });
  const bodies = Object.fromEntries(Object.keys(panels).map((name) => [name, h("div", { class: "side__body", role: "tabpanel", id: `side-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0", hidden: true })]));
  const open = (name) => {
    for (const [key, body] of Object.entries(bodies)) {
      body.hidden = key !== name;
      const tab = tabs.querySelector(`#tab-${key}`);
      tab.setAttribute("aria-selected", String(key === name));
      tab.tabIndex = key === name ? 0 : -1;
    }
    made.prompt.show(name === "prompt");
  };
  const marks = Object.fromEntries(Object.keys(panels).map((name) => [name, h("span", { class: "count" })]));
  for (const [name, [label]] of Object.entries(panels)) {
    tabs.append(h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `side-${name}`, onClick: () => open(name) }, label, " ", marks[name]));
  }
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const all = [...tabs.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.focus();
    next.click();
  });
  side.replaceChildren(tabs, budgetLine(), ...Object.values(bodies));
  for (const [name, [, Panel]] of Object.entries(panels)) made[name] = new Panel(bodies[name], store, go);
  const count = () => {
    const { changes } = store.checked;
    const toMend = store.findings.filter((item) => item.severity !== "info").length;
    marks.findings.textContent = String(toMend);
    marks.findings.hidden = !toMend;
    marks.findings.className = store.findings.some((item) => item.severity === "error") ? "count count--bad" : "count";
    marks.changes.textContent = changes === null ? "…" : String(changes.length);
  };
  marks.prompt.hidden = true;
  store.on("findings", count);
  count();
  open("findings");
  return made.findings;
}

// Tokens against the budget, always at hand.
function budgetLine() {
  const meter = h("meter", { min: 0, "aria-label": "Tokens of the prompt against its budget" });
  const text = h("span", { class: "small" });
  const show = () => {
    const { prompt_tokens: used, budget_tokens: budget } = store.checked;
    if (!budget) return;
    Object.assign(meter, { max: budget, high: budget * 0.9, value: used ?? 0 });
    text.textContent = used === null ? "The prompt cannot be rendered: see the findings" : `${used.toLocaleString("en")} of ${budget.toLocaleString("en")} tokens`;
    text.classList.toggle("finding--error", used === null || used > budget);
  };
  store.on("findings", show);
  show();
  return h("p", { class: "side__budget" }, meter, text);
}

// --- what is told ----------------------------------------------------------------------------------------------------

function tellJoined({ by, taken = [], isOnlyTheirs }) {
  const who = personName(by);
  const what = taken.length ? ` ${taken.slice(0, 3).join("; ")}${taken.length > 3 ? "; …" : ""}` : "";
  toast(isOnlyTheirs ? `${who} saved this draft; you see it as it is now.` : `${who} changed this draft too; both are joined.${what}`);
}

function notice() {
  const place = part("notes");
  place.querySelector("[data-notice]")?.remove();
  if (meta.reason || store.isReadOnly) {
    place.prepend(h("p", { class: "note note--warn editor__note", role: "status", dataset: { notice: "" } }, h("strong", {}, "Read only. "), store.meta.reason || ""));
  } else if (meta.newestNumber && (store.meta.baseNumber || 0) < meta.newestNumber) {
    place.prepend(behindNote());
  }
}

// Versions were committed since the draft was begun: they can be taken in.
function behindNote() {
  const bar = h("div", { class: "note note--info editor__note", dataset: { notice: "" } });
  const take = async () => {
    try {
      if (!(await sync.save())) throw new Error("Your last changes are not saved yet. Try again when they are.");
      const answer = await sync.takeNewest();
      if (answer.conflicts.length) await openVersionConflict(store, answer);
      else toast(`Version ${answer.base_number} is taken in.`);
    } catch (error) {
      toast(error.message, { tone: "error" });
    }
  };
  bar.append(h("p", {}, `This draft is based on ${store.meta.baseNumber ? `version ${store.meta.baseNumber}` : "an empty harness"}; version ${meta.newestNumber} is the newest.`), button(`Take version ${meta.newestNumber} in`, take, { small: true }));
  return bar;
}

// --- work that was left behind ---------------------------------------------------------------------------------------

async function restore(copy) {
  if (copy.revision === sync.revision && !sync.isDirty) {
    store.replaceDocument(copy.document, "Restore unsaved changes", { source: "restore" });
    return;
  }
  const answer = await store.api.merge(copy.document, copy.revision);
  store.replaceDocument(answer.document, "Restore unsaved changes", { source: "restore" });
  if (answer.conflicts.length) toast(`The draft was saved since. Where both changed, your text stands now; “Changes” shows all, and undo takes it back.`);
}

// --- leaving ---------------------------------------------------------------------------------------------------------

function guardLeaving() {
  window.addEventListener("beforeunload", (event) => {
    if (!sync.isDirty || store.isReadOnly) return;
    backup.flush();
    sync.save();
    event.preventDefault();
  });
  window.addEventListener("pagehide", () => sync.isDirty && backup.flush());
  document.addEventListener("visibilitychange", () => document.hidden && sync.isDirty && sync.save());
  // Back from another page with this one still in memory: it may be old.
  window.addEventListener("pageshow", (event) => event.persisted && sync.refresh().catch(() => {}));
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href]");
    const isPlain = link && !link.target && !link.download && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0;
    if (!isPlain || !sync.isDirty || store.isReadOnly || link.origin !== window.location.origin || link.hash) return;
    event.preventDefault();
    await sync.save();
    window.location.assign(link.href); // where that did not help, the browser asks
  });
}

// --- keys ------------------------------------------------------------------------------------------------------------

function keys({ outline, findings }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const { target } = event;
    const isInAce = Boolean(target.closest(".ace_editor"));
    const isText = target.matches("textarea, select, input:not([type=checkbox], [type=radio])") || target.isContentEditable;
    const withControl = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const run = (work) => {
      event.preventDefault();
      work();
    };
    if (withControl && key === "s") return run(() => sync.save());
    if (withControl && event.shiftKey && key === "f") return run(() => openSearch(store));
    if (event.key === "F8") return run(() => findings.step(event.shiftKey ? -1 : 1));
    if (withControl && (key === "z" || key === "y") && !isInAce && (!isText || "bound" in target.dataset)) {
      return run(() => turn(key === "y" || event.shiftKey ? "redo" : "undo"));
    }
    if (event.altKey && !withControl && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      if (isInAce || target.matches("select") || (isMac && isText)) return undefined;
      return run(() => reorder(outline, event.key === "ArrowUp" ? -1 : 1));
    }
    if (event.key === "?" && !isText && !isInAce) return run(openKeys);
    return undefined;
  });
}

function turn(way) {
  const label = store[way]();
  if (!label) toast(`Nothing to ${way}.`, { timeout: 2500 });
}

function reorder(outline, by) {
  const { kind, id } = store.selection;
  if (!kind || kind === "runtime" || kind === "harness" || !shift(store, kind, id, by)) return;
  const place = store.list(kind).findIndex((item) => item.id === id) + 1;
  outline.say(`${KIND_WORDS[kind]} ${store.nameOf(kind, id)} is now number ${place} of ${store.list(kind).length}.`);
}

start();
