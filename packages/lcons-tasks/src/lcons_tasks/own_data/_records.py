"""Records, which are JSON objects or rows of a table, as structures.

    {"labels": ["B-PER", "O"], "words": ["Ann", "sings"], "pos": ["NNP", "VBZ"]}     a sequence
    {"tuples": [["Person", "Kill"], ["Person", "NoRel"]]}                            tuples

    {"text": "Ann sings", "label": [[0, 3, "PER"]]}     a text with spans, as doccano writes it
    ["Ann sings", {"entities": [[0, 3, "PER"]]}]        the same, as spaCy's examples are written

Objects stand on lines of their own, or in one JSON array. The words and sentences of a text are those that
`lcons tag` finds, and its spans become IOB2 labels. A CSV file has one row per token, with columns for the
sentence, the token and the tag; a row without a sentence belongs to that of the row before.

Without `labels`, the labels are `ner_tags` or `tags`. The column `word` is `words` or, without it, `tokens`.
Every other list with one text per label is a column with the name of its member. Members that are not lists
are ignored. Labels are names, never numbers.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from lcons_core import Instance, InvalidInput, LconsError
from lcons_core._files import parse
from lcons_core._instance import WORD
from lcons_tasks.data._lines import malformed, numbered_lines
from lcons_tasks.data.text import sentences
from lcons_tasks.own_data._data import Structures
from lcons_tasks.own_data._tables import csv_rows

LABEL = "label"
TUPLES = "tuples"
# The members of the labels and of the words: the first that a record has.
MEMBERS = {LABEL: ("labels", "ner_tags", "tags"), WORD: ("words", "tokens")}
TEXT = "text"
SPANS = ("entities", "label", "labels", "spans")
SENTENCE = "sentence"
# The names of the columns of a CSV file, in lower case.
CSV_COLUMNS = {
    WORD: ("token", "word", "tokens", "words"),
    LABEL: ("tag", "label", "ner_tag", "ner", "tags", "labels", "ner_tags"),
    SENTENCE: ("sentence", "sentence #", "sentence_id", "sent_id"),
}


def json_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, or number in an array; object) of each object of a file; a text with spans as its sentences."""
    for number, content in _json_values(path):
        value = content
        if isinstance(value, list) and len(value) == 2 and isinstance(value[1], dict):
            value = {**value[1], TEXT: value[0]}
        if not isinstance(value, dict):
            raise malformed(path, number, f"expected a JSON object: got a {type(value).__name__}.")
        spans = next((value[name] for name in SPANS if name in value), None)
        if not isinstance(value.get(TEXT), str) or spans is None or MEMBERS[WORD][0] in value:
            yield number, value
            continue
        try:
            yield from ((number, record) for record in text_records(value[TEXT], spans))
        except InvalidInput as error:
            raise malformed(path, number, str(error)) from None


def _json_values(path: str | os.PathLike[str]) -> Iterator[tuple[int, Any]]:
    """(line, value) of each line, or (number, value) of each element of one array."""
    lines = ((number, text) for number, text in numbered_lines(path) if text)
    for number, text in lines:
        whole = text
        if number == 1 and text.lstrip().startswith("["):
            whole = "\n".join([text, *(more for _, more in lines)])
        try:
            value = parse(whole)
        except InvalidInput as error:
            raise malformed(path, number, f"expected JSON: {error}") from None
        if whole.lstrip().startswith("["):
            yield from enumerate(value, start=1)
        else:
            yield number, value


def text_records(text: str, spans: Any) -> Iterator[dict[str, list[str]]]:
    """The sentences of a text, with IOB2 labels of its spans: (start, end, label) or objects with these.

    >>> [record["labels"] for record in text_records("Ann Lee sings. Oh!", [[0, 7, "PER"]])]
    [['B-PER', 'I-PER', 'O', 'O'], ['O', 'O']]
    """
    places = [_span(span, len(text)) for span in spans] if isinstance(spans, list) else [_span(spans, 0)]
    for tokens in sentences(text):
        labels: list[str] = []
        before: list[Any] = []
        for token in tokens:
            over = [span for span in places if span[0] < token.end and token.start < span[1]]
            if len(over) > 1:
                raise InvalidInput(f"spans of a text must not overlap: got {over[0]} and {over[1]}.")
            labels.append(f"{'I' if over == before else 'B'}-{over[0][2]}" if over else "O")
            before = over
        yield {"words": [token.text for token in tokens], "labels": labels}


def _span(span: Any, length: int) -> tuple[int, int, str]:
    if isinstance(span, dict):
        ends = (("start_offset", "start"), ("end_offset", "end"), ("label", "label"))
        span = [span.get(name, span.get(other)) for name, other in ends]
    whole = isinstance(span, list) and len(span) == 3 and all(isinstance(end, int) for end in span[:2])
    if not whole or not isinstance(span[2], str) or not span[2] or not 0 <= span[0] < span[1] <= length:
        raise InvalidInput(f"a span must be [start, end, label] inside its text: got {span!r:.60}.")
    return span[0], span[1], span[2]


