"""What holds for every file and every package of the workspace."""

import ast
import importlib
import re
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["lcons_core", "lcons_decode", "lcons_tasks", "lcons_cli", "lcons_contrib"]


def project_texts() -> dict[str, str]:
    """The text of each file of the project, by its path."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return {str(path.relative_to(ROOT)): path.read_text(errors="replace") for path in paths if path.is_file()}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_public_names_exist_once_each(name):
    package = importlib.import_module(name)
    assert len(set(package.__all__)) == len(package.__all__)
    assert [public for public in package.__all__ if not hasattr(package, public)] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_the_package_states_its_version(name):
    version = importlib.import_module(name).__version__
    changelog = (ROOT / "packages" / name.replace("_", "-") / "CHANGELOG.md").read_text()
    assert f"## [{version}]" in changelog
    assert f'\nversion: "{version}"\n' in (ROOT / "CITATION.cff").read_text()


@pytest.fixture(scope="module")
def paper_tool():
    spec = spec_from_file_location("paper", ROOT / "tools/paper.py")
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.mark.parametrize("page", ["PAPER.md", "DIFFERENCES.md"])
def test_the_pages_on_the_paper_are_those_of_the_docstrings(paper_tool, page):
    """If not, `./tools/venv python tools/paper.py` writes them."""
    assert (ROOT / page).read_text() == paper_tool.PAGES[page]()


def test_every_item_of_the_paper_has_a_module(paper_tool):
    assert paper_tool.missing() == []


def test_no_file_names_a_path_of_one_machine():
    machine = re.compile(r"(?<![\w.])/(tmp|root|work|home)/")
    assert [name for name, text in project_texts().items() if machine.search(text)] == []


def test_the_tests_marked_integrations_are_those_in_the_folders_that_are_run():
    tests = {name: text for name, text in project_texts().items() if Path(name).name.startswith("test_")}
    marked = {name for name, text in tests.items() if "\npytestmark = pytest.mark.integrations\n" in text}
    assert marked == {name for name in tests if "/tests/integrations/" in f"/{name}"}
    assert marked


def test_the_only_package_index_named_is_torchs():
    texts = project_texts()
    registry = re.compile(r"pypi\.org|pythonhosted\.org")
    assert [name for name, text in texts.items() if registry.search(text)] == []
    # A package's description of itself may name an address.
    locked = [line for line in texts["poetry.lock"].splitlines() if not line.startswith("description = ")]
    assert [line for line in locked if "://" in line] == []
    # Of torch's builds, only those for CPUs.
    other_builds = re.compile(r"download\.pytorch\.org(?!/whl/cpu)")
    assert [name for name, text in texts.items() if other_builds.search(text)] == []


@pytest.mark.parametrize("named", [True, False])
def test_all_packages_keep_what_they_keep_in_one_cache_folder(named, monkeypatch, tmp_path):
    from lcons_decode.kernels._compiled.jit import cache_folder
    from lcons_tasks.data._catalog import cache_folder as corpora

    monkeypatch.delenv("LCONS_CACHE_DIR", raising=False)
    if named:
        monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path))
    assert corpora().parent == cache_folder()
    assert (cache_folder() == tmp_path) is named


# Folders of libraries: their errors name arguments, which `lcons_cli.options.in_options` turns into options.
TASKS = "lcons-tasks/src/lcons_tasks"
LIBRARIES = [
    "lcons-core/src",
    "lcons-decode/src",
    *(f"{TASKS}/{folder}" for folder in ("data", "models", "own_data", "diagnosis", "apps")),
    *(f"{TASKS}/{folder}" for folder in ("experiments", "report")),
]
# An experiment defines the options of its command.
DEFINES_OPTIONS = "_experiment.py"
# A whole command, such as the one that wrote a file, is no option of the caller.
COMMAND = re.compile(r"`lcons [^`]*`|pip install .*")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*|`-[a-z](`| [A-Z])")


def named_options(source: str) -> list[str]:
    """The strings of a module that name an option of a command."""
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    return [text for text in strings if isinstance(text, str) and OPTION.search(COMMAND.sub("", text))]


@pytest.mark.parametrize("folder", LIBRARIES)
def test_a_library_speaks_of_arguments_and_not_of_options(folder):
    files = sorted((ROOT / "packages" / folder).rglob("*.py"))
    sources = [path for path in files if path.name != DEFINES_OPTIONS]
    assert len(sources) > 5
    assert {path.name: found for path in sources if (found := named_options(path.read_text()))} == {}
