"""Templates: what new work begins from, in versions that are read-only branches."""