def csv_records(
    path: str | os.PathLike[str], members: Mapping[str, str]
) -> Iterator[tuple[int, dict[str, list[str]]]]:
    """(first line, columns) of each sentence of a CSV file with one row per token."""
    (first, header), *rows = csv_rows(path)
    lower = [name.lower() for name in header]
    places = {}
    for column, usual_names in CSV_COLUMNS.items():
        stated = members.get(column, "").lower()
        place = next((lower.index(name) for name in (stated, *usual_names) if name in lower), None)
        if place is None and column != SENTENCE:
            wanted = f"a column `valid` of psi vectors, or columns `{CSV_COLUMNS[WORD][0]}` and `tag`"
            raise malformed(path, first, f"expected {wanted}: got {', '.join(header):.200}.")
        places[column] = place
    usual = {places[WORD]: MEMBERS[WORD][0], places[LABEL]: MEMBERS[LABEL][0]}
    names = [usual.get(i, name) for i, name in enumerate(lower)]
    at = places[SENTENCE]
    rows_of_sentence: list[tuple[int, list[str]]] = []
    last, key = first, ""
    for line, cells in rows:
        # Without a column of sentences, blank lines separate them.
        mark = "" if at is None else cells[at]
        if rows_of_sentence and (line > last + 1 if at is None else mark not in ("", key)):
            yield _columns_of(rows_of_sentence, names, at)
            rows_of_sentence = []
        rows_of_sentence.append((line, cells))
        last, key = line, mark or key
    yield _columns_of(rows_of_sentence, names, at)


def _columns_of(
    rows: list[tuple[int, list[str]]], names: list[str], left_out: int | None
) -> tuple[int, dict[str, list[str]]]:
    columns = {name: [cells[i] for _, cells in rows] for i, name in enumerate(names) if i != left_out}
    return rows[0][0], columns


def read_records(
    path: str | os.PathLike[str],
    records: Iterable[tuple[int, Mapping[str, Any]]],
    members: Mapping[str, str] | None = None,
) -> Structures:
    """The structures of numbered records; `members` is the member of each column, of `MEMBERS` by default."""
    instances: list[Instance] = []
    kinds = set()
    for number, record in records:
        try:
            instances.append(_instance(record, members or {}))
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
        kinds.add(not instances[-1].x and TUPLES in record)
        if len(kinds) > 1:
            raise malformed(path, number, f"expected one kind of structure: got `{TUPLES}` and labels.")
    if not instances:
        raise malformed(path, 1, "expected labelled structures: got none.")
    return Structures(tuple(instances), kinds == {True})


def read_words_of_records(
    path: str | os.PathLike[str], records: Iterable[tuple[int, Mapping[str, Any]]], member: str | None
) -> tuple[tuple[str, ...], ...]:
    """The words of numbered records that have some; labels are not read."""
    found = []
    for number, record in records:
        name = member or first_member(WORD, record)
        try:
            found.append(names_of(record.get(name), name))
        except LconsError as error:
            raise malformed(path, number, str(error)) from None
    return tuple(words for words in found if words)


def first_member(column: str, record: Container[str]) -> str:
    """The member of a column in a record.

    >>> first_member("word", {"tokens": [], "tags": []}), first_member("label", {})
    ('tokens', 'labels')
    """
    return next((name for name in MEMBERS[column] if name in record), MEMBERS[column][0])


def _instance(record: Mapping[str, Any], stated: Mapping[str, str]) -> Instance:
    named = {**{column: first_member(column, record) for column in MEMBERS}, **stated}
    if TUPLES in record and named[LABEL] not in record:
        return Instance({}, _tuples(record[TUPLES]))
    required = [named[LABEL], *(member for column, member in stated.items() if column != LABEL)]
    missing = [member for member in required if member not in record]
    if missing:
        there = ", ".join(list(record)[:8]) or "none"
        raise InvalidInput(
            f"expected a member `{missing[0]}`{'' if stated else f' or `{TUPLES}`'}: got {there}; name the"
            ' columns, as in `columns="word=tokens,label=NAME"`.'
        )
    labels = names_of(record[named[LABEL]], named[LABEL])
    columns = {column: member for column, member in named.items() if column != LABEL and member in record}
    if not stated:
        others = (name for name, values in record.items() if isinstance(values, list))
        columns |= {name: name for name in others if name not in named.values()}
    return Instance({name: names_of(record[one], one, len(labels)) for name, one in columns.items()}, labels)


def names_of(values: Any, member: str, length: int | None = None) -> tuple[str, ...]:
    """The names in a member; `length`: how many there must be."""
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise InvalidInput(f"`{member}` must be a list of names, as text: got {values!r:.60}.")
    if length is not None and len(values) != length:
        raise InvalidInput(f"`{member}` must have {length} values, one per label: got {len(values)}.")
    return tuple(values)


def _tuples(values: Any) -> tuple[tuple[str, ...], ...]:
    if not isinstance(values, list) or not all(isinstance(one, list) and one for one in values):
        raise InvalidInput(f"`{TUPLES}` must be a list of lists of names: got {values!r:.60}.")
    return tuple(names_of(one, TUPLES) for one in values)
