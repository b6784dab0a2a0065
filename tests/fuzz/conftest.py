"""Fuzzing needs limits and signals that Windows does not have."""

import sys

collect_ignore_glob = ["*.py"] if sys.platform == "win32" else []
