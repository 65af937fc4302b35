"""Hook events of agents' programs: ingestion and responses."""
