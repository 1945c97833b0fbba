"""The scoring behind scripts/bench_recall.py and scripts/bench_memory.py: how often the memory is right."""
