"""REST for conversations and messages."""
