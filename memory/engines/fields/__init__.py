"""The fields of every noun, declared once: what a caller may write or read of it."""
