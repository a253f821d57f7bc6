// Making a version: a message, what changed by meaning, what keeps it from being committed, what review it will need.
import { REVIEWS, changeList } from "./changes_panel.js";
import { dialog, findingLine, h, toast, uniqueId } from "./dom.js";

const MAX_MESSAGE = 2000;

export async function openCommit(store, sync) {
  if (!(await sync.save())) {
    toast("The draft is not saved yet, so it cannot be committed. See the bar at the top.", { tone: "error" });
    return;
  }
  let checked;
  try {
    checked = await store.api.check(store.document);
  } catch (error) {
    toast(error.message, { tone: "error" });
    return;
  }
  store.setChecked(checked);
  const errors = checked.findings.filter((item) => item.severity === "error");
  const message = h("textarea", { rows: 3, maxlength: MAX_MESSAGE, id: uniqueId("message"), autofocus: true, required: true });
  message.value = draftMessage(store).read();
  message.addEventListener("input", () => draftMessage(store).keep(message.value));
  const commit = (wantsReview) => async () => {
    if (!message.value.trim()) {
      message.focus();
      throw new Error("Say in a sentence what changes and why: reviewers and colleagues read it first.");
    }
    const result = await store.api.commit(message.value.trim(), sync.revision);
    draftMessage(store).drop();
    sync.backup.drop();
    leave(store, result, wantsReview);
  };
  const isBlocked = errors.length > 0 || !checked.changes.length;
  const choice = await dialog({
    title: "Commit a version",
    isWide: true,
    body: [
      errors.length > 0 && blockers(store, errors),
      h("div", { class: "field" }, h("label", { for: message.id }, "What changes, and why"), message),
      h("section", { class: "commit__changes dialog__scroll", "aria-label": "Changes", tabindex: "0" }, summary(store, checked), changeList(checked.changes)),
      checked.changes.length > 0 && need(store, checked),
    ],
    actions: [
      { label: "Cancel", value: null },
      { label: "Commit and request review", disabled: isBlocked, onClick: commit(true) },
      { label: "Commit", primary: true, disabled: isBlocked, onClick: commit(false) },
    ],
  });
  return choice;
}

function blockers(store, errors) {
  const shown = errors.slice(0, 8);
  return h(
    "div",
    { class: "note note--bad", role: "alert" },
    h("strong", {}, errors.length === 1 ? "One error keeps this from being committed:" : `${errors.length} errors keep this from being committed:`),
    h("ul", {}, shown.map((item) => h("li", {}, `${store.nameOf(item.component_kind, item.component_id) || "Harness"}: `, findingLine(store, { ...item, fix: null }).textContent))),
    errors.length > shown.length && h("p", {}, "F8 goes from one to the next."),
  );
}

function summary(store, { changes }) {
  const { baseNumber } = store.meta;
  const base = baseNumber ? `version ${baseNumber}` : "an empty harness";
  if (!changes.length) return h("p", {}, `Nothing changed against ${base}: there is nothing to commit.`);
  return h("p", {}, h("strong", {}, changes.length === 1 ? "1 change" : `${changes.length} changes`), ` against ${base}`);
}

function need(store, { required_review: review }) {
  const asked = Math.max(store.meta.minApprovals || 1, { one_reviewer: 1, two_reviewers: 2 }[review] || 0);
  const people = asked === 1 ? "one person who did not write it" : `${asked} people who did not write it`;
  const why = REVIEWS[review] && review !== "none" ? ` (the changes ask for ${REVIEWS[review]})` : "";
  return h("p", { class: "note note--info" }, `To release this, it must be approved by ${people}${why}.`);
}

// The message is kept like everything else that is typed.
function draftMessage({ meta }) {
  const key = `tackroom-message:${meta.slug}:${meta.draftId}`;
  const guarded = (work) => {
    try {
      return work() || "";
    } catch {
      return "";
    }
  };
  return {
    read: () => guarded(() => localStorage.getItem(key)),
    keep: (text) => guarded(() => localStorage.setItem(key, text)),
    drop: () => guarded(() => localStorage.removeItem(key)),
  };
}

function leave(store, result, wantsReview) {
  const { number } = result.version;
  const urls = store.meta.urls;
  const at = (url) => url.replace(/\b0\b(?!.*\b0\b)/, String(number));
  store.meta.canEdit = false; // the draft is committed: no late save may follow
  window.location.assign(wantsReview ? at(urls.review) : at(urls.version));
}
