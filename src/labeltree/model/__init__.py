"""Trained models: what answers questions, whatever trained it."""
