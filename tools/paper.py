"""Collect the remarks of the modules on the paper: which module has which item, and where modules differ.

Writes PAPER.md and DIFFERENCES.md: `./tools/venv python tools/paper.py`. Exits with 1 if no module names some
item of the paper. A test checks that both pages are up to date.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKERS = ("Differs from the paper", "Not in the paper")
# A remark ends with its paragraph, or where the next remark or `Paper:` begins. Without a colon it is about
# the whole module.
REMARK = re.compile(rf"({'|'.join(MARKERS)})(?:: (.*?)|\. ?(.*?)|,.*?)(?= (?:{'|'.join(MARKERS)}|Paper): |$)")
REFERENCE = re.compile(rf"Paper: (.*?)(?= (?:{'|'.join(MARKERS)})[:.,]|$)")

# Everything in the paper that has a number, and what it is.
ITEMS = {
    "Eq. 1": "inference as a linear argmax",
    "Eq. 2": "inference under constraints",
    "Eq. 3": "a constraint as a linear inequality over psi",
    "Eq. 4": "a constraint as a linear threshold unit",
    "Eq. 5": "a conjunction of constraints as a threshold unit",
    "Eq. 6": "constraints as a threshold network",
    "Eq. 7": "constraints as a rectifier network",
    "Eq. 8": "the inequality of a subset of units",
    "Eq. 9": "one learned inequality, read by hand",
    "Eq. 10": "the rectifier network, repeated for the proof",
    "Eq. 11": "integer programs with hidden constraints",
    "Theorem 1": "a rectifier network is a system of linear inequalities",
    "Sec. 1": "introduction",
    "Sec. 2": "representing constraints",
    "Sec. 2.1": "as linear inequalities",
    "Sec. 2.2": "as threshold networks",
    "Sec. 2.3": "as rectifier networks",
    "Sec. 3": "learning constraints: positives, negatives, training",
    "Sec. 4": "entity and relation extraction",
    "Sec. 4.1": "its experiments and results",
    "Sec. 5": "citation fields",
    "Sec. 5.1": "its experiments and results",
    "Sec. 6": "chunking",
    "Sec. 6.1": "its experiments and results",
    "Table 1": "entity and relation F1, designed and learned constraints",
    "Table 2": "the constraint features of citation fields",
    "Table 3": "token accuracy of citation fields",
    "Table 4": "token accuracy of chunking by training data",
    "Table 5": "synthetic integer programs by number of units",
    "Table 6": "hyper-parameters of the synthetic experiment",
    "Table 7": "the designed constraints on entities and relations",
    "Table 8": "hyper-parameters of entity and relation extraction",
    "Table 9": "learned source-relation constraints",
    "Table 10": "the learned relation-relation constraint",
    "Table 11": "learned relation-target constraints",
    "Table 12": "hyper-parameters of citation fields",
    "Table 13": "hyper-parameters of chunking",
    "Appendix A": "proof of Theorem 1",
    "Appendix B": "synthetic integer programs",
    "Appendix C": "entity and relation extraction",
    "Appendix C.1": "designed constraints",
    "Appendix C.2": "constraint features",
    "Appendix C.3": "hyper-parameters and design choices",
    "Appendix C.4": "learned constraints",
    "Appendix D": "citation fields",
    "Appendix D.1": "constraint features",
    "Appendix D.2": "hyper-parameters and design choices",
    "Appendix E": "chunking",
    "Appendix E.1": "constraint features",
    "Appendix E.2": "hyper-parameters and design choices",
}
KINDS = {"Eq.": "Eq.", "Theorem": "Theorem", "Sec.": "Sec.", "Table": "Table", "Appendix": "Appendix"}
PLURALS = {"Eqs.": "Eq.", "Secs.": "Sec.", "Tables": "Table", "Appendices": "Appendix"}
_NUMBER = r"(?:\d+(?:\.\d+)?|[A-E](?:\.\d)?)\b"
_NAMES = "|".join(re.escape(name) for name in (*KINDS, *PLURALS))
MENTION = re.compile(rf"({_NAMES}) ({_NUMBER}(?:(?:-|, and |, | and ){_NUMBER})*)")

# The main differences, for the top of DIFFERENCES.md.
MAIN = """\
- The 2^K - 1 inequalities are not linearly independent in general: with their biases they lie in the span
  of K + 1 vectors.
- One objective, with start and stop scores, for training, Viterbi and beam.
- The chunker reads affixes and shapes of words beside GloVe (50 dimensions, frozen); the weight of soft
  constraints and which of them are used are chosen on dev.
- Entities and relations: features of our own, because Roth and Yih's files are not available; C is chosen
  on dev; constraints are learned from combinations that two pairs of candidates show.
- Citation fields: seeded splits of Cora, because the paper's is not available; positives weigh more than
  negatives.
- Synthetic programs: how they are drawn is not stated in the paper, and chosen here for its two baseline
  figures; psi is centred in training.
