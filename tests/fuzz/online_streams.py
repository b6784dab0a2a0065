"""Online streams: whatever a model learns and forgets, its counts are right, and a reloaded model is the same."""

from __future__ import annotations

import json
import random
import shutil
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.fuzz.mutation import random_text
from tests.fuzz.target import Case, Target, is_refusal

from labeltree import OnlineLabelTreeClassifier

STEPS = "steps.json"
EXTREMES = [0.0, -0.0, 1e-45, 1e-38, 1e25, -1e25, 1e30, 3.4e38, -3.4e38, float("inf"), float("nan")]
FORMS = ("names", "sparse", "dense")
N_DENSE = 5


class OnlineStreams(Target):
    """Plays a random sequence of learning, forgetting, saving, loading, freezing and predicting."""

    def seeds(self) -> list[Case]:
        rng = random.Random(0)
        return [_case({}, form, [_learn(rng, form) for _ in range(3)]) for form in FORMS]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        known = json.loads(rng.choice(corpus)[STEPS])
        form = known["form"]
        parameters = {**known["parameters"], **_parameters(rng)} if rng.random() < 0.5 else _parameters(rng)
        steps = known["steps"][: rng.randrange(len(known["steps"]) + 1)]
        steps += [_step(rng, form) for _ in range(rng.choice([1, 3, 10, 30]))]
        return _case(parameters, form, steps[-60:])

    def run(self, case: Case) -> str:
        given = json.loads(case[STEPS])
        player = Player(
            OnlineLabelTreeClassifier(**given["parameters"]), given["form"], self.folder / "saved"
        )
        try:
            player.check_parameters()
            refused = 0
            for step in given["steps"]:
                refused += player.play(step)
            player.reload()
        finally:
            shutil.rmtree(self.folder / "saved", ignore_errors=True)
        kinds = sorted({step["do"] for step in given["steps"]})
        parameters = sorted(
            (key, value) for key, value in given["parameters"].items() if isinstance(value, str)
        )
        return f"played: {parameters} {kinds} {refused > 0}"


class Player:
    """A model, and what is known of it: how often each label was seen, and when last."""

    def __init__(self, model: OnlineLabelTreeClassifier, form: str, folder: Any) -> None:
        self.model = model
        self.form = form
        self.folder = folder
        self.n_examples = 0
        self.counts: dict[Any, int] = {}
        self.last_seen: dict[Any, int] = {}

    def check_parameters(self) -> None:
        self.model.check_parameters()

    def play(self, step: dict[str, Any]) -> bool:
        """Do a step, and check the model. Return whether the model refused the step."""
        do = {
            "learn": self.learn,
            "forget": self.forget,
            "reload": self.reload,
            "freeze": self.freeze,
            "predict": self.predict,
        }[step["do"]]
        arguments = {key: value for key, value in step.items() if key != "do"}
        if self.n_examples == 0 and step["do"] != "learn":
            return False
        do(**arguments)
        self.check()
        return bool(self.was_refused)

    was_refused = False

    def learn(self, rows: list[Any], labels: list[list[Any]], weight: list[float] | None, ask: bool) -> None:
        X = as_rows(rows, self.form)
        self.was_refused = False
        try:
            if ask:
                self.model.predict_then_learn(X, labels, k=2, sample_weight=weight)
            else:
                self.model.partial_fit(X, labels, sample_weight=weight)
        except ValueError as error:
            if not is_refusal(error):
                raise
            self.was_refused = True
        # A refused batch may have been learned up to the row that is at fault.
        n_learned = (self.model.n_examples_ if hasattr(self.model, "_model") else 0) - self.n_examples
        assert 0 <= n_learned <= len(labels)
        assert self.was_refused or n_learned == len(labels), f"learned {n_learned} of {len(labels)} examples"
        for row in labels[:n_learned]:
            for label in set(row):
                self.counts[label] = self.counts.get(label, 0) + 1
                self.last_seen[label] = self.n_examples
            self.n_examples += 1

    def forget(self, labels: int | None, not_seen_for: int | None) -> None:
        if labels is not None:
            gone = sorted(self.counts)[:labels]
            n_gone = self.model.forget(labels=gone)
        else:
            assert not_seen_for is not None
            gone = [label for label in self.counts if self.last_seen[label] < self.n_examples - not_seen_for]
            n_gone = self.model.forget(not_seen_for=not_seen_for)
        assert n_gone == len(gone), f"forgot {n_gone} labels instead of {len(gone)}"
        for label in gone:
            del self.counts[label]

    def reload(self) -> None:
        """Save and load; go on with the loaded model."""
        if self.n_examples == 0:
            return
        self.model.save(self.folder)
        loaded = OnlineLabelTreeClassifier.load(self.folder, verify=True)
        assert self.answers(loaded) == self.answers(self.model), "the loaded model answers differently"
        assert loaded.n_examples_ == self.n_examples
        self.model = loaded

    def freeze(self) -> None:
        if not self.counts:
            return
        frozen = self.model.freeze(prune=0)
        # Where features collide, one that was never learned has weights of others, which a frozen model has not.
        if self.form != "names" and self.model.weights in ("map", "dense") and self.model.search == "exact":
            np.testing.assert_allclose(
                self.answers(frozen)[1], self.answers(self.model)[1], rtol=1e-4, atol=1e-6
            )

    def predict(self) -> None:
        self.answers(self.model)

    def answers(self, model: Any) -> tuple[Any, Any]:
        """Return labels and probabilities for a few rows."""
        if not self.counts:
            return [], []
        rows = [{"a": 1.0, "b": 0.5}, {"c": 2.0, "never seen": 1.0}, {}]
        if self.form == "sparse":
            X: Any = sp.csr_matrix(np.eye(3, model.n_features_in_, dtype=np.float32))
        elif self.form == "dense":
            X = np.eye(3, N_DENSE, dtype=np.float32)
        else:
            X = rows
        found = model.predict_topk(X, k=3)
        probabilities = found.probabilities
        assert ((probabilities >= 0) & (probabilities <= 1)).all(), probabilities
        model.predict(X)
        return found.labels.tolist(), probabilities.tolist()

    def check(self) -> None:
        """Compare the model's counts with what is known."""
        if self.n_examples == 0:
            return
        assert self.model.n_examples_ == self.n_examples
        classes = self.model.classes_.tolist()
        counts = dict(zip(classes, self.model.label_counts_.tolist(), strict=True))
        assert counts == self.counts, (counts, self.counts)
        assert self.model.n_labels_ == len(self.counts)
        if self.counts:
            assert self.model.tree_.n_labels == len(self.counts)
        assert self.model.memory_["total"] >= 0


