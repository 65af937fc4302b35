"""Rows of the curators' work."""

from curation.models.bundles import Bundle, SigningKey, TrustedKey
from curation.models.handoffs import Handoff
from curation.models.scores import Score
from curation.models.templates import Template, TemplateUse, TemplateVersion
from curation.models.verifications import Verification, VerificationCursor, VerificationJob

__all__ = [
    "Bundle",
    "Handoff",
    "Score",
    "SigningKey",
    "Template",
    "TemplateUse",
    "TemplateVersion",
    "TrustedKey",
    "Verification",
    "VerificationCursor",
    "VerificationJob",
]
