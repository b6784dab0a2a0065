"""Methods that label trees are compared with."""
