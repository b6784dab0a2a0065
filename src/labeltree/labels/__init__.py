"""Labels: reading y in all its forms, names and weights of labels."""
