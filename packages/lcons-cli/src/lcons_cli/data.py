"""`lcons data`: lists the corpora and their places, and fetches or imports them.

Only `lcons data fetch` downloads anything. Heavy modules are imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import print_json
from lcons_cli.options import INPUT, json_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_tasks.data._catalog import Corpus
    from lcons_tasks.data._fetch import Kept


@click.group()
def data() -> None:
    """List, fetch and import corpora.

    \b
    Example:
      lcons data list
      lcons data fetch conll2000
    """


@data.command("list")
@json_option
def list_corpora(as_json: bool) -> None:
    """Show each known corpus and where it was found.

    \b
    Example:
      lcons data list --json
    """
    from lcons_tasks.data import CATALOG

    described = [_described(corpus) for corpus in CATALOG.values()]
    if as_json:
        print_json(described)
        return
    for corpus in described:
        click.secho(corpus["name"], bold=True)
        click.echo(f"  what     {corpus['what']}")
        click.echo(f"  licence  {corpus['licence']}")
        click.echo(f"  where    {corpus['found'] or 'not here: lcons data fetch ' + corpus['name']}")
        for file in corpus["files"]:
            click.echo(f"  file     {file['path']}")


@data.command(short_help="Download a corpus into the cache.")
@click.argument("name")
def fetch(name: str) -> None:
    """Download the corpus NAME from its public address into the cache.

    Checksums are compared with the published ones.

    \b
    Example:
      lcons data fetch conll2000
    """
    from lcons_tasks.data import CATALOG
    from lcons_tasks.data import fetch as fetch_corpus

    with progress(f"downloading {name}") as report:
        files = fetch_corpus(name, lambda path, done, total: report(done, total, path), catalog=CATALOG)
    _show(files)


@data.command(short_help="Import the files of a corpus into the cache.")
@click.argument("name")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=INPUT)
def add(name: str, paths: tuple[str, ...]) -> None:
    """Import the files PATH... of corpus NAME into the cache, after reading them.

    \b
    Example:
      lcons data add conll2000 downloads/train.txt downloads/test.txt
    """
    from lcons_tasks.data import CATALOG
    from lcons_tasks.data import add as add_corpus

    _show(add_corpus(name, paths, catalog=CATALOG))


def _described(corpus: Corpus) -> dict[str, Any]:
    from lcons_tasks.data import find

    paths = find(corpus.name, {corpus.name: corpus})
    files = [{"path": file.path, "address": file.address} for file in corpus.files]
    for file, place in zip(files, paths or (), strict=False):
        file["found"] = str(place)
    # The catalog states the end of each path; the folder of all files is the part before it.
    folder = str(paths[0].parents[corpus.files[0].path.count("/")]) if paths else None
    names = {"name": corpus.name, "what": corpus.what, "licence": corpus.licence}
    return {**names, "found": folder, "files": files}


def _show(files: Iterable[Kept]) -> None:
    """Prints the path of each file and the remark on it."""
    for file in files:
        click.echo(f"{file.path}: {file.remark}")
