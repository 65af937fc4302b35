"""What may be written and read of conversations, of runs and of replays, each declared once."""
