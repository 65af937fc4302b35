"""A memory to look at: half a year of a made-up team, in a project of its own that goes as it came."""
