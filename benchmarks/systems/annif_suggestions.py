"""The CPU time of a project's suggestions, and of their first part, from words to numbers: PROJECT DOCUMENTS OUTPUT."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import labeltree_annif  # noqa: F401 - registers the backend
from annif.cli_util import open_documents
from annif.registry import AnnifRegistry

name, path, output = sys.argv[1:]
project = AnnifRegistry("projects.cfg", "data", init_projects=False).get_project(name)
project.initialize()
batches = list(open_documents((path,), project.subjects, "en", None).doc_batches)
project.suggest(batches[0])  # what is only done once
seconds = {"suggest_s": 0.0, "vectorize_s": 0.0}
for batch in batches:
    begin = time.process_time()
    project.suggest(batch)
    middle = time.process_time()
    project.backend.vectorizer.transform([document.text for document in batch])
    seconds["suggest_s"] += middle - begin
    seconds["vectorize_s"] += time.process_time() - middle
Path(output).write_text(json.dumps({"documents": sum(map(len, batches)), **seconds}))
