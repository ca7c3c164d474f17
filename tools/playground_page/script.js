"use strict";
// Part 1: the mathematics, as in lcons_core. Weights are integers times a power of two, so no sum is rounded.

const exact = (net) => ({
  W: net.W.map((row) => row.map((w) => w / 2 ** net.shift)),
  b: net.b.map((w) => w / 2 ** net.shift),
});
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
const activations = (net, psi) => net.W.map((row, k) => sum(row.map((w, j) => w * psi[j])) + net.b[k]);
const spent = (a) => a.map((x) => Math.max(x, 0));
const marginOf = (a) => 1 - sum(spent(a));

// S* = {k : a_k > 0}, the subset of the most violated row; the largest activation if no unit is active.
function worstSubset(a) {
  const active = a.map((x) => x > 0);
  if (!active.includes(true)) active[a.indexOf(Math.max(...a))] = true;
  return active;
}

// Theorem 1: the row of S is 1 - sum_{k in S} a_k >= 0; all non-empty S, in the order of binary counting.
function rowsOf(net) {
  const K = net.b.length;
  return Array.from({ length: 2 ** K - 1 }, (_, i) => {
    const subset = net.b.map((_, k) => Boolean(((i + 1) >> k) & 1));
    const inside = net.b.map((_, k) => k).filter((k) => subset[k]);
    return {
      subset,
      coefficients: net.W[0].map((_, j) => 0 - sum(inside.map((k) => net.W[k][j]))),
      bias: 1 - sum(inside.map((k) => net.b[k])),
    };
  });
}
const valueAt = (row, psi) => sum(row.coefficients.map((w, j) => w * psi[j])) + row.bias;

function judge(net, psi) {
  const a = activations(net, psi);
  const margin = marginOf(a);
  return { activations: a, margin, accepted: margin >= 0, subset: worstSubset(a) };
}

// Part 2: the network of a set of ticked pairs. One network per pattern was learned; a set of ticks is one of
// these patterns with its rows and columns in another order, and so is its network.

function orders(n) {
  if (n === 0) return [[]];
  return orders(n - 1).flatMap((order) => order.concat(n - 1).map((_, at) => order.toSpliced(at, 0, n - 1)));
}
function patternOf(ticks, R, C) {
  let best = null;
  for (const p of orders(R)) {
    for (const q of orders(C)) {
      let mask = 0;
      for (let r = 0; r < R; r++) for (let c = 0; c < C; c++) if (ticks[p[r]][q[c]]) mask += 2 ** (r * C + c);
      if (best === null || mask < best.mask) best = { mask, p, q };
    }
  }
  return best;
}
function tickedNetwork(example, K, ticks) {
  const R = example.blocks[0].values.length;
  const { mask, p, q } = patternOf(ticks, R, example.blocks[1].values.length);
  const found = example.networks[K][mask];
  if (!found) return null;
  const { W, b } = exact(found);
  const renamed = W.map((row) => {
    const own = row.map(() => 0);
    p.forEach((from, to) => { own[from] = row[to]; });
    q.forEach((from, to) => { own[R + from] = row[R + to]; });
    return own;
  });
  return { W: renamed, b };
}
function oneHot(example, choice) {
  return example.blocks.flatMap((block, i) => block.values.map((_, v) => (v === choice[i] ? 1 : 0)));
}

