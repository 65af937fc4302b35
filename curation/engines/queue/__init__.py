"""The curators' queue: what is worth a decision on a branch, and why."""
