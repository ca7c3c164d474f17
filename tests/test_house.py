"""The measures of `tools/house.py`: on a made-up tree small enough to count by hand, and two on this one."""

import importlib.util
import json
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("house", ROOT / "tools/house.py")
house = importlib.util.module_from_spec(spec)
# Dataclasses look their module up.
sys.modules[spec.name] = house
spec.loader.exec_module(house)

# Four tasks are made of this one; the other files hold what each measure counts, and what it must not.
TASK = {
    "__init__": "",
    "paper": "",
    "experiment": """
        from lcons_tasks.report import Table
        from lcons_tasks.TASK.corpus import sentences
        class Experiment:
            def document(self):
                return Table(sentences())
        """,
    "corpus": """
        from lcons_core import fold
        def sentences():
            return fold()
        """,
}
FILES = {
    # A table of lazy re-exports, and what it stands for.
    "lcons_core/__init__": '_HOMES = {"fold": "rows", "Recipe": "recipe"}\n__all__ = sorted(_HOMES)',
    "lcons_core/rows": """
        from lcons_core.deep import low
        class Folded:
            psi: SparsePsi
            weights: Floats
        def fold():
            return low(isinstance(1, Rules | Conjunction), isinstance(2, str))
        """,
    "lcons_core/recipe": """
        from lcons_core.rows import fold
        class Training:
            learning_rate: float
            decay: float
            epochs: int
            restarts: int
            patience: int
        class Recipe:
            hidden: int
            negatives: str
            many: int
            min_support: float
            caution: float
            training: Training
        class Learner:
            hidden: int
            epochs: int
            decay: float
            restarts: int
            patience: int
            def fit(self): ...
        def learn(hidden, negatives, many, min_support, caution):
            return Recipe(hidden, negatives, many, min_support, caution)
        """,
    "lcons_core/deep/__init__": 'from lcons_core.deep._low import low\n__all__ = ["low"]',
    "lcons_core/deep/_low": """
        def low(*given):
            # In a function, and yet a circle: deep -> recipe -> rows -> deep.
            from lcons_core.recipe import Recipe
            return getattr(given.feature, "n", None)
        """,
    "lcons_tasks/__init__": "__all__ = []",
    "lcons_tasks/reading": "from lcons_core.rows import Folded, fold\nfrom lcons_core.deep import low",
    "lcons_tasks/string": "from lcons_core import fold, deep\nfrom lcons_core.deep._low import low as lowest",
    "lcons_tasks/within": "import lcons_core.rows",
    "lcons_tasks/report/__init__": "from lcons_tasks.report._tables import Table\n__all__ = ['Table']",
    "lcons_tasks/report/_tables": "class Table: ...",
    "lcons_tasks/experiments/__init__": '"""alpha, beta, gamma and delta."""',
    "lcons_tasks/experiments/_engine": "import json\n\n\ndef run(): ...",
    "lcons_cli/__init__": "",
    "lcons_cli/run": """
        from lcons_tasks.experiments._engine import run
        def command():
            return run()
        """,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The tree in a folder."""
    top = tmp_path_factory.mktemp("tree")
    files = dict(FILES)
    for name in ("alpha", "beta", "gamma", "delta"):
        for stem, text in TASK.items():
            files[f"lcons_tasks/experiments/{name}/{stem}"] = text.replace("TASK", f"experiments.{name}")
    for name, text in files.items():
        package = name.partition("/")[0].replace("_", "-")
        path = top / "packages" / package / "src" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).strip() + "\n" if text else "")
    return top


@pytest.fixture(scope="module")
def tree(root):
    return house.Tree.read(root)


def test_files_are_counted_and_lines_as_wc_counts_them(tree):
    assert house.size(tree).measured == "86 / 31"


def test_activities_are_names_in_ing_and_bare_prepositions_but_not_nouns(tree):
    found = house.activities(tree)
    assert found.measured.startswith("2,")
    assert found.found == ("lcons_tasks.reading", "lcons_tasks.within")


def test_an_import_counts_for_the_module_that_defines_the_name(tree):
    found = dict(line.split(" <- ") for line in house.single_importers(tree).found)
    # `low` is imported through its package by two modules and from its own by one more.
    assert "lcons_core.deep._low" not in found
    assert found["lcons_core.recipe"] == "lcons_core.deep._low"
    assert found["lcons_tasks.experiments._engine"] == "lcons_cli.run"
    # Four experiments share it through its package, which does not count itself.
    assert "lcons_tasks.report._tables" not in found


def test_a_longest_chain_takes_modules_that_import_each_other_for_one():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"d"}}
    assert house.longest_chain(graph) == [["a"], ["b", "c"], ["d"]]
    assert house.components(graph) == [["d"], ["b", "c"], ["a"], ["e"]]


def test_the_chain_of_the_tree(tree):
    # experiment -> corpus -> lcons_core -> the circle.
    found = house.chain(tree)
    assert found.measured == "2; 3 through the re-exports of packages"
    assert found.found[-1].startswith("lcons_core.deep._low = ")


def test_imports_past_public_names_are_those_that_no_package_lists(tree):
    found = house.past_public(tree)
    assert found.measured.startswith("5 of 12; ")
    assert sorted(line.split(": ")[1] for line in found.found) == [
        "Folded of lcons_core.rows",
        "None of lcons_core.rows",
        "fold of lcons_core.rows",
        "low of lcons_core.deep._low",
        "run of lcons_tasks.experiments._engine",
    ]


def test_a_circle_between_subpackages_is_one_group(tree):
    found = house.subpackage_cycles(tree)
    assert (found.measured, found.found) == (
        "1 groups",
        ("lcons_core.deep, lcons_core.recipe, lcons_core.rows",),
    )


def test_a_recipe_a_function_that_fills_it_in_and_no_estimator(tree):
    found = house.ways_to_learn(tree)
    assert found.measured == "2, of which 1 only to fill another in"
    assert [line.partition(":")[0] for line in found.found] == [
        "lcons_core.recipe.Recipe",
        "lcons_core.recipe.learn",
    ]


def test_psi_rows_sets_and_features(tree):
    assert house.psi_row_types(tree).found == ("lcons_core.rows.Folded: psi, weights",)
    assert house.set_tests(tree).measured == "1"
    assert house.duck_tests(tree).measured == "1"


def test_each_task_lays_out_one_table(tree):
    assert house.layouts(tree).measured == "4 (alpha 1, beta 1, delta 1, gamma 1)"


def test_apparatus_is_told_from_tasks_and_from_the_engine(tree):
    # Four experiments of 5 lines and four corpora of 3; a line and 4 lines in `experiments` itself.
    assert house.apparatus(tree).measured == "20 for 12; 5 more of shared engine"


def test_a_run_is_followed_by_what_is_used_and_not_into_other_tasks(tree):
    found = house.followed(tree, "alpha")
    # Not lcons_core.recipe, which `low` imports and does not use.
    assert {line.partition(": ")[2] for line in found.found} == {
        "lcons_cli.run",
        "lcons_core.deep._low",
        "lcons_core.rows",
        "lcons_tasks.experiments._engine",
        "lcons_tasks.experiments.alpha.corpus",
        "lcons_tasks.experiments.alpha.experiment",
        "lcons_tasks.report._tables",
    }
    assert found.measured == "7 / 5"


def test_to_add_a_task_takes_the_shared_names_and_edits_where_all_tasks_are_named(tree):
    found = house.to_add_a_task(tree)
    assert (found.measured, found.found) == ("3, and edits in 1 more", ("lcons_tasks.experiments",))


def test_the_table_has_a_line_per_measure_and_json_has_the_same(root, capsys):
    assert house.main(["--tree", str(root)]) == 0
    table = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert house.main(["--tree", str(root), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(house.MEASURES)
    for line, row in zip(table[2:], rows, strict=True):
        assert [cell.strip() for cell in line.strip("|").split(" | ")] == [row["row"], row["measured"]]


def test_a_folder_without_packages_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        house.main(["--tree", str(tmp_path)])
    assert "expected a checkout with packages/*/src" in capsys.readouterr().err


def test_this_tree_has_no_circle_between_subpackages_and_no_import_past_public_names():
    here = house.Tree.read(ROOT)
    assert not house.subpackage_cycles(here).found
    assert not house.past_public(here).found
