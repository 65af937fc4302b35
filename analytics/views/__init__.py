"""The pages of analytics."""
