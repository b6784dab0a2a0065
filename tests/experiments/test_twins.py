from dataclasses import replace

import pytest
from experiments import twins
from experiments.runner.features import Problem
from tests.documents import documents

#: Of the twins that take long.
FEW_TREES = {"FastXML": {"n_trees": 3}, "PfastreXML": {"n_trees": 3}}


@pytest.mark.parametrize("name", twins.PAIRS)
def test_a_pair_is_compared(name):
    X, y = documents(400, 80, 12)
    pair = twins.PAIRS[name]
    pair = replace(pair, parameters={**pair.parameters, **FEW_TREES.get(name, {})})
    ours, twin, difference, *seconds = map(
        float, twins.compare(pair, Problem(X[:200], y[:200], X[200:], y[200:]))
    )
    assert difference == pytest.approx(ours - twin, abs=0.011)
    assert min(ours, twin) > 30  # the most frequent label alone has as much
    assert min(seconds) >= 0
