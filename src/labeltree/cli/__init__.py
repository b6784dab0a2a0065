"""The command line. One file per sub-command; `application` puts them together."""

__all__ = ["main"]


def main() -> None:
    """Run `labeltree` with the arguments of this process."""
    from labeltree.cli.application import app

    app()