def as_rows(rows: list[Any], form: str) -> Any:
    """Return rows as a model takes them: dictionaries, a sparse matrix, or an array."""
    if form == "names":
        return rows
    if form == "dense":
        return np.array(rows, dtype=np.float64).reshape(len(rows), N_DENSE)
    width = max((index for row in rows for index, _ in row), default=0) + 1
    entries = [(i, index, value) for i, row in enumerate(rows) for index, value in dict(row).items()]
    i, j, v = zip(*entries, strict=True) if entries else ((), (), ())
    with np.errstate(over="ignore"):
        return sp.csr_matrix((np.array(v, dtype=np.float32), (i, j)), shape=(len(rows), width))


def _case(parameters: dict[str, Any], form: str, steps: list[dict[str, Any]]) -> Case:
    return {STEPS: json.dumps({"parameters": parameters, "form": form, "steps": steps}).encode()}


def _value(rng: random.Random) -> float:
    return rng.choice(EXTREMES) if rng.random() < 0.03 else rng.uniform(-2, 2)


def _row(rng: random.Random, form: str) -> Any:
    if form == "dense":
        return [_value(rng) for _ in range(N_DENSE)]
    n = rng.choice([0, 1, 3, 8])
    if form == "names":
        return {rng.choice(["a", "b", "c", "é", "", _name(rng)]): _value(rng) for _ in range(n)}
    return [[rng.choice([0, 1, 2, 7, 40, 300, 2000]), _value(rng)] for _ in range(n)]


def _labels(rng: random.Random) -> list[str]:
    known = [f"label {min(int(rng.paretovariate(0.7)), 300)}" for _ in range(rng.choice([0, 1, 1, 2, 4]))]
    return [_name(rng)] if rng.random() < 0.03 else known


def _name(rng: random.Random) -> str:
    """Return a name of any characters; few have half a surrogate pair, because these cannot be saved."""
    name = random_text(rng, 4)
    return name if rng.random() < 0.02 else name.encode(errors="ignore").decode()


def _learn(rng: random.Random, form: str) -> dict[str, Any]:
    n = rng.choice([1, 1, 2, 10])
    weight = [rng.choice([1.0, 0.0, 0.5, 1e6, 1e30]) for _ in range(n)] if rng.random() < 0.1 else None
    rows, labels = [_row(rng, form) for _ in range(n)], [_labels(rng) for _ in range(n)]
    return {"do": "learn", "rows": rows, "labels": labels, "weight": weight, "ask": rng.random() < 0.2}


def _step(rng: random.Random, form: str) -> dict[str, Any]:
    match rng.randrange(12):
        case 0:
            by_name = rng.random() < 0.5
            return {
                "do": "forget",
                "labels": rng.randrange(5) if by_name else None,
                "not_seen_for": None if by_name else rng.choice([1, 3, 10, 100, 2**40]),
            }
        case 1:
            return {"do": "reload"}
        case 2:
            return {"do": "freeze"}
        case 3:
            return {"do": "predict"}
        case _:
            return _learn(rng, form)


def _parameters(rng: random.Random) -> dict[str, Any]:
    weights = rng.choice(["map", "map", "dense", "hashed", "shared"])
    loss = rng.choice(["logistic", "squared_hinge"])
    links = ["auto", "sigmoid"] if loss == "logistic" else ["auto", "exp5", "exp2", "clip"]
    is_odd = rng.random() < 0.05  # parameters that are refused
    return {
        "policy": rng.choice(["complete", "random", "best_fit"]),
        "arity": rng.choice([2, 2, 3, 16, 2**30]),
        "alpha": rng.choice([0.0, 0.5, 1.0]),
        "weights": weights,
        "memory_mb": rng.choice([0.001, 0.01, 0.1]) if weights in ("hashed", "shared") else None,
        "expected_labels": rng.choice([1, 10, 1000]) if weights == "hashed" else None,
        "loss": loss,
        "link": "exp3" if is_odd else rng.choice(links),
        "solver": "adagrad" if weights == "shared" else rng.choice(["adagrad", "adagrad", "sgd", "fobos"]),
        "learning_rate": 1e30 if is_odd else rng.choice([None, None, 0.1, 10.0, 1e-3]),
        "normalize": rng.random() < 0.6,
        "bias": rng.random() < 0.7,
        "search": rng.choice(["exact", "beam"]),
        "beam": rng.choice([1, 10]),
        "normalize_siblings": rng.random() < 0.3,
        "n_jobs": rng.choice([None, 2]),
        "random_state": rng.randrange(100),
    }
