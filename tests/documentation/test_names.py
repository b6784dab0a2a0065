"""The files, folders, names and commands of the project that pages and comments mention are there."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
from tests.pages import ROOT, code_blocks, code_spans, name_of, pages

#: The folders of the project. Others lie beside them on a developer's machine.
FOLDERS = (
    "benchmarks",
    "docs",
    "examples",
    "experiments",
    "integrations",
    "native",
    "scripts",
    "src",
    "tests",
)
#: Old versions of the library had other files, and tables of results have the names of their rows.
PAGES = [page for page in pages() if page.name != "CHANGELOG.md" and "results" not in page.parts]
#: Pages about the code: their names are names of the code.
ABOUT_CODE = ("CONTRIBUTING.md", "docs/architecture.md", "docs/engineering-notes.md", "docs/paper.md")
#: Files that are made, that are the reader's or another project's, and places for a name of one's own.
NOT_HERE = re.compile(r"build/.*|annif/backend.*|split\.py|.*/(FOLDER|NOUN)\b.*|tests/unit/test_x\.py")

#: The base classes of forests.
BASES = {"KernelForest", "LabelForest"}

PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|pyi|h|cpp|c|js|dot|toml|yml)")
#: A path in a comment begins with a folder of the project, or is that of a source file.
PATH_IN_COMMENT = re.compile(
    rf"(?<![\w/.-])(?:(?:{'|'.join(FOLDERS)})/[\w./-]*\w|(?:[\w-]+/)+[\w-]+\.(?:py|h|cpp))(?![\w*/<{{])"
)
COMMENT = re.compile(r'"""(.*?)"""|(?:^|\s)(?:#|//) (.*?)$', re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:[A-Za-z]\w*\.)*([A-Za-z]\w*)(?:\(.*\))?", re.DOTALL)


@cache
def paths() -> frozenset[str]:
    """Return the files and folders of the project, relative to its root."""
    found = {path.name for path in ROOT.iterdir()}
    for folder in (*FOLDERS, ".ci"):
        for home, folders, files in os.walk(ROOT / folder):
            folders[:] = [name for name in folders if name != "__pycache__"]
            found |= {Path(home, name).relative_to(ROOT).as_posix() for name in (*folders, *files)}
    return frozenset(found)


@cache
def ends_of_paths() -> frozenset[str]:
    """Return the paths without their first folders, as pages have them: `training/plan.py`."""
    return frozenset(path.split("/", n)[-1] for path in paths() for n in range(path.count("/") + 1))


def exists(path: str) -> bool:
    return path.rstrip("/") in ends_of_paths() or NOT_HERE.fullmatch(path) is not None


@cache
def sources() -> dict[str, str]:
    """Return the text of all source files by their paths."""
    suffixes = {".py", ".h", ".cpp", ".c", ".js", ".toml"}
    files = (
        path
        for path in paths()
        if Path(path).suffix in suffixes or re.fullmatch(r"Makefile|CMakeLists.txt|scripts/\w+", path)
    )
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in files if (ROOT / path).is_file()}


@cache
def words() -> frozenset[str]:
    return frozenset(word for text in sources().values() for word in re.findall(r"\w+", text))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_in_pages_exist(page: Path) -> None:
    missing = [span for span in code_spans(page) if PATH.fullmatch(span) and not exists(span)]
    assert not missing


def test_files_in_comments_exist() -> None:
    missing = [
        f"{path}: {named}"
        for path, text in sources().items()
        for comment in COMMENT.findall(text)
        for named in PATH_IN_COMMENT.findall("".join(comment))
        if not exists(named)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("name", ABOUT_CODE)
def test_names_in_pages_about_the_code_exist(name: str) -> None:
    named = {found[1] for span in code_spans(ROOT / name) if (found := NAME.fullmatch(span))}
    assert len(named) > 10
    assert named - words() - ends_of_paths() <= {"bind_NOUN"}


def test_functions_of_the_paper_are_in_their_files() -> None:
    """The page about the paper names functions behind the source file of each."""
    page = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(\.\./([\w./]+)\): ((?:`\w+`(?:, )?)+)", page)
    assert len(named) > 5
    missing = [
        (path, name)
        for path, names in named
        for name in re.findall(r"\w+", names)
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8"))
    ]
    assert not missing


def test_parts_are_in_their_files() -> None:
    """The table of the architecture names classes, and the file or the folder of each."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    parts = re.findall(r"^\| `(\w+)` \| `([\w./]+)` \|", page, re.MULTILINE)
    assert len(parts) > 10
    for part, home in parts:
        texts = [text for path, text in sources().items() if f"/{home}" in f"/{path}"]
        assert any(re.search(rf"^(class|struct) {part}\b", text, re.MULTILINE) for text in texts), (
            part,
            home,
        )


def test_every_forest_is_in_the_architecture() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    python = "\n".join(text for path, text in sources().items() if path.startswith("src/"))
    forests = set(re.findall(r"^class (\w+Forest)\b", python, re.MULTILINE)) - BASES
    assert len(forests) > 5
    assert not [name for name in forests if f"| `{name}` |" not in page]


@pytest.mark.parametrize("folder", ["", "src/labeltree", "native", "scripts"])
def test_contributors_find_every_folder(folder: str) -> None:
    """Every folder, and every module beside the folders of the package, is in the map."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Where things are")[2].partition("\n## ")[0]
    home = ROOT / folder
    names = (
        FOLDERS
        if not folder
        else [
            path.name
            for path in home.iterdir()
            if path.is_dir() or path.suffix == ".py"
            if path.name not in ("__pycache__", "__main__.py")
        ]
    )
    missing = [name for name in names if not re.search(rf"(?<![\w/]){re.escape(name)}\b", section)]
    assert not missing


def test_targets_modules_and_scripts_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    missing, n_named = [], 0
    for page in PAGES:
        code = [*code_spans(page), *(code for _, code in code_blocks(page))]
        for line in (line for text in code for line in text.splitlines()):
            found = re.match(
                r"(?:\$ )?(?:make (?P<target>[a-z-]+)|(?:[\w./]*/)?python -m (?P<module>\w+[\w.]*))", line
            )
            found = found or re.match(r"(?P<script>scripts/\w+)", line)
            if found is None:
                continue
            n_named += 1
            named = found.groupdict()
            if target := named.get("target"):
                is_there = target in targets
            elif script := named.get("script"):
                is_there = exists(script)
            else:
                module = named["module"].replace(".", "/")
                of_the_project = module.partition("/")[0] in FOLDERS
                is_there = not of_the_project or not {f"{module}.py", f"{module}/__main__.py"}.isdisjoint(
                    paths()
                )
            if not is_there:
                missing.append(f"{name_of(page)}: {line}")
    assert not missing
    assert n_named > 50


@pytest.mark.parametrize(
    "wrong", ["training/plans.py", "native/lanes/none.h", "nothing/", "tests/unit/test_none.py"]
)
def test_wrong_paths_are_noticed(wrong: str) -> None:
    assert not exists(wrong)
    assert PATH.fullmatch(wrong)
