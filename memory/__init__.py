"""Versioned memory: facts, branches, search. The base that every other app stands on."""
