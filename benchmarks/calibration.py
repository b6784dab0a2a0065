"""What calibration does to probabilities, precision and search. The tables in docs/calibration.md.

python -m benchmarks.calibration eurlex57k tate
"""

from __future__ import annotations

import sys
import time
from typing import Any

from sklearn.model_selection import train_test_split

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier
from labeltree.calibration import CalibrationReport, measure_calibration
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate, f_beta
from labeltree.training.losses import LOSSES

SETTINGS: dict[str, dict[str, Any]] = {
    "squared_hinge": {"loss": "squared_hinge"},
    "logistic": {"loss": "logistic"},
    "logistic, propensity": {"loss": "logistic", "label_weight": "propensity"},
}
HELD_OUT = 0.2
SEED = 0

#: Number of times that each batch is predicted. The fastest one gives the processor time.
REPEATS = 5


def main(names: list[str]) -> None:
    details = []
    columns = ["data", "training", "calibration", "log loss", "error", "P@1", "P@3", "P@5", "micro-F1 at 0.5"]
    columns += ["nodes asked", "µs per row"]
    print(f"| {' | '.join(columns)} |")
    print("|" + " --- |" * len(columns))
    for name in names or ["eurlex57k", "tate"]:
        train, test = prepare(name)
        X, y = read_xmlc(train)
        X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
        X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=HELD_OUT, random_state=SEED)
        for training, parameters in SETTINGS.items():
            model = LabelTreeClassifier(random_state=SEED, **parameters).fit(X_train, y_train)
            for method in ("by fit", "none", "platt", "isotonic"):
                if method == "by fit" and not hasattr(model, "calibration_"):
                    continue  # weights of labels
                if method == "none":
                    model.set_params(link=LOSSES[model.loss].links[0])
                elif method != "by fit":
                    model.calibrate(X_valid, y_valid, method=method)
                report = measure_calibration(model, X_test, y_test)
                print(
                    f"| {name} | {training} | {method} | {_figures(model, report, X_test, y_test)} |",
                    flush=True,
                )
                details.append(f"{name}, {training}, {method}\n{report}")
    print("\n" + "\n\n".join(details))


def _figures(model: LabelTreeClassifier, report: CalibrationReport, X: Any, y: Any) -> str:
    labels, _, evaluations = model.predict_topk(X, 5, return_evaluations=True)
    precision = evaluate(y, labels)
    micro_f1 = f_beta(y, model.predict(X), average="micro")
    return " | ".join(
        [
            f"{report.labels.log_loss_per_row:.2f}",
            f"{report.labels.error_per_row:.2f}",
            *(f"{100 * precision[metric]:.2f}" for metric in ("P@1", "P@3", "P@5")),
            f"{100 * micro_f1:.2f}",
            f"{evaluations.mean():.0f}",
            f"{_microseconds(model, X):.1f}",
        ]
    )


def _microseconds(model: LabelTreeClassifier, X: Any) -> float:
    taken = []
    for _ in range(REPEATS):
        started = time.process_time()
        model.predict_topk(X, 5)
        taken.append(time.process_time() - started)
    return 1e6 * min(taken) / int(X.shape[0])


if __name__ == "__main__":
    main(sys.argv[1:])
