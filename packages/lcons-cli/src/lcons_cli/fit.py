"""`lcons fit`: a tagger from a few labelled sentences and unlabelled text, or constraints for one's own.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lcons_cli.console import Say, say_nothing, say_on_stderr
from lcons_cli.decode import opened_bytes
from lcons_cli.labelled_file import labelled_options, read_labelled
from lcons_cli.options import FILE, common_options, in_options
from lcons_cli.progress import about, signs_of_life, waiting, working

if TYPE_CHECKING:
    from lcons_tasks import FitSettings, FittedTagger, Sentence
    from lcons_tasks.fitted._fitted_tagger import Fitted
    from lcons_tasks.fitted._own_scores import FittedScores
    from lcons_tasks.own_data import Data

BASES = ("crf", "bilstm", "token")

# With fewer labelled sentences, the folds decide by chance; fewer unlabelled ones are not used.
FEW = 20
# Sentences with more words on average are probably lines without a full stop that were joined.
LONG = 100
# The widest lines of the summary.
WIDTH = 100


@click.command(short_help="Make a tagger from few labels and unlabelled text.")
@click.argument("train", type=FILE, metavar="TRAIN")
@click.option(
    "--unlabelled",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Text without labels, of the same kind as TRAIN: raw text, where a sentence ends at a full stop or"
    " at a blank line; one word per line with blank lines between sentences; or any format of TRAIN, whose"
    " labels are not read. May be repeated.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FOLDER",
    help="The folder for the tagger and its report; a tagger that is there is replaced.",
)
@click.option(
    "--base",
    type=click.Choice(BASES),
    default="crf",
    show_default=True,
    help="The base model. crf: a linear CRF on words, shapes, affixes and neighbours. bilstm: a BiLSTM-CRF,"
    " which takes many minutes. token: a linear model of single tokens.",
)
@click.option(
    "--scores",
    type=FILE,
    metavar="FILE",
    help="The scores of your own tagger on the sentences of TRAIN, as `lcons decode` reads them. It must not"
    " have been trained on these sentences. Instead of a tagger, FOLDER then holds the constraints to decode"
    " its scores under.",
)
@click.option("--plain", is_flag=True, help="The base model alone: nothing is chosen and nothing added.")
@labelled_options
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Contiguous folds of TRAIN, by which everything is chosen.",
)
@common_options("Print the chosen settings as well.")
def fit(
    train: str,
    unlabelled: tuple[str, ...],
    output: str,
    base: str,
    scores: str | None,
    plain: bool,
    form: str | None,
    columns: str | None,
    tabs: bool,
    folds: int,
    as_json: bool,
    seed: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Make a tagger from the labelled sentences in TRAIN and from unlabelled text, for `lcons tag`.

    TRAIN has words and labels: CoNLL columns, JSON lines, or a file of an annotation tool, as for `lcons
    learn`. Only words and labels are read. Keep the order of documents: neighbours in the file are in one
    fold.

    The base model is trained on TRAIN. Then parts are added: the label scheme and label pairs as hard
    constraints, clusters of the words of the unlabelled text, labels that agree over that text, and a bias of
    O. Cross-validation on folds of TRAIN decides which parts stay: a part that helped on all data sets of our
    experiments stays unless the folds are against it, another part only if the folds support it. In the end,
    the tagger is trained on all of TRAIN, so no sentence has to be set aside. With few sentences, the folds
    are noisy: label some test sentences to be sure that the tagger is better than its base model.

    Prints the figures without and with the parts, by folds: no sentence is tagged by a model that has seen
    it. FOLDER also holds report.md and report.html.

    With `--scores`, the label scheme, label pairs and a bias of O are chosen for the scores of your own
    tagger. FOLDER holds the constraint files, and decoding.json lists them with their weights; the command
    that uses them is printed.

    \b
    Example:
      lcons fit train.conll -o tagger --unlabelled more.txt
      lcons tag --model tagger text.txt
      lcons fit train.conll -o plain --plain
      lcons fit dev.conll --scores scores.npz -o constraints
    """
    from lcons_tasks import FitSettings
    from lcons_tasks.apps._tagger_folder import check_tagger_folder
    from lcons_tasks.fitted._own_scores import check_decoding_folder

    say: Say = say_nothing if quiet else say_on_stderr
    if scores is not None:
        if unlabelled or plain or base != "crf":
            raise click.UsageError("use --scores, or --unlabelled, --base or --plain, not both.")
        check_decoding_folder(output)
    else:
        check_tagger_folder(output)
    settings = FitSettings.plain(base, seed) if plain else FitSettings(base, seed=seed)
    settings = replace(settings, folds=folds)
    with working(f"reading {Path(train).name}", say):
        sentences = labelled_sentences(read_labelled(train, form, columns, tabs, say), train)
    found: FittedTagger | FittedScores
    if scores is None:
        found, warnings = _tagger(sentences, _texts(unlabelled, columns, tabs, say), settings, plain, say)
        command, holds = f"lcons tag --model {output} text.txt", "tagger is"
    else:
        found, warnings = chosen, _ = _constraints(sentences, scores, settings, say)
        command = shlex.join(["lcons", "decode", scores, *chosen.options(output)])
        holds = "constraints are"
    found.save(output)
    ctx = click.get_current_context()
    warnings = [in_options(text, ctx.command, ctx) for text in warnings]
    if as_json:
        content = {"folder": output, **found.to_dict(), "warnings": warnings, "next": command}
        click.echo(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(_summary(found, command, verbose)))
        click.echo(f"The {holds} in {output}, the report in {Path(output) / 'report.html'}.\nNext: {command}")
    for text in warnings:
        click.echo(f"warning: {text}", err=True)


