"""The command line. One file per sub-command; `application` puts them together."""

import sys

__all__ = ["main"]

#: Commands that ask saved models and train none.
_ASKING = ("predict", "tag", "explain", "serve", "info")


def main() -> None:
    """Run `labeltree` with the arguments of this process."""
    if sys.argv[1:2] and sys.argv[1] in _ASKING:
        from labeltree.scikit_learn import leave_out

        leave_out()
    from labeltree.cli.application import app

    app()
