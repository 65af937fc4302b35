"""Pages of the curators' work."""
