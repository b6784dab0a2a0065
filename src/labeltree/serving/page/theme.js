// Light or dark: as the system has it, unless the reader chose here. A plain script rather than a module, so that it
// runs before anything is painted.
(() => {
  const KEY = "labeltree-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage may be forbidden: the system decides
    }
  }

  function choose(theme) {
    root.dataset.theme = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // the choice is not remembered
    }
  }

  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  if (["light", "dark"].includes(chosen())) root.dataset.theme = chosen();
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    show();
    system.addEventListener("change", show);
    button.addEventListener("click", () => {
      choose(isDark() ? "light" : "dark");
      show();
    });
  });
})();
