"""`tune` on texts, and a search that Ctrl-C ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from labeltree import LabelTreeClassifier
from labeltree.metrics import precision_at_k
from labeltree.text import Tagger, TextVectorizer
from labeltree.tuning import SearchSpace, Trial, Tuning, halving, read_parameters, samples, tune
from labeltree.tuning.screening import Screening
from labeltree.tuning.space import TEXT_SEARCHED

pytestmark = pytest.mark.native

SEED = LabelTreeClassifier(random_state=3, n_jobs=2)
#: One candidate of the classifier.
ONE = SearchSpace().fixed(loss="squared_hinge", C=1.0, arity=2, max_leaves=4, prune=0.1, n_trees=1)
#: Two of the vectorizer.
WORDS = ONE.fixed(char_ngram_range=None, min_df=1, sublinear_tf=False)


def texts_of_pairs(n_rows: int = 120, seed: int = 0) -> tuple[list[str], list[tuple[str, ...]]]:
    """Texts whose label only the pair of two words tells, in front of noise."""
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    labels: list[tuple[str, ...]] = []
    for _ in range(n_rows):
        words = [f"{end}{rng.integers(3)}" for end in ("left", "right")]
        wrong = [f"{end}{rng.integers(3)}" for end in ("right", "left")]
        texts.append(" ".join([*words, "and", *wrong]))
        labels.append((" ".join(words),))
    return texts, labels


TEXTS, LABELS = texts_of_pairs()


def tuned(**arguments: Any) -> Tuning:
    return tune(**{"X": TEXTS, "y": LABELS, "budget": 1000.0, "estimator": SEED, "space": WORDS, **arguments})


def trial(score: float) -> Trial:
    return Trial({}, 10, score, 1.0, 100, 1.0, tuple(np.full(20, score)))


class TestSearch:
    def test_pairs_of_words_are_found_to_be_better(self) -> None:
        found = tuned(metric="P@1")
        assert [t.parameters["ngram_range"] for t in found.trials] == [(1, 1), (1, 2)]
        assert found.text_parameters == {
            "ngram_range": (1, 2),
            "char_ngram_range": None,
            "min_df": 1,
            "max_features": None,
            "sublinear_tf": False,
        }
        assert found.chosen.score > found.trials[0].score + 0.1

    def test_columns_of_frames_are_texts(self) -> None:
        expected = tuned(space=WORDS.fixed(ngram_range=(1, 1))).chosen
        for column in (pa.array(TEXTS), pd.Series(TEXTS), np.array(TEXTS)):
            found = tuned(X=column, space=WORDS.fixed(ngram_range=(1, 1))).chosen
            assert (found.score, found.model_bytes) == (expected.score, expected.model_bytes)

    def test_a_trial_is_what_the_same_tagger_does_in_python(self) -> None:
        texts, labels = texts_of_pairs(50, seed=1)
        classes = sorted({*LABELS, *labels})
        y_valid = np.array([[one == row for one in classes] for row in labels], dtype=int)
        found = tuned(X_valid=texts, y_valid=labels, metric="P@1")
        for one in found.trials:
            own = {name: value for name, value in one.parameters.items() if name not in TEXT_SEARCHED}
            vectorizer = TextVectorizer(**{n: v for n, v in one.parameters.items() if n in TEXT_SEARCHED})
            tagger = Tagger(LabelTreeClassifier(**own, random_state=3), vectorizer).fit(TEXTS, LABELS)
            ranking = [[classes.index((label,))] for (label,) in tagger.predict_topk(texts, 1).labels]
            assert one.score == pytest.approx(precision_at_k(y_valid, np.array(ranking), 1))
            vocabulary = sum(array.nbytes for array in tagger.vectorizer_.state()[1].values())
            weights = sum(weights.nbytes for weights in tagger.classifier_.weights_)
            assert one.model_bytes == weights + vocabulary

    def test_single_changes_of_the_text_parameters_come_first(self) -> None:
        start = {"loss": "logistic", "C": 8.0, "ngram_range": (1, 1), "min_df": 2}
        space = SearchSpace(C=(8.0, 4.0))
        candidates = space.candidates(start, "descent", "l2", np.random.RandomState(0))
        assert candidates[:4] == [
            start,
            {**start, "ngram_range": (1, 2)},
            {**start, "min_df": 1},
            {**start, "min_df": 3},
        ]
        assert len({str(candidate) for candidate in candidates}) == len(candidates) == 2 * 2 * 2 * 3

    def test_texts_are_vectorized_once_for_each_sample(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(halving, "_FEWEST_ROWS", 20)
        made: list[tuple[Any, int]] = []
        fit_transform = TextVectorizer.fit_transform

        def counted(self: TextVectorizer, texts: Any, y: Any = None) -> Any:
            made.append((self.ngram_range, len(texts)))
            return fit_transform(self, texts, y)

        monkeypatch.setattr(TextVectorizer, "fit_transform", counted)
        found = tuned(space=SearchSpace(C=None).fixed(**fixed_but("C", "ngram_range")))
        assert {t.n_rows for t in found.trials} == {32, 96}
        assert len(found.trials) > len(made)
        assert len(set(made)) == len(made)

    def test_large_samples_are_not_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(samples, "_KEPT_BYTES", 1)
        rows = np.arange(10)
        kept = samples.TextSamples(TEXTS, TEXTS[:5], TextVectorizer())
        one = kept.sample(rows, {"min_df": 1})
        assert kept.sample(rows, {"min_df": 1}) is one
        kept.sample(rows, {"min_df": 2})
        assert kept.sample(rows, {"min_df": 1}) is not one

    def test_a_sample_without_terms_is_not_the_end(self) -> None:
        texts = [f"word{i}" for i in range(20)]
        space = WORDS.fixed(ngram_range=(1, 1))
        both = SearchSpace(**{**vars(space), "min_df": (1, 2)})
        labels = [("even",), ("odd",)] * 10
        found = tuned(X=texts, y=labels, X_valid=texts, y_valid=labels, space=both, metric="P@1")
        assert [t.parameters["min_df"] for t in found.trials] == [1]
        with pytest.raises(ValueError, match="no terms are left"):
            tuned(X=texts, y=labels, X_valid=texts, y_valid=labels, space=space.fixed(min_df=2))


def fixed_but(*names: str) -> dict[str, Any]:
    """The values of `WORDS` that are fixed, except for some names."""
    return {name: values[0] for name, values in vars(WORDS).items() if name not in names}


START = {"C": 1.0, "ngram_range": (1, 1), "char_ngram_range": None}
CHARACTERS = {**START, "char_ngram_range": (3, 4)}


class TestScreening:
    @pytest.mark.parametrize(
        ("candidate", "score", "is_left_out"),
        [
            (CHARACTERS, 0.4, True),
            (CHARACTERS, 0.5, True),
            (CHARACTERS, 0.6, False),
            ({**START, "ngram_range": (1, 2)}, 0.4, False),  # not that slow
            ({**CHARACTERS, "C": 2.0}, 0.4, False),  # C may be the reason
        ],
    )
    def test_characters_that_do_not_help(
        self, candidate: dict[str, Any], score: float, is_left_out: bool
    ) -> None:
        screening = Screening(START)
        assert not screening.record(START, trial(0.5))
        assert screening.record(candidate, trial(score)) == is_left_out
        assert screening.is_worth_a_trial({**CHARACTERS, "C": 4.0}) != is_left_out
        assert screening.is_worth_a_trial({**START, "ngram_range": (1, 2)})

    def test_a_search_leaves_them_out(self) -> None:
        space = SearchSpace(char_ngram_range=(None, (2, 3))).fixed(**fixed_but("C", "char_ngram_range"))
        found = tuned(space=space, metric="P@1")
        assert [t.parameters["char_ngram_range"] for t in found.trials] == [None, (2, 3), *[None] * 5]

    def test_a_search_keeps_those_that_help(self) -> None:
        rng = np.random.default_rng(0)
        names = [f"{a}{b}" for a in "abcde" for b in "xyzvw"]
        labels = [(names[i],) for i in rng.integers(len(names), size=400)]
        texts = [f"{row[0]}{number}" for number, row in enumerate(labels)]  # no word comes twice
        space = SearchSpace(char_ngram_range=(None, (2, 3))).fixed(**fixed_but("C", "char_ngram_range"))
        found = tuned(X=texts, y=labels, space=space, metric="P@1")
        assert [t.parameters["char_ngram_range"] for t in found.trials].count((2, 3)) == 6


class TestInputs:
    def test_a_tagger_sets_the_parameters_that_are_not_searched(self) -> None:
        as_in_json: Any = [1, 2]
        vectorizer = TextVectorizer(stop_words=["and"], ngram_range=as_in_json, n_jobs=2)
        found = tuned(estimator=Tagger(SEED, vectorizer))
        assert found.text_given == {"stop_words": ["and"]}
        assert found.trials[0].parameters["ngram_range"] == (1, 2)  # where the search starts
        assert vectorizer.ngram_range is as_in_json
        tagger = found.estimator(n_jobs=2)
        assert isinstance(tagger, Tagger)
        assert tagger.vectorizer is not None
        assert tagger.vectorizer.stop_words == ["and"]
        assert tagger.classifier.get_params()["random_state"] == 3
        assert tagger.fit(TEXTS, LABELS).tag("left1 right2", k=1)[0].label == "left1 right2"

    def test_the_defaults_of_a_tagger(self) -> None:
        found = tuned(estimator=Tagger())
        assert found.text_given == {}
        assert isinstance(tuned(estimator=None, X=tuple(TEXTS)).estimator(), Tagger)

    def test_texts_of_numpy(self) -> None:
        one = tuned(X=np.array(TEXTS, dtype=object))
        assert one.text_parameters == tuned().text_parameters

    def test_other_units_and_hashing_keep_their_ranges(self) -> None:
        characters = TextVectorizer(analyzer="char_wb", ngram_range=(2, 3))
        found = tuned(estimator=Tagger(SEED, characters), space=ONE.fixed(min_df=1))
        assert {t.parameters["ngram_range"] for t in found.trials} == {(2, 3)}
        assert {t.parameters["char_ngram_range"] for t in found.trials} == {None}
        assert found.text_given == {"analyzer": "char_wb"}
        hashing = TextVectorizer(n_features=64)
        found = tuned(estimator=Tagger(SEED, hashing), space=ONE.fixed(char_ngram_range=None))
        assert {t.parameters["min_df"] for t in found.trials} == {1}
        assert found.text_given == {"n_features": 64}
        buckets = TextVectorizer(buckets=64, ngram_range=(1, 2))
        found = tuned(estimator=Tagger(SEED, buckets), space=ONE.fixed(min_df=1))
        assert {trial.parameters["ngram_range"] for trial in found.trials} == {(1, 2)}
        assert {trial.parameters["char_ngram_range"] for trial in found.trials} == {None}
        assert found.text_given == {"buckets": 64}

    def test_numbers_have_no_text_parameters(self) -> None:
        found = tuned(X=np.eye(6)[np.arange(60) % 6], y=np.arange(60) % 6)
        assert found.text_parameters is None
        assert "ngram_range" not in found.chosen.parameters
        assert isinstance(found.estimator(), LabelTreeClassifier)

    def test_a_file(self, tmp_path: Path) -> None:
        found = tuned(estimator=Tagger(SEED, TextVectorizer(stop_words=["and"])))
        found.save(tmp_path / "p.json")
        assert json.loads((tmp_path / "p.json").read_text())["text"]["ngram_range"] == [1, 2]
        read = read_parameters(tmp_path / "p.json")
        text = read.pop("text")
        assert read == found.parameters
        assert text == {**(found.text_parameters or {}), "stop_words": ("and",)}
        TextVectorizer(**text).fit(TEXTS)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ({"text": {"ngrams": 1}}, "'ngrams' is not a parameter that a file may have"),
            ({"text": {"min_df": 0}}, "'min_df' must be an integer of at least 1"),
            ({"text": 3}, "text must be an object of parameters of texts, got 3"),
        ],
    )
    def test_wrong_files(self, tmp_path: Path, content: object, message: str) -> None:
        (tmp_path / "p.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match=message):
            read_parameters(tmp_path / "p.json")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"space": SearchSpace(min_df=(0,))}, "'min_df' must be an integer of at least 1"),
            ({"estimator": Tagger(vectorizer=3)}, "parameters of TextVectorizer, got an int"),  # type: ignore[arg-type] # wrong on purpose
            ({"estimator": Tagger(classifier=3)}, "LabelTreeClassifier, alone or in a Tagger, got an int"),
            ({"X": TEXTS[:50]}, "X and y must have the same number of rows, got 50 and 120"),
        ],
    )
    def test_mistakes(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            tuned(**arguments)


class TestInterrupt:
    def test_the_result_so_far_is_returned(self) -> None:
        seen: list[Trial] = []

        def interrupt(one: Trial) -> None:
            seen.append(one)
            if len(seen) == 2:
                raise KeyboardInterrupt

        found = tuned(space=SearchSpace(), on_trial=interrupt)
        assert found.is_interrupted
        assert found.trials == tuple(seen)
        assert found.parameters["random_state"] == 3
        assert not tuned().is_interrupted

    def test_before_the_first_trial_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(*arguments: Any, **options: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(LabelTreeClassifier, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tuned()
