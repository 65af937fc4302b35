"""Capture of agents' sessions: hook events become sessions, messages and observations."""
