"""Ageing: facts that are expired, old, never recalled or over a budget are archived, each with its reason."""
