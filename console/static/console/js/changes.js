// Comparisons: Alt+Down and Alt+Up go to the next and the previous change; folded lines are shown on demand.
const stops = [...document.querySelectorAll("[data-change], .diff tbody tr")].filter(
  (row) => row.matches("[data-change]") || (isChanged(row) && !isChanged(row.previousElementSibling)),
);

function isChanged(row) {
  return Boolean(row && row.querySelector(".is-del, .is-add"));
}

document.addEventListener("keydown", (event) => {
  if (!event.altKey || !["ArrowDown", "ArrowUp"].includes(event.key) || !stops.length) return;
  event.preventDefault();
  const shown = stops.filter((stop) => stop.getClientRects().length);
  const here = shown.indexOf(document.activeElement);
  const next = event.key === "ArrowDown" ? here + 1 : (here < 0 ? shown.length : here) - 1;
  const target = shown[Math.max(0, Math.min(shown.length - 1, next))];
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "center" });
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-unfold]");
  if (!button) return;
  const fold = button.closest("tr");
  let row = fold.nextElementSibling;
  const first = row;
  while (row && row.hidden) {
    row.hidden = false;
    row = row.nextElementSibling;
  }
  fold.remove();
  first.tabIndex = -1;
  first.focus({ preventScroll: true });
});
