"""The engine that a with statement chooses, and the engine of this process."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests import engine_tasks as tasks

import labeltree
from labeltree.engines import Engine, InProcess, ProcessPool, Task, current_engine


def test_engine_of_this_process() -> None:
    engine = current_engine()
    assert isinstance(engine, InProcess)
    assert isinstance(engine, Engine)
    assert engine.n_workers == 1
    assert engine.n_threads >= 1
    assert [number for number, _ in engine.run(tasks.squares(9))] == [6, 5, 4, 3, 2, 1, 8, 0, 7]


def test_errors_end_the_tasks_of_this_process() -> None:
    with pytest.raises(ValueError, match=r"^no$"):
        dict(InProcess().run([Task("refuse", tasks.refuse, ("no",))]))


def test_the_innermost_engine_counts() -> None:
    with labeltree.engine("pool", n_workers=1) as outer:
        assert current_engine() is outer
        with labeltree.engine(InProcess()) as inner:
            assert current_engine() is inner
        assert current_engine() is outer
    assert isinstance(current_engine(), InProcess)


def test_an_engine_counts_for_its_thread() -> None:
    found: list[Engine] = []
    with labeltree.engine("pool", n_workers=1):
        thread = threading.Thread(target=lambda: found.append(current_engine()))
        thread.start()
        thread.join()
    assert isinstance(found[0], InProcess)


def test_an_engine_that_is_passed_stays_open() -> None:
    pool = ProcessPool(n_workers=1)
    try:
        with labeltree.engine(pool):
            pass
        assert len(dict(pool.run(tasks.squares(2)))) == 2
    finally:
        pool.close()


def test_unknown_engines() -> None:
    with pytest.raises(ValueError, match="must be 'pool' or 'ray', got 'dask'"), labeltree.engine("dask"):
        pass
    with pytest.raises(TypeError, match="got an int"), labeltree.engine(3):  # type: ignore[arg-type]
        pass
    with pytest.raises(TypeError, match="n_workers"), labeltree.engine(InProcess(), n_workers=2):
        pass


@pytest.mark.parametrize("kind", [InProcess, ProcessPool])
def test_published_directories(kind: type[InProcess | ProcessPool], tmp_path: Path) -> None:
    (tmp_path / "data").write_text("rows")
    engine: Engine = kind()
    try:
        place = engine.publish(tmp_path)
        assert dict(engine.run([Task("read", tasks.read, (place, "data"))])) == {0: (str(tmp_path), "rows")}
        with pytest.raises(FileNotFoundError, match="does not exist"):
            engine.publish(tmp_path / "nothing")
        with pytest.raises(NotADirectoryError, match="is a file"):
            engine.publish(tmp_path / "data")
    finally:
        engine.close()


def test_ray_is_imported_only_if_it_is_asked_for() -> None:
    source = "import sys, labeltree.engines; assert 'ray' not in sys.modules"
    subprocess.run([sys.executable, "-c", source], check=True)


def test_ray_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'labeltree\[ray\]'"), labeltree.engine("ray"):
        pass
