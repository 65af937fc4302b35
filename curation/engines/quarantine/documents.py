"""Handoffs and bundles as quarantines hide them: marked when one begins, ends, or comes to hide more."""

from uuid import UUID

from curation.engines.quarantine.hidden_bundles import mark_bundles
from curation.engines.quarantine.hidden_handoffs import mark_handoffs
from curation.engines.quarantine.sources import list_active


def mark_documents(project_id: UUID) -> None:
    """Hide the handoffs and bundles that active quarantines touch, and show the others."""
    active = list_active(project_id)
    mark_handoffs(project_id, active)
    mark_bundles(project_id, active)
