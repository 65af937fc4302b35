"""Rules of the curators' work."""
