"""`labeltree tree`: label trees without training."""
