"""Agents' sessions, their observations and contexts."""
