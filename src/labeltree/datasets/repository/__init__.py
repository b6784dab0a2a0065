"""Data sets of the Extreme Classification Repository by name."""
