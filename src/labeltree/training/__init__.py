"""Training: from examples and parameters to a trained forest."""
