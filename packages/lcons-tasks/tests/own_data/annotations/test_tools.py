"""Files of annotation tools, read as labelled sentences."""

import json
import zlib

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin

from lcons_core import InvalidInput
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.own_data import read_data, read_words, tell_format
from lcons_tasks.own_data.annotations import AnnotationWarning, Passage, Span

TEXT = "Ann Lee saw New York. Bo left."
SPANS = ((0, 7, "PER"), (12, 20, "LOC"), (22, 24, "PER"))
WORDS = [("Ann", "Lee", "saw", "New", "York", "."), ("Bo", "left", ".")]
LABELS = [("B-PER", "I-PER", "O", "B-LOC", "I-LOC", "O"), ("B-PER", "O", "O")]


def prodigy(folder):
    spans = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
    rejected = {"text": "No.", "spans": [], "answer": "reject"}
    tasks = [{"text": TEXT, "spans": spans, "answer": "accept"}, rejected]
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return path


def label_studio(folder):
    regions = [
        {"type": "labels", "to_name": "text", "value": {"start": start, "end": end, "labels": [label]}}
        for start, end, label in SPANS
    ]
    choice = {"type": "choices", "to_name": "text", "value": {"choices": ["news"]}}
    annotations = [{"was_cancelled": True, "result": []}, {"result": [choice, *regions]}]
    tasks = [
        {"id": 7, "data": {"text": TEXT, "source": "made up"}, "annotations": annotations},
        {"id": 8, "data": {"text": "Not done."}, "annotations": []},
    ]
    path = folder / "export.json"
    path.write_text(json.dumps(tasks))
    return path


def label_studio_min(folder):
    regions = [{"start": start, "end": end, "labels": [label]} for start, end, label in SPANS]
    path = folder / "export-min.json"
    path.write_text(json.dumps([{"id": 7, "text": TEXT, "label": regions, "annotator": 1}]))
    return path


def brat(folder):
    own = folder / "brat"
    own.mkdir()
    (own / "a.txt").write_text(TEXT)
    lines = [f"T{i}\t{label} {start} {end}\t{TEXT[start:end]}" for i, (start, end, label) in enumerate(SPANS)]
    (own / "a.ann").write_text("\n".join([*lines, "R1\tLivesIn Arg1:T0 Arg2:T1", "#1\tNote T0\tsure"]) + "\n")
    (own / "not_annotated.txt").write_text("Nobody read this.")
    return own


def webanno(folder):
    cells = ["PER[1]", "PER[1]", "_", "LOC[2]", "LOC[2]", "_", "PER", "_", "_"]
    words = iter(zip((word for sentence in WORDS for word in sentence), cells, strict=True))
    lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=webanno.custom.Sense|sense", "#T_SP=custom.Entity|value|note"]
    for number, sentence in enumerate(WORDS, start=1):
        lines += ["", "#Text=..."]
        for place, (word, cell) in enumerate((next(words) for _ in sentence), start=1):
            lines.append(f"{number}-{place}\t0-1\t{word}\t_\t{cell}\t_\t")
    path = folder / "export.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def docbin(folder):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(start, end, label=label) for start, end, label in SPANS]
    path = folder / "docs.spacy"
    DocBin(docs=[doc]).to_disk(path)
    return path


TOOLS = {
    "prodigy": prodigy,
    "label-studio": label_studio,
    "brat": brat,
    "webanno": webanno,
    "spacy": docbin,
}


@pytest.mark.parametrize("form", TOOLS)
def test_the_same_annotations_are_the_same_sentences_in_every_tool(form, tmp_path):
    path = TOOLS[form](tmp_path)
    assert tell_format(path) == form
    data = read_data(path, columns="label=value" if form == "webanno" else None)
    assert [one.x["word"] for one in data.instances] == WORDS
    assert [one.y for one in data.instances] == LABELS
    assert read_words(path) == tuple(WORDS)


def test_the_short_export_of_label_studio_is_read_too(tmp_path):
    data = read_data(label_studio_min(tmp_path))
    assert [one.y for one in data.instances] == LABELS


