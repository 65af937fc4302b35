"""Figures of what agents do and what memory holds: counts only, no text of any memory."""
