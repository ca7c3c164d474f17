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
    at("picture-hint").textContent =
      "The same point in the plane of the two most active units: the region is the same for every network.";
    showPlane(net, found);
  } else
    at("picture-hint").textContent =
      state.K === 1
        ? "One unit: every pair is one number, a1, and must be at most 1."
        : "Every pair, by the values of two units. Allowed is what lies inside: the edges are the rows of {1}, {2} and {1, 2}.";
  if (example.kind === "labels") showSentence(net);
  showPicture(net, found);
  return undefined;
}
function showNothing() {
  at("verdict").replaceChildren(
    make(
      "div",
      { className: "verdict out" },
      make("strong", {}, "Nothing to learn from"),
      "Tick at least one valid pair, and leave at least one out.",
    ),
  );
  for (const id of ["budget", "why", "rows", "lifted", "picture"]) at(id).replaceChildren();
  at("words").replaceChildren();
  at("rows-hint").textContent = at("picture-hint").textContent = at("words-hint").textContent = "";
}
function showVerdict(found) {
  const parts = spent(found.activations)
    .filter((x) => x > 0)
    .map((x) => ` \u2212 ${number(x)}`)
    .join("");
  at("verdict").replaceChildren(
    make(
      "div",
      { className: `verdict ${found.accepted ? "in" : "out"}` },
      make(
        "strong",
        {},
        `${found.accepted ? "\u2713" : "\u2717"} ${pointName()}: ${found.accepted ? "allowed" : "forbidden"}`,
      ),
      `margin = 1${parts}${parts ? ` = ${number(found.margin)}` : ""}`,
      found.accepted ? (found.margin === 0 ? ", exactly on the boundary" : "") : ", below 0",
    ),
  );
}
function showBudget(found) {
  const parts = spent(found.activations),
    total = sum(parts),
    width = 460;
  const scale = (width - 20) / Math.max(1.3, total * 1.05);
  let x = 10;
  const bars = parts.map((value, k) => {
    const w = value * scale,
      left = x;
    x += w;
    if (!w) return null;
    return make(
      "g",
      {},
      make(
        "rect",
        { x: left, y: 24, width: w, height: 26, rx: 3, fill: `var(--u${k + 1})` },
        make("title", {}, `ReLU(a${k + 1}) = ${number(value)}`),
      ),
      w > 28
        ? make(
            "text",
            { x: left + w / 2, y: 42, "text-anchor": "middle", style: "fill: var(--bg); font-weight: 600" },
            `a${k + 1}`,
          )
        : null,
    );
  });
  const one = 10 + scale;
  at("budget").replaceChildren(
    make(
      "svg",
      { viewBox: `0 0 ${width} 74`, role: "img", "aria-label": `The units spend ${number(total)} of a budget of 1` },
      make("rect", { x: 10, y: 24, width: scale, height: 26, rx: 3, fill: "var(--line)" }),
      ...bars,
      make("line", { x1: one, x2: one, y1: 14, y2: 60, stroke: "currentColor", "stroke-width": 2 }),
      make("text", { x: one, y: 10, "text-anchor": "middle" }, "budget 1"),
      make(
        "text",
        { x: Math.min(Math.max(x, 40), width - 40), y: 68, "text-anchor": "middle", style: "font-weight: 600" },
        `spent ${number(total)}`,
      ),
    ),
  );
}
function showWhy(net, psi, found) {
  const { example } = state;
  const names = columnNames(example);
  const row = rowsOf(net).find((one) => one.subset.every((on, k) => on === found.subset[k]));
  const terms = row.coefficients.flatMap((w, j) =>
    psi[j]
      ? [[example.kind === "plane" ? `${names[j]} ${number(psi[j], 1)} \u00d7 ${number(w, 3)}` : names[j], w * psi[j]]]
      : [],
  );
  const value = valueAt(row, psi);
  const active = found.activations.some((x) => x > 0);
  at("why").replaceChildren(
    make(
      "p",
      { className: "hint" },
      active
        ? `Only the units that spend something matter, S = ${subsetName(found.subset)}. Their inequality, term by term:`
        : `No unit spends anything, so every inequality holds. The tightest one is that of S = ${subsetName(found.subset)}:`,
    ),
    make(
      "div",
      { className: "terms" },
      ...terms.map(([name, x]) => make("span", {}, make("small", {}, name), signed(x))),
      make("span", {}, make("small", {}, "bias"), signed(row.bias)),
      make(
        "span",
        { className: `sum ${value < 0 ? "out-text" : "in-text"}` },
        `= ${number(value)} ${value < 0 ? "< 0: forbidden" : "\u2265 0: holds"}`,
      ),
    ),
  );
}
function showRows(net, psi, found) {
  const { example } = state,
    rows = rowsOf(net);
  const names = example.kind === "plane" ? columnNames(example) : example.blocks.flatMap((b) => b.values);
  const groups =
    example.kind === "plane"
      ? null
      : make(
          "tr",
          {},
          make("td", {}),
          ...example.blocks.map((b) =>
            make("th", { scope: "colgroup", colSpan: b.values.length, className: "group" }, b.name),
          ),
          make("td", { colSpan: 3 }),
        );
  const broken = rows.filter((row) => valueAt(row, psi) < 0).length;
  at("rows-hint").textContent =
    `Theorem 1: a network of K = ${state.K} hidden unit${state.K > 1 ? "s" : ""} is the same set as 2${SUPERSCRIPTS[state.K]} \u2212 1 = ${rows.length} linear inequalit${rows.length > 1 ? "ies" : "y"}, one per set S of units. Each sum must be at least 0. ` +
    (broken
      ? `This point breaks ${broken} of them; the framed one most.`
      : "This point satisfies all of them; the framed one is the tightest.");
  at("rows").replaceChildren(
    make(
      "thead",
      {},
      groups,
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "S"),
        ...names.map((name, j) => make("th", { scope: "col", className: psi[j] ? "n used" : "n" }, name)),
        make("th", { scope: "col", className: "n" }, "bias"),
        make("th", { scope: "col", className: "n" }, "sum"),
        make("th", { scope: "col", className: "n" }, "at the point"),
      ),
    ),
    make(
      "tbody",
      {},
      ...rows.map((row) => {
        const value = valueAt(row, psi),
          worst = row.subset.every((on, k) => on === found.subset[k]);
        return make(
          "tr",
          { className: `${value < 0 ? "broken" : ""}${worst ? " worst" : ""}` },
          make("th", { scope: "row" }, subsetName(row.subset)),
          ...row.coefficients.map((w, j) => make("td", { className: psi[j] ? "used" : "unused" }, number(w, digits()))),
          make("td", {}, number(row.bias)),
          make("td", {}, number(value)),
          make("td", { className: value < 0 ? "out-text" : "in-text" }, value < 0 ? "\u2717 broken" : "\u2713 holds"),
        );
      }),
    ),
  );
  // The framed row is in view, without a move of the page.
  const region = at("rows").parentElement;
  region.scrollTop = at("rows").querySelector(".worst").offsetTop - region.clientHeight / 2;
}
function showLifted(net, found) {
  const names =
    state.example.kind === "plane"
      ? columnNames(state.example)
      : state.example.blocks.flatMap((b, i) =>
          b.values.map((v) => (state.example.kind === "labels" ? `${v.replace("-", "\u2011")}${SUBSCRIPTS[i]}` : v)),
        );
  const line = (k) => {
    const terms = net.W[k]
      .map((w, j) => (w ? ` ${w < 0 ? "\u2212" : "+"} ${number(Math.abs(w), digits())}\u00a0${names[j]}` : ""))
      .join("");
    const here = `here ${number(found.activations[k])}, so the least s${k + 1} is ${number(Math.max(0, found.activations[k]))}`;
    return make(
      "p",
      {},
      `s${k + 1} \u2265 `,
      unitName(k),
      ` = ${number(net.b[k])}${terms}`,
      make("span", { className: "here-value" }, here),
    );
  };
  const all = net.b.map((_, k) => `s${k + 1}`);
  at("lifted").replaceChildren(
    ...net.b.map((_, k) => line(k)),
    make("p", {}, `${all.join(", ")} \u2265 0`),
    make(
      "p",
      {},
      `${all.join(" + ")} \u2264 1`,
      make(
        "span",
        { className: found.accepted ? "in-text" : "out-text" },
        `   here ${number(sum(spent(found.activations)))}: ${found.accepted ? "feasible" : "infeasible"}`,
      ),
    ),
  );
}
function showWords(net) {
  const { example } = state;
  if (example.kind !== "ticks") {
    const own = example.networks[state.K].words;
    const { rules } = example.networks[state.K];
    at("words").replaceChildren(...own.map((words) => make("li", {}, words)));
    at("words-hint").replaceChildren(
      rules > own.length ? `The strongest of ${rules} rules` : "The rules",
      " that ",
      make("code", {}, "lcons explain"),
      " prints, each with a proof.",
    );
    return;
  }
  const allowed = example.blocks[0].values.map((_, r) =>
    example.blocks[1].values.map((__, c) => judge(net, psiOf([r, c])).accepted),
  );
  const rules = wordsOf(example, allowed);
  at("words").replaceChildren(
    ...(rules.length ? rules : [{ words: "Nothing is forbidden." }]).map((rule) => make("li", {}, rule.words)),
  );
  at("words-hint").replaceChildren(
    "From the verdicts on all pairs. For any constraint file, ",
    make("code", {}, "lcons explain"),
    " prints such rules, each with a proof.",
  );
}
