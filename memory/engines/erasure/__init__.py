"""Erasure: content removed for good, wherever the store has it."""
