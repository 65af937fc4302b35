"""Profiles: which tools a connection lists. The command line reads this too, without the SDK."""

ALL, MEMORY = "all", "memory"
PROFILES = (ALL, MEMORY)
PREFIX = "memory_"


def lists_tool(profile: str, name: str) -> bool:
    """Return whether a profile lists a tool: ``memory`` those on facts and sessions, any other all."""
    return profile != MEMORY or name.startswith(PREFIX)
