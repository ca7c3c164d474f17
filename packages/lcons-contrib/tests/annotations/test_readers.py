"""Files of annotation tools, read as labelled sentences through `read_data`, as any registered format."""

import json

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin

from lcons_contrib.annotations import label_studio_tasks
from lcons_contrib.annotations._passage import Passage, Span
from lcons_tasks import Sentence
from lcons_tasks.audit import audit
from lcons_tasks.data import MalformedCorpus
from lcons_tasks.own_data import read_data

TEXT = "Ann Lee saw New York. Bo left."
SPANS = ((0, 7, "PER"), (12, 20, "LOC"), (22, 24, "PER"))
WORDS = [("Ann", "Lee", "saw", "New", "York", "."), ("Bo", "left", ".")]
LABELS = [("B-PER", "I-PER", "O", "B-LOC", "I-LOC", "O"), ("B-PER", "O", "O")]


def prodigy(folder):
    spans = [{"start": start, "end": end, "label": label} for start, end, label in SPANS]
    rejected = {"text": "No.", "spans": [], "answer": "reject"}
    tasks = [{"text": TEXT, "spans": spans, "answer": "accept"}, rejected]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return folder / "tasks.jsonl"


def label_studio(folder):
    values = [{"start": start, "end": end, "labels": [label]} for start, end, label in SPANS]
    regions = [{"value": {"choices": ["news"]}}, *({"type": "labels", "value": value} for value in values)]
    annotations = [{"was_cancelled": True, "result": []}, {"result": regions}]
    tasks = [
        {"id": 7, "data": {"text": TEXT, "source": "made up"}, "annotations": annotations},
        {"id": 8, "data": {"text": "Not done."}, "annotations": []},
    ]
    (folder / "export.json").write_text(json.dumps(tasks))
    return folder / "export.json"


def label_studio_min(folder):
    regions = [{"start": start, "end": end, "labels": [label]} for start, end, label in SPANS]
    (folder / "min.json").write_text(json.dumps([{"id": 7, "text": TEXT, "label": regions, "annotator": 1}]))
    return folder / "min.json"


def brat(folder):
    (folder / "a.txt").write_text(TEXT)
    lines = [f"T{i}\t{label} {start} {end}\t{TEXT[start:end]}" for i, (start, end, label) in enumerate(SPANS)]
    lines += ["R1\tLivesIn Arg1:T0 Arg2:T1", "#1\tNote T0\tsure"]
    (folder / "a.ann").write_text("\n".join(lines) + "\n")
    (folder / "not_annotated.txt").write_text("Nobody read this.")
    return folder


def webanno(folder):
    cells = iter(["PER[1]", "PER[1]", "_", "LOC[2]", "LOC[2]", "_", "PER", "_", "_"])
    lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=webanno.custom.Sense|sense", "#T_SP=custom.Entity|value|note"]
    for number, sentence in enumerate(WORDS, start=1):
        lines += ["", "#Text=..."]
        lines += [
            f"{number}-{i}\t0-1\t{word}\t_\t{next(cells)}\t_\t" for i, word in enumerate(sentence, start=1)
        ]
    (folder / "export.tsv").write_text("\n".join(lines) + "\n")
    return folder / "export.tsv"


def docbin(folder):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    doc = nlp(TEXT)
    doc.ents = [doc.char_span(start, end, label=label) for start, end, label in SPANS]
    DocBin(docs=[doc]).to_disk(folder / "docs.spacy")
    return folder / "docs.spacy"


@pytest.mark.parametrize(
    ("write", "form", "columns"),
    [
        (prodigy, "prodigy", None),
        (label_studio, "label-studio", None),
        (label_studio_min, "label-studio", None),
        (brat, "brat", None),
        (webanno, "webanno", "label=value"),
        (docbin, "spacy", None),
    ],
)
def test_the_same_annotations_are_the_same_sentences_in_every_tool(write, form, columns, tmp_path):
    data = read_data(write(tmp_path), form, columns)
    assert [one.x["word"] for one in data.instances] == WORDS
    assert [one.y for one in data.instances] == LABELS


