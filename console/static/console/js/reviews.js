// Threads of a review: one comment form at a place, forms that come back with what is wrong, focus where one writes.
// Without this script and htmx, the forms post and the page comes back.

document.addEventListener("htmx:beforeRequest", (event) => {
  const link = event.target.closest("[data-compose-link]");
  if (!link) return;
  const open = composeAt(link);
  if (!open) return;
  event.preventDefault();
  open.querySelector("textarea").focus();
});

// The comment form that is open already at the place of a link.
function composeAt(link) {
  const row = link.closest(".lines__row");
  if (!row) return document.querySelector(`${link.getAttribute("hx-target")} > [data-compose]`);
  return row.nextElementSibling?.matches("[data-compose]") ? row.nextElementSibling : null;
}

// What the server refuses comes back with the words that were typed, and takes the place of the form.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 422) return;
  event.detail.shouldSwap = true;
  event.detail.isError = false;
  event.detail.swapOverride = "outerHTML";
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target.matches("[data-compose-stays]") && event.detail.successful) event.target.reset();
});

document.addEventListener("htmx:load", (event) => {
  if (event.target.matches?.("[data-compose]:not([data-compose-stays])")) event.target.querySelector("textarea").focus();
});

document.addEventListener("click", (event) => {
  const cancel = event.target.closest("[data-compose-cancel]");
  const form = cancel?.closest("[data-compose]");
  if (!form || !form.closest(".review__main")) return;
  event.preventDefault();
  form.remove();
});

// A form that posts and loads a page: a second click sends nothing.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.hasAttribute("hx-post") || event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
