"""Pages of reports: whole, harmless, readable without anything else; and `labeltree evaluate --report`."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.command_line import N_LABELS, make_rows, run, run_json, write_rows
from tests.small_models import small_data, small_model

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.data import read_xmlc, write_xmlc
from labeltree.report import measure_report, report_page
from labeltree.report.charts import Axis, bar_chart, line_chart
from labeltree.report.markup import table

VOID = {"meta", "line", "path", "circle", "rect"}


class Outline(HTMLParser):
    """What is on a page: elements that are open, headings, links and what the page would fetch."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attributes)
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if given.get("href") else []
        self.fetched += [given["src"]] if given.get("src") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def check_whole(page: str) -> Outline:
    outline = Outline(page)
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert all(link.startswith("#") and link[1:] in outline.ids for link in outline.links)
    assert outline.fetched == []
    assert not {"script", "link", "img", "iframe"} & set(outline.tags)
    assert "url(" not in page
    assert "://" not in page
    assert "nan" not in re.findall(r"\w+", page)
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        assert ElementTree.fromstring(svg).get("role") == "img"
    return outline


@pytest.fixture(scope="module")
def held_out() -> tuple[Any, list[list[str]]]:
    return small_data(seed=1)


def test_page_is_whole(held_out: Any) -> None:
    page = report_page(measure_report(small_model(), *held_out, k=3), "Small")
    outline = check_whole(page)
    assert page.startswith("<!DOCTYPE html>")
    assert outline.tags.count("h1") == 1
    assert outline.tags.count("h2") == 12
    assert outline.tags.count("svg") == 8
    assert "first of 2 trees" in page
    assert "upper bound" in page


def test_names_and_titles_mean_nothing_to_a_browser(held_out: Any) -> None:
    report = measure_report(small_model(), *held_out)
    page = report_page(report, "<script>alert(1)</script>", names=lambda label: f"<img src=x>{label}&\"'")
    check_whole(page)
    assert "&lt;img src=x&gt;läbel" in page


def test_online_models_say_what_is_left_out(held_out: Any) -> None:
    model = OnlineLabelTreeClassifier(random_state=0).fit(*small_data())
    page = report_page(measure_report(model, *held_out), "Online")
    check_whole(page)
    assert page.count("the nodes of an online tree cannot be asked") == 2
    assert "By tree level: nothing" in page


def test_one_row_and_two_labels() -> None:
    model = LabelTreeClassifier(random_state=0).fit(np.eye(2), [["a"], ["b"]])
    report = measure_report(model, np.eye(2)[:1], [["a"]])
    page = report_page(report, "Tiny")
    check_whole(page)
    assert "No label is true in 10 rows or more" in page


class TestCharts:
    def test_points_are_where_they_belong(self) -> None:
        axis = Axis("", 0, 1, [])
        chart = line_chart("Title", axis, axis, [0, 0.5, 1], {"one": [0, np.nan, 1]})
        (path,) = ElementTree.fromstring(chart).iter("path")
        assert path.get("d") == "M52.0 254.0L460.0 50.0"

    def test_heights_of_bars(self) -> None:
        chart = bar_chart("Title", ["a", "b"], Axis.upwards("", [4]), {"one": [1, 4]})
        heights = [float(bar.get("height", "")) for bar in ElementTree.fromstring(chart).iter("rect")]
        assert heights == [51, 204]

    def test_what_there_is_to_see_is_also_said(self) -> None:
        axis = Axis.upwards("", [1])
        chart = line_chart("A < B", axis, axis, [0, 1], {"one": [0.25, 0.5], "two": [1, np.nan]})
        svg = ElementTree.fromstring(chart)
        assert svg.get("aria-label") == "A < B. one: from 0.250 to 0.500; two: from 1 to 1"
        assert [text.text for text in svg.iter("text")][:3] == ["A < B", "one", "two"]

    def test_names_that_need_room_are_thinned(self) -> None:
        groups = [f"a long name {i}" for i in range(10)]
        chart = bar_chart("", groups, Axis.upwards("", [1]), {"": [1] * 10})
        names = [text.text for text in ElementTree.fromstring(chart).iter("text") if "long" in str(text.text)]
        assert 2 <= len(names) < 5

    @pytest.mark.parametrize("highest", [0.0, 1e-9, 0.013, 0.99, 1, 7.3, 123, 9.9e6])
    def test_axes_end_above_all_values(self, highest: float) -> None:
        axis = Axis.upwards("", [highest])
        assert axis.low == 0
        assert highest <= axis.high <= max(2.5 * highest, 1e-11)
        assert 2 <= len(axis.ticks) <= 6
        assert axis.ticks[-1][0] == pytest.approx(axis.high)


