// What the reader chose, and small parts of the page.

const DATA = JSON.parse(document.getElementById("networks").textContent);
const at = (id) => document.getElementById(id);
const number = (x, digits = 2) => (Number(x.toFixed(digits)) + 0 || 0).toFixed(digits).replace("-", "\u2212");
const signed = (x) => (x < 0 ? "" : "+") + number(x);
const digits = () => (state.example.kind === "plane" ? 3 : 2); // weights of numbers up to 100 are small
const SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075";
const SUBSCRIPTS = "\u2081\u2082";
const GRID = 64; // points of the plane are multiples of 1/64, so that no margin is rounded
const snap = (x) => Math.round(x * GRID) / GRID;

function make(tag, attributes = {}, ...children) {
  const svg = [
    "svg",
    "g",
    "path",
    "rect",
    "circle",
    "line",
    "polygon",
    "polyline",
    "text",
    "title",
    "clipPath",
    "defs",
  ].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !svg && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
const unitName = (k) => make("span", { className: `u u${k + 1}` }, `a${k + 1}`);
const subsetName = (subset) =>
  `{${subset
    .map((on, k) => (on ? k + 1 : 0))
    .filter(Boolean)
    .join(", ")}}`;
const columnNames = (example) =>
  example.kind === "plane"
    ? example.columns.map((c) => c.name)
    : example.blocks.flatMap((b) => b.values.map((v) => `${b.name} ${v}`));

const state = { example: DATA.examples[0], K: 2, ticks: null, choice: null, xy: null, sentence: "" };

function start(example) {
  state.example = example;
  const sizes = Object.keys(example.networks).map(Number);
  state.K = sizes.includes(example.K) ? example.K : sizes[0];
  if (example.kind === "plane") state.xy = [...example.start];
  else state.choice = [...example.start];
  if (example.kind === "ticks") state.ticks = example.ticked.map((row) => row.map(Boolean));
  if (example.kind === "labels") state.sentence = example.sentence;
}
function network() {
  const { example, K } = state;
  return example.kind === "ticks" ? tickedNetwork(example, K, state.ticks) : exact(example.networks[K]);
}
function psiOf(choice = state.choice) {
  return state.example.kind === "plane" ? state.xy : oneHot(state.example, choice);
}
function pointName(choice = state.choice) {
  const { example } = state;
  if (example.kind === "plane")
    return example.columns.map((c, j) => `${c.name} ${number(state.xy[j], 1)} ${c.unit}`).join(", ");
  return example.blocks.map((b, i) => b.values[choice[i]]).join(example.kind === "labels" ? " then " : ", ");
}
// What is known of a pair from the data: ticked, or seen in the sentences.
const isValid = (r, c) => (state.example.kind === "ticks" ? state.ticks[r][c] : Boolean(state.example.seen[r][c]));

function radios(id, name, items, chosen, choose) {
  const legend = at(id).querySelector("legend");
  at(id).replaceChildren(
    legend,
    ...items.map(([value, text]) =>
      make(
        "label",
        { className: "choice" },
        make("input", {
          type: "radio",
          name,
          value: String(value),
          checked: value === chosen,
          onchange: () => choose(value),
        }),
        make("span", {}, text),
      ),
    ),
  );
}
function showChoices() {
  radios(
    "examples",
    "example",
    DATA.examples.map((one) => [one.id, one.title]),
    state.example.id,
    (id) => {
      start(DATA.examples.find((one) => one.id === id));
      showAll();
      at("examples").querySelector("input:checked").focus();
    },
  );
  const sizes = Object.keys(state.example.networks).map(Number);
  radios(
    "units",
    "units",
    sizes.map((K) => [K, String(K)]),
    state.K,
    (K) => {
      state.K = K;
      showAll();
      at("units").querySelector("input:checked").focus();
    },
  );
}

function showAll() {
  showChoices();
  showField();
  showTyped();
  showPointControls();
  showResults();
}
