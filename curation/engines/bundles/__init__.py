"""Bundles: what a branch knows as a signed document, and its import elsewhere."""
