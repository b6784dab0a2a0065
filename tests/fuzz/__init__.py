"""Fuzzers: programs that try random input until something breaks. `make fuzz` runs them under the sanitizers."""
