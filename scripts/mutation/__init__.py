"""Mutation testing: small wrong changes to the code, each of which some test should notice."""
