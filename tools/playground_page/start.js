// Light or dark, and the first example: the one that the address names, as in #plane. With #plane-picture, the
// page is a picture in another page: only the example, its point and the verdict are shown.

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  at("theme").setAttribute("aria-pressed", String(dark));
}
at("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
window.playground = { DATA, exact, judge, rowsOf, valueAt, tickedNetwork, oneHot, wordsOf };
const [named, ...more] = window.location.hash.slice(1).split("-");
document.documentElement.classList.toggle("picture", more.includes("picture"));
start(DATA.examples.find((one) => one.id === named) || state.example);
showAll();
