"""`lcons fit`: a tagger from a few labelled sentences and unlabelled text, or constraints for one's own.

Only click is imported here; other modules are imported when the command runs.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lcons_cli.console import opened_bytes, print_answer, say, warn
from lcons_cli.evaluate import evaluation, labels_by, table
from lcons_cli.labelled_file import TABS, labelled_options, read_sentences, read_words_and_labels
from lcons_cli.options import FOLDER, INPUT, in_options, json_option, seed_option
from lcons_cli.progress import progress

if TYPE_CHECKING:
    from lcons_tasks import FitSettings, FittedTagger, Sentence
    from lcons_tasks.fitted._fitted_tagger import Fitted
    from lcons_tasks.fitted._own_scores import FittedScores

# With fewer labelled sentences, the folds decide by chance; fewer unlabelled ones are not used.
FEW = 20
# The widest lines of the summary.
WIDTH = 100


@click.command()
@click.argument("train", type=INPUT, metavar="TRAIN")
@click.option("--unlabelled", multiple=True, type=INPUT, help="Text without labels. May be repeated.")
@click.option("-o", "--output", required=True, type=FOLDER, help="The folder for the tagger and its report.")
@click.option("--scores", type=INPUT, help="Scores of your own tagger on TRAIN: choose constraints for it.")
@click.option("--encoder", metavar="MODEL", help="A pretrained encoder whose vectors the model reads, too.")
@click.option("--vectors", type=INPUT, help="Word vectors (.vec, .txt, .npz) that the model reads, too.")
@click.option("--plain", is_flag=True, help="The base model alone: nothing is chosen and nothing added.")
@labelled_options
@click.option("--folds", type=click.IntRange(min=2), default=5, help="Folds by which all is chosen.")
@click.option("--test", type=INPUT, help="Gold sentences to measure the tagger on, as `lcons evaluate`.")
@seed_option
@json_option
def fit(
    train: str,
    unlabelled: tuple[str, ...],
    output: str,
    scores: str | None,
    plain: bool,
    form: str | None,
    columns: str | None,
    test: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Make a tagger from the labelled sentences in TRAIN and from unlabelled text, for `lcons tag`.

    TRAIN has words and labels: CoNLL columns, JSON lines, or a file of an annotation tool, as for `lcons
    learn`. Only words and labels are read. Keep the order of documents: neighbours in the file are in one
    fold.

    Unlabelled text is of the same kind as TRAIN: raw text, where a sentence ends at a full stop, and at a
    line break unless lines are wrapped; one word per line with blank lines between sentences; or any format
    of TRAIN, whose labels are not read.

    The base model, a linear CRF on words, shapes, affixes and neighbours, is trained on TRAIN. An encoder (of
    lcons-tasks[encoder]) is a folder, or the name of one that transformers has on this machine; with
    HF_HUB_OFFLINE=0, it is downloaded.

    Then parts are added: the label scheme and label pairs as hard constraints, clusters of the words of the
    unlabelled text, labels that agree over that text, and a bias of O. Cross-validation on contiguous folds
    of TRAIN decides which parts stay: a part that helped on all data sets of our experiments stays unless the
    folds are against it, another part only if the folds support it. In the end, the tagger is trained on all
    of TRAIN, so no sentence has to be set aside. With few sentences, the folds are noisy: label some test
    sentences to be sure that the tagger is better than its base model.

    Prints the figures without and with the parts, by folds: no sentence is tagged by a model that has seen
    it. FOLDER also holds report.md and report.html; a tagger that is there is replaced.

    With `--scores`, which `lcons decode` could read and whose tagger has not seen TRAIN, the label scheme,
    label pairs and a bias of O are chosen for the scores of your own tagger. FOLDER holds the constraint
    files, and decoding.json lists them with their weights; the command that uses them is printed.

    \b
    Example:
      lcons fit train.conll -o tagger --unlabelled more.txt
      lcons tag --model tagger text.txt
      lcons fit train.conll -o plain --plain
      lcons fit dev.conll --scores scores.npz -o constraints
    """
    from lcons_decode.files._scores import read_scored
    from lcons_tasks import FitSettings
    from lcons_tasks.apps._tagger import TAGGER
    from lcons_tasks.fitted import fit_scores
    from lcons_tasks.fitted._own_scores import DECODING

    if scores is not None and any((unlabelled, plain, test, chosen["encoder"], chosen["vectors"])):
        raise click.UsageError("--scores goes with none of the options that make a tagger.")
    (TAGGER if scores is None else DECODING).check_place(output)
    settings = FitSettings.plain() if plain else FitSettings()
    settings = replace(settings, **{name: value for name, value in chosen.items() if value is not None})
    sentences = read_sentences(train, form, columns)
    counts = Counter(label for one in sentences for label in one.labels)
    once, bare = sum(n == 1 for n in counts.values()), sum({*one.labels} <= {"O"} for one in sentences)
    say(
        f"{Path(train).name}: {len(sentences):,} sentences, {sum(counts.values()):,} words, {len(counts):,}"
        f" labels ({once:,} seen once), {bare:,} sentences without a span"
    )
    gold = None if test is None else read_words_and_labels(test, form, columns)
    measured: list[dict[str, Any]] = []
    texts = [text for file in unlabelled for text in _read_text(file, columns, form == TABS)]
    fitted: FittedTagger | FittedScores
    if scores is None:
        fitted = _tagger(sentences, texts, settings)
        if gold is not None:
            base_model = fitted if plain else _tagger(sentences, [], FitSettings.plain(chosen["seed"]))
            ours, theirs = (labels_by(model.tagger, gold) for model in (fitted, base_model))
            measured = evaluation(gold, ours, theirs)
        command, holds = f"lcons tag --model {output} text.txt", "tagger is"
    else:
        with progress("choosing constraints"), opened_bytes(scores) as (source, _):
            fitted = fit_scores(sentences, list(read_scored(source, scores)), settings)
        command = shlex.join(["lcons", "decode", scores, *fitted.options(output)])
        holds = "constraints are"
    fitted.save(output)
    click_command = click.get_current_context().command
    few_texts = scores is None and not plain and len(texts) < FEW
    warnings = [
        in_options(text, click_command) for text in _warnings(fitted, len(texts) if few_texts else FEW)
    ]
    answer = {"folder": output, **fitted.to_dict(), **({"test": measured} if measured else {})}
    lines = [*_summary(fitted, command)]
    if test is not None:
        lines += [*table(measured, Path(test).name, "base model"), ""]
    elif fitted.gain.mean > 0:
        lines += [
            f"Do not count on this gain on new text: its interval begins at {fitted.gain.low:+.1f}, and the"
            " parts were chosen by these figures.",
            "--test FILE measures it.\n",
        ]
    lines += [f"The {holds} in {output}, the report in {Path(output) / 'report.html'}.", f"Next: {command}"]
    print_answer(as_json, {**answer, "warnings": warnings, "next": command}, "\n".join(lines))
    for text in warnings:
        warn(text)


