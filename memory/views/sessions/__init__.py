"""Pages of the work: home, sessions, tasks, questions."""
