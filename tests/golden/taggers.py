"""Golden taggers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labeltree import (
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
)
from labeltree.text import Tagger, TextVectorizer

#: What the taggers are trained on.
TEXTS = ["A boat at SEA", "the sea, the blåbær", "cats & dogs", "a dog's life", "Ein Boot, der Hund"]
TEXT_LABELS = [["sea", "boat"], ["sea"], ["cat", "dog"], ["dog"], ["boat", "dog"]]
#: What the taggers of version 8 are trained on.
FIELDED_TEXTS = [{"title": text.split()[0], "text": text} for text in TEXTS[:-1]] + [TEXTS[-1]]


def tagger_cases() -> dict[str, Tagger]:
    """Models of version 6: taggers, with every way to make features of texts, and of linear blocks."""
    words, one_vs_rest = LabelTreeClassifier(random_state=0), OneVsRestClassifier(random_state=0)
    softmax = HierarchicalSoftmaxClassifier(arity=2, max_leaves=2, random_state=0)
    return {
        "words": Tagger(words),
        "words-and-characters": Tagger(one_vs_rest, TextVectorizer(char_ngram_range=(2, 3), norm="l1")),
        "hashed": Tagger(softmax, TextVectorizer(n_features=64, ngram_range=(1, 2))),
        "hashed-decided": Tagger(words, TextVectorizer(n_features=64, use_idf=False, stop_words="english")),
        "characters": Tagger(words, TextVectorizer(analyzer="char", ngram_range=(2, 2), sublinear_tf=True)),
    }


def later_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 8: with settings of texts that came later."""
    stems = TextVectorizer(fields={"text": 1.0}, stemmer="german", stop_words="german", ngram_range=(1, 2))
    own_words = TextVectorizer(fields={"text": 1.0}, tokenizer="tests.tokenizers:split_at_spaces")
    fields = TextVectorizer(fields={"title": 2.0, "text": 0.5}, sublinear_tf=True)
    trees = FastXMLClassifier(n_trees=4, C=20.0, max_leaf=2, random_state=0)
    return {
        "fields": Tagger(LabelTreeClassifier(random_state=0), fields),
        "fields-fastxml": Tagger(trees, fields),
        "stemmed": Tagger(LabelTreeClassifier(random_state=0), stems),
        "own-words": Tagger(LabelTreeClassifier(random_state=0), own_words),
    }


def newest_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 9: with buckets, and with words that white space separates."""
    words = TextVectorizer(analyzer="whitespace", lowercase=False, ngram_range=(1, 2))
    buckets = TextVectorizer(buckets=64, ngram_range=(1, 2), char_ngram_range=(3, 3), stop_words="english")
    return {
        "whitespace": Tagger(OneVsRestClassifier(random_state=0), words),
        "buckets": Tagger(OneVsRestClassifier(random_state=0), buckets),
    }


def vector_tagger_cases() -> dict[str, Tagger]:
    """Taggers of version 10: by method, with the vectorizer of the method, and decided."""
    return {
        f"tagger-{name}": Tagger(method=method).set_params(
            classifier__dimension=5,
            classifier__epochs=60,
            classifier__batch_size=2,
            classifier__random_state=0,
        )
        for name, method in {"extremetext": "extremetext", "fasttext-decided": "fasttext"}.items()
    }


def make_tagger(path: Path, tagger: Tagger, texts: list[Any]) -> dict[str, Any]:
    """Train and save a tagger; return its tags."""
    tagger.fit(texts, TEXT_LABELS)
    if path.name.endswith("decided"):
        tagger.decide_for("micro_f1", texts, TEXT_LABELS)
    tagger.save(path)
    found = tagger.predict_topk(texts, k=3)
    return {
        "estimator": type(tagger.classifier_).__name__,
        "texts": texts,
        "labels": found.labels.tolist(),
        "probabilities": found.probabilities.tolist(),
        "predicted": tagger.predict(texts),
    }
