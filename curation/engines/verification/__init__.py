"""Verification: facts rated by a judge, by the heuristic, or by people, and what follows of it."""
