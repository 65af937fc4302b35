"""The audit trail and its chain of hashes."""
