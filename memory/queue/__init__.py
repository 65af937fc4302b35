"""The queue of background tasks and its broker in the database."""