// Rules of a table of verdicts: every forbidden pair is in one of them.
function wordsOf(example, allowed) {
  const [rows, columns] = example.blocks;
  const listed = (names) => (names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
  const dead = rows.values.map((_, r) => allowed[r].every((ok) => !ok));
  const alive = rows.values.map((_, r) => r).filter((r) => !dead[r]);
  const found = [];
  const never = rows.values.filter((_, r) => dead[r]);
  if (never.length) found.push({ words: `${rows.name} ${listed(never)} is never allowed`, rows: never, columns: columns.values });
  const groups = new Map();
  columns.values.forEach((name, c) => {
    const needs = alive.filter((r) => allowed[r][c]);
    if (needs.length < alive.length) groups.set(needs.join(), [...(groups.get(needs.join()) || []), name]);
  });
  for (const [key, names] of groups) {
    const needs = key === "" ? [] : key.split(",").map(Number);
    const out = alive.filter((r) => !needs.includes(r)).map((r) => rows.values[r]);
    const words = needs.length
      ? `${columns.name} ${listed(names)} needs ${rows.name} ${listed(needs.map((r) => rows.values[r]))}`
      : `${columns.name} ${listed(names)} is never allowed`;
    found.push({ words, rows: out, columns: names });
  }
  return found;
}

// Part 3: the page.

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
  const svg = ["svg", "g", "path", "rect", "circle", "line", "polygon", "polyline", "text", "title", "clipPath", "defs"].includes(tag);
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
const subsetName = (subset) => `{${subset.map((on, k) => (on ? k + 1 : 0)).filter(Boolean).join(", ")}}`;
const columnNames = (example) =>
  example.kind === "plane" ? example.columns.map((c) => c.name) : example.blocks.flatMap((b) => b.values.map((v) => `${b.name} ${v}`));

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
  if (example.kind === "plane") return example.columns.map((c, j) => `${c.name} ${number(state.xy[j], 1)} ${c.unit}`).join(", ");
  return example.blocks.map((b, i) => b.values[choice[i]]).join(example.kind === "labels" ? " then " : ", ");
}
// What is known of a pair from the data: ticked, or seen in the sentences.
const isValid = (r, c) => (state.example.kind === "ticks" ? state.ticks[r][c] : Boolean(state.example.seen[r][c]));

function radios(id, name, items, chosen, choose) {
  const legend = at(id).querySelector("legend");
  at(id).replaceChildren(legend, ...items.map(([value, text]) =>
    make("label", { className: "choice" },
      make("input", { type: "radio", name, value: String(value), checked: value === chosen, onchange: () => choose(value) }),
      make("span", {}, text))));
}
function showChoices() {
  radios("examples", "example", DATA.examples.map((one) => [one.id, one.title]), state.example.id, (id) => {
    start(DATA.examples.find((one) => one.id === id));
    showAll();
    at("examples").querySelector("input:checked").focus();
  });
  const sizes = Object.keys(state.example.networks).map(Number);
  radios("units", "units", sizes.map((K) => [K, String(K)]), state.K, (K) => {
    state.K = K;
    showAll();
    at("units").querySelector("input:checked").focus();
  });
}

function showAll() {
  showChoices();
  showField();
  showTyped();
  showPointControls();
  showResults();
}

// A long name may be broken before a capital letter, and before -ization.
const breakable = (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, "\u200b").replace("zation", "\u00adzation");

// The table of pairs, or the plane.
function showField() {
  const { example } = state;
  at("field-hint").textContent = example.hint;
  if (example.kind === "plane") return at("field").replaceChildren(make("div", { id: "plane" }));
  const [rows, columns] = example.blocks;
  const cell = (r, c) => {
    const names = `${rows.name} ${rows.values[r]}, ${columns.name} ${columns.values[c]}`;
    const tick = example.kind !== "ticks" ? null : make("label", {}, make("input", {
      type: "checkbox", checked: state.ticks[r][c], ariaLabel: `${names}: valid`,
      onchange: (event) => { state.ticks[r][c] = event.target.checked; showTyped(); showResults(); },
    }));
    const look = make("button", { type: "button", onclick: () => { state.choice = [r, c]; showPointControls(); showResults(); } });
    look.dataset.name = names;
    return make("td", {}, make("div", { className: "cell", id: `cell-${r}-${c}` }, tick, look));
  };
  at("field").replaceChildren(make("table", { className: "grid" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, `${rows.name} \\ ${columns.name}`),
      ...columns.values.map((v) => make("th", { scope: "col" }, breakable(v))))),
    make("tbody", {}, ...rows.values.map((v, r) =>
      make("tr", {}, make("th", { scope: "row" }, breakable(v)), ...columns.values.map((_, c) => cell(r, c)))))));
  return undefined;
}
function paintGrid(net) {
  const { example } = state;
  const [rows, columns] = example.blocks;
  let wrong = 0;
  rows.values.forEach((_, r) => columns.values.forEach((__, c) => {
    const box = at(`cell-${r}-${c}`), look = box.querySelector("button");
    const found = net && judge(net, psiOf([r, c]));
    const accepted = found ? found.accepted : false;
    const differs = example.kind === "ticks" && Boolean(net) && accepted !== isValid(r, c);
    wrong += differs;
    const here = r === state.choice[0] && c === state.choice[1];
    box.className = `cell ${accepted ? "in" : "out"}${here ? " here" : ""}${differs ? " wrong" : ""}${example.kind === "ticks" ? "" : " bare"}`
      + (example.kind === "labels" && isValid(r, c) ? " seen" : "");
    look.setAttribute("aria-pressed", String(here));
    look.setAttribute("aria-label", `${look.dataset.name}: ${accepted ? "allowed" : "forbidden"}${found ? `, margin ${number(found.margin)}` : ""}`);
    look.replaceChildren(make("b", {}, accepted ? "\u2713" : "\u2717"), found ? number(found.margin) : "");
  }));
  if (example.kind !== "ticks") return "";
  if (!net) return "";
  const total = rows.values.length * columns.values.length;
  return wrong
    ? `With K = ${state.K}, the network is wrong on ${wrong} of ${total} pairs (\u2260). More hidden units can express more sets.`
    : `With K = ${state.K}, the network agrees with all ${total} ticks.`;
}