def test_tags_and_groups_of_spans_of_spacy_are_read(tmp_path):
    doc = spacy.blank("en")("Ann left")
    for token, tag in zip(doc, ["NNP", "VBD"], strict=True):
        token.tag_ = tag
    for key in ("mine", "other"):
        doc.spans[key] = [doc.char_span(0, 3, label=key)]  # type: ignore[list-item]
    DocBin(docs=[doc], store_user_data=True, attrs=["TAG", "SPACY"]).to_disk(tmp_path / "a.spacy")
    [one] = read_data(tmp_path / "a.spacy", columns="label=other").instances
    assert (one.x, one.y) == ({"word": ("Ann", "left"), "pos": ("NNP", "VBD")}, ("B-other", "O"))


@given(
    st.text(alphabet="ab -.\n", min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5),
)
def test_spans_that_are_read_come_back_from_the_labels(text, ends):
    spans = [Span(min(a, b), max(a, b), f"L{i}") for i, (a, b) in enumerate(ends) if max(a, b) <= len(text)]
    passage = Passage(text, spans)
    labelled = [pair for words, labels in passage.sentences() for pair in zip(words, labels, strict=True)]
    assert "".join(word for word, _ in labelled) == "".join(text.split())
    for span in passage.disjoint:
        inside = [word for word, label in labelled if label[2:] == span.label]
        assert "".join(inside) == "".join(text[span.start : span.end].split())
        assert sum(label == f"B-{span.label}" for _, label in labelled) == 1
    for span in set(spans) - set(passage.disjoint):
        over = [one for one in passage.disjoint if one.start < span.end and span.start < one.end]
        lengths = [one.end - one.start for one in over]
        assert not text[span.start : span.end].strip() or max(lengths) >= span.end - span.start


def test_annotations_that_overlap_are_left_out_with_a_warning(tmp_path):
    spans = [{"start": 0, "end": end, "label": "X"} for end in (3, 8)]
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "New York", "spans": spans}))
    with pytest.warns(UserWarning, match="1 spans overlap"):
        [one] = read_data(tmp_path / "a.jsonl", "prodigy").instances
    assert one.y == ("B-X", "I-X")
    lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=Entity|value", ""]
    lines += ["1-1\t0-3\tAnn\tPER|ORG\t", "1-2\t4-9\tup\\_to\tA\\|B\t", "1-2.1\t4-6\tup\tPART\t"]
    (tmp_path / "a.tsv").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match="2 labels"):
        [one] = read_data(tmp_path / "a.tsv", "webanno").instances
    assert (one.x["word"], one.y) == (("Ann", "up_to"), ("B-PER", "B-A|B"))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("prodigy", '{"text": "Ann", "spans": [{"start": 0, "end": 9, "label": "X"}]}'),
        ("prodigy", '{"text": "Ann", "tokens": [{"start": 0, "end": 4}]}'),
        ("label-studio", '[{"data": {"a": "x"}, "annotations": [{"result": []}]}]'),
        ("label-studio", "[{"),
        ("brat", "T1 PER 0 3\n"),
        ("brat", ""),
        ("webanno", "#FORMAT=WebAnno TSV 3.3\n\n1-1\t0-1\tAnn\n"),
        ("spacy", "not a DocBin"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(form, text, tmp_path):
    (tmp_path / "a.txt").write_text("Ann Lee" if text else "")
    (tmp_path / "a.ann").write_text(text)
    with pytest.raises(MalformedCorpus, match=r"a\.ann"):
        read_data(tmp_path / "a.ann", form)


def test_the_findings_of_an_audit_are_tasks_of_label_studio(tmp_path):
    right = [Sentence(("give", drug, "now"), ("O", "B-DRUG", "O")) for drug in ["aspirin", "codeine"] * 10]
    audited = audit([*right, Sentence(("take", "aspirin", "now"), ("O", "O", "O"))])
    [task] = label_studio_tasks(audited)
    assert (task["data"]["text"], task["annotations"]) == ("take aspirin now", [{"result": []}])
    assert 0.5 < task["predictions"][0]["score"] <= 1
    (tmp_path / "tasks.json").write_text(json.dumps([{**task, "annotations": task["predictions"]}]))
    [one] = read_data(tmp_path / "tasks.json", "label-studio").instances
    assert one.y == ("O", "B-DRUG", "O")
