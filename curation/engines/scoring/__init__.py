"""Scoring: conversations rated by judges, and scores of people and outside judges."""
