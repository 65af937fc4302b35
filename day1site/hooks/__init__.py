"""What agents' programs tell of themselves, and what they are told."""
