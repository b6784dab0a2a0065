"""The summary is made of the pages: their figures decide the claims, and it says which pages are old."""

import re

import pytest
from experiments import summary
from experiments.runner.document import page
from experiments.runner.figures import summarise
from experiments.runner.stored import read_paper
from experiments.runner.tables import load_table

COSTS = {"train_cpu_s": 1.0, "batch_cpu_ms": 0.1, "model_mb": 2.0}


def write(table, folder, parts):
    """The page of a table of runs of these P@1."""
    lines = {
        data: summarise(
            [
                (name, [{"P@1": p, "P@3": p, "P@5": p, **COSTS} for p in runs], "")
                for name, runs in rows.items()
            ]
        )
        for data, rows in parts.items()
    }
    stamp = summary.stamp_of_table(table).line("make", "seed 0", 2, 1.0)
    (folder / f"{table.name}.md").write_text(page(table, lines, [stamp]))


@pytest.fixture
def results(tmp_path):
    write(
        load_table("tree_structures"),
        tmp_path,
        {
            "tate": {"k-means": [0.800, 0.801, 0.802], "random": [0.700, 0.701, 0.702]},
            "bibtex": {"k-means": [0.600], "random": [0.606]},
            "delicious": {"k-means": [0.600], "Huffman": [0.605]},
        },
    )
    return tmp_path


def finding(results, number, text):
    found = {section.number: findings for section, findings in summary.read_all(results).items()}
    return next(one for one in found[number] if one.comparison.text == text)


def test_figures_of_pages_decide_the_claims(results):
    one = finding(results, "7.1.4", "k-means is more precise than random (P@1)")
    assert one.table == "tree_structures"
    assert {data: round(points.value, 6) for data, points in one.comparison.ours.items()} == {
        "tate": 10.0,
        "bibtex": -0.6,
    }
    assert one.comparison.ours["tate"].error == pytest.approx(100 * (2 / 3) ** 0.5 * 0.001, rel=0.1)
    assert one.verdict == "on 1 of 2 sets, the opposite on 1 (-0.6 to +10.0 points)"
    paper = read_paper()["tree_structures"]
    assert len(one.comparison.papers) == 8
    assert one.comparison.papers["WikiLSHTC-320K"] == pytest.approx(
        paper["k-means"]["P@1"]["WikiLSHTC-320K"] - paper["random"]["P@1"]["WikiLSHTC-320K"]
    )


def test_a_table_that_was_not_run_decides_nothing_and_is_old(results):
    one = finding(results, "7.1.2", "a beam of 10 is as precise (P@1)")
    assert one.verdict == "not run with these settings"
    assert one.comparison.ours == {}
    old = summary.old_pages(results)
    assert "search_methods" in old
    assert "tree_structures" not in old
    path = results / "tree_structures.md"
    path.write_text(path.read_text().replace("definition `", "definition `0"))
    assert "tree_structures" in summary.old_pages(results)


def test_the_page_has_every_claim_of_every_section_and_says_what_is_old(results):
    text = "\n".join(summary.page(summary.read_all(results), ["pruning"]))
    claims = [line for line in text.splitlines() if re.match(r"\| [\da][\w.]* \[", line)]
    tables = [table for section in summary.SECTIONS for table in section.tables]
    expected = {(table, claim.text, claim.figure) for table in tables for claim in load_table(table).claims}
    assert len(claims) == len(expected)
    assert (
        "| 7.1.4 [`tree_structures`](tree_structures.md) | k-means is more precise than random (P@1) "
        "| on 1 of 2 sets, the opposite on 1 (-0.6 to +10.0 points) | +0.4 to +17.9 on 8 sets |"
    ) in claims
    assert "with other settings: `pruning`." in text
    assert "with other settings" not in "\n".join(summary.page(summary.read_all(results), []))
    for section in summary.SECTIONS:
        assert f"## {section.number} {section.title}\n\n**The paper:** {section.paper}.\n" in text
        assert section.why
        assert f"**Why we may differ:** {section.why}." in text


def test_a_picture_is_drawn_of_every_section(results):
    summary.main(["--results", str(results)])
    assert (results / "summary.md").read_text().startswith("# The study in two minutes")
    for section in summary.SECTIONS:
        path = results / f"section-{section.number}.png"
        assert path.read_bytes().startswith(b"\x89PNG")
        assert f"({path.name})" in (results / "summary.md").read_text()
