"""`lcons data`: listing, fetching, adding and finding corpora."""

import gzip
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from lcons_cli.main import main
from lcons_tasks.data import CATALOG
from lcons_tasks.data._catalog import Corpus, CorpusFile

TEXT = "the DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("LCONS_DATA_DIR", raising=False)
    return tmp_path / "cache" / "data"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A catalog of one corpus whose address is on a server of this test."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "toy.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    handler = partial(SimpleHTTPRequestHandler, directory=served)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/toy.txt.gz"
    file = CorpusFile("toy/toy.txt", address, "columns", "gz")
    monkeypatch.setattr("lcons_tasks.data.CATALOG", {"toy": Corpus("toy", "a toy", "CC0", (file,))})
    yield
    server.shutdown()
    server.server_close()
    thread.join(5)


def run(*arguments):
    return CliRunner().invoke(main, ["data", *map(str, arguments)])


def test_fetch_puts_the_corpus_into_the_cache(toy, cache):
    fetched = run("fetch", "toy")
    assert fetched.exit_code == 0
    assert fetched.stdout.startswith(f"{cache / 'toy' / 'toy.txt'}: sha256 ")
    assert (cache / "toy" / "toy.txt").read_text() == TEXT


def test_list_as_json_has_every_corpus_of_the_catalog():
    listed = json.loads(run("list", "--json").stdout)
    assert [corpus["name"] for corpus in listed] == list(CATALOG)
    assert all(corpus["found"] is None for corpus in listed)


def test_add_imports_a_file_the_user_has(toy, cache, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text(TEXT)
    assert run("add", "toy", mine).stdout == f"{cache / 'toy' / 'toy.txt'}: read without errors\n"
    assert json.loads(run("list", "--json").stdout)[0]["found"] == str(cache)
