"""The desk of curators: a surface in the frame of Django's admin. Pages read an address, call an engine."""
