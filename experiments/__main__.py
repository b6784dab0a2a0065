"""`python -m experiments --help` tells."""

import sys

from experiments.runner.command_line import main

sys.exit(main())
