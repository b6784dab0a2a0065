"""What `import labeltree` gives."""

import subprocess
import sys
from importlib import metadata

import pytest

import labeltree


def test_version_is_that_of_the_distribution() -> None:
    assert labeltree.__version__ == metadata.version("labeltree")


def test_public_names_are_there_and_have_one_home_each() -> None:
    assert labeltree.__all__ == sorted(labeltree.__all__)
    assert set(labeltree._HOMES) == set(labeltree.__all__) - {"__version__"}
    for name in labeltree.__all__:
        assert getattr(labeltree, name) is not None
        assert name in dir(labeltree)


@pytest.mark.parametrize("name", labeltree._SUBPACKAGES)
def test_subpackages_need_no_import_of_their_own(name: str) -> None:
    source = f"import labeltree; assert labeltree.{name}.__name__ == 'labeltree.{name}'"
    subprocess.run([sys.executable, "-c", source], check=True)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'LabelForest'"):
        _ = labeltree.LabelForest


def test_importing_the_package_is_quick() -> None:
    source = "import sys, labeltree; assert not {'sklearn', 'scipy', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", source], check=True)


@pytest.mark.native
def test_native_module_loads() -> None:
    from labeltree import _native

    assert _native.__doc__
