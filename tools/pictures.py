"""Write the pictures of the documentation as SVG: docs/pictures/fit-curve.svg, inequality.svg and forms.svg.

./tools/venv python tools/pictures.py          write them
./tools/venv python tools/pictures.py --check  exit with 1 if one of them is not up to date

The curve is the table of the README on labelled sentences. The other two show the constraint on IOB2 labels of
the playground (docs/playground/networks.json), which `tools/playground.py` learned. Each picture has its own
background and colours for light and dark, a title and a description.
"""

# ruff: noqa: E501, RUF001
# Lines of SVG are long, and its text has minus signs and ticks.

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from html import escape, unescape
from pathlib import Path

import numpy as np
from playground import NETWORKS, read

from lcons_core import LinearInequalities, RectifierNetwork, to_inequalities
from lcons_tasks.report import Curve, to_svg

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/pictures"
README = ROOT / "README.md"

STYLE = """<style>
svg { color: #23262b; --ground: #fff; --line: #d9d5cd; --muted: #5b626c; --good: #1f7a52; --warm: #b4412f; --accent: #2b5c88; }
@media (prefers-color-scheme: dark) {
  svg { color: #e5e3de; --ground: #1c1f23; --line: #3b4048; --muted: #a3a9b1; --good: #5fc796; --warm: #f08a76; --accent: #7fb2de; }
  [stroke="#0072b2"] { stroke: #4ba9e8; } [fill="#0072b2"] { fill: #4ba9e8; }
}
.ground { fill: var(--ground); stroke: var(--line); } .line { stroke: var(--line); fill: none; }
.muted { fill: var(--muted); } .good { fill: var(--good); } .warm { fill: var(--warm); } .accent { fill: var(--accent); }
.goodline { stroke: var(--good); fill: none; } .warmline { stroke: var(--warm); fill: none; } .ink { stroke: currentColor; fill: none; }
.in { fill: var(--good); fill-opacity: .15; } .out { fill: var(--warm); fill-opacity: .15; }
.b { font-weight: 700; } .h { font-size: 20px; font-weight: 700; } .s { font-size: 12px; } .m { font-family: ui-monospace, monospace; }
</style>"""


def number(x: float, sign: bool = False) -> str:
    """Two decimals, with a minus sign; with `sign`, also a plus sign.

    >>> number(-0.5), number(0.25, sign=True)
    ('\N{MINUS SIGN}0.50', '+0.25')
    """
    return f"{x + 0.0:{'+' if sign else ''}.2f}".replace("-", "\N{MINUS SIGN}")


