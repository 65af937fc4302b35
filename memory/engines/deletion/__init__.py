"""Deletion: what is hidden, restored, and erased where that is asked for."""
