"""What of a table has been run until now, with which code, and what its runs come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from experiments.runner.figures import Line, summarise
from experiments.runner.run import Run, runs_of
from experiments.runner.store import Record
from experiments.runner.table import SEEDS_OF_PAPER, Row, Table
from experiments.runner.tuning import Tuner


@dataclass
class Standing:
    """The state of a table.

    Attributes
    ----------
    parts : dict
        The lines by data set.
    choices : list of str
        The parameters that were tuned.
    records : list of Record
        Those of all lines.
    older : dict
        By data set, the names of rows with runs of older code.
    missing : dict
        By data set, the names of rows that have no run, or whose parameters are not chosen.
    partial : dict
        By data set, the names of rows that have some of their runs.
    """

    parts: dict[str, list[Line]] = field(default_factory=dict)
    choices: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    older: dict[str, list[str]] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)
    partial: dict[str, list[str]] = field(default_factory=dict)

    @property
    def has_figures(self) -> bool:
        """Whether anything was run."""
        return any(line.n_runs for lines in self.parts.values() for line in lines)

    def older_rows(self) -> str:
        """The rows of older code; nothing if there are none."""
        return self._listed(self.older)

    def missing_rows(self) -> str:
        """The rows that have no run; nothing if there are none."""
        return self._listed(self.missing)

    def partial_rows(self) -> str:
        """The rows that have some of their runs; nothing if there are none."""
        return self._listed(self.partial)

    def _listed(self, names: Mapping[str, Sequence[str]]) -> str:
        all_rows = {data: [line.name for line in lines] for data, lines in self.parts.items()}
        return "; ".join(
            f"{data}: {'all rows' if rows == all_rows[data] else ', '.join(f'`{row}`' for row in rows)}"
            for data, rows in names.items()
        )


def standing_of(table: Table, sets: Sequence[str], tuner: Tuner, seeds: int = SEEDS_OF_PAPER) -> Standing:
    """The state of a table on some sets, by the runs that are kept; nothing is run if the tuner only plans."""
    found = Standing()
    for data in sets:
        lines = []
        for row in table.rows_on(data):
            runs = list(planned(table, data, row, tuner, seeds))
            waiting = tuner.waiting(row, data)
            records = [] if waiting else [tuner.series.store.record(run) for run in runs]
            done = [record for record in records if record is not None and record.figures is not None]
            figures = [dict(record.figures or {}) for record in done]
            lines.append((row.name, figures, tuner.series.failure([*waiting, *runs])))
            is_stopped = bool(
                records and records[0] and records[0].stopped_after
            )  # then so are the other seeds
            if waiting or (None in records and not is_stopped):
                (found.partial if done else found.missing).setdefault(data, []).append(row.name)
            if any(record.code != runs[0].code() for record in done):
                found.older.setdefault(data, []).append(row.name)
            found.records += done
        found.parts[data] = summarise(lines)
        found.choices += tuner.sentences(table.rows_on(data), data)
    return found


def planned(table: Table, data: str, row: Row, tuner: Tuner, seeds: int) -> Iterator[Run]:
    """The runs of a row on a set, with the parameters that were chosen."""
    return runs_of(
        table,
        data,
        row,
        seeds=seeds,
        threads=tuner.threads,
        n_rows=tuner.n_rows,
        chosen=tuner.chosen(row, data),
    )
