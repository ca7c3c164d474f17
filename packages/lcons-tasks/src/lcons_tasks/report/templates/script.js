(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");

  // A page opened from a file may have no storage.
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* forgotten */ } };
  const remembered = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
  const stored = remembered("lcons-theme");
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("lcons-theme", root.dataset.theme);
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  const isPressed = (button) => button !== null && button.getAttribute("aria-pressed") === "true";
  const flip = (button) => button.setAttribute("aria-pressed", String(!isPressed(button)));

  for (const box of document.querySelectorAll('[data-filter="constraints"]')) {
    const pick = box.querySelector('[data-pick="set"]');
    const open = box.querySelector('[data-toggle="open"]');
    const articles = [...box.querySelectorAll("article")];
    // One set is shown whole, with nothing to pick.
    const apply = () => {
      for (const one of articles) one.hidden = one.dataset.set !== pick.value;
      const shown = articles.filter((one) => !one.hidden).length;
      box.querySelector("output").textContent = `${shown} of ${articles.length} constraints`;
    };
    if (pick) {
      pick.addEventListener("change", apply);
      apply();
    }
    const parts = [...box.querySelectorAll("details")];
    const first = parts.map((one) => one.open);
    open.addEventListener("click", () => {
      flip(open);
      parts.forEach((one, i) => { one.open = isPressed(open) || first[i]; });
    });
  }

  for (const box of document.querySelectorAll('[data-filter="sentences"]')) {
    const items = [...box.querySelectorAll(".sentences > li")];
    const texts = items.map((one) => one.textContent.replace(/\s+/g, " ").toLowerCase());
    const pick = box.querySelector('[data-pick="file"]');
    const wanted = box.querySelector("[data-text]");
    const toggle = (key) => box.querySelector(`[data-toggle="${key}"]`);
    const apply = () => {
      const words = wanted.value.trim().toLowerCase();
      let shown = 0;
      let all = 0;
      items.forEach((one, i) => {
        const own = !pick || one.dataset.file === pick.value;
        const visible = own
          && (!isPressed(toggle("changed")) || "changed" in one.dataset)
          && (!isPressed(toggle("wrong")) || "wrong" in one.dataset)
          && (!words || texts[i].includes(words));
        one.hidden = !visible;
        shown += visible;
        all += own;
      });
      box.classList.toggle("hide-gold", !isPressed(toggle("gold")));
      box.querySelector("output").textContent = `${shown} of ${all} sentences`;
    };
    if (pick) pick.addEventListener("change", apply);
    wanted.addEventListener("input", apply);
    for (const button of box.querySelectorAll("[data-toggle]")) {
      button.addEventListener("click", () => { flip(button); apply(); });
    }
    apply();
  }
})();
