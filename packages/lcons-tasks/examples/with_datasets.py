"""Label pairs learned from a dataset of Hugging Face."""

from datasets import ClassLabel, Dataset, Features, Sequence, Value

from lcons_core import learn_constraints
from lcons_tasks.own_data import from_dataset

tags = ClassLabel(names=["O", "B-PER", "I-PER"])
features = Features(tokens=Sequence(Value("string")), ner_tags=Sequence(tags))
rows = {"tokens": [["Ann", "Lee", "sings"], ["Oh", "Ann"]] * 20, "ner_tags": [[1, 2, 0], [0, 1]] * 20}
sentences = from_dataset(Dataset.from_dict(rows, features=features))
constraint = learn_constraints(sentences.instances, "ngram", n=2)
print(constraint.satisfied(["O", "B-PER", "I-PER"]), constraint.satisfied(["O", "I-PER"]))
