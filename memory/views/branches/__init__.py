"""Pages of branches and commits."""