def _read_text(file: str, columns: str | None, tabs: bool) -> Sequence[tuple[str, ...]]:
    """The unlabelled sentences of a file."""
    from lcons_tasks.own_data import read_words

    name = Path(file).name
    with progress(f"reading {name}"):
        sentences = read_words(file, columns, tabs)
    words = sum(map(len, sentences))
    lines = len(list(filter(None, Path(file).read_bytes().split(b"\n")))) if Path(file).is_file() else 0
    joined = f", joined from {lines:,} lines" if len(sentences) < lines < words else ""
    say(f"{name}: {len(sentences):,} sentences, {words:,} words{joined}")
    return sentences


def _tagger(sentences: list[Sentence], texts: list[tuple[str, ...]], settings: FitSettings) -> FittedTagger:
    from lcons_tasks import fit as fit_tagger

    with progress("fitting") as report:
        return fit_tagger(sentences, texts, settings, progress=lambda step, *at: report(at[0], at[1], step))


def _warnings(fitted: FittedTagger | FittedScores, texts: int) -> Iterator[str]:
    """What makes the figures doubtful; `texts` is the number of unlabelled sentences."""
    from lcons_tasks.fitted._own_scores import FittedScores

    if fitted.labelled < FEW:
        yield (
            f"{fitted.labelled} labelled sentences are few: the figures may be far off, and the parts were"
            f" chosen almost blindly; label at least {FEW}, better 100"
        )
    if texts < FEW:
        few = f"{texts} sentences of unlabelled text are too few" if texts else "no unlabelled text was given"
        yield (
            f"{few}, so that most parts had nothing to learn from; with `unlabelled=`, a few hundred"
            " sentences of the same kind are usually worth several points"
        )
    if isinstance(fitted, FittedScores) and fitted.suspicious:
        yield (
            f"the scores alone are right on {fitted.accuracy:.1f} % of the tokens, as if the tagger had been"
            " trained on these sentences; constraints chosen on such scores are of no use for new text, so"
            " pass scores of sentences that it has not seen"
        )


def _summary(fitted: Fitted, command: str) -> Iterator[str]:
    from lcons_tasks.fitted._report import fit_document
    from lcons_tasks.report import to_terminal
    from lcons_tasks.report._text import marked_lines

    yield to_terminal(fit_document(fitted, command), WIDTH).rstrip("\n")
    yield from fitted.advice
    if fitted.rules:
        yield from ("", "The most telling rules:", *(f"- {rule}" for rule in fitted.rules))
    if fitted.changed:
        yield from ("", "Sentences that changed, by models that had not seen them:")
        for change in fitted.changed:
            yield from marked_lines(change)
    yield ""
