"""Comparison of two conversations: row by row, and by what was done, thought and reached."""
