"""Pages of who may do what: keys, members, projects."""