- Beyond the paper: exact decoding under hard and soft constraints, the lifted form (linear in K), cuts in
  closed form, masks, simplification, rules in words, comparison with a proof, conjunctions and edits by
  name, explicit padding and OTHER.
"""


def paragraphs(path: Path) -> list[str]:
    """The paragraphs of a module's docstring, each on one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return [" ".join(paragraph.split()) for paragraph in docstring.split("\n\n")]


def remarks(path: Path) -> Iterator[tuple[str, str]]:
    """(marker, text) of each remark in a module's docstring."""
    whole = paragraphs(path)
    for paragraph in whole:
        for marker, text, rest in REMARK.findall(paragraph):
            yield marker, text or f"all of it. {whole[0]} {rest}".strip()


def mentioned(text: str) -> list[str]:
    """The items of the paper that a text names.

    >>> mentioned("Sec. 2.1 and 2.2, Eq. 3-5; the tables of Appendices B, C.")
    ['Sec. 2.1', 'Sec. 2.2', 'Eq. 3', 'Eq. 4', 'Eq. 5', 'Appendix B', 'Appendix C']
    """
    found: list[str] = []
    for name, numbers in MENTION.findall(text):
        kind = KINDS.get(name) or PLURALS[name]
        for part in re.split(r", and |, | and ", numbers):
            first, _, last = part.partition("-")
            found += [f"{kind} {number}" for number in expanded(first, last or first)]
    return found


def expanded(first: str, last: str) -> list[str]:
    """The numbers or letters from the first to the last: `3-5`, `B-E`.

    >>> expanded("B", "D"), expanded("9", "11"), expanded("2.1", "2.1")
    (['B', 'C', 'D'], ['9', '10', '11'], ['2.1'])
    """
    if first == last:
        return [first]
    if first.isdigit() and last.isdigit():
        return [str(number) for number in range(int(first), int(last) + 1)]
    return [chr(code) for code in range(ord(first), ord(last) + 1)]


def modules() -> list[Path]:
    """The modules of the packages, in order."""
    return sorted(ROOT.glob("packages/*/src/**/*.py"))


def homes() -> dict[str, list[Path]]:
    """For each item of the paper, the modules that name it in a `Paper:` remark of their docstring."""
    found: dict[str, list[Path]] = {item: [] for item in ITEMS}
    for path in modules():
        texts = (text for paragraph in paragraphs(path) for text in REFERENCE.findall(paragraph))
        for item in dict.fromkeys(item for text in texts for item in mentioned(text)):
            if item not in found:
                raise SystemExit(f"{path.relative_to(ROOT)} names {item}, which the paper does not have.")
            found[item].append(path)
    return found


def missing() -> list[str]:
    """The items of the paper that no module names."""
    return [item for item, paths in homes().items() if not paths]


def linked(path: Path) -> str:
    """A Markdown link to a module."""
    name = path.relative_to(ROOT)
    module = ".".join(name.with_suffix("").parts[3:]).removesuffix(".__init__")
    return f"[{module}]({name.as_posix()})"


def cell(text: str) -> str:
    """A text as a cell of a Markdown table.

    >>> print(cell("p(y | x)"))
    p(y \\| x)
    """
    return text.replace("|", "\\|")


def paper_page() -> str:
    """PAPER.md: where each item of the paper is in the code."""
    lines = [
        "# From the paper to the code",
        "",
        "Each equation, theorem, section, table and appendix of the paper (Pan, Mehta, Srikumar, ACL 2020)",
        "with the modules that name it in their docstrings after `Paper:`, collected by `tools/paper.py`.",
        "Related work and conclusions (Sec. 7 and 8) have no code.",
        "",
        "The paper's letters stand where there is an equation: `W`, `b`, `K`, `psi` and S (`subset`) are its",
        "w, b, K, psi and S; `d` is the length of psi. phi are the features of a base model, and are never",
        "called constraint features.",
        "",
        "| in the paper | what it is | in the code |",
        "|---|---|---|",
    ]
    for item, paths in homes().items():
        lines.append(f"| {item} | {cell(ITEMS[item])} | {', '.join(map(linked, paths))} |")
    return "\n".join(lines) + "\n"


def differences_page() -> str:
    """DIFFERENCES.md: where the code differs from the paper, and what is not in the paper."""
    lines = [
        "# Beside the paper",
        "",
        "The remarks of the modules on the paper, collected from their docstrings by `tools/paper.py`.",
        "The main ones:",
        "",
        MAIN.rstrip(),
    ]
    for marker in MARKERS:
        lines += ["", f"## {marker}", "", "| module | remark |", "|---|---|"]
        for path in modules():
            texts = [text for found, text in remarks(path) if found == marker]
            lines += [f"| {linked(path)} | {cell(text)} |" for text in texts]
    return "\n".join(lines) + "\n"


PAGES = {"PAPER.md": paper_page, "DIFFERENCES.md": differences_page}


def main() -> int:
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
        print(f"written to {name}")
    lost = missing()
    if lost:
        print(f"no module names {', '.join(lost)}; name it after `Paper:` in a docstring", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
