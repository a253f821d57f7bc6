// A form with data-confirm asks first, in the one <dialog> of the page.
const dialog = document.querySelector("#confirm");

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!dialog || !form.dataset.confirm || form.dataset.confirmed) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  dialog.querySelector("[data-confirm-title]").textContent = form.dataset.confirmTitle || "Are you sure?";
  dialog.querySelector("[data-confirm-text]").textContent = form.dataset.confirm;
  dialog.querySelector("[data-confirm-yes]").textContent = form.dataset.confirmAction || "Go on";
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    form.dataset.confirmed = "yes";
    form.requestSubmit(event.submitter);
    delete form.dataset.confirmed;
  };
  dialog.returnValue = "";
  dialog.showModal();
}, true);
