"""Handoffs, bundles and scores in quarantine: those of a source, and documents that hold what is hidden.

Documents name memories by id, and have the texts of facts. A fact counts as hidden unless the document says
of it what a version says that nothing hides, and no hidden one. Of other kinds the id decides.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_noop as _

from curation.engines.quarantine.sources import (
    BUNDLE_IMPORT,
    Source,
    list_active,
    list_keys,
    select_commits,
    select_sessions,
)
from curation.models import Bundle, Handoff, Quarantine, Score
from curation.models.bundles import derive_uid
from memory.engines.support.batches import batched, filter_in, gather_in
from memory.engines.versions.erased import as_uuid, is_masked
from memory.exceptions import Conflict
from memory.models import ApiKey, Fact, HiddenVersion
from memory.models.facts import build_path, write_content
from memory.models.hashes import judged_hash

BATCH_SIZE = 500
UUID_TEXT = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b", re.IGNORECASE)
IN_QUARANTINE = _("The bundle holds memories that are in quarantine here.")
Content = Mapping[str, Sequence[Any]]


def mark_documents(project_id: UUID) -> None:
    """Hide the handoffs and bundles that active quarantines touch, and show the others."""
    active = list_active(project_id)
    mark_hidden(Handoff.every.filter(project=project_id), find_touched_handoffs(project_id, active))
    mark_hidden(Bundle.stored.filter(project=project_id), find_touched_bundles(project_id, active))


def mark_hidden(rows: QuerySet, touched: set[UUID]) -> None:
    former = set(rows.filter(hidden=True).values_list("pk", flat=True))
    for changed, is_hidden in ((touched - former, True), (former - touched, False)):
        for part in filter_in(rows, "pk", changed):
            part.update(hidden=is_hidden)


# ---- memories in documents -------------------------------------------------------------------------


class Named(NamedTuple):
    """A memory in a document; ``says`` is the hash of a fact's text there."""

    uid: UUID
    says: str = ""


def name_fact(fact: Mapping[str, Any]) -> Named:
    """Return a fact of a document as it is named. Raises KeyError, ValueError for one of a wrong form."""
    text, essence, category = (str(fact.get(name) or "") for name in ("fact_text", "essence", "category"))
    path = build_path(fact["namespace"], fact["key"]) if fact.get("key") else None
    content = write_content(text, path, fact.get("value"))
    return Named(UUID(str(fact["id"])), judged_hash(content, essence, category))


def select_hidden(quarantines: Iterable[Any]) -> QuerySet[HiddenVersion]:
    """Return what quarantines hide."""
    return HiddenVersion.objects.filter(quarantine__in=[one.pk for one in quarantines])


def find_hidden(project_id: UUID, named: Iterable[Named], hidden: QuerySet[HiddenVersion]) -> set[Named]:
    """Return those of the named memories that are hidden as the document has them."""
    named = set(named)
    uids = gather_in(hidden, "uid", {one.uid for one in named}, "uid")
    touched = {one for one in named if one.uid in uids}
    facts = {one.uid for one in touched if one.says}
    vids = gather_in(hidden, "uid", facts, "vid")
    versions = Fact._base_manager.filter(branch__project=project_id)
    gone, safe = set[Named](), set[Named]()
    for uid, says, vid in gather_in(versions, "uid", facts, "uid", "judged_hash", "vid"):
        (gone if vid in vids else safe).add(Named(uid, says))
    return {one for one in touched if not one.says or one in gone or one not in safe}


# ---- handoffs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Makers:
    """Who is in quarantine, as handoffs name them."""

    owners: set[str]
    agents: set[str]
    sessions: set[str]

    @classmethod
    def of(cls, quarantines: Iterable[Quarantine]) -> Self:
        owners, targets = set[str](), dict[str, set[str]]()
        for one in quarantines:
            targets.setdefault(one.source, set()).add(one.target)
            owners |= {f"key:{key}" for key in list_keys(one)} if one.source == Source.KEY else set()
        return cls(owners, targets.get(Source.AGENT, set()), targets.get(Source.SESSION, set()))

    def have_made(self, row: Handoff) -> bool:
        return row.owner in self.owners or row.agent_id in self.agents or row.session_id in self.sessions


