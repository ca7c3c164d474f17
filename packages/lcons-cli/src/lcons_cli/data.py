"""`lcons data`: lists the corpora and their places, and fetches or imports them.

Only `lcons data fetch` downloads anything. Heavy modules are imported when a command runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.options import common_options

if TYPE_CHECKING:
    from lcons_tasks.data._catalog import Corpus
    from lcons_tasks.data._fetch import FileProgress, Kept


commands = click.Group()


@commands.command("list")
@common_options("Print the address and the size of each file as well.", seed="unused")
def list_corpora(as_json: bool, quiet: bool, verbose: bool) -> None:
    """Show each known corpus and where it was found.

    \b
    Example:
      lcons data list --json
    """
    described = [_described(corpus) for corpus in _catalog().values()]
    if as_json:
        click.echo(json.dumps(described, indent=2))
        return
    for corpus in described:
        click.secho(corpus["name"], bold=True)
        where = corpus["found"] or f"not here: lcons data fetch {corpus['name']}"
        click.echo(f"  what     {corpus['what']}\n  licence  {corpus['licence']}\n  where    {where}")
        for file in corpus["files"]:
            click.echo(f"  file     {file['path']}{_details(file) if verbose else ''}")


@commands.command(short_help="Download a corpus into the cache.")
@click.argument("name")
@click.option("--again", is_flag=True, help="Also download files that are already in the cache.")
@common_options("Print the size of each file as well.", seed="unused")
def fetch(name: str, again: bool, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Download the corpus NAME from its public address into the cache.

    Checksums are compared with the published ones.

    \b
    Example:
      lcons data fetch conll2000
    """
    from lcons_tasks.data import fetch as fetch_corpus

    with _progress(quiet) as progress:
        kept = fetch_corpus(name, progress, again=again, catalog=_catalog())
    _tell(kept, as_json, verbose)


@commands.command(short_help="Import the files of a corpus into the cache.")
@click.argument("name")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@common_options("Print the size of each file as well.", seed="unused")
def add(name: str, paths: tuple[str, ...], as_json: bool, quiet: bool, verbose: bool) -> None:
    """Import the files PATH... of corpus NAME into the cache, after reading them.

    \b
    Example:
      lcons data add conll2000 downloads/train.txt downloads/test.txt
    """
    from lcons_tasks.data import add as add_corpus

    _tell(add_corpus(name, paths, catalog=_catalog()), as_json, verbose)


@commands.command()
@click.argument("name")
@common_options("Print the address and the size of each file as well.", seed="unused")
def path(name: str, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print the path of each file of corpus NAME, one path per line.

    \b
    Example:
      head $(lcons data path conll04)
    """
    from lcons_tasks.data import require

    require(name, _catalog())
    files = _described(_catalog()[name])["files"]
    if as_json:
        click.echo(json.dumps([file["found"] for file in files], indent=2))
        return
    for file in files:
        click.echo(file["found"] + (_details(file) if verbose else ""))


def _catalog() -> Mapping[str, Corpus]:
    from lcons_tasks.data import CATALOG

    return CATALOG


def _described(corpus: Corpus) -> dict[str, Any]:
    from lcons_tasks.data import find

    paths = find(corpus.name, {corpus.name: corpus})
    places = [{"found": str(path)} for path in paths] if paths else [{}] * len(corpus.files)
    addresses = [{"path": file.path, "address": file.address} for file in corpus.files]
    files = [file | place for file, place in zip(addresses, places, strict=True)]
    about = {"name": corpus.name, "what": corpus.what, "licence": corpus.licence}
    # The catalog states the end of each path; the folder of all files is the part before it.
    folder = str(paths[0].parents[corpus.files[0].path.count("/")]) if paths else None
    return {**about, "found": folder, "files": files}


def _tell(kept: tuple[Kept, ...], as_json: bool, verbose: bool) -> None:
    """Prints the path of each file and the remark on it."""
    if as_json:
        click.echo(json.dumps([{"path": str(file.path), "remark": file.remark} for file in kept], indent=2))
        return
    for path, remark in ((file.path, file.remark) for file in kept):
        click.echo(f"{path}: {remark}" + (f" ({path.stat().st_size:,} bytes)" if verbose else ""))


def _details(file: Mapping[str, Any]) -> str:
    """The address of a file, and its size if the file is here."""
    size = f", {Path(file['found']).stat().st_size:,} bytes" if "found" in file else ""
    return f" (from {file['address']}{size})"


@contextmanager
def _progress(quiet: bool) -> Iterator[FileProgress]:
    """One progress bar per file, on stderr if that is a terminal; it is removed when the block ends."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=quiet or not console.is_terminal
    ) as bars:
        tasks: dict[str, Any] = {}

        def report(path: str, done: int, total: int | None) -> None:
            if path not in tasks:
                tasks[path] = bars.add_task(path, total=total)
            bars.update(tasks[path], completed=done, total=total)

        yield report
