"""``connect``: programs of agents are told of Day1 in their own settings files."""
