"""Migrations; those that the first one replaces are named here, where a look imports no models."""

REPLACED = """
    0001_stored_tally 0002_tallies_of_commits
""".split()
