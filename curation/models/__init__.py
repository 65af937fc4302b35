"""Rows of the curators' work."""

from curation.models.scores import Score
from curation.models.verifications import Verification, VerificationCursor, VerificationJob

__all__ = ["Score", "Verification", "VerificationCursor", "VerificationJob"]
