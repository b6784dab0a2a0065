"""Sections of a model file: each writes, reads and checks one subject, and knows the version it came with."""
