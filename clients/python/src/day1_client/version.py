"""The release, which is that of the server beside it."""

__version__ = "0.1.0"
