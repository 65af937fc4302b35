"""Rows of the curators' work."""

from curation.models.bundles import Bundle, SigningKey, TrustedKey
from curation.models.handoffs import Handoff
from curation.models.imports import MemoryImport
from curation.models.quarantines import Quarantine
from curation.models.review import ReviewItem, SavedView
from curation.models.templates import Template, TemplateUse, TemplateVersion
from curation.models.verifications import Score, Scoring, Verification, VerificationCursor, VerificationJob
