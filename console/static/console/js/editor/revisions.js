// The earlier saves of a draft: who saved when, and taking one up again (which is a save of its own, so nothing is lost).
import { button, dialog, h, toast } from "./dom.js";

export async function openRevisions(store, sync) {
  let rows;
  try {
    const answer = await store.api.revisions();
    rows = answer.results;
  } catch (error) {
    toast(error.message, { tone: "error" });
    return;
  }
  let box;
  const restore = async (revision) => {
    if (!(await sync.save())) throw new Error("Your last changes are not saved yet. Try again when they are.");
    await store.api.restore(revision);
    await sync.refresh({ isTold: false });
    box.close();
    toast(`Save ${revision} is taken up again. The saves after it are kept too.`);
  };
  const line = (item) => {
    const problem = h("span", { class: "small finding--error", role: "alert" });
    const take = item.revision !== sync.revision && !store.isReadOnly && button("Take up again", () => restore(item.revision).catch((error) => problem.append(error.message)), { small: true });
    const when = new Date(item.created_at);
    return h(
      "tr",
      {},
      h("td", { class: "num" }, String(item.revision)),
      h("td", {}, h("time", { datetime: item.created_at, title: `${item.created_at} UTC` }, when.toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }))),
      h("td", { class: "wrap" }, item.author),
      h("td", {}, item.revision === sync.revision ? h("span", { class: "badge badge--ok" }, "Now") : take, problem),
    );
  };
  const head = h("thead", {}, h("tr", {}, ["Save", "When", "By", "What to do"].map((text) => h("th", { scope: "col" }, text))));
  await dialog({
    title: "Earlier saves",
    isWide: true,
    body: h("div", { class: "table-wrap dialog__scroll", tabindex: "0", role: "region", "aria-label": "Saves" }, h("table", {}, head, h("tbody", {}, rows.map(line)))),
    onOpen: (made) => {
      box = made;
    },
  });
}
