"""A tiny encoder with random weights, saved as encoders on the hub are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.labelled_texts import labelled_texts

#: Letters and digits, at the begin of a word and inside: they spell words that are unknown.
PARTS = [*"abcdefghijklmnopqrstuvwxyz0123456789", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789")]


def make_tiny_encoder(path: Path, words: list[str] | None = None, **config: Any) -> Path:
    """Save a random encoder of 32 dimensions and its tokenizer to a directory; return the directory.

    Parameters
    ----------
    path : Path
    words : list of str, optional
        Words that are one token each, by default those of `tests.labelled_texts`. Others are spelled.
    **config
        Further entries of `BertConfig`.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    found = {word for text in labelled_texts()[0] for word in text.lower().strip(".").split()}
    known = sorted(found) if words is None else words
    vocabulary = {token: at for at, token in enumerate(dict.fromkeys([*special, *known, *PARTS]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(path)
    settings = {
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        **config,
    }
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        BertModel(BertConfig(**settings)).save_pretrained(path)
    return path
