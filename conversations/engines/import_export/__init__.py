"""Conversations as documents: exported as JSON and Markdown, imported from both."""
