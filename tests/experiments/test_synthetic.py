import numpy as np
import pytest
from experiments import synthetic
from experiments.runner.synthetic.document import paper_table, precision_table, regret_table
from experiments.runner.synthetic.scales import ceilings, scale_for
from experiments.runner.synthetic.study import (
    SETTINGS,
    Comparison,
    Outcome,
    Run,
    Size,
    measure,
    models,
)
from scipy.stats import binomtest

DEPENDENT, _, INDEPENDENT, MULTI_CLASS = SETTINGS
SMALL = Size(n_rows=4000, n_labels=8)


def test_half_of_the_rows_are_for_training_and_a_seed_makes_the_same_problem():
    problem = Run(DEPENDENT, 1.0, SMALL, 3).problem()
    again = Run(DEPENDENT, 1.0, SMALL, 3).problem()
    assert problem.X_train.shape == problem.X_test.shape == (2000, 3)
    assert problem.y_train.shape == problem.y_test.shape == problem.eta_test.shape == (2000, 8)
    np.testing.assert_array_equal(problem.X_test, again.X_test)
    np.testing.assert_array_equal(problem.y_test, again.y_test)
    assert not np.isin(problem.X_test[:, 0], problem.X_train[:, 0]).any()


def test_both_models_have_the_same_binary_tree_with_a_label_per_leaf():
    problem = Run(INDEPENDENT, 1.0, Size(n_rows=400), 0).problem()
    trees = [model.fit(problem.X_train, problem.y_train).tree_ for model in models(problem, n_jobs=1)]
    assert trees[0] == trees[1]
    assert {len(trees[0].children(v)) for v in trees[0].inner_nodes} == {2}
    assert (trees[0].n_labels, trees[0].n_nodes) == (32, 63)


def test_both_are_the_same_model_of_multi_class_data():
    problem = Run(MULTI_CLASS, 8.0, SMALL, 0).problem()
    tree, softmax = (model.fit(problem.X_train, problem.y_train) for model in models(problem, n_jobs=1))
    found, other = tree.predict_topk(problem.X_test, 8), softmax.predict_topk(problem.X_test, 8)
    np.testing.assert_array_equal(found.labels, other.labels)
    np.testing.assert_array_equal(found.probabilities, other.probabilities)


@pytest.fixture(scope="module")
def outcomes():
    return {
        setting.name: [measure(Run(setting, 1.0, SMALL, seed).problem()) for seed in range(3)]
        for setting in SETTINGS
    }


def test_precision_is_near_the_ceiling_and_not_above_it_in_expectation(outcomes):
    for runs in outcomes.values():
        for run in runs:
            assert run.ceiling - 0.06 < run.tree_expected <= run.ceiling
            assert run.ceiling - 0.1 < run.softmax_expected <= run.ceiling
            # 2,000 rows: a deviation of at most 0.011
            assert abs(run.tree - run.tree_expected) < 0.045
            assert abs(run.softmax - run.softmax_expected) < 0.045


def test_multi_class_data_make_for_ties_only_and_every_row_has_a_label(outcomes):
    for run in outcomes[MULTI_CLASS.name]:
        assert (run.tree, run.tree_expected) == (run.softmax, run.softmax_expected)
        assert run.unlabelled == 0


def test_rows_without_labels_are_counted(outcomes):
    """Eight labels of probability a half: 1 of 256 rows has none."""
    assert 0 < np.mean([run.unlabelled for run in outcomes[INDEPENDENT.name]]) < 0.012


@pytest.mark.parametrize("setting", SETTINGS[:2], ids=lambda setting: setting.name)
def test_trees_are_better_where_labels_depend_on_each_other(setting):
    runs = [measure(Run(setting, 1.0, Size(n_rows=8000, n_labels=16), seed).problem()) for seed in range(3)]
    assert all(run.tree_expected > run.softmax_expected for run in runs)


def runs_with(*differences):
    return [Outcome(0.5 + d, 0.5, 0.5 + d, 0.5, 0.9, 0.0) for d in differences]


def test_the_sign_test_is_the_papers():
    line = DEPENDENT.paper
    compared = Comparison.of([1.0] * 45 + [0.0] * 5, [0.0] * 45 + [1.0] * 5)
    assert (compared.wins, compared.ties, compared.losses) == line.counts
    assert compared.p_value == pytest.approx(line.p_value, rel=1e-3)
    assert compared.difference.value == pytest.approx(0.8)


