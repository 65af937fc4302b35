"""Versioned memory: facts, branches, search. All other apps depend on it."""
