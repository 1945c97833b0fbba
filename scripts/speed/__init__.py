"""The measurements behind scripts/bench.py: one module per group of figures, all on invented data."""