def test_the_paper_counted_ties_as_if_they_were_losses():
    line = INDEPENDENT.paper
    wins, ties, losses = line.counts
    assert binomtest(wins, 50).pvalue == pytest.approx(line.p_value, rel=1e-3)
    compared = Comparison.of([1.0] * wins + [0.0] * (ties + losses), [0.0] * (wins + ties) + [1.0] * losses)
    assert (compared.wins, compared.ties, compared.losses) == line.counts
    assert compared.p_value == pytest.approx(0.77, abs=0.005)


def test_where_all_tie_there_is_no_test():
    assert Comparison.of([0.5, 0.6], [0.5, 0.6]).p_value is None
    *_, line = precision_table({"same": runs_with(0, 0)})
    assert line.endswith("| 0 | 2 | 0 | – |")


def test_tables():
    *_, line = precision_table({"a": runs_with(0.01, 0.02, 0.03, -0.01)})
    assert line == "| a | 90.00 ± 0.00 | 51.25 ± 0.85 | 50.00 ± 0.00 | +1.25 ± 0.85 | 3 | 0 | 1 | 0.62 |"
    *_, line = regret_table({"a": runs_with(0.01, 0.03)})
    assert line == (
        "| a | 38.000 ± 1.000 | 40.000 ± 0.000 | +2.000 ± 1.000 | 2 | 0 | 0 | 0.5 | 0.00 ± 0.00 |"
    )
    assert list(paper_table())[2:] == [
        "| dependent | 72.31 ± 0.94 | 71.29 ± 0.98 | 45 | 0 | 5 | 4.2e-09 |",
        "| independent | 32.64 ± 0.08 | 32.66 ± 0.08 | 22 | 3 | 25 | 0.48 |",
        "| multi-class | 61.23 ± 1.14 | 61.23 ± 1.14 | 0 | 50 | 0 | – |",
    ]


def test_scales_that_give_the_levels_of_the_paper():
    size, seeds = Size(n_rows=500), range(4)
    for setting in (DEPENDENT, MULTI_CLASS):
        found = scale_for(setting, size, seeds)
        assert found.ceiling.value == pytest.approx(setting.paper.tree[0] / 100, abs=1e-3)
        assert np.mean(ceilings(setting, found.scale, size, seeds)) == pytest.approx(found.ceiling.value)


def test_no_scale_makes_the_best_of_many_independent_labels_less_probable_than_a_half():
    found = scale_for(INDEPENDENT, Size(n_rows=500), range(4))
    assert found.scale is None
    assert found.ceiling.value == pytest.approx(0.5, abs=1e-3)


def test_the_ceilings_at_weights_of_length_1():
    """What the text of the paper makes for: far from the levels of its table."""
    size, seeds = Size(n_rows=2000), range(10)
    assert np.mean(ceilings(INDEPENDENT, 1.0, size, seeds)) == pytest.approx(0.668, abs=0.005)
    assert np.mean(ceilings(MULTI_CLASS, 1.0, size, seeds)) == pytest.approx(0.058, abs=0.002)


def test_the_command_writes_a_page_and_a_picture_and_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    output = tmp_path / "results" / "page.md"
    sizes = ["--runs", "2", "--rows", "400", "--labels", "4", "--threads", "1"]
    command = [*sizes, "--runs-folder", str(tmp_path / "runs"), "--output", str(output)]
    monkeypatch.setattr(synthetic, "SWEEP", (0.3, 30.0))
    synthetic.main(command)
    text = output.read_text()
    for setting in SETTINGS:
        assert f"| {setting.name} | " in text
    assert "| independent | 32.64 ± 0.08 | none | 50.0" in text
    assert len([line for line in text.splitlines() if line.startswith(("| 0.3 | ", "| 30 | "))]) == 2
    assert output.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert "| multi-class | " in capsys.readouterr().out

    def fail(*_):
        raise AssertionError("a finished run was repeated")

    monkeypatch.setattr(synthetic, "measure", fail)
    output.unlink()
    synthetic.main(command)
    assert output.read_text().rpartition("\nMade by")[0] == text.rpartition("\nMade by")[0]  # in less time
    with pytest.raises(AssertionError, match="repeated"):
        synthetic.main([*command, "--scale", "2"])


def test_only_the_papers_study_is_written_into_the_repository(capsys):
    assert synthetic.parse([]).output == synthetic.RESULTS / "synthetic.md"
    for option in (["--runs", "5"], ["--scale", "2"], ["--rows", "1000"], ["--labels", "8"]):
        assert synthetic.parse(option).output.is_relative_to(synthetic.FOLDER)
    for wrong in (["--runs", "0"], ["--scale", "0"], ["--labels", "1"], ["--rows", "1"]):
        with pytest.raises(SystemExit):
            synthetic.parse(wrong)
    assert "--scale must be above 0" in capsys.readouterr().err
