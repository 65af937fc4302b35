"""The demo: half a year of a fictional team, in a project of its own that can be removed again."""
