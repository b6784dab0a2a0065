"""`labeltree rival`: training of the methods that label trees are compared with."""
