"""Speed and quality of labeltree and its peers, measured in one run. Start it with ``make bench``."""