def text(x: float, y: float, words: str, classes: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{classes}" text-anchor="{anchor}">{escape(words)}</text>'


def rect(x: float, y: float, width: float, height: float, classes: str, radius: float = 4) -> str:
    """A rectangle with round corners."""
    size = f'width="{width:.5g}" height="{height:.5g}" rx="{radius:g}"'
    return f'<rect x="{x:.5g}" y="{y:.5g}" {size} class="{classes}"/>'


def picture(width: int, height: int, title: str, about: str, parts: Iterator[str]) -> str:
    """A picture with a title and a description for screen readers, and a background."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" font-family="system-ui, sans-serif" font-size="14" fill="currentColor">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(about)}</desc>",
            STYLE,
            rect(0.5, 0.5, width - 1, height - 1, "ground", 12),
            *parts,
            "</svg>\n",
        ]
    )


def table(readme: str) -> dict[str, dict[float, float]]:
    """The rows of the README's table on labelled sentences, by their names."""
    found = re.search(r"^\| labelled sentences \|.*?\n\n", readme, re.M | re.S)
    if found is None:
        raise SystemExit("expected a table `| labelled sentences | 25 | ...` in README.md, found none.")
    head, _, *rows = [
        [cell.strip(" *`") for cell in line.strip("| ").split("|")] for line in found[0].strip().splitlines()
    ]
    sizes = [float(cell) for cell in head[1:]]
    return {name: dict(zip(sizes, map(float, cells), strict=True)) for name, *cells in rows}


def fit_curve() -> str:
    """The learning curve of `lcons fit`, drawn by the chart of the reports, with a background."""
    rows = table(README.read_text(encoding="utf-8"))
    lines = {
        name.replace("the same with", "CRF with").replace(" by folds", ""): rows[name]
        for name in reversed(rows)
    }
    title = "Span F1 by labelled sentences, mean of nine data sets"
    chart = to_svg(Curve(title, "labelled sentences", "span F1 (one set: accuracy)", lines))
    chart = chart.replace('stroke-width="2"', 'stroke-width="2.5"')
    found = re.match(r'<svg [^>]*viewBox="0 0 (\d+) (\d+)"', chart)
    assert found is not None
    width, height = int(found[1]), int(found[2])
    about = re.search(r"<desc>(.*?)</desc>", chart, re.S)
    assert about is not None
    body = chart[chart.index("</desc>") + len("</desc>") : chart.rindex("</svg>")].strip()
    labels = [
        text(x, y - 9, f"{value:.1f}", "b s", "middle")
        for x, y, value in _marks(chart, next(iter(lines)), lines)
    ]
    shifted = [f'<g transform="translate(10 10)" font-size="12">\n{body}', *labels, "</g>"]
    return picture(width + 20, height + 22, title, unescape(about[1]), iter(shifted))


def _marks(
    chart: str, name: str, lines: dict[str, dict[float, float]]
) -> Iterator[tuple[float, float, float]]:
    """The places of the points of a line in the chart, with their values."""
    for size, value in lines[name].items():
        said = escape(f"{name}, {size:g}: {value:.2f}")
        found = re.search(
            rf'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*><title>{re.escape(said)}</title>', chart
        )
        assert found is not None
        yield float(found[1]), float(found[2]), value


class Labels:
    """The constraint on IOB2 labels with K = 2: its names, network, rows and words."""

    def __init__(self) -> None:
        example = json.loads(NETWORKS.read_text(encoding="utf-8"))["examples"][1]
        self.names: list[str] = example["blocks"][0]["values"]
        self.network: RectifierNetwork = read(example["networks"]["2"])
        self.rows: LinearInequalities = to_inequalities(self.network)
        self.words: list[str] = example["networks"]["2"]["words"]

    def psi(self, before: str, after: str) -> list[float]:
        """psi of a pair of labels."""
        return [float(name == label) for label in (before, after) for name in self.names]

    def accepts(self, before: str, after: str) -> bool:
        """Whether a pair of labels is allowed."""
        return bool(self.network.accepts(self.psi(before, after)))


WRONG, RIGHT = ("O", "I-PER"), ("B-PER", "I-PER")


def inequality() -> str:
    """How to read one inequality: its terms, two sums, and their verdicts."""
    own = Labels()
    values = own.rows.coefficients @ own.psi(*WRONG) + own.rows.bias
    row = int(np.argmin(values))
    coefficients, bias = own.rows.coefficients[row].tolist(), float(own.rows.bias[row])
    return picture(
        780,
        470,
        "How to read one inequality",
        f"Bars are the terms of one learned inequality: each label has a number, for its place. For {' '.join(WRONG)}, the"
        f" three numbers sum to {number(values[row])}, below 0, so it is forbidden. For {' '.join(RIGHT)}, the sum is not.",
        _inequality(own, coefficients, bias),
    )


def _inequality(own: Labels, coefficients: list[float], bias: float) -> Iterator[str]:
    yield text(28, 40, "How to read one inequality", "h")
    yield text(
        28,
        64,
        "Every label has one number for each of the two places. Add those that apply, and the bias.",
        "muted",
    )
    zero, scale, step = 190.0, 70.0, 56.0
    used = [own.names.index(name) + place for name, place in zip(WRONG, (0, len(own.names)), strict=True)]
    places = [44 + step * (j + (0.6 if j >= len(own.names) else 0)) for j in range(len(coefficients))]
    bars = [
        *zip(places, [*own.names, *own.names], coefficients, strict=True),
        (places[-1] + 1.6 * step, "bias", bias),
    ]
    yield f'<path d="M28 {zero:g}H752" class="ink" stroke-opacity=".5"/>'
    for j, (x, name, value) in enumerate(bars):
        chosen = j in used or name == "bias"
        top, height = (zero - scale * value, scale * value) if value > 0 else (zero, -scale * value)
        yield rect(
            x - 18,
            top,
            36,
            height,
            ("good" if value > 0 else "warm") if chosen else ("in" if value > 0 else "out"),
        )
        yield text(
            x,
            zero - scale * value + (-6 if value > 0 else 16),
            number(value, sign=True),
            "b s" if chosen else "muted s",
            "middle",
        )
        yield text(x, 300, name, "b" if chosen else "muted", "middle")
    for first, words in ((0, "first label"), (len(own.names), "second label")):
        left, right = places[first] - 22, places[first + len(own.names) - 1] + 22
        yield f'<path d="M{left:g} 310v6H{right:g}v-6" class="line" stroke-width="1.5"/>'
        yield text((left + right) / 2, 334, words, "muted", "middle")
    for y, pair in ((378, WRONG), (424, RIGHT)):
        terms = [
            coefficients[own.names.index(pair[0])],
            coefficients[len(own.names) + own.names.index(pair[1])],
        ]
        total = sum(terms) + bias
        said = f"{number(terms[0], True)} {number(terms[1], True)} {number(bias, True)} = {number(total)}"
        below = total < 0
        yield rect(28, y - 26, 724, 38, "out" if below else "in", 8)
        yield text(44, y, f"{pair[0]} then {pair[1]}", "b")
        yield text(250, y, said)
        verdict = "below 0: forbidden" if below else "at least 0: holds"
        yield text(520, y, f"{'✗' if below else '✓'} {verdict}", f"b {'warm' if below else 'good'}")


def forms() -> str:
    """One set in its forms: network, rows, lifted, words, mask, polytope."""
    own = Labels()
    cards: list[tuple[str, str, Callable[[Labels], Iterator[str]]]] = [
        ("Network", "what is learned; O(K d) per verdict", _network),
        ("Rows", "2ᴷ − 1 linear inequalities: Theorem 1", _rows),
        ("Lifted", "K + 1 rows for a solver; any K", _lifted),
        ("Words", "rules, each with a proof", _words),
        ("Mask", "a table that decoders look up", _mask),
        ("Polytope", "the rows, in the plane of the two units", _polytope),
    ]
    width, height, gap = 310, 250, 14

    def parts() -> Iterator[str]:
        yield text(28, 42, "One set, six forms", "h")
        yield text(
            28,
            66,
            "Learned from nine labelled sentences. Every form accepts exactly the same label pairs.",
            "muted",
        )
        for i, (title, good_for, draw) in enumerate(cards):
            x, y = 20 + (i % 3) * (width + gap), 86 + (i // 3) * (height + gap)
            yield f'<g transform="translate({x} {y})">'
            yield rect(0, 0, width, height, "line", 10)
            yield text(16, 28, title, "b accent")
            yield text(16, 46, good_for, "muted s")
            yield from draw(own)
            yield "</g>"

    return picture(
        20 + 3 * (width + gap) + 6,
        86 + 2 * (height + gap) + 6,
        "One set, six forms",
        "The same learned constraint on pairs of labels as a network of two hidden units, as three linear inequalities, as"
        f" lifted rows with two more variables, in words ({own.words[0]}), as a table of allowed pairs, and as a polytope.",
        parts(),
    )


def _network(own: Labels) -> Iterator[str]:
    for i, name in enumerate(("first label", "second label")):
        y = 100 + 76 * i
        yield rect(16, y - 20, 88, 34, "in", 8)
        yield text(60, y + 2, name, "s", "middle")
        for k in range(2):
            yield f'<path d="M104 {y - 3}L150 {100 + 76 * k}" class="line" stroke-width="1.5"/>'
    for k in range(2):
        y = 100 + 76 * k
        yield f'<circle cx="170" cy="{y}" r="20" class="goodline" stroke-width="2"/>'
        yield f'<path d="M158 {y + 7}h12l10 -14" class="ink" stroke-width="2"/>'
        yield text(170, y + 36, f"ReLU(a{'₁₂'[k]})", "s muted", "middle")
        yield f'<path d="M190 {y}L216 138" class="line" stroke-width="1.5"/>'
    yield text(220, 132, "1 − Σ ≥ 0", "b")
    yield text(220, 152, "allowed", "s good")


def _rows(own: Labels) -> Iterator[str]:
    yield text(16, 76, "S", "s muted")
    for i, place in enumerate(("first label", "second label")):
        yield text(60 + 106 * i, 76, place, "s muted")
    yield text(294, 76, "bias", "s muted", "end")
    assert own.rows.subsets is not None
    for m, (subset, row) in enumerate(zip(own.rows.subsets, own.rows.coefficients, strict=True)):
        y = 100 + 46 * m
        units = ", ".join(str(k + 1) for k in np.flatnonzero(subset))
        yield text(16, y + 8, f"{{{units}}}", "b s")
        for j, w in enumerate(row.tolist()):
            x = 68 + 18 * j + (16 if j >= len(own.names) else 0)
            yield rect(x - 7, y + 4 - max(w, 0) * 13, 14, abs(w) * 13, "good" if w > 0 else "warm", 2)
        yield text(294, y + 8, number(float(own.rows.bias[m])), "s", "end")
        yield f'<path d="M58 {y + 4}H264" class="ink" stroke-opacity=".35"/>'
    yield text(16, 236, "each: sum of the terms that apply + bias ≥ 0", "s muted")


def _lifted(own: Labels) -> Iterator[str]:
    for i, line in enumerate(
        ("s₁ ≥ a₁ = w₁ · ψ + b₁", "s₂ ≥ a₂ = w₂ · ψ + b₂", "s₁ ≥ 0,  s₂ ≥ 0", "s₁ + s₂ ≤ 1")
    ):
        yield text(16, 92 + 32 * i, line, "b")
    yield text(16, 224, "no binaries, no big M; its projection", "s muted")
    yield text(16, 240, "on ψ is exactly the set", "s muted")


def _words(own: Labels) -> Iterator[str]:
    for i, line in enumerate(own.words[:4]):
        yield text(16, 92 + 28 * i, f"• {line}", "b")
    y = 104 + 28 * min(4, len(own.words))
    yield text(16, y, "X is PER or LOC. So these pairs are forbidden:", "s muted")
    wrong = [f"{a} {b}" for a in own.names for b in own.names if not own.accepts(a, b)]
    for i, pair in enumerate(wrong):
        yield text(16 + 140 * (i % 2), y + 26 + 22 * (i // 2), f"✗ {pair}", "warm")


def _mask(own: Labels) -> Iterator[str]:
    for i, before in enumerate(own.names):
        yield text(84, 103 + 30 * i, before, "s", "end")
        yield text(107 + 40 * i, 76, before, "s", "middle")
        for j, after in enumerate(own.names):
            ok = own.accepts(before, after)
            yield rect(90 + 40 * j, 84 + 30 * i, 34, 26, "in" if ok else "out")
            yield text(107 + 40 * j, 102 + 30 * i, "✓" if ok else "✗", "b good" if ok else "b warm", "middle")


def _polytope(own: Labels) -> Iterator[str]:
    def x(a: float) -> float:
        return 150 + 46 * min(2.2, max(-2.4, a))

    def y(a: float) -> float:
        return 146 - 38 * min(2.2, max(-2.2, a))

    corners = " ".join(f"{x(a):g},{y(b):g}" for a, b in ((-9, 1), (0, 1), (1, 0), (1, -9), (-9, -9)))
    yield f'<polygon points="{corners}" class="in"/><polygon points="{corners}" class="goodline" stroke-width="2"/>'
    for before in own.names:
        for after in own.names:
            a, b = own.network.activations(own.psi(before, after)).tolist()
            if own.accepts(before, after):
                yield f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" class="good"/>'
            else:
                yield f'<path d="M{x(a) - 4:.1f} {y(b) - 4:.1f}l8 8m0 -8l-8 8" class="warmline" stroke-width="2.5"/>'
    yield text(x(1), y(-2.2) + 15, "a₁ ≤ 1", "s", "middle")
    yield text(x(-2.3), y(1) - 6, "a₂ ≤ 1", "s")
    yield text(x(0.5) + 8, y(0.6), "a₁ + a₂ ≤ 1", "s")


PICTURES: dict[str, Callable[[], str]] = {
    "fit-curve.svg": fit_curve,
    "inequality.svg": inequality,
    "forms.svg": forms,
}


def main(arguments: list[str]) -> int:
    made = {FOLDER / name: draw() for name, draw in PICTURES.items()}
    if arguments == ["--check"]:
        old = [
            path
            for path, drawn in made.items()
            if not path.is_file() or path.read_text(encoding="utf-8") != drawn
        ]
        for path in old:
            print(f"{path.relative_to(ROOT)} is not up to date; run tools/pictures.py", file=sys.stderr)
        return int(bool(old))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, drawn in made.items():
        path.write_text(drawn, encoding="utf-8")
        print(f"written to {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
