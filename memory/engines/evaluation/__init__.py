"""Evaluation: saved questions, the ranks of what they expect, runs and their figures."""