// Typed input: valid pairs, or a sequence of labels.
function showTyped() {
  const { example } = state;
  if (example.kind === "ticks") {
    const [rows, columns] = example.blocks;
    const text = rows.values.flatMap((v, r) => columns.values.filter((_, c) => state.ticks[r][c]).map((w) => `${v} ${w}`)).join("\n");
    if (at("pairs")) {
      if (document.activeElement !== at("pairs")) at("pairs").value = text;
      return;
    }
    at("typed").replaceChildren(make("details", {}, make("summary", {}, "Type the valid pairs instead"),
      make("label", { htmlFor: "pairs" }, "One pair per line, such as Person Kill"),
      make("textarea", { id: "pairs", value: text, spellcheck: false, oninput: readPairs }),
      make("p", { className: "hint warn", id: "typed-error", role: "status" })));
  } else if (example.kind === "labels") {
    at("typed").replaceChildren(make("label", { htmlFor: "sentence" }, "Type labels, one per word:"),
      make("input", { type: "text", id: "sentence", value: state.sentence, size: 44, spellcheck: false, oninput: () => { state.sentence = at("sentence").value; showSentence(network()); } }),
      make("ul", { className: "chips", id: "steps" }), make("p", { className: "hint", id: "typed-error", role: "status" }));
  } else at("typed").replaceChildren();
}
function readPairs() {
  const [rows, columns] = state.example.blocks;
  const find = (names, word) => names.findIndex((name) => name.toLowerCase() === word.toLowerCase());
  const ticks = rows.values.map(() => columns.values.map(() => false));
  const unknown = [];
  for (const line of at("pairs").value.split("\n").filter((one) => one.trim())) {
    const words = line.trim().split(/[\s,]+/);
    const [r, c] = [find(rows.values, words[0]), find(columns.values, words[1] || "")];
    if (words.length !== 2 || r < 0 || c < 0) unknown.push(line.trim());
    else ticks[r][c] = true;
  }
  at("typed-error").textContent = unknown.length ? `Not a pair of this example: ${unknown[0]}` : "";
  state.ticks = ticks;
  ticks.forEach((row, r) => row.forEach((on, c) => { at(`cell-${r}-${c}`).querySelector("input").checked = on; }));
  showResults();
}
function showSentence(net) {
  const [rows] = state.example.blocks;
  const labels = state.sentence.trim().split(/\s+/).filter(Boolean);
  const codes = labels.map((label) => rows.values.findIndex((name) => name.toLowerCase() === label.toLowerCase()));
  const unknown = labels.filter((_, i) => codes[i] < 0);
  if (unknown.length) {
    at("steps").replaceChildren();
    at("typed-error").textContent = `Not a label of this example: ${unknown[0]}. The labels are ${rows.values.join(", ")}.`;
    return;
  }
  const steps = codes.slice(1).map((to, i) => ({ choice: [codes[i], to], accepted: judge(net, oneHot(state.example, [codes[i], to])).accepted }));
  at("steps").replaceChildren(...steps.map(({ choice, accepted }) => make("li", {}, make("button", {
    type: "button", className: accepted ? "in" : "out",
    onclick: () => { state.choice = choice; showPointControls(); showResults(); },
  }, `${accepted ? "\u2713" : "\u2717"} ${pointName(choice)}`))));
  const bad = steps.filter((step) => !step.accepted).length;
  at("typed-error").textContent = bad ? `This sequence is forbidden: ${bad} of ${steps.length} steps break the constraint.` : "This sequence is allowed: every step is.";
}

