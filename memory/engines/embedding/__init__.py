"""Vectors of texts: the engine, its worker, and what waits for it."""