def test_tables_have_heads_and_captions() -> None:
    html = ElementTree.fromstring(table("A & B", {"name": ["x"], "n": ["1"]}))
    assert html.findtext("table/caption") == "A & B"
    assert [cell.get("scope") for cell in html.iter("th")] == ["col", "col"]
    assert [cell.get("class") for cell in html.iter("td")] == [None, "n"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    train = write_rows(folder / "train.txt", make_rows(300, seed=1))
    write_rows(folder / "test.txt", make_rows(50, seed=2))
    LabelTreeClassifier(random_state=0).fit(*read_xmlc(train)).save(folder / "model")
    (folder / "labels.txt").write_text("".join(f"Name of {i}\n" for i in range(N_LABELS)))
    return folder


class TestCommand:
    def test_report(self, folder: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.html"
        arguments = (folder / "model", folder / "test.txt", "--report", out)
        printed = run_json("evaluate", *arguments, "--label-names", folder / "labels.txt")
        assert printed["report"] == str(out)
        page = out.read_text(encoding="utf-8")
        check_whole(page)
        assert "<title>model on test.txt</title>" in page
        assert "Name of 3" in page
        for name in ("P@1", "P@5", "nDCG@5", "recall@5", "PSP@5"):
            assert f"<dd>{100 * printed['metrics'][name]:.2f}</dd>" in page
        assert [file.name for file in tmp_path.iterdir()] == ["out.html"]
        assert "a page about all this" in run("evaluate", *arguments).stdout

    def test_labels_with_gaps(self, folder: Path, tmp_path: Path) -> None:
        X, y = read_xmlc(folder / "train.txt")
        rows = [[10 * label for label in row.indices.tolist()] for row in y]
        LabelTreeClassifier(random_state=0).fit(X, rows).save(tmp_path / "model")
        X_test, y_test = read_xmlc(folder / "test.txt")
        y_test = type(y_test)((y_test.data, 10 * y_test.indices, y_test.indptr), (50, 10 * N_LABELS))
        write_xmlc(tmp_path / "test.txt", X_test, y_test)
        run("evaluate", tmp_path / "model", tmp_path / "test.txt", "--report", tmp_path / "out.html")
        check_whole((tmp_path / "out.html").read_text(encoding="utf-8"))

    def test_online_models_with_named_features(self, tmp_path: Path) -> None:
        rows = [{"red": 1.0}, {"blue": 1.0}] * 10
        model = OnlineLabelTreeClassifier(random_state=0).fit(rows, [["cat"], ["dog"]] * 10)
        model.save(tmp_path / "model")
        line = '{"features": {"red": 1}, "labels": ["cat", "emu"]}\n'
        out = tmp_path / "out.html"
        run("evaluate", tmp_path / "model", "-", "--format", "jsonl", "--report", out, input=line)
        page = out.read_text(encoding="utf-8")
        check_whole(page)
        assert "1 of them are labels that the model does not know" in page

    def test_names_without_a_report(self, folder: Path) -> None:
        arguments = ("--label-names", folder / "labels.txt")
        result = run("evaluate", folder / "model", folder / "test.txt", *arguments, exit_code=2)
        assert "add --report" in result.stderr

    def test_weighted_rankings_have_no_report(self, folder: Path, tmp_path: Path) -> None:
        arguments = ("--report", tmp_path / "out.html", "--label-weight", "propensity")
        result = run("evaluate", folder / "model", folder / "test.txt", *arguments, exit_code=2)
        assert "most probable labels: leave" in result.stderr

    def test_no_such_directory(self, folder: Path, tmp_path: Path) -> None:
        arguments = ("--report", tmp_path / "none" / "out.html")
        result = run("evaluate", folder / "model", folder / "test.txt", *arguments, exit_code=2)
        assert "there is no directory" in result.stderr
