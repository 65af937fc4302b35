"""Branches: life cycle, differences, statistics, restore and revert."""
