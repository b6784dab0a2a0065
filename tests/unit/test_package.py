"""What `import labeltree` gives."""

from importlib import metadata

import pytest

import labeltree


def test_version_is_that_of_the_distribution() -> None:
    assert labeltree.__version__ == metadata.version("labeltree")


@pytest.mark.native
def test_native_module_loads() -> None:
    from labeltree import _native

    assert _native.__doc__
