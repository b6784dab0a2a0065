"""What runs the tables: finished runs are kept, so that a series goes on where it broke off."""
