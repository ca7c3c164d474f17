"""Tiny models and tokenizers of Hugging Face, made here: nothing is downloaded."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES = ["new", "york", "ann", "lee", "saw", "the", "##s", "##a", "##b", "##town", "x", "y", "z", ".", ","]
IOB2 = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BIOES = ("O", "B-X", "I-X", "E-X", "S-X")


def tokenizer(most: int = 64) -> PreTrainedTokenizerFast:
    """WordPiece with subwords, as BERT has it."""
    vocabulary = {piece: i for i, piece in enumerate(SPECIAL + PIECES)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=most,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    )


def model(labels=IOB2, seed: int = 0, spread: float = 1.0) -> BertForTokenClassification:
    """A BERT of one layer with random weights; `spread` scales its logits."""
    torch.manual_seed(seed)
    made = BertForTokenClassification(
        BertConfig(
            vocab_size=len(SPECIAL + PIECES),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=128,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
        )
    )
    with torch.no_grad():
        made.bert.embeddings.word_embeddings.weight.mul_(50)
        made.classifier.weight.mul_(30 * spread)
    return made.eval()
