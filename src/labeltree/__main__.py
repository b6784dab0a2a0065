"""`python -m labeltree`: the command line, for launchers of modules such as `torchrun`."""

from labeltree.cli import main

if __name__ == "__main__":
    main()
