"""Settings that all tests share."""

import pytest
from hypothesis import settings

# The same examples in every run, and no deadline: the clock of a busy machine proves nothing.
settings.register_profile("default", derandomize=True, deadline=None)
# Sanitizers make everything ten times slower.
settings.register_profile("sanitize", derandomize=True, deadline=None, max_examples=20)
settings.load_profile("default")

# So that asserts in the contract say as much as those in test files.
pytest.register_assert_rewrite("tests.contract")
