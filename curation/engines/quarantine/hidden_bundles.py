"""Bundles in quarantine: those whose documents hold something hidden, or that a hidden import brought."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_noop as _

from curation.engines.bundle_ids import derive_uid
from curation.engines.quarantine.frozen import (
    Named,
    find_hidden,
    find_hidden_uids,
    mark_hidden,
    name_fact,
    select_hidden,
)
from curation.engines.quarantine.sources import BUNDLE_IMPORT, Source, list_active, select_commits
from curation.models import Bundle, Quarantine
from memory.engines.versions.erased import as_uuid, is_masked
from memory.exceptions import Conflict
from memory.models import HiddenVersion

UUID_TEXT = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b", re.IGNORECASE)
IN_QUARANTINE = _("The bundle holds memories that are in quarantine here.")
Content = Mapping[str, Sequence[Any]]


def mark_bundles(project_id: UUID, active: Sequence[Quarantine]) -> None:
    """Hide the bundles that active quarantines touch, and show the others."""
    mark_hidden(Bundle.objects.filter(project=project_id), find_touched(project_id, active))


def find_touched(project_id: UUID, quarantines: Sequence[Quarantine]) -> set[UUID]:
    """Return the ids of the bundles that some quarantines touch; one document at a time is in memory."""
    if not quarantines:
        return set()
    hidden = select_hidden(quarantines)
    rows = Bundle.objects.filter(project=project_id).defer("bundle_data")
    brought = {pk for one in quarantines for pk in list_brought(one, rows)}
    return brought | {row.pk for row in rows if row.pk not in brought and holds_any(row, hidden)}


def list_brought(quarantine: Quarantine, bundles: QuerySet[Bundle]) -> Iterator[UUID]:
    """Yield the bundles that a source imported: for a person or agent those that came from elsewhere."""
    commits = select_commits(quarantine).filter(kind=BUNDLE_IMPORT)
    messages = set(commits.values_list("message", flat=True))
    for row in bundles if messages else ():
        if is_brought(quarantine, row, messages):
            yield row.pk


def is_brought(quarantine: Quarantine, row: Bundle, messages: set[str]) -> bool:
    """Return whether a bundle was imported by a commit of the source, by the commits' messages."""
    may_be = quarantine.source == Source.IMPORT or row.origin == Bundle.Origin.UPLOADED
    return may_be and f"Import of the bundle {row.name} v{row.version}" in messages


def hide_brought(quarantine: Quarantine, message: str) -> None:
    """Hide the bundle that a commit of the source imports."""
    rows = Bundle.objects.filter(project=quarantine.project_id, hidden=False)
    brought = [row.pk for row in rows.defer("bundle_data") if is_brought(quarantine, row, {message})]
    rows.filter(pk__in=brought).update(hidden=True)


def holds_any(bundle: Bundle, hidden: QuerySet[HiddenVersion]) -> bool:
    """Return whether a stored document holds something hidden. It is parsed where it names any such id."""
    text = Bundle.objects.values_list("bundle_data", flat=True).get(pk=bundle.pk)
    uids = set(map(UUID, UUID_TEXT.findall(text)))
    uids |= {derive_uid(bundle.project_id, uid) for uid in uids}
    if not find_hidden_uids(uids, hidden):
        return False
    named = list_named(bundle.project_id, json.loads(text)["content"])
    return bool(find_hidden(bundle.project_id, named, hidden))


def refuse_hidden(project_id: UUID, content: Content) -> None:
    """Refuse a document that holds something in quarantine, which an import would bring back.

    Raises Conflict.
    """
    if is_masked(project_id):
        hidden = select_hidden(list_active(project_id))
        if find_hidden(project_id, list_named(project_id, content), hidden):
            raise Conflict(IN_QUARANTINE)


def list_named(project_id: UUID, content: Content) -> Iterator[Named]:
    """Yield the memories of a document, under the ids that an import gives them too."""
    for fact in content.get("facts", ()):
        if as_uuid(fact.get("id")):
            yield name_fact(fact)
    for item in (*content.get("conversations", ()), *content.get("relations", ())):
        messages = item.get("messages")
        for part in (item, *(messages if isinstance(messages, list) else ())):
            if uid := as_uuid(part.get("id") if isinstance(part, dict) else None):
                yield from (Named(uid), Named(derive_uid(project_id, uid)))
