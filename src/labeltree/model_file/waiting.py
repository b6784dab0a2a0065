"""The examples that wait in a journal: a server has acknowledged them, and the saved model lacks them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from labeltree.errors import ModelFileError
from labeltree.model_file.directory import DOCUMENT_NAME, read_document, version_of
from labeltree.model_file.journal import journal_of
from labeltree.model_file.journal_lines import Contents, Mark
from labeltree.wording import count_text


@dataclass(frozen=True)
class Waiting:
    """The journal of a model, and the number of its examples that the model lacks.

    `belongs` is false if the journal goes on from another version of the model: then its examples cannot be learned.
    """

    journal: Path
    n_examples: int
    belongs: bool

    @classmethod
    def of(cls, directory: Path) -> Waiting:
        """Compare the model in a directory with its journal, if there is one."""
        journal = journal_of(directory)
        stored = stored_mark(directory)
        while True:
            contents = Contents.read(journal)
            before, stored = stored, stored_mark(directory)
            if stored == before:  # else the model was saved meanwhile
                return cls.between(journal, contents, stored)

    @classmethod
    def between(cls, journal: Path, contents: Contents, stored: Mark | None) -> Waiting:
        """Compare a saved model with a journal."""
        if contents.n_records == 0:
            return cls(journal, 0, True)
        belongs = stored is not None and contents.first <= stored.n_examples
        if contents.marks:
            belongs = belongs and stored in contents.marks
        elif stored is not None:  # written before journals had marks: only the numbers tell
            belongs = belongs and stored.n_examples <= contents.end
        if stored is None or not belongs:
            return cls(journal, contents.end - contents.first, False)
        return cls(journal, max(0, contents.end - stored.n_examples), True)


def stored_mark(directory: Path) -> Mark | None:
    """Return the version of the model in a directory and the number of its examples; None if there is no model."""
    if not (directory / DOCUMENT_NAME).exists():
        return None
    document = read_document(directory)
    try:
        fields = json.loads(document)
    except ValueError:
        fields = {}
    n_examples = fields.get("n_examples", 0) if isinstance(fields, dict) else 0
    return Mark(version_of(document), n_examples if isinstance(n_examples, int) else 0)


def check_nothing_waits(directory: Path) -> None:
    """Raise `ModelFileError` if the journal has examples that another model in the directory would lose."""
    try:
        waiting = Waiting.of(directory)
    except ValueError as error:  # the journal is damaged
        raise ModelFileError(str(error)) from error
    if waiting.n_examples == 0:
        return
    if waiting.belongs:
        raise ModelFileError(
            f"{waiting.journal}: {count_text(waiting.n_examples, 'example')} "
            f"{'waits' if waiting.n_examples == 1 else 'wait'} in this journal that the model in {directory} has "
            f"not learned yet; nothing was written: learn them with 'labeltree learn --model {directory}', or move "
            "the journal away to lose them"
        )
    raise ModelFileError(
        f"{waiting.journal}: this journal has {count_text(waiting.n_examples, 'example')} for another version "
        "of the model in "
        f"{directory}; nothing was written: put that version back, or move the journal away to lose them"
    )
