"""Conversations and messages: replay, forks and what was said."""
