"""Folders of Hugging Face `datasets` are read as sentences."""

from __future__ import annotations

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value

from lcons_tasks.data import MalformedCorpus
from lcons_tasks.own_data import from_dataset, read_data, read_words, tell_format

pytestmark = pytest.mark.integrations

TAGS = ["O", "B-PER", "I-PER"]
ROWS = [
    (["Ann", "Lee", "sings"], ["B-PER", "I-PER", "O"]),
    (["Oh", "Ann"], ["O", "B-PER"]),
    (["No", "!"], ["O", "O"]),
    (["Lee", "Ann", "Lee"], ["B-PER", "B-PER", "I-PER"]),
] * 8


def dataset(rows=ROWS, label="ner_tags", numbers=True, more=True):
    features = {"id": Value("string"), "tokens": Sequence(Value("string"))}
    features[label] = Sequence(ClassLabel(names=TAGS) if numbers else Value("string"))
    content = {
        "id": [str(i) for i in range(len(rows))],
        "tokens": [words for words, _ in rows],
        label: [[TAGS.index(tag) if numbers else tag for tag in tags] for _, tags in rows],
    }
    if more:
        features["pos_tags"] = Sequence(ClassLabel(names=["X", "Y"]))
        content["pos_tags"] = [[len(word) % 2 for word in words] for words, _ in rows]
    return Dataset.from_dict(content, features=Features(features))


@pytest.mark.parametrize("numbers", [True, False])
def test_rows_are_sentences_with_their_columns(tmp_path, numbers):
    dataset(numbers=numbers).save_to_disk(tmp_path / "data")
    assert tell_format(tmp_path / "data") == "datasets"
    found = read_data(tmp_path / "data")
    assert [(one.x["word"], one.y) for one in found.instances] == [(tuple(w), tuple(t)) for w, t in ROWS]
    assert found.instances[0].x["pos_tags"] == ("Y", "Y", "Y")
    stated = read_data(tmp_path / "data", columns="word=tokens,label=ner_tags,pos=pos_tags")
    assert set(stated.instances[0].x) == {"word", "pos"}
    assert read_words(tmp_path / "data") == tuple(tuple(words) for words, _ in ROWS)


def test_of_several_splits_train_is_read_and_others_by_their_folder(tmp_path):
    DatasetDict(train=dataset(ROWS[:8]), test=dataset(ROWS[:3])).save_to_disk(tmp_path / "data")
    assert len(read_data(tmp_path / "data")) == 8
    assert len(read_data(tmp_path / "data" / "test")) == 3


def test_the_only_list_of_classes_has_the_labels_unless_there_are_two(tmp_path):
    assert from_dataset(dataset(label="slots", more=False)).instances[0].y == ("B-PER", "I-PER", "O")
    with pytest.raises(MalformedCorpus):
        from_dataset(dataset(label="slots"))
    assert from_dataset(dataset(label="slots"), {"label": "slots"}).instances[1].y == ("O", "B-PER")


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (ROWS, "label=none"),
        (ROWS, "label=id"),
        ([(["a", "b"], ["O"])], None),
        ([(["", "b"], ["O", "O"])], None),
    ],
)
def test_rows_that_are_no_sentences_are_refused_with_the_name_of_the_folder(tmp_path, rows, columns):
    dataset(rows, more=False).save_to_disk(tmp_path / "data")
    with pytest.raises(MalformedCorpus, match="/data:"):
        read_data(tmp_path / "data", columns=columns)


def test_a_damaged_folder_is_refused(tmp_path):
    dataset().save_to_disk(tmp_path / "data")
    for file in (tmp_path / "data").glob("*.arrow"):
        file.write_bytes(b"")
    with pytest.raises(MalformedCorpus):
        read_data(tmp_path / "data")
