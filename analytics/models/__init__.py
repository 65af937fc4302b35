"""Models of analytics."""

from analytics.models.tallies import StoredTally

__all__ = ["StoredTally"]
