"""Learned word vectors under a label tree: extremeText and fastText."""
