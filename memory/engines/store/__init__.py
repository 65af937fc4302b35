"""The store as a whole: copies, migration, recovery, maintenance, health."""
