"""`Elsewhere`: an engine in this process whose tasks do not see some directories, only copies of published ones."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labeltree.engines import InProcess, Task, engine
from labeltree.engines.protocol import LocalPlace


class Elsewhere:
    """Runs tasks as a machine that does not have the directories `hidden` would, and copies to `scratch`.

    `published` has the directories that were published, and `sizes` the sizes of the pickled tasks.
    """

    n_workers, n_threads = 2, 1

    def __init__(self, scratch: Path, *hidden: Path) -> None:
        self.published: list[Path] = []
        self.sizes: list[int] = []
        self._scratch, self._hidden = scratch, hidden

    def publish(self, directory: Path) -> LocalPlace:
        copy = self._scratch / f"copy-{len(self.published)}"
        shutil.copytree(directory, copy)
        self.published.append(directory)
        return LocalPlace.of(copy)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        sent = [pickle.dumps((task.run, task.arguments)) for task in tasks]
        self.sizes += map(len, sent)
        for path in self._hidden:
            path.rename(f"{path}-hidden")
        try:
            done = []
            with engine(InProcess()):  # a worker has no other
                for message in sent:
                    run, arguments = pickle.loads(message)
                    done.append(run(*arguments))
        finally:
            for path in self._hidden:
                Path(f"{path}-hidden").rename(path)
        yield from enumerate(done)

    def close(self) -> None:
        """Do nothing."""
