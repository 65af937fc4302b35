"""The routes of analytics."""
