"""A token classifier of Hugging Face whose labels are valid spans: a tiny untrained one, made here."""

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast, set_seed

from lcons_core import iob2
from lcons_decode.transformers import ConstrainedPipeline

set_seed(1)
labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
words = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "Ann", "Lee", "saw", "New", "York"])}
reader = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
reader.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=reader, pad_token="[PAD]", unk_token="[UNK]")
small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
config = BertConfig(vocab_size=len(words), id2label=dict(enumerate(labels)), **small)
model = BertForTokenClassification(config)
tagger = ConstrainedPipeline(model=model, tokenizer=tokenizer, constraints=[iob2(labels)])
answers = tagger("Ann Lee saw New York", ignore_labels=[])
print(iob2(labels).satisfied([answer["entity"] for answer in answers]))
