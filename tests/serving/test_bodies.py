"""A large body is cut into pieces that are checked one by one: with the same result as in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeltree.serving import Limits, bodies
from labeltree.serving.errors import Refusal
from labeltree.serving.schemas import ExplainRequest, LearnRequest, PredictRequest

ROW = {"indices": [1, 5, 9], "values": [0.5, -1.0, 2.0]}
TEXTS = st.text(max_size=30) | st.sampled_from(
    ['"', "\\", '\\"', '["a", {"b": ', "]}", "\\\\", "é\u2028", ","]
)
NAMES = st.text(min_size=1, max_size=5)
NUMBERS = st.floats(-1e6, 1e6) | st.integers(-9, 9)
LABELS = TEXTS | st.integers(-9, 9)

INPUTS = st.one_of(
    st.fixed_dictionaries({"texts": st.lists(TEXTS, min_size=1, max_size=40)}),
    st.fixed_dictionaries({"text": TEXTS}),
    st.fixed_dictionaries({"rows": st.lists(st.just(ROW), min_size=1, max_size=40)}),
    st.fixed_dictionaries(
        {"features": st.lists(st.dictionaries(NAMES, NUMBERS | TEXTS, max_size=5), min_size=1, max_size=20)}
    ),
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 9),
        "allow": st.lists(LABELS, max_size=40),
        "deny": st.lists(LABELS, max_size=40),
        "label_weight": st.just("propensity") | st.dictionaries(NAMES, st.floats(0, 9), max_size=40),
        "threshold": st.floats(0, 1),
    },
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PIECE_BYTES", 40)


@settings(max_examples=200, deadline=None)
@given(
    body=st.tuples(INPUTS, OPTIONS).map(lambda both: {**both[0], **both[1]}),
    indent=st.none() | st.just(1),
    ascii_only=st.booleans(),
)
def test_pieces_are_put_together(body: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    written = json.dumps(body, indent=indent, ensure_ascii=ascii_only).encode()
    expected = bodies.parse(PredictRequest, written)
    found = bodies.parse_large(PredictRequest, written, Limits())
    assert found == expected
    assert found.model_fields_set == expected.model_fields_set


def test_examples_and_explanations_are_put_together() -> None:
    examples = [{"text": f"a {i}", "labels": ["a", str(i)]} for i in range(100)]
    found = bodies.parse_large(LearnRequest, json.dumps({"examples": examples}).encode(), Limits())
    assert [example.text for example in found.examples] == [example["text"] for example in examples]
    for one in (
        {"row": {"indices": list(range(100)), "values": [1.0] * 100}},
        {"features": {"a": 1.0, "b": "c"}},
    ):
        written = json.dumps({"label": "a", **one}).encode()
        assert bodies.parse_large(ExplainRequest, written, Limits()) == bodies.parse(ExplainRequest, written)


@pytest.mark.parametrize("space", [0, 98, 150, 5000])
@pytest.mark.parametrize("key", ["texts", r"\u0074exts", r"\u0074\u0065\u0078\u0074\u0073"])
def test_a_key_may_be_escaped_and_far_from_its_list(key: str, space: int) -> None:
    gap = " " * space
    texts = [f"boat {i}" for i in range(50)]
    written = f'{{"k": 3, "{key}"{gap}:{gap}{json.dumps(texts)}}}'.encode()
    found = bodies.parse_large(PredictRequest, written, Limits())
    assert found == bodies.parse(PredictRequest, written)
    assert found.texts == texts


WRONG: list[tuple[str, int, str]] = [
    (json.dumps({"rows": [ROW] * 30 + [{"indices": [2], "values": ["a"]}]}), 422, "rows[30].values[0]: "),
    (json.dumps({"texts": ["a"] * 77 + [7]}), 422, "texts[77]: "),
    (json.dumps({"texts": ["a"] * 50, "k": 0}), 422, "k: "),
    (json.dumps({"texts": ["a"] * 50, "x": [[]] * 50}), 422, "x: there is no such field"),
    (json.dumps({"text": "a", "texts": ["a"] * 50}), 422, "got text, texts"),
    (json.dumps({"texts": ["a"] * 101}), 422, "texts: at most 100 in one request, got 101"),
    (
        json.dumps({"rows": [{"indices": list(range(300)), "values": [1] * 300}]}),
        422,
        "rows[0]: at most 500 values",
    ),
    (json.dumps({str(i): i for i in range(60)}), 422, "the body may have at most 50 fields"),
    (
        '{"rows": [{"indices": [1], "values": [1], "values": [2]}%s]}' % (", {}" * 20),
        422,
        "'values' is there twice",
    ),
    (
        '{{"text": "a", "label_weight": {{"x": 1, {}, "x": 2}}}}'.format(
            ", ".join(f'"{i}": 1' for i in range(50))
        ),
        422,
        "the key 'x' is there twice",
    ),
    (
        '{{"texts": ["a"], "texts": [{}]}}'.format(", ".join(['"b"'] * 50)),
        422,
        "the key 'texts' is there twice",
    ),
    ('{{"texts": [{}'.format(", ".join(['"b"'] * 50)), 400, "quotes and brackets do not match"),
    ('{"texts": ["%s"]}' % ('a", "' * 20 + '"'), 400, "quotes and brackets do not match"),
    ('{{"texts": [{}}}]'.format(", ".join(['"b"'] * 50)), 400, "the body is not JSON"),
    ('{{"texts": [{},]}}'.format(", ".join(['"b"'] * 50)), 400, "the body is not JSON"),
    ('{{"text": "a", "allow": [{}, ]}}'.format(", ".join(['"b"'] * 50)), 400, "allow has a comma too many"),
    ('{{"text": "a", "allow": [, {}]}}'.format(", ".join(['"b"'] * 50)), 400, "the body is not JSON"),
    (
        '{{"text": "a", "label_weight": {{{},}}}}'.format(", ".join(f'"{i}": 1' for i in range(50))),
        400,
        "a comma too many",
    ),
    ('{{"texts": [{},, "c"]}}'.format(", ".join(['"b"'] * 50)), 400, "the body is not JSON"),
    ('{{"text": {}1{}}}'.format("[" * 300, "]" * 300), 400, "nested more than 200 times"),
    ("[" + ", ".join(["1"] * 50) + "]", 422, "should be an object"),
    ('["texts", [{}]]'.format(", ".join(['"b"'] * 50)), 422, "should be an object"),
    (json.dumps({"t" * 5000: ["a"] * 50}), 422, "there is no such field"),
    (json.dumps({'\\x"': ["a"] * 50}), 422, "there is no such field"),
    (json.dumps({"\ud800": [[1] * 600]}), 422, "the body[0]: at most 500 values"),
    ("}" + '"a"' * 50 + "{", 400, "quotes and brackets do not match"),
    ("1" * 100, 400, "do not match"),
]


@pytest.mark.parametrize(("body", "status", "message"), WRONG, ids=lambda value: str(value)[:30])
def test_what_is_wrong_is_told_as_in_one_piece(body: str, status: int, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        bodies.parse_large(PredictRequest, body.encode(), Limits(rows=100, row_values=500))
    assert caught.value.status == status, caught.value.message
    assert message in caught.value.message
