"""`labeltree data`: the data sets of the Extreme Classification Repository."""
