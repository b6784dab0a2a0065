"""Settings of all tests. That this file is here also makes `strategies` and `reference` importable."""

from hypothesis import settings

# The same examples in every run, and no failures because a machine is slow.
settings.register_profile("labeltree", derandomize=True, deadline=None)
settings.load_profile("labeltree")
