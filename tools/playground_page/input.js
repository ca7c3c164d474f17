// What the reader changes: the table or the plane, typed pairs and labels, the point.

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
    const tick =
      example.kind !== "ticks"
        ? null
        : make(
            "label",
            {},
            make("input", {
              type: "checkbox",
              checked: state.ticks[r][c],
              ariaLabel: `${names}: valid`,
              onchange: (event) => {
                state.ticks[r][c] = event.target.checked;
                showTyped();
                showResults();
              },
            }),
          );
    const look = make("button", {
      type: "button",
      onclick: () => {
        state.choice = [r, c];
        showPointControls();
        showResults();
      },
    });
    look.dataset.name = names;
    return make("td", {}, make("div", { className: "cell", id: `cell-${r}-${c}` }, tick, look));
  };
  at("field").replaceChildren(
    make(
      "table",
      { className: "grid" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { scope: "col" }, `${rows.name} \\ ${columns.name}`),
          ...columns.values.map((v) => make("th", { scope: "col" }, breakable(v))),
        ),
      ),
      make(
        "tbody",
        {},
        ...rows.values.map((v, r) =>
          make("tr", {}, make("th", { scope: "row" }, breakable(v)), ...columns.values.map((_, c) => cell(r, c))),
        ),
      ),
    ),
  );
  return undefined;
}
function paintGrid(net) {
  const { example } = state;
  const [rows, columns] = example.blocks;
  let wrong = 0;
  rows.values.forEach((_, r) =>
    columns.values.forEach((__, c) => {
      const box = at(`cell-${r}-${c}`),
        look = box.querySelector("button");
      const found = net && judge(net, psiOf([r, c]));
      const accepted = found ? found.accepted : false;
      const differs = example.kind === "ticks" && Boolean(net) && accepted !== isValid(r, c);
      wrong += differs;
      const here = r === state.choice[0] && c === state.choice[1];
      box.className =
        `cell ${accepted ? "in" : "out"}${here ? " here" : ""}${differs ? " wrong" : ""}${example.kind === "ticks" ? "" : " bare"}` +
        (example.kind === "labels" && isValid(r, c) ? " seen" : "");
      look.setAttribute("aria-pressed", String(here));
      look.setAttribute(
        "aria-label",
        `${look.dataset.name}: ${accepted ? "allowed" : "forbidden"}${found ? `, margin ${number(found.margin)}` : ""}`,
      );
      look.replaceChildren(make("b", {}, accepted ? "\u2713" : "\u2717"), found ? number(found.margin) : "");
    }),
  );
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
    const text = rows.values
      .flatMap((v, r) => columns.values.filter((_, c) => state.ticks[r][c]).map((w) => `${v} ${w}`))
      .join("\n");
    if (at("pairs")) {
      if (document.activeElement !== at("pairs")) at("pairs").value = text;
      return;
    }
    at("typed").replaceChildren(
      make(
        "details",
        {},
        make("summary", {}, "Type the valid pairs instead"),
        make("label", { htmlFor: "pairs" }, "One pair per line, such as Person Kill"),
        make("textarea", { id: "pairs", value: text, spellcheck: false, oninput: readPairs }),
        make("p", { className: "hint warn", id: "typed-error", role: "status" }),
      ),
    );
  } else if (example.kind === "labels") {
    at("typed").replaceChildren(
      make("label", { htmlFor: "sentence" }, "Type labels, one per word:"),
      make("input", {
        type: "text",
        id: "sentence",
        value: state.sentence,
        size: 44,
        spellcheck: false,
        oninput: () => {
          state.sentence = at("sentence").value;
          showSentence(network());
        },
      }),
      make("ul", { className: "chips", id: "steps" }),
      make("p", { className: "hint", id: "typed-error", role: "status" }),
    );
  } else at("typed").replaceChildren();
}
function readPairs() {
  const [rows, columns] = state.example.blocks;
  const find = (names, word) => names.findIndex((name) => name.toLowerCase() === word.toLowerCase());
  const ticks = rows.values.map(() => columns.values.map(() => false));
  const unknown = [];
  for (const line of at("pairs")
    .value.split("\n")
    .filter((one) => one.trim())) {
    const words = line.trim().split(/[\s,]+/);
    const [r, c] = [find(rows.values, words[0]), find(columns.values, words[1] || "")];
    if (words.length !== 2 || r < 0 || c < 0) unknown.push(line.trim());
    else ticks[r][c] = true;
  }
  at("typed-error").textContent = unknown.length ? `Not a pair of this example: ${unknown[0]}` : "";
  state.ticks = ticks;
  ticks.forEach((row, r) =>
    row.forEach((on, c) => {
      at(`cell-${r}-${c}`).querySelector("input").checked = on;
    }),
  );
  showResults();
}
function showSentence(net) {
  const [rows] = state.example.blocks;
  const labels = state.sentence.trim().split(/\s+/).filter(Boolean);
  const codes = labels.map((label) => rows.values.findIndex((name) => name.toLowerCase() === label.toLowerCase()));
  const unknown = labels.filter((_, i) => codes[i] < 0);
  if (unknown.length) {
    at("steps").replaceChildren();
    at("typed-error").textContent =
      `Not a label of this example: ${unknown[0]}. The labels are ${rows.values.join(", ")}.`;
    return;
  }
  const steps = codes
    .slice(1)
    .map((to, i) => ({ choice: [codes[i], to], accepted: judge(net, oneHot(state.example, [codes[i], to])).accepted }));
  at("steps").replaceChildren(
    ...steps.map(({ choice, accepted }) =>
      make(
        "li",
        {},
        make(
          "button",
          {
            type: "button",
            className: accepted ? "in" : "out",
            onclick: () => {
              state.choice = choice;
              showPointControls();
              showResults();
            },
          },
          `${accepted ? "\u2713" : "\u2717"} ${pointName(choice)}`,
        ),
      ),
    ),
  );
  const bad = steps.filter((step) => !step.accepted).length;
  at("typed-error").textContent = bad
    ? `This sequence is forbidden: ${bad} of ${steps.length} steps break the constraint.`
    : "This sequence is allowed: every step is.";
}

// The controls of the point.
function showPointControls() {
  const { example } = state;
  if (example.kind === "plane") {
    return at("point").replaceChildren(
      ...example.columns.map((column, j) =>
        make(
          "div",
          { className: "slide" },
          make("label", { htmlFor: `x${j}` }, `${column.name}: `, make("output", { id: `x${j}-value` })),
          make("input", {
            type: "range",
            id: `x${j}`,
            min: String(column.low),
            max: String(column.high),
            step: String(1 / GRID),
            value: String(state.xy[j]),
            oninput: (event) => {
              state.xy[j] = snap(Number(event.target.value));
              showResults();
            },
          }),
        ),
      ),
    );
  }
  return at("point").replaceChildren(
    ...example.blocks.map((block, i) =>
      make(
        "div",
        {},
        make("label", { htmlFor: `b${i}` }, block.name),
        make(
          "select",
          {
            id: `b${i}`,
            onchange: (event) => {
              state.choice[i] = Number(event.target.value);
              showResults();
            },
          },
          ...block.values.map((v, at) => make("option", { value: String(at), selected: at === state.choice[i] }, v)),
        ),
      ),
    ),
  );
}
