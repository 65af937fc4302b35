"""Three-way merges of branches; docs/decisions/0020 has the rules."""