def _texts(files: tuple[str, ...], columns: str | None, tabs: bool, say: Say) -> list[tuple[str, ...]]:
    """The unlabelled sentences of all files."""
    from lcons_tasks.own_data import read_words

    texts: list[tuple[str, ...]] = []
    for file in files:
        with working(f"reading {Path(file).name}", say):
            own = read_words(file, columns, tabs)
        texts += own
        words = sum(map(len, own))
        say(f"{Path(file).name}: {len(own):,} sentences, {words:,} words")
        if words > LONG * len(own):
            click.echo(
                f"warning: {Path(file).name}: its sentences have {words / len(own):,.0f} words on average."
                " Raw text is cut at full stops and the like, and at blank lines: if each line is a sentence,"
                " add a blank line after each (`sed G`)",
                err=True,
            )
    return texts


def _tagger(
    sentences: list[Sentence], texts: list[tuple[str, ...]], settings: FitSettings, plain: bool, say: Say
) -> tuple[FittedTagger, list[str]]:
    """The tagger, and warnings."""
    from lcons_tasks import fit as fit_tagger

    with fitting(say) as progress:
        found = fit_tagger(sentences, texts, settings, progress=progress)
    warnings = list(_few(found))
    if len(texts) < FEW and not plain:
        given = (
            f"{len(texts)} sentences of unlabelled text are too few"
            if texts
            else "no unlabelled text was given"
        )
        warnings.append(
            f"{given}, so that most parts had nothing to learn from; with `unlabelled=`, a few hundred"
            " sentences of the same kind are usually worth several points"
        )
    return found, warnings


def _constraints(
    sentences: list[Sentence], file: str, settings: FitSettings, say: Say
) -> tuple[FittedScores, list[str]]:
    """The constraints for the scores in a file, and warnings."""
    from lcons_decode.files._scores import read_scored
    from lcons_tasks.fitted import fit_scores

    with working("choosing constraints", say), opened_bytes(file) as source:
        found = fit_scores(sentences, list(read_scored(source, file)), settings)
    warnings = list(_few(found))
    if found.suspicious:
        warnings.append(
            f"the scores alone are right on {found.accuracy:.1f} % of the tokens, as if the tagger had been"
            " trained on these sentences; constraints chosen on such scores are of no use for new text, so"
            " pass scores of sentences that it has not seen"
        )
    return found, warnings


def _few(found: Fitted) -> Iterator[str]:
    if found.labelled < FEW:
        yield (
            f"{found.labelled} labelled sentences are few: the figures may be far off, and the parts were"
            f" chosen almost blindly; label at least {FEW}, better 100"
        )


def labelled_sentences(data: Data, file: str) -> list[Sentence]:
    """The words and labels of data; raises `InvalidInput` if they are not sentences."""
    from lcons_core import InvalidInput
    from lcons_core._instance import WORD
    from lcons_tasks import Sentence
    from lcons_tasks.own_data import Structures

    if not isinstance(data, Structures) or data.tuples:
        kind = "tuples" if isinstance(data, Structures) else "a table of psi vectors"
        raise InvalidInput(
            f"expected sentences with one label per word in {file!r}, found {kind}; pass CoNLL columns or"
            " JSON lines with words and labels."
        )
    for number, instance in enumerate(data.instances, start=data.first):
        if WORD not in instance.x:
            raise InvalidInput(
                f"expected words in {file!r}, found none in sentence {number}; name their place with"
                " `columns=`."
            )
    return [Sentence(tuple(one.x[WORD]), tuple(one.y)) for one in data.instances]


@contextmanager
def fitting(say: Say) -> Iterator[Callable[[str, int, int], None]]:
    """The `progress` of `fit`: after two seconds, a bar on a terminal, else lines with the time to go."""
    if sys.stderr.isatty():
        with waiting("fitting", say) as bar:
            yield lambda what, done, total: bar(done, total)
        return
    state = _State()
    with signs_of_life(state.now, say):
        yield state.step


class _State:
    """The present step, and how many are done."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._what, self._done, self._total = "fitting", 0, 0

    def step(self, what: str, done: int, total: int) -> None:
        """A step begins."""
        self._what, self._done, self._total = what, done, total

    def now(self) -> str:
        """The progress in words."""
        if not self._done:
            return self._what
        left = (time.monotonic() - self._began) * (self._total - self._done) / self._done
        return f"{self._what}: {self._done} of {self._total} steps done, {about(left)} to go"


def _summary(found: Fitted, command: str, verbose: bool) -> Iterator[str]:
    from lcons_tasks.fitted._report import fit_document
    from lcons_tasks.report import Change, Facts, marked_lines, to_terminal

    document = fit_document(found, command)
    yield to_terminal(document, WIDTH).rstrip("\n")
    if found.rules:
        yield from ("", "The most telling rules:", *(f"- {rule}" for rule in found.rules))
    if found.changed:
        yield from ("", "Sentences that changed, by models that had not seen them:")
        for one in found.changed:
            yield from marked_lines(Change(one.words, one.before, one.after, one.gold))
    for section in document.sections if verbose else ():
        for block in section.blocks:
            if isinstance(block, Facts):
                yield from ("", f"{block.caption}:", *(f"- {name}: {what}" for name, what in block.facts))
    yield ""
