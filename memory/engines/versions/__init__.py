"""Commits, points in time, and what they keep readable."""