// The controls of the point.
function showPointControls() {
  const { example } = state;
  if (example.kind === "plane") {
    return at("point").replaceChildren(...example.columns.map((column, j) => make("div", { className: "slide" },
      make("label", { htmlFor: `x${j}` }, `${column.name}: `, make("output", { id: `x${j}-value` })),
      make("input", {
        type: "range", id: `x${j}`, min: String(column.low), max: String(column.high), step: String(1 / GRID), value: String(state.xy[j]),
        oninput: (event) => { state.xy[j] = snap(Number(event.target.value)); showResults(); },
      }))));
  }
  return at("point").replaceChildren(...example.blocks.map((block, i) => make("div", {},
    make("label", { htmlFor: `b${i}` }, block.name),
    make("select", { id: `b${i}`, onchange: (event) => { state.choice[i] = Number(event.target.value); showResults(); } },
      ...block.values.map((v, at) => make("option", { value: String(at), selected: at === state.choice[i] }, v))))));
}

// Everything that follows from the network and the point.
function showResults() {
  const { example } = state;
  const net = network();
  at("fit").textContent = example.kind === "plane" ? example.networks[state.K].note : paintGrid(net);
  at("fit").className = at("fit").textContent.includes("wrong") ? "hint warn" : "hint";
  if (!net) return showNothing();
  const psi = psiOf();
  const found = judge(net, psi);
  showVerdict(found);
  showBudget(found);
  showWhy(net, psi, found);
  showRows(net, psi, found);
  showLifted(net, found);
  showWords(net);
  if (example.kind === "plane") {
    example.columns.forEach((column, j) => {
      at(`x${j}-value`).textContent = `${number(state.xy[j], 1)} ${column.unit}`;
      at(`x${j}`).value = String(state.xy[j]);
    });
    at("picture-hint").textContent = "The same point in the plane of the two most active units: the region is the same for every network.";
    showPlane(net, found);
  } else at("picture-hint").textContent = state.K === 1
    ? "One unit: every pair is one number, a1, and must be at most 1."
    : "Every pair, by the values of two units. Allowed is what lies inside: the edges are the rows of {1}, {2} and {1, 2}.";
  if (example.kind === "labels") showSentence(net);
  showPicture(net, found);
  return undefined;
}
function showNothing() {
  at("verdict").replaceChildren(make("div", { className: "verdict out" }, make("strong", {}, "Nothing to learn from"), "Tick at least one valid pair, and leave at least one out."));
  for (const id of ["budget", "why", "rows", "lifted", "picture"]) at(id).replaceChildren();
  at("words").replaceChildren();
  at("rows-hint").textContent = at("picture-hint").textContent = at("words-hint").textContent = "";
}
function showVerdict(found) {
  const parts = spent(found.activations).filter((x) => x > 0).map((x) => ` \u2212 ${number(x)}`).join("");
  at("verdict").replaceChildren(make("div", { className: `verdict ${found.accepted ? "in" : "out"}` },
    make("strong", {}, `${found.accepted ? "\u2713" : "\u2717"} ${pointName()}: ${found.accepted ? "allowed" : "forbidden"}`),
    `margin = 1${parts}${parts ? ` = ${number(found.margin)}` : ""}`,
    found.accepted ? (found.margin === 0 ? ", exactly on the boundary" : "") : ", below 0"));
}
function showBudget(found) {
  const parts = spent(found.activations), total = sum(parts), width = 460;
  const scale = (width - 20) / Math.max(1.3, total * 1.05);
  let x = 10;
  const bars = parts.map((value, k) => {
    const w = value * scale, left = x;
    x += w;
    if (!w) return null;
    return make("g", {}, make("rect", { x: left, y: 24, width: w, height: 26, rx: 3, fill: `var(--u${k + 1})` }, make("title", {}, `ReLU(a${k + 1}) = ${number(value)}`)),
      w > 28 ? make("text", { x: left + w / 2, y: 42, "text-anchor": "middle", style: "fill: var(--bg); font-weight: 600" }, `a${k + 1}`) : null);
  });
  const one = 10 + scale;
  at("budget").replaceChildren(make("svg", { viewBox: `0 0 ${width} 74`, role: "img", "aria-label": `The units spend ${number(total)} of a budget of 1` },
    make("rect", { x: 10, y: 24, width: scale, height: 26, rx: 3, fill: "var(--line)" }), ...bars,
    make("line", { x1: one, x2: one, y1: 14, y2: 60, stroke: "currentColor", "stroke-width": 2 }),
    make("text", { x: one, y: 10, "text-anchor": "middle" }, "budget 1"),
    make("text", { x: Math.min(Math.max(x, 40), width - 40), y: 68, "text-anchor": "middle", style: "font-weight: 600" }, `spent ${number(total)}`)));
}
function showWhy(net, psi, found) {
  const { example } = state;
  const names = columnNames(example);
  const row = rowsOf(net).find((one) => one.subset.every((on, k) => on === found.subset[k]));
  const terms = row.coefficients.flatMap((w, j) => (psi[j] ? [[example.kind === "plane" ? `${names[j]} ${number(psi[j], 1)} \u00d7 ${number(w, 3)}` : names[j], w * psi[j]]] : []));
  const value = valueAt(row, psi);
  const active = found.activations.some((x) => x > 0);
  at("why").replaceChildren(
    make("p", { className: "hint" }, active
      ? `Only the units that spend something matter, S = ${subsetName(found.subset)}. Their inequality, term by term:`
      : `No unit spends anything, so every inequality holds. The tightest one is that of S = ${subsetName(found.subset)}:`),
    make("div", { className: "terms" }, ...terms.map(([name, x]) => make("span", {}, make("small", {}, name), signed(x))),
      make("span", {}, make("small", {}, "bias"), signed(row.bias)),
      make("span", { className: `sum ${value < 0 ? "out-text" : "in-text"}` }, `= ${number(value)} ${value < 0 ? "< 0: forbidden" : "\u2265 0: holds"}`)));
}
function showRows(net, psi, found) {
  const { example } = state, rows = rowsOf(net);
  const names = example.kind === "plane" ? columnNames(example) : example.blocks.flatMap((b) => b.values);
  const groups = example.kind === "plane" ? null : make("tr", {}, make("td", {}), ...example.blocks.map((b) => make("th", { scope: "colgroup", colSpan: b.values.length, className: "group" }, b.name)), make("td", { colSpan: 3 }));
  const broken = rows.filter((row) => valueAt(row, psi) < 0).length;
  at("rows-hint").textContent = `Theorem 1: a network of K = ${state.K} hidden unit${state.K > 1 ? "s" : ""} is the same set as 2${SUPERSCRIPTS[state.K]} \u2212 1 = ${rows.length} linear inequalit${rows.length > 1 ? "ies" : "y"}, one per set S of units. Each sum must be at least 0. `
    + (broken ? `This point breaks ${broken} of them; the framed one most.` : "This point satisfies all of them; the framed one is the tightest.");
  at("rows").replaceChildren(
    make("thead", {}, groups, make("tr", {}, make("th", { scope: "col" }, "S"), ...names.map((name, j) => make("th", { scope: "col", className: psi[j] ? "n used" : "n" }, name)),
      make("th", { scope: "col", className: "n" }, "bias"), make("th", { scope: "col", className: "n" }, "sum"), make("th", { scope: "col" }, "at the point"))),
    make("tbody", {}, ...rows.map((row) => {
      const value = valueAt(row, psi), worst = row.subset.every((on, k) => on === found.subset[k]);
      return make("tr", { className: `${value < 0 ? "broken" : ""}${worst ? " worst" : ""}` }, make("th", { scope: "row" }, subsetName(row.subset)),
        ...row.coefficients.map((w, j) => make("td", { className: psi[j] ? "used" : "unused" }, number(w, digits()))), make("td", {}, number(row.bias)),
        make("td", {}, number(value)), make("td", { className: value < 0 ? "out-text" : "in-text" }, value < 0 ? "\u2717 broken" : "\u2713 holds"));
    })));
}
function showLifted(net, found) {
  const names = state.example.kind === "plane" ? columnNames(state.example) : state.example.blocks.flatMap((b, i) => b.values.map((v) => (state.example.kind === "labels" ? `${v.replace("-", "\u2011")}${SUBSCRIPTS[i]}` : v)));
  const line = (k) => {
    const terms = net.W[k].map((w, j) => (w ? ` ${w < 0 ? "\u2212" : "+"} ${number(Math.abs(w), digits())}\u00a0${names[j]}` : "")).join("");
    const here = `here ${number(found.activations[k])}, so the least s${k + 1} is ${number(Math.max(0, found.activations[k]))}`;
    return make("p", {}, `s${k + 1} \u2265 `, unitName(k), ` = ${number(net.b[k])}${terms}`, make("span", { className: "here-value" }, here));
  };
  const all = net.b.map((_, k) => `s${k + 1}`);
  at("lifted").replaceChildren(...net.b.map((_, k) => line(k)), make("p", {}, `${all.join(", ")} \u2265 0`),
    make("p", {}, `${all.join(" + ")} \u2264 1`, make("span", { className: found.accepted ? "in-text" : "out-text" }, `   here ${number(sum(spent(found.activations)))}: ${found.accepted ? "feasible" : "infeasible"}`)));
}
function showWords(net) {
  const { example } = state;
  if (example.kind !== "ticks") {
    const own = example.networks[state.K].words;
    const { rules } = example.networks[state.K];
    at("words").replaceChildren(...own.map((words) => make("li", {}, words)));
    at("words-hint").replaceChildren(rules > own.length ? `The strongest of ${rules} rules` : "The rules", " that ", make("code", {}, "lcons explain"), " prints, each with a proof.");
    return;
  }
  const allowed = example.blocks[0].values.map((_, r) => example.blocks[1].values.map((__, c) => judge(net, psiOf([r, c])).accepted));
  const rules = wordsOf(example, allowed);
  at("words").replaceChildren(...(rules.length ? rules : [{ words: "Nothing is forbidden." }]).map((rule) => make("li", {}, rule.words)));
  at("words-hint").replaceChildren("From the verdicts on all pairs. For any constraint file, ", make("code", {}, "lcons explain"), " prints such rules, each with a proof.");
}

