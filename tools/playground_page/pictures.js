// Pictures. A half-plane cuts a polygon (Sutherland and Hodgman).
function clip(polygon, f) {
  return polygon.flatMap((p, i) => {
    const q = polygon[(i + 1) % polygon.length],
      a = f(p),
      b = f(q);
    const cut = () => p.map((x, d) => x + ((q[d] - x) * a) / (a - b));
    if (a >= 0) return b >= 0 ? [p] : [p, cut()];
    return b >= 0 ? [cut()] : [];
  });
}
function chord(f, box) {
  const corners = [
    [box[0], box[1]],
    [box[2], box[1]],
    [box[2], box[3]],
    [box[0], box[3]],
  ];
  return corners.flatMap((p, i) => {
    const q = corners[(i + 1) % 4],
      a = f(p),
      b = f(q);
    return a === b || a * b > 0 ? [] : [p.map((x, d) => x + ((q[d] - x) * a) / (a - b))];
  });
}
const points = (list, x, y) => list.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ");

function showPlane(net, found) {
  const { example } = state,
    [cx, cy] = example.columns;
  const width = 560,
    height = 430,
    left = 44,
    bottom = 40,
    top = 10,
    right = 12;
  const x = (v) => left + ((v - cx.low) / (cx.high - cx.low)) * (width - left - right);
  const y = (v) => top + ((cy.high - v) / (cy.high - cy.low)) * (height - top - bottom);
  const rows = rowsOf(net),
    f = (row) => (p) => valueAt(row, p);
  const box = [cx.low, cy.low, cx.high, cy.high];
  let inside = [
    [cx.low, cy.low],
    [cx.high, cy.low],
    [cx.high, cy.high],
    [cx.low, cy.high],
  ];
  for (const row of rows) inside = clip(inside, f(row));
  const lines = rows.map((row) => {
    const ends = chord(f(row), box);
    if (ends.length < 2) return null;
    const worst = row.subset.every((on, k) => on === found.subset[k]),
      broken = valueAt(row, state.xy) < 0;
    const style = broken
      ? `stroke: var(--warm); stroke-width: ${worst ? 3 : 1.2}; opacity: ${worst ? 1 : 0.55}`
      : `stroke: var(--muted); stroke-width: ${worst ? 2.2 : 0.8}; opacity: ${worst ? 0.9 : 0.3}`;
    return make(
      "g",
      {},
      make(
        "line",
        { x1: x(ends[0][0]), y1: y(ends[0][1]), x2: x(ends[1][0]), y2: y(ends[1][1]), style },
        make("title", {}, `the row of ${subsetName(row.subset)}`),
      ),
    );
  });
  const data = example.points.map(([px, py, valid]) =>
    valid
      ? make("circle", { cx: x(px), cy: y(py), r: 3, style: "fill: var(--good); opacity: .8" })
      : make("path", {
          d: `M${x(px) - 3} ${y(py) - 3}l6 6m0-6l-6 6`,
          style: "stroke: var(--warm); stroke-width: 1.4; opacity: .75",
        }),
  );
  const ticks = (column, along) =>
    Array.from({ length: 5 }, (_, i) => column.low + ((column.high - column.low) * i) / 4).map((v) =>
      along === "x"
        ? make("text", { x: x(v), y: height - bottom + 16, "text-anchor": "middle" }, String(v))
        : make("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, String(v)),
    );
  const handle = make(
    "g",
    {
      id: "handle",
      class: "drag",
      tabindex: "0",
      role: "button",
      "aria-label": `The point: ${pointName()}. Move it with the arrow keys or drag it.`,
    },
    make("circle", { cx: x(state.xy[0]), cy: y(state.xy[1]), r: 20, style: "fill: transparent" }),
    make("circle", {
      cx: x(state.xy[0]),
      cy: y(state.xy[1]),
      r: 9,
      style: `fill: var(--${found.accepted ? "good" : "warm"}); stroke: var(--surface); stroke-width: 3`,
    }),
  );
  const label = found.accepted
    ? null
    : make(
        "text",
        {
          x: x(state.xy[0]) + (x(state.xy[0]) < width / 2 ? 14 : -14), // towards the middle, where there is room
          y: y(state.xy[1]) - 12,
          "text-anchor": x(state.xy[0]) < width / 2 ? "start" : "end",
          style: "fill: var(--warm); font-weight: 700; paint-order: stroke; stroke: var(--surface); stroke-width: 4px",
        },
        `breaks S = ${subsetName(found.subset)}`,
      );
  const focused = document.activeElement && document.activeElement.id === "handle";
  const svg = make(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `${cy.name} against ${cx.name}: the allowed region has ${inside.length} corners`,
    },
    make("rect", {
      x: left,
      y: top,
      width: width - left - right,
      height: height - top - bottom,
      style: "fill: none; stroke: var(--line)",
    }),
    make("polygon", {
      points: points(inside, x, y),
      id: "region",
      style: "fill: var(--good); fill-opacity: .14; stroke: var(--good); stroke-width: 2",
    }),
    ...lines,
    ...data,
    ...ticks(cx, "x"),
    ...ticks(cy, "y"),
    make("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, `${cx.name} (${cx.unit})`),
    make(
      "text",
      { x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` },
      `${cy.name} (${cy.unit})`,
    ),
    label,
    handle,
  );
  at("plane").replaceChildren(svg);
  const move = (to) => {
    state.xy = to.map((v, j) => snap(Math.min(example.columns[j].high, Math.max(example.columns[j].low, v))));
    showResults();
  };
  const pointer = (event) => {
    const frame = at("plane").querySelector("svg").getBoundingClientRect(),
      size = width / frame.width;
    const px = (event.clientX - frame.left) * size,
      py = (event.clientY - frame.top) * size;
    move([
      cx.low + ((px - left) / (width - left - right)) * (cx.high - cx.low),
      cy.high - ((py - top) / (height - top - bottom)) * (cy.high - cy.low),
    ]);
  };
  svg.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    pointer(event);
    at("handle").focus({ preventScroll: true });
    const follow = (one) => pointer(one);
    const end = () => {
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", end);
    };
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
  const { example } = state,
    K = net.b.length,
    width = 420,
    height = 330,
    pad = 34;
  const order = found.activations
    .map((a, k) => [a, k])
    .sort((p, q) => q[0] - p[0])
    .map(([, k]) => k);
  const shown = K === 1 ? [0, 0] : order.slice(0, 2).sort();
  const low = -2.5,
    high = 2.5,
    cut = (v) => Math.min(high, Math.max(low, v));
  const x = (v) => pad + ((cut(v) - low) / (high - low)) * (width - pad - 12);
  const y = (v) => 10 + ((high - cut(v)) / (high - low)) * (height - pad - 10);
  let inside = [
    [low, low],
    [high, low],
    [high, high],
    [low, high],
  ];
  if (K === 1) inside = clip(inside, (p) => 1 - p[0]);
  else for (const f of [(p) => 1 - p[0], (p) => 1 - p[1], (p) => 1 - p[0] - p[1]]) inside = clip(inside, f);
  const all =
    example.kind === "plane"
      ? []
      : example.blocks[0].values.flatMap((_, r) => example.blocks[1].values.map((__, c) => [r, c]));
  const dot = (a, accepted, name, here) =>
    make(
      "g",
      {},
      here
        ? make("circle", {
            cx: x(a[shown[0]]),
            cy: y(K === 1 ? 0 : a[shown[1]]),
            r: 10,
            style: "fill: none; stroke: currentColor; stroke-width: 2",
          })
        : null,
      accepted
        ? make(
            "circle",
            { cx: x(a[shown[0]]), cy: y(K === 1 ? 0 : a[shown[1]]), r: 5, style: "fill: var(--good)" },
            make("title", {}, name),
          )
        : make(
            "path",
            {
              d: `M${x(a[shown[0]]) - 5} ${y(K === 1 ? 0 : a[shown[1]]) - 5}l10 10m0-10l-10 10`,
              style: "stroke: var(--warm); stroke-width: 2.5",
            },
            make("title", {}, name),
          ),
    );
  const dots = all.map((choice) => {
    const one = judge(net, psiOf(choice));
    return dot(
      one.activations,
      one.accepted,
      pointName(choice),
      choice[0] === state.choice[0] && choice[1] === state.choice[1],
    );
  });
  if (example.kind === "plane") dots.push(dot(found.activations, found.accepted, pointName(), true));
  at("picture").replaceChildren(
    make(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": "The allowed region in the plane of two units, and the points",
      },
      make("polygon", {
        points: points(inside, x, y),
        style: "fill: var(--good); fill-opacity: .14; stroke: var(--good); stroke-width: 2",
      }),
      make("line", { x1: x(0), x2: x(0), y1: y(high), y2: y(low), style: "stroke: var(--line)" }),
      make("line", { x1: x(low), x2: x(high), y1: y(0), y2: y(0), style: "stroke: var(--line)" }),
      ...dots,
      make("text", { x: width - 14, y: y(0) - 6, "text-anchor": "end", class: "u" }, `a${shown[0] + 1}`),
      K === 1 ? null : make("text", { x: x(0) + 6, y: 20, class: "u" }, `a${shown[1] + 1}`),
      make("text", { x: x(1), y: height - 14, "text-anchor": "middle" }, `a${shown[0] + 1} = 1`),
      K === 1 ? null : make("text", { x: pad - 4, y: y(1) - 6 }, `a${shown[1] + 1} = 1`),
      K === 1 ? null : make("text", { x: x(0.5) + 8, y: y(0.5) - 4 }, `a${shown[0] + 1} + a${shown[1] + 1} = 1`),
    ),
  );
  if (K > 2 && example.kind !== "plane")
    at("picture-hint").textContent =
      `The plane of the two most active units of the chosen point, ${shown.map((k) => `a${k + 1}`).join(" and ")}, of K = ${K}. Other units can forbid a pair inside (\u2717); K = 2 shows all.`;
}
