"""The paper's tables of design choices on real data, one script each; see README.md."""
