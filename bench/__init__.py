"""Benchmarks: python -m bench.NAME, see README.md."""
