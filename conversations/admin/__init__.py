"""Conversations at the desk."""