// Pictures. A half-plane cuts a polygon (Sutherland and Hodgman).
function clip(polygon, f) {
  return polygon.flatMap((p, i) => {
    const q = polygon[(i + 1) % polygon.length], a = f(p), b = f(q);
    const cut = () => p.map((x, d) => x + ((q[d] - x) * a) / (a - b));
    if (a >= 0) return b >= 0 ? [p] : [p, cut()];
    return b >= 0 ? [cut()] : [];
  });
}
function chord(f, box) {
  const corners = [[box[0], box[1]], [box[2], box[1]], [box[2], box[3]], [box[0], box[3]]];
  return corners.flatMap((p, i) => {
    const q = corners[(i + 1) % 4], a = f(p), b = f(q);
    return a === b || a * b > 0 ? [] : [p.map((x, d) => x + ((q[d] - x) * a) / (a - b))];
  });
}
const points = (list, x, y) => list.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");

function showPlane(net, found) {
  const { example } = state, [cx, cy] = example.columns;
  const width = 560, height = 430, left = 44, bottom = 40, top = 10, right = 12;
  const x = (v) => left + ((v - cx.low) / (cx.high - cx.low)) * (width - left - right);
  const y = (v) => top + ((cy.high - v) / (cy.high - cy.low)) * (height - top - bottom);
  const rows = rowsOf(net), f = (row) => (p) => valueAt(row, p);
  const box = [cx.low, cy.low, cx.high, cy.high];
  let inside = [[cx.low, cy.low], [cx.high, cy.low], [cx.high, cy.high], [cx.low, cy.high]];
  for (const row of rows) inside = clip(inside, f(row));
  const lines = rows.map((row) => {
    const ends = chord(f(row), box);
    if (ends.length < 2) return null;
    const worst = row.subset.every((on, k) => on === found.subset[k]), broken = valueAt(row, state.xy) < 0;
    const style = broken ? `stroke: var(--warm); stroke-width: ${worst ? 3 : 1.2}; opacity: ${worst ? 1 : 0.55}` : `stroke: var(--muted); stroke-width: ${worst ? 2.2 : 0.8}; opacity: ${worst ? 0.9 : 0.3}`;
    return make("g", {}, make("line", { x1: x(ends[0][0]), y1: y(ends[0][1]), x2: x(ends[1][0]), y2: y(ends[1][1]), style }, make("title", {}, `the row of ${subsetName(row.subset)}`)));
  });
  const data = example.points.map(([px, py, valid]) => valid
    ? make("circle", { cx: x(px), cy: y(py), r: 3, style: "fill: var(--good); opacity: .8" })
    : make("path", { d: `M${x(px) - 3} ${y(py) - 3}l6 6m0-6l-6 6`, style: "stroke: var(--warm); stroke-width: 1.4; opacity: .75" }));
  const ticks = (column, along) => Array.from({ length: 5 }, (_, i) => column.low + ((column.high - column.low) * i) / 4).map((v) => along === "x"
    ? make("text", { x: x(v), y: height - bottom + 16, "text-anchor": "middle" }, String(v)) : make("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, String(v)));
  const handle = make("g", { id: "handle", class: "drag", tabindex: "0", role: "button", "aria-label": `The point: ${pointName()}. Move it with the arrow keys or drag it.` },
    make("circle", { cx: x(state.xy[0]), cy: y(state.xy[1]), r: 20, style: "fill: transparent" }),
    make("circle", { cx: x(state.xy[0]), cy: y(state.xy[1]), r: 9, style: `fill: var(--${found.accepted ? "good" : "warm"}); stroke: var(--surface); stroke-width: 3` }));
  const label = found.accepted ? null : make("text", { x: Math.min(x(state.xy[0]) + 14, width - 120), y: y(state.xy[1]) - 12, style: "fill: var(--warm); font-weight: 700" }, `breaks S = ${subsetName(found.subset)}`);
  const focused = document.activeElement && document.activeElement.id === "handle";
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${cy.name} against ${cx.name}: the allowed region has ${inside.length} corners` },
    make("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom, style: "fill: none; stroke: var(--line)" }),
    make("polygon", { points: points(inside, x, y), id: "region", style: "fill: var(--good); fill-opacity: .14; stroke: var(--good); stroke-width: 2" }),
    ...lines, ...data, ...ticks(cx, "x"), ...ticks(cy, "y"),
    make("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, `${cx.name} (${cx.unit})`),
    make("text", { x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, `${cy.name} (${cy.unit})`), label, handle);
  at("plane").replaceChildren(svg);
  const move = (to) => {
    state.xy = to.map((v, j) => snap(Math.min(example.columns[j].high, Math.max(example.columns[j].low, v))));
    showResults();
  };
  const pointer = (event) => {
    const frame = at("plane").querySelector("svg").getBoundingClientRect(), size = width / frame.width;
    const px = (event.clientX - frame.left) * size, py = (event.clientY - frame.top) * size;
    move([cx.low + ((px - left) / (width - left - right)) * (cx.high - cx.low), cy.high - ((py - top) / (height - top - bottom)) * (cy.high - cy.low)]);
  };
  svg.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pointer(event);
    at("handle").focus({ preventScroll: true });
    const follow = (one) => pointer(one);
    const end = () => { window.removeEventListener("pointermove", follow); window.removeEventListener("pointerup", end); };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end);
  });
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const size = event.shiftKey ? 5 : 1;
    move(state.xy.map((v, j) => v + step[j] * size));
  });
  if (focused) handle.focus({ preventScroll: true });
}

// The plane of two units (the two most active ones), with every pair of the example.
function showPicture(net, found) {
  const { example } = state, K = net.b.length, width = 420, height = 330, pad = 34;
  const order = found.activations.map((a, k) => [a, k]).sort((p, q) => q[0] - p[0]).map(([, k]) => k);
  const shown = K === 1 ? [0, 0] : order.slice(0, 2).sort();
  const low = -2.5, high = 2.5, cut = (v) => Math.min(high, Math.max(low, v));
  const x = (v) => pad + ((cut(v) - low) / (high - low)) * (width - pad - 12);
  const y = (v) => 10 + ((high - cut(v)) / (high - low)) * (height - pad - 10);
  let inside = [[low, low], [high, low], [high, high], [low, high]];
  if (K === 1) inside = clip(inside, (p) => 1 - p[0]);
  else for (const f of [(p) => 1 - p[0], (p) => 1 - p[1], (p) => 1 - p[0] - p[1]]) inside = clip(inside, f);
  const all = example.kind === "plane" ? [] : example.blocks[0].values.flatMap((_, r) => example.blocks[1].values.map((__, c) => [r, c]));
  const dot = (a, accepted, name, here) => make("g", {},
    here ? make("circle", { cx: x(a[shown[0]]), cy: y(K === 1 ? 0 : a[shown[1]]), r: 10, style: "fill: none; stroke: currentColor; stroke-width: 2" }) : null,
    accepted ? make("circle", { cx: x(a[shown[0]]), cy: y(K === 1 ? 0 : a[shown[1]]), r: 5, style: "fill: var(--good)" }, make("title", {}, name))
      : make("path", { d: `M${x(a[shown[0]]) - 5} ${y(K === 1 ? 0 : a[shown[1]]) - 5}l10 10m0-10l-10 10`, style: "stroke: var(--warm); stroke-width: 2.5" }, make("title", {}, name)));
  const dots = all.map((choice) => {
    const one = judge(net, psiOf(choice));
    return dot(one.activations, one.accepted, pointName(choice), choice[0] === state.choice[0] && choice[1] === state.choice[1]);
  });
  if (example.kind === "plane") dots.push(dot(found.activations, found.accepted, pointName(), true));
  at("picture").replaceChildren(make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The allowed region in the plane of two units, and the points" },
    make("polygon", { points: points(inside, x, y), style: "fill: var(--good); fill-opacity: .14; stroke: var(--good); stroke-width: 2" }),
    make("line", { x1: x(0), x2: x(0), y1: y(high), y2: y(low), style: "stroke: var(--line)" }), make("line", { x1: x(low), x2: x(high), y1: y(0), y2: y(0), style: "stroke: var(--line)" }),
    ...dots, make("text", { x: width - 14, y: y(0) - 6, "text-anchor": "end", class: "u" }, `a${shown[0] + 1}`),
    K === 1 ? null : make("text", { x: x(0) + 6, y: 20, class: "u" }, `a${shown[1] + 1}`),
    make("text", { x: x(1), y: height - 14, "text-anchor": "middle" }, `a${shown[0] + 1} = 1`),
    K === 1 ? null : make("text", { x: pad - 4, y: y(1) - 6 }, `a${shown[1] + 1} = 1`),
    K === 1 ? null : make("text", { x: x(0.5) + 8, y: y(0.5) - 4 }, `a${shown[0] + 1} + a${shown[1] + 1} = 1`)));
  if (K > 2 && example.kind !== "plane") at("picture-hint").textContent = `The plane of the two most active units of the chosen point, ${shown.map((k) => `a${k + 1}`).join(" and ")}, of K = ${K}. Other units can forbid a pair inside (\u2717); K = 2 shows all.`;
}

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  at("theme").setAttribute("aria-pressed", String(dark));
}
at("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
theme(window.matchMedia("(prefers-color-scheme: dark)").matches);
window.playground = { DATA, exact, judge, rowsOf, valueAt, tickedNetwork, oneHot, wordsOf };
start(state.example);
showAll();
