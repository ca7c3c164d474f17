"""`lcons run TASK`: the experiments. Each task is a command of its own; progress goes to stderr."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lcons_cli.console import say_nothing, say_on_stderr, tagger_progress
from lcons_cli.run_progress import check_writable, foretell, phases, run_options, tell

commands = click.Group()


@commands.command(short_help="Chunks, with few labelled sentences.")
@click.option("--corpus", default="auto", show_default=True, help="bundled, conll2000, a folder, or auto.")
@click.option("--ratio", "ratios", multiple=True, type=float, help="Share of the training data, as in 0.01.")
@click.option("--subset", "subsets", multiple=True, help="first (the paper's) or nested (samples by seed).")
@click.option(
    "--seed", "seeds", multiple=True, type=click.IntRange(min=0), help="Start of the random numbers; several."
)
@click.option("--base", "bases", multiple=True, help="bilstm, bilstm+pos, linear or linear+pos.")
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    help="Hard constraints, as in pos:3, existence:2, pos:2:all.",
)
@click.option("--n", "ns", multiple=True, type=int, help="Short for --constraint pos:N.")
@click.option("--hidden", "-K", type=int, default=10, show_default=True, help="K of the hard constraints.")
@click.option("--beam", type=int, default=10, show_default=True, help="Width of the search.")
@click.option("--decoder", "decoders", multiple=True, help="exact, search, constrained-search, ...")
@click.option("--diagnose", is_flag=True, help="Also tell why each hard constraint helps or does not.")
@click.option("--tune", is_flag=True, help="Search the chunker's settings on dev instead.")
@run_options("chunking")
def chunking(
    corpus: str, full: bool, tune: bool, jobs: int | None, out: Path, quiet: bool, verbose: bool, **given: Any
) -> None:
    """Label chunks with few labelled sentences, and see what learned constraints add.

    Uses CoNLL-2000 where it is found (`lcons data list`), else a small corpus that comes with lcons. Stages
    are kept: a run that is stopped goes on where it was, and gives the same result.

    \b
    Example:
      lcons run chunking --corpus bundled --ratio 0.5 --seed 1 --base linear
    """
    from lcons_tasks.experiments.chunking._corpus import load_corpus
    from lcons_tasks.experiments.engine._kept import Stages

    stages = Stages.of_user()
    name = load_corpus(corpus).name if corpus == "auto" else corpus
    if tune:
        _tune(name, given["ratios"], stages, jobs, out, quiet, verbose)
        return
    from lcons_tasks.experiments.chunking._report import write_run
    from lcons_tasks.experiments.chunking._task import diagnoses, run, seconds

    options = _options(name, full, given)
    check_writable(out)
    foretell(seconds(options), jobs, quiet)
    with phases(quiet, verbose) as progress:
        filled = run(options, stages, jobs, progress)
        diagnosed = diagnoses(options, stages, jobs, progress)
    report = write_run(out, options, filled, stages, diagnosed)
    tell(out, report, given["as_json"], quiet, "constraints, predictions, tagger")


@commands.command(short_help="Fields of bibliographic references.")
@click.option("--corpus", default="auto", show_default=True, help="bundled, cora, anystyle, a file, or auto.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(min=0), help="Which split; several.")
@click.option("--base", "bases", multiple=True, help="words, words-brief, words+pos or reference.")
@click.option("--decoder", "decoders", multiple=True, help="exact, search, constrained-search, soft, ...")
@click.option("--hidden", "-K", "hidden", multiple=True, type=int, help="K of the paper's features; several.")
@click.option("--size", "sizes", multiple=True, type=int, help="Fewer training references, for a curve.")
@click.option("--beam", type=int, default=50, show_default=True, help="Width of the search.")
@run_options("citation")
def citation(
    corpus: str, full: bool, jobs: int | None, out: Path, quiet: bool, verbose: bool, **given: Any
) -> None:
    """Label the fields of bibliographic references, and see what learned constraints add.

    Uses Cora where it is found (`lcons data list`), else a small corpus that comes with lcons. Stages are
    kept: a run that is stopped goes on where it was, and gives the same result. Leaves a parser behind, for
    `lcons parse`.

    \b
    Example:
      lcons run citation --corpus bundled --seed 1 --base words --decoder soft
    """
    from dataclasses import replace

    from lcons_tasks.data import find
    from lcons_tasks.experiments.citation._corpus import load_corpus
    from lcons_tasks.experiments.citation._report import write_run
    from lcons_tasks.experiments.citation._task import Options, run, seconds
    from lcons_tasks.experiments.engine._kept import Stages

    name = ("cora" if find("cora") else "bundled") if corpus == "auto" else corpus
    options = Options.full(name) if full else Options.default(name)
    named = ("seeds", "bases", "decoders", "hidden", "sizes")
    options = replace(options, beam=given["beam"], **{key: given[key] for key in named if given[key]})
    check_writable(out)
    stages = Stages.of_user()
    # POS tags that the corpus lacks are found now, and kept.
    with tagger_progress(say_nothing if quiet else say_on_stderr) as progress_of_tagger:
        load_corpus(name, stages, progress_of_tagger)
    foretell(seconds(options), jobs, quiet)
    with phases(quiet, verbose) as progress:
        filled = run(options, stages, jobs, progress)
    report = write_run(out, options, filled, stages)
    tell(out, report, given["as_json"], quiet, "constraints, predictions, parser")


@commands.command(short_help="Entities and relations.")
@click.option("--corpus", default="auto", show_default=True, help="bundled, conll04, a file, or auto.")
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    type=click.IntRange(min=0),
    help="A seeded split, as --split N; several.",
)
@click.option("--split", "splits", multiple=True, help="A seed, or a published split by name; several.")
@click.option("--share", "shares", multiple=True, type=float, help="Less training data, as in 0.1; several.")
@click.option("-C", "grid", multiple=True, type=float, help="C of the SVM; several: chosen on dev.")
@click.option("--passes", type=click.IntRange(min=1), help="Passes over the training sentences.")
@run_options("er")
def er(
    corpus: str, full: bool, jobs: int | None, out: Path, quiet: bool, verbose: bool, **given: Any
) -> None:
    """Label entities and relations, with constraints in training and prediction.

    Uses Roth and Yih's corpus where it is found (`lcons data list`), else a small corpus that comes with
    lcons. Proves whether the learned constraints are the designed ones. Stages are kept: a run that is
    stopped goes on where it was, and gives the same result. Leaves an extractor behind, for `lcons extract`.

    \b
    Example:
      lcons run er --corpus bundled --split 1 -C 0.03125
    """
    from dataclasses import replace

    from lcons_tasks.data import find
    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.entity_relation._report import write_run
    from lcons_tasks.experiments.entity_relation._task import Options, run, seconds

    name = ("conll04" if find("conll04") else "bundled") if corpus == "auto" else corpus
    options = Options.full(name) if full else Options.default(name)
    named = ("splits", "shares", "grid", "passes")
    given["splits"] = (*map(str, given.pop("seeds")), *given["splits"])
    options = replace(options, **{key: given[key] for key in named if given[key]})
    check_writable(out)
    stages = Stages.of_user()
    foretell(seconds(options), jobs, quiet)
    with phases(quiet, verbose) as progress:
        filled = run(options, stages, jobs, progress)
    report = write_run(out, options, filled, stages)
    tell(out, report, given["as_json"], quiet, "constraints, predictions, extractor")


@commands.command(short_help="Hidden constraints of integer programs.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(min=0), help="Which instance; several.")
@click.option("--hidden", "-K", "hidden", multiple=True, type=int, help="K of the networks; several.")
@click.option("--guided", multiple=True, type=int, help="K of networks learned in rounds; several.")
@click.option("--rounds", type=click.IntRange(min=0), help="At most so many rounds; 0: none.")
@run_options("synthetic")
def synthetic(full: bool, jobs: int | None, out: Path, quiet: bool, verbose: bool, **given: Any) -> None:
    """Learn the hidden constraints of integer programs from their solutions.

    Draws programs that share constraints, solves them, learns constraints from the solutions of some and
    solves the others under these. Stages are kept: a run that is stopped goes on where it was, and gives the
    same result.

    \b
    Example:
      lcons run synthetic --seed 1 -K 2 --rounds 0
    """
    from dataclasses import replace

    from lcons_tasks.experiments.engine._kept import Stages
    from lcons_tasks.experiments.synthetic._report import write_run
    from lcons_tasks.experiments.synthetic._task import Options, run, seconds

    options = Options.full() if full else Options.default()
    options = replace(options, **{key: given[key] for key in ("seeds", "hidden", "guided") if given[key]})
    if given["rounds"] is not None:
        options = replace(options, rounds=given["rounds"])
    check_writable(out)
    stages = Stages.of_user()
    foretell(seconds(options), jobs, quiet)
    with phases(quiet, verbose) as progress:
        filled = run(options, stages, jobs, progress)
    report = write_run(out, options, filled, stages)
    tell(out, report, given["as_json"], quiet, "constraints")


def _options(corpus: str, full: bool, given: dict[str, Any]) -> Any:
    """The defaults of the corpus, with what was given in their place."""
    from dataclasses import replace

    from lcons_tasks.experiments.chunking._task import Options

    options = Options.full(corpus) if full else Options.default(corpus)
    named = {name: given[name] for name in ("ratios", "subsets", "seeds", "bases", "decoders") if given[name]}
    constraints = (*given["constraints"], *(f"pos:{n}" for n in given["ns"]))
    if constraints:
        named["constraints"] = constraints
    named["diagnose"] = options.diagnose or given["diagnose"]
    return replace(options, hidden=given["hidden"], beam=given["beam"], **named)


def _tune(
    corpus: str, ratios: Sequence[float], stages: Any, jobs: int | None, out: Path, quiet: bool, verbose: bool
) -> None:
    import json

    from lcons_tasks.atomic import replacing
    from lcons_tasks.experiments.chunking._grid import trials, tune
    from lcons_tasks.experiments.chunking._task import Options

    check_writable(out)
    chosen = tuple(ratios) or Options.full(corpus).ratios
    names = [
        f"{100 * t.ratio:g}%, rate {t.learning_rate:g}, decay {t.decay:g}" for t in trials(corpus, chosen)
    ]
    with phases(quiet, verbose) as progress:
        told = lambda event: progress("tuning", names, event)  # noqa: E731
        found = tune(corpus, chosen, stages, jobs, told)
    text = json.dumps(found, indent=1) + "\n"
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "settings.json") as file:
        file.write(text.encode("utf-8"))
    click.echo(text, nl=False)
    if not quiet:
        say_on_stderr(f"written to {out / 'settings.json'}")
