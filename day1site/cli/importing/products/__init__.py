"""Readers of what other memory products leave: each yields plain memories and relations from one file."""
