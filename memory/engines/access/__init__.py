"""Projects, members, keys and work handles."""
