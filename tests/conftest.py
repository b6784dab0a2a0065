"""Settings that all tests share."""

import logging
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# A shell starts background jobs with SIGINT ignored, and their processes inherit that. Tests send it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, and no deadline: the clock of a busy machine proves nothing.
settings.register_profile("default", derandomize=True, deadline=None)
# Sanitizers make everything ten times slower.
settings.register_profile("sanitize", derandomize=True, deadline=None, max_examples=20)
settings.load_profile("default")

# So that asserts in the contract say as much as those in test files.
pytest.register_assert_rewrite("tests.contract")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no examples in files of tests.

    A file that cannot be imported counts as skipped where examples are looked for first, and its tests are then
    not missed.
    """
    found = yield
    is_test = file_path.name.startswith("test_")
    return [each for each in found if not (is_test and isinstance(each, DoctestModule))]


@pytest.fixture(autouse=True)
def loggers_as_before() -> Iterator[None]:
    """A test that starts a server in this process leaves no handler with a stream that is closed by then."""
    loggers = [logging.getLogger(name) for name in ("labeltree", "uvicorn")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
