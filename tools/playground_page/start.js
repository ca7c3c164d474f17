// Light or dark, and the first example.

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  at("theme").setAttribute("aria-pressed", String(dark));
}
at("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
window.playground = { DATA, exact, judge, rowsOf, valueAt, tickedNetwork, oneHot, wordsOf };
start(state.example);
showAll();
