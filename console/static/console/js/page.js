// Small habits of every page: the narrow-screen menu, messages, copying, menus that close, local times.
import { localiseTimes } from "./times.js";
import "./theme.js";
import "./confirm.js";

document.documentElement.classList.add("js");

const toggle = document.querySelector("[data-nav-toggle]");
const menu = document.querySelector("[data-nav-menu]");
if (toggle && menu) {
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const isOpen = menu.classList.toggle("is-open");
    toggle.setAttribute("aria-expanded", String(isOpen));
  });
}

document.addEventListener("click", (event) => {
  const close = event.target.closest("[data-dismiss]");
  if (close) close.closest("[data-toast]").remove();
  for (const open of document.querySelectorAll("details.menu[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const open of document.querySelectorAll("details.menu[open]")) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) {
    event.target.form?.requestSubmit();
  }
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent.trim());
    button.textContent = "Copied";
  });
}

// A part of the page that comes back as the log-in page: the session is over.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (new URL(event.detail.xhr.responseURL, window.location).pathname.startsWith("/login/")) {
    event.detail.shouldSwap = false;
    window.location.reload();
  }
});

for (const tabs of document.querySelectorAll(".tabs")) {
  const here = tabs.querySelector("[aria-current]");
  if (here) tabs.scrollLeft = here.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - here.offsetWidth) / 2;
}

localiseTimes(document);
document.addEventListener("htmx:afterSwap", (event) => localiseTimes(event.target.parentElement || document));
