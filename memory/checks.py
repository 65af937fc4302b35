"""What must be right before the server starts; every message says what to do."""
