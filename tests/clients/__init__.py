"""The packages that people install in their own programs."""
