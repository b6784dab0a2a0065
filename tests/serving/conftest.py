"""Models to serve, and a server that most tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.servers import TOKEN, serving
from tests.small_models import small_model

from labeltree import (
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    PfastreXMLClassifier,
)
from labeltree.serving import Limits, Settings, Tokens
from labeltree.text import Tagger, TextVectorizer

TEXTS = [
    {"boat": 1.0, "sea": 2.0},
    {"woman": 1.0, "seated": 1.0},
    {"sea": 1.0, "storm": 1.0},
    {"cat": 1.0, "seated": 1.0},
]
SENTENCES = ["A boat, the sea and the sea", "A woman, seated", "The sea in a storm", "A cat, seated"]
#: Models of other kinds, all with three features and the labels a, b and c.
OTHERS = {
    "fastxml": FastXMLClassifier(random_state=0),
    "pfastrexml": PfastreXMLClassifier(random_state=0),
    "one-vs-rest": OneVsRestClassifier(random_state=0),
    "softmax": HierarchicalSoftmaxClassifier(random_state=0),
    "reranked": LabelTreeClassifier(rerank=2, random_state=0),
}
LABELS = [["sea", "boat"], ["portrait"], ["sea"], ["cat", "portrait"]]


def online_model() -> OnlineLabelTreeClassifier:
    """A model that has learned words."""
    return OnlineLabelTreeClassifier(random_state=0).partial_fit(TEXTS, LABELS)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each kind: trained on numbers with names as labels, with numbers as labels, online, on texts."""
    folder = tmp_path_factory.mktemp("models")
    small_model().save(folder / "small.labeltree")
    X = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] * 2
    LabelTreeClassifier(random_state=0).fit(X, [[10], [20], [30]] * 2).save(folder / "numbers")
    online_model().save(folder / "online")
    for name, classifier in OTHERS.items():
        classifier.fit(X, [["a"], ["b"], ["c"]] * 2).save(folder / name)
    Tagger(LabelTreeClassifier(random_state=0)).fit(SENTENCES, LABELS).save(folder / "tags.labeltree")
    fielded = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(fields={"title": 2.0, "text": 1.0}))
    fielded.fit([{"title": text[:9], "text": text} for text in SENTENCES], LABELS).save(folder / "fields")
    return {
        "small": folder / "small.labeltree",
        "numbers": folder / "numbers",
        "online": folder / "online",
        "tags": folder / "tags.labeltree",
        "fields": folder / "fields",
        **{name: folder / name for name in OTHERS},
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An online model that a test may change."""
    online_model().save(tmp_path / "online")
    return tmp_path / "online"


#: Small, so that they are easy to exceed.
LIMITS = Limits(body_bytes=100_000, rows=50, k=100, text_chars=2000, seconds=5.0)


@pytest.fixture(scope="session")
def client(models: dict[str, Path]) -> Iterator[httpx.Client]:
    """A client of a server that has all models, with tokens."""
    with serving(Settings(models, limits=LIMITS, tokens=Tokens([TOKEN]))) as (client, _):
        yield client
