"""The hook client: what agents' programs run for each event. Its path stands in users' settings."""
