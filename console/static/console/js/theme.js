// Theme: "auto" follows the system; the choice is a cookie, so that the server sends the page in the right colours at once.
const buttons = document.querySelectorAll("[data-theme-choice]");

function apply(choice) {
  const root = document.documentElement;
  if (choice === "auto") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", choice);
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const choice = button.dataset.themeChoice;
    document.cookie = `tackroom_theme=${choice}; path=/; max-age=31536000; samesite=lax`;
    apply(choice);
  });
}
