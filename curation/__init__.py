"""Curation app; it has no code of its own yet."""