def find_touched_handoffs(project_id: UUID, quarantines: Sequence[Quarantine]) -> set[UUID]:
    """Return the ids of the handoffs that some quarantines touch."""
    if not quarantines:
        return set()
    makers, hidden = Makers.of(quarantines), select_hidden(quarantines)
    makers.sessions.update(
        key for one in quarantines for key in select_sessions(one).values_list("key", flat=True)
    )
    touched: set[UUID] = set()
    for batch in batched(list(Handoff.every.filter(project=project_id).order_by("pk")), BATCH_SIZE):
        frozen = {row.pk: set(list_frozen(row)) for row in batch}
        gone = find_hidden(project_id, set[Named]().union(*frozen.values()), hidden)
        touched |= {row.pk for row in batch if makers.have_made(row) or frozen[row.pk] & gone}
    return touched


def is_from_hidden_source(handoff: Handoff) -> bool:
    """Return whether a new handoff is one that a source in quarantine makes."""
    return handoff.source.masked and Makers.of(list_active(handoff.project_id)).have_made(handoff)


def list_frozen(row: Handoff) -> Iterator[Named]:
    """Yield the memories in a packet."""
    talks: list[Any] = row.conversations
    yield from map(name_fact, row.facts)
    yield from (Named(UUID(talk["id"])) for talk in talks)
    yield from (Named(UUID(message["id"])) for talk in talks for message in talk["messages"])


# ---- bundles ---------------------------------------------------------------------------------------


def find_touched_bundles(project_id: UUID, quarantines: Sequence[Quarantine]) -> set[UUID]:
    """Return the ids of the bundles that some quarantines touch; one document at a time is in memory."""
    if not quarantines:
        return set()
    hidden = select_hidden(quarantines)
    rows = Bundle.stored.filter(project=project_id).defer("bundle_data")
    brought = {pk for one in quarantines for pk in list_brought(one, rows)}
    return brought | {row.pk for row in rows if row.pk not in brought and holds_any(row, hidden)}


def list_brought(quarantine: Quarantine, bundles: QuerySet[Bundle]) -> Iterator[UUID]:
    """Yield the bundles that a source imported: for a person or agent those that came from elsewhere."""
    commits = select_commits(quarantine).filter(kind=BUNDLE_IMPORT)
    messages = set(commits.values_list("message", flat=True))
    return (row.pk for row in (bundles if messages else ()) if is_brought(quarantine, row, messages))


def is_brought(quarantine: Quarantine, row: Bundle, messages: set[str]) -> bool:
    """Return whether a bundle was imported by a commit of the source, by the commits' messages."""
    may_be = quarantine.source == Source.IMPORT or row.origin == Bundle.Origin.UPLOADED
    return may_be and f"Import of the bundle {row.name} v{row.version}" in messages


def hide_brought(quarantine: Quarantine, message: str) -> None:
    """Hide the bundle that a commit of the source imports."""
    rows = Bundle.stored.filter(project=quarantine.project_id, hidden=False)
    brought = [row.pk for row in rows.defer("bundle_data") if is_brought(quarantine, row, {message})]
    rows.filter(pk__in=brought).update(hidden=True)


def holds_any(bundle: Bundle, hidden: QuerySet[HiddenVersion]) -> bool:
    """Return whether a stored document holds something hidden. It is parsed where it names any such id."""
    text = Bundle.stored.values_list("bundle_data", flat=True).get(pk=bundle.pk)
    uids = set(map(UUID, UUID_TEXT.findall(text)))
    uids |= {derive_uid(bundle.project_id, uid) for uid in uids}
    if not gather_in(hidden, "uid", uids, "uid"):
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


# ---- scores ----------------------------------------------------------------------------------------


def select_shown_scores(project_id: UUID) -> QuerySet[Score]:
    """Return the scores of a project without those that a source in quarantine gave."""
    givers = {giver for one in list_active(project_id) for giver in list_givers(one)}
    rows = Score.objects.filter(project=project_id)
    return rows.exclude(giver__in=givers) if givers else rows


def count_scores(quarantine: Quarantine) -> int:
    """Count the scores that the keys of a source gave."""
    return Score.objects.filter(project=quarantine.project_id, giver__in=list_givers(quarantine)).count()


def list_givers(quarantine: Quarantine) -> list[str]:
    """Return what scores name where a key of a source gave them: a session or an import has none."""
    ids: Iterable[Any] = list_keys(quarantine) if quarantine.source == Source.KEY else ()
    if quarantine.source == Source.AGENT:
        keys = ApiKey.objects.filter(project=quarantine.project_id, agent_id=quarantine.target)
        ids = keys.values_list("pk", flat=True)
    return [f"key:{one}" for one in ids]
