"""Imports of what other products remembered: records, what is wrong with them, and the way on."""
