"""Bundles in quarantine: those whose documents name something hidden."""

import re
from collections.abc import Iterator
from uuid import UUID

from curation.engines.quarantine.handoffs import find_hidden_uids
from curation.models import Bundle

UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def mark_bundles(project_id: UUID, is_masked: bool) -> int:
    """Hide the bundles that name something hidden, and show the others; return how many are hidden."""
    count = 0
    for pk, was_hidden in Bundle.objects.filter(project=project_id).values_list("pk", "hidden"):
        is_hidden = is_masked and bool(find_hidden_uids(set(list_named(pk))))
        count += is_hidden
        if is_hidden != was_hidden:
            Bundle.objects.filter(pk=pk).update(hidden=is_hidden)
    return count


def list_named(bundle_id: UUID) -> Iterator[UUID]:
    """Yield the ids in a document; one document at a time is in memory."""
    text = Bundle.objects.values_list("bundle_data", flat=True).get(pk=bundle_id)
    yield from map(UUID, UUID_TEXT.findall(text))
