"""Quarantine: a source's memory and all that is derived from it is hidden, until it is released."""
