"""A token classifier of Hugging Face; the expected violation of constraints is a part of its loss."""

from transformers import BertConfig, BertForTokenClassification, TrainingArguments, set_seed

from lcons_core import iob2
from lcons_decode.transformers import UNLABELLED, ConstrainedTrainer, decoded_metrics

set_seed(1)
labels = {0: "O", 1: "B-X", 2: "I-X"}
rules = [iob2(labels.values())]
labelled = [{"input_ids": [1, 2, 3], "labels": [0, 1, 2]}] * 8
unlabelled = [{"input_ids": [3, 1, 2], "labels": [UNLABELLED] * 3}] * 8
small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
model = BertForTokenClassification(BertConfig(vocab_size=4, id2label=labels, **small))
args = TrainingArguments("out", max_steps=40, learning_rate=0.02, save_strategy="no", disable_tqdm=True)
data = {"train_dataset": labelled + unlabelled, "eval_dataset": labelled}
metrics = decoded_metrics(labels, rules)
trainer = ConstrainedTrainer(model, args, constraints=rules, compute_metrics=metrics, **data)
trainer.train()
print(trainer.evaluate()["eval_f1"])
