"""Code as users write it, for type checkers only: `assert_type` says which types they must see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import assert_type

    import labeltree
    from labeltree import LabelTree, LabelTreeClassifier, MixedModel, OnlineLabelTreeClassifier
    from labeltree.calibration import Calibration, CalibrationReport, measure_calibration
    from labeltree.decisions.decision import Decision
    from labeltree.metrics import get_metric
    from labeltree.model.top_labels import TopLabels
    from labeltree.model_file import load
    from labeltree.questions import Predicted, Probabilities, Questions
    from labeltree.text import Tag, Tagger, TextExplanation, TextVectorizer

    texts = ["a boat on the sea", "the cat sat"]
    labels = [["sea"], ["cat"]]

    tagger = Tagger(LabelTreeClassifier(n_trees=3), TextVectorizer(min_df=2)).fit(texts, labels)
    assert_type(tagger, Tagger)
    assert_type(tagger.tag("the sea", k=3), list[Tag])
    assert_type(tagger.tag(texts), list[list[Tag]])
    assert_type(tagger.tag("the sea")[0].probability, float)
    assert_type(tagger.predict_topk(texts, k=2), TopLabels)
    assert_type(tagger.predict_topk(texts).probabilities, NDArray[np.float32])
    assert_type(
        tagger.predict_topk(texts, return_evaluations=True),
        tuple[NDArray[Any], NDArray[np.float32], NDArray[np.int64]],
    )
    assert_type(tagger.predict(texts), Predicted)
    assert_type(tagger.predict_proba(texts, top_k=10), Probabilities)
    assert_type(tagger.predict_proba(texts, return_evaluations=True), tuple[Probabilities, NDArray[np.int64]])
    assert_type(tagger.predict_pairs(texts, [0], ["sea"]), NDArray[np.float32])
    assert_type(tagger.iter_labels(texts[0]), Iterator[tuple[Any, float]])
    assert_type(tagger.explain(texts[0], "sea"), TextExplanation)
    assert_type(tagger.score(texts, labels), float)
    assert_type(tagger.calibrate(texts, labels).add_trees(texts, labels), Tagger)
    assert_type(tagger.decide_for("micro_f1", texts, labels), Tagger)
    assert_type(Tagger().fit_for(get_metric("micro_f1"), texts, labels), Tagger)
    assert_type(tagger.calibration_, Calibration)
    assert_type(tagger.decision_, Decision)
    assert_type(tagger.classes_, NDArray[Any])
    assert_type(tagger.label_counts_, NDArray[np.int64])
    assert_type(tagger.n_samples_fit_, int)
    assert_type(tagger.fit_seconds_, dict[str, float])
    assert_type(tagger.training_report_, list[dict[str, int]])
    assert_type(tagger.tree_, LabelTree)
    assert_type(tagger.vectorizer_, TextVectorizer)
    assert_type(tagger.save("tags.labeltree", weights="int8"), None)
    assert_type(Tagger.load("tags.labeltree"), Tagger)

    classifier = LabelTreeClassifier(C=2.0).fit([[1.0], [2.0]], labels)
    assert_type(classifier, LabelTreeClassifier)
    assert_type(classifier.predict_topk([[1.0]]), TopLabels)
    assert_type(classifier.predict([[1.0]]), Predicted)
    loaded = LabelTreeClassifier.load("model.labeltree")
    assert_type(loaded, LabelTreeClassifier)
    assert_type(load("model.labeltree"), Questions)
    assert_type(load("model.labeltree", False, OnlineLabelTreeClassifier), OnlineLabelTreeClassifier)
    assert_type(load("model.labeltree").predict_topk([[1.0]]), TopLabels)
    assert_type(labeltree.mix([classifier, loaded]), MixedModel)
    assert_type(measure_calibration(classifier, [[1.0]], [["sea"]]), CalibrationReport)