def test_the_tags_and_the_only_group_of_spans_of_spacy_are_read(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp("Ann left")
    for token, tag in zip(doc, ["NNP", "VBD"], strict=True):
        token.tag_ = tag
    doc.spans["mine"] = [doc.char_span(0, 3, label="PER")]  # type: ignore[list-item]
    DocBin(docs=[doc], store_user_data=True, attrs=["TAG", "SPACY"]).to_disk(tmp_path / "a.spacy")
    [one] = read_data(tmp_path / "a.spacy").instances
    assert one.x == {"word": ("Ann", "left"), "pos": ("NNP", "VBD")}
    assert one.y == ("B-PER", "O")


def test_a_group_of_spans_of_spacy_can_be_named(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp("Ann left")
    for key in ("mine", "other"):
        span = doc.char_span(0, 3, label=key)
        doc.spans[key] = [span]  # type: ignore[list-item]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "a.spacy")
    [one] = read_data(tmp_path / "a.spacy", columns="label=other").instances
    assert one.y == ("B-other", "O")


@given(
    st.text(alphabet="ab -.\n", min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5),
)
def test_spans_that_are_read_come_back_from_the_labels(text, ends):
    spans = [Span(min(a, b), max(a, b), f"L{i}") for i, (a, b) in enumerate(ends) if max(a, b) <= len(text)]
    passage = Passage(text, tuple(spans))
    labelled = [pair for one in passage.instances() for pair in zip(one.x["word"], one.y, strict=True)]
    assert "".join(word for word, _ in labelled) == "".join(text.split())
    for span in passage.kept:
        inside = [word for word, label in labelled if label[2:] == span.label]
        assert "".join(inside) == "".join(text[span.start : span.end].split())
        assert sum(label == f"B-{span.label}" for _, label in labelled) == 1
    kept = set(passage.kept)
    for span in spans:
        overlapping = [one for one in kept if one.start < span.end and span.start < one.end]
        solid = text[span.start : span.end].strip()
        assert (
            span in kept
            or not solid
            or any(one.end - one.start >= span.end - span.start for one in overlapping)
        )


def test_spans_that_overlap_are_left_out_with_a_warning(tmp_path):
    spans = [{"start": 0, "end": end, "label": "X"} for end in (3, 8)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "New York", "spans": spans}))
    with pytest.warns(AnnotationWarning, match="1 spans overlap"):
        [one] = read_data(tmp_path / "a.jsonl").instances
    assert one.y == ("B-X", "I-X")


def test_labels_beside_others_are_left_out_with_a_warning(tmp_path):
    lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=Entity|value", ""]
    lines += ["1-1\t0-3\tAnn\tPER|ORG\t", "1-2\t4-9\tup\\_to\tA\\|B\t", "1-2.1\t4-6\tup\tPART\t"]
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    with pytest.warns(AnnotationWarning, match="2 labels"):
        [one] = read_data(tmp_path / "a.tsv").instances
    assert (one.x["word"], one.y) == (("Ann", "up_to"), ("B-PER", "B-A|B"))


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.jsonl", '{"text": "Ann", "spans": [{"start": 0, "end": 9, "label": "X"}]}', "inside a text of 3"),
        ("a.jsonl", '{"text": "Ann", "spans": [{"start": 0, "label": "X"}]}', "`start` and `end`"),
        ("a.jsonl", '{"text": "Ann", "tokens": [{"text": "Bo", "start": 0, "end": 3}]}', "a token 'Bo'"),
        ("a.json", '[{"data": {"a": "x", "b": "y"}, "annotations": [{"result": []}]}]', "one text per task"),
        ("a.json", '[{"tokens": ["Ann"], "tags": ["O"]}]', "as JSON lines, one object per line"),
        ("a.json", '[{"data": {"text": "x"}, "annotations": 3}]', "a list of annotations"),
        ("a.json", "[{", "a JSON list of tasks"),
        ("a.ann", "T1 PER 0 3\n", "T1<tab>PER"),
        ("a.tsv", "#FORMAT=WebAnno TSV 3.3\n\n1-1\t0-1\tAnn\n", "a span layer"),
        ("a.spacy", "not a DocBin", "a DocBin of spaCy"),
    ],
)
def test_a_damaged_file_is_one_sentence_with_its_name(name, text, problem, tmp_path):
    (tmp_path / "a.txt").write_text("Ann Lee")
    (tmp_path / name).write_text(text)
    with pytest.raises(MalformedCorpus, match=problem) as found:
        read_data(tmp_path / name)
    assert name in str(found.value)


def test_a_folder_without_annotations_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"a folder of `\.ann` files"):
        read_data(tmp_path)


def test_columns_are_refused_where_the_file_states_them(tmp_path):
    with pytest.raises(InvalidInput, match="no argument `columns` with the format prodigy"):
        read_data(prodigy(tmp_path), columns="word=a")


def test_labels_that_a_docbin_does_not_name_are_damage(tmp_path):
    path = docbin(tmp_path)
    content = zlib.decompress(path.read_bytes())
    assert b"\xa3PER" in content
    path.write_bytes(zlib.compress(content.replace(b"\xa3PER", b"\xa3PEX", 1)))
    with pytest.raises(MalformedCorpus, match="expected a DocBin of spaCy, found other bytes"):
        read_data(path)
