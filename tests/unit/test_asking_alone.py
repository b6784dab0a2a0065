"""Programs that only ask saved models do without scikit-learn, and get the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labeltree.text import Tagger

GOLDEN = Path(__file__).parents[1] / "golden"

#: Asks every golden model that is read by numbers, by named features or by texts.
QUESTIONS = """
import json, sys
if sys.argv[2] == "alone":
    from labeltree.scikit_learn import leave_out
    leave_out()
from pathlib import Path
import numpy as np
from scipy.sparse import eye
from labeltree.model_file import load
answers = {}
for path in sorted(Path(sys.argv[1]).glob("version-*/*/model.json")):
    model = load(path.parent)
    if not model.model_.takes_text:
        rows = eye(3, model.n_features_in_, format="csr", dtype=np.float32)
    elif model.model_.learns:
        rows = [{"boat": 1.0, "sea": 2.0}, {"cat": 1.0}]
    else:
        rows = ["a boat at sea", "cats and dogs"]
    labels, probabilities = model.predict_topk(rows, 3)
    chosen = model.predict(rows)
    chosen = chosen if isinstance(chosen, list) else np.asarray(getattr(chosen, "todense", lambda: chosen)()).tolist()
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    answers[str(path.parent)] = [
        type(model).__name__, labels.tolist(), probabilities.tolist(), chosen, sorted(parameters)
    ]
print(json.dumps(answers, default=str))
"""


def asked(how: str) -> dict[str, object]:
    # The tokenizer of a model may be imported.
    environment = {**os.environ, "LABELTREE_ALLOW_IMPORT": "tests.tokenizers:split_at_spaces"}
    command = [sys.executable, "-W", "ignore", "-c", QUESTIONS, str(GOLDEN), how]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=GOLDEN.parents[1])
    answers: dict[str, object] = json.loads(done.stdout)
    return answers


def test_models_of_all_kinds_answer_the_same() -> None:
    alone = asked("alone")
    assert len(alone) > 50
    assert alone == asked("usual")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    texts = ["a boat at sea", "the old sea", "cats and dogs", "a dog asleep"] * 3
    labels = [["boat", "sea"], ["sea"], ["cat", "dog"], ["dog"]] * 3
    Tagger().fit(texts, labels).save(folder / "tags")
    lines = (json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("command", "left_out"),
    [(["predict", "texts.jsonl"], ["scipy.sparse", "sklearn"]), (["tag", "a boat at sea"], ["sklearn"])],
)
def test_commands_tag_texts_without_slow_imports(
    folder: Path, command: list[str], left_out: list[str]
) -> None:
    words = ["labeltree", command[0], str(folder / "tags"), command[1].replace("texts", f"{folder}/texts")]
    source = (
        "import sys\n"
        "from labeltree.cli import main\n"
        f"sys.argv = {words}\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as exit:\n"
        "    assert not exit.code\n"
        f"assert not set({left_out}) & set(sys.modules), 'imported to tag texts'\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sea" in done.stdout
