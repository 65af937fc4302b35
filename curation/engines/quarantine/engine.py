"""Quarantines: previewed, begun, listed and released. No version of a memory is changed by any of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Count
from django.utils import timezone

from curation.engines.fields.quarantines import PREVIEW, QUARANTINE, QUARANTINE_FILTERS
from curation.engines.orders import QUARANTINES
from curation.engines.quarantine.confirmations import hide_confirmations
from curation.engines.quarantine.derivation import Derivation
from curation.engines.quarantine.documents import (
    count_scores,
    find_touched_bundles,
    find_touched_handoffs,
    mark_documents,
)
from curation.engines.quarantine.sources import Source, find_label, hide_own, list_active, select_sessions
from curation.models import Quarantine
from memory.actors import Actor
from memory.db.transactions import dry_transaction, never_rerun, retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.filters import make_filter_checks
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.blanking import lock_branches
from memory.engines.versions.kinds import models_by_kind
from memory.exceptions import Exists, IllegalTransition, NotFound
from memory.models import Branch, HiddenVersion, Session

State = Quarantine.State
REASON = QUARANTINE["reason"].check
FILTERS = make_filter_checks(QUARANTINE_FILTERS)
MAX_EXAMPLES = 20


@dataclass(frozen=True)
class QuarantineDetail:
    """A quarantine and the newest facts that it hides now, or would hide: a dry run stores nothing."""

    quarantine: Quarantine
    examples: Sequence[Any]
    dry_run: bool = False


@retry_methods
class QuarantineEngine:
    @never_rerun  # what it creates is committed; each of its steps is rerun by itself
    def begin_quarantine(
        self,
        *,
        source: str,
        target: str,
        actor: Actor,
        reason: str = "",
        dry_run: Annotated[bool, PREVIEW] = False,
    ) -> QuarantineDetail:
        """Create a quarantine, or preview it. Raises as both do."""
        if dry_run:
            return self.preview_quarantine(source=source, target=target, actor=actor, reason=reason)
        made = self.create_quarantine(source=source, target=target, actor=actor, reason=reason)
        return self.get_quarantine(quarantine_id=made.pk, actor=actor)

    def preview_quarantine(
        self, *, source: str, target: str, actor: Actor, reason: str = ""
    ) -> QuarantineDetail:
        """Return what a quarantine would hide, exactly: it is begun and rolled back. Raises as its begin."""
        require_curator(actor)
        quarantine = build_quarantine(actor, source, target, REASON("reason", reason))
        with dry_transaction():
            lock_branches(actor.project_id)
            require_free(quarantine)
            hide_all(quarantine)
            examples = list_examples(quarantine)
        return QuarantineDetail(quarantine, examples, dry_run=True)

    def create_quarantine(self, *, source: str, target: str, actor: Actor, reason: str = "") -> Quarantine:
        """Hide what a source wrote, what it will write, and all that is derived, on every branch.

        ``source`` is session, agent, key or import, ``target`` its id. Needs the scope curate on every
        branch. Raises Invalid, NotFound, Exists while the source is in quarantine already.
        """
        require_curator(actor)
        quarantine = build_quarantine(actor, source, target, REASON("reason", reason))
        with write_transaction():
            lock_branches(actor.project_id)
            require_free(quarantine)
            hide_all(quarantine)
            detail = {"source": source, "target": target, "counts": quarantine.counts}
            record_entry(actor, "quarantine.create", str(quarantine.pk), detail)
        return quarantine

    def release_quarantine(self, *, quarantine_id: UUID, actor: Actor) -> Quarantine:
        """Show again what a quarantine hides, unless another one hides it too.

        Raises NotFound, IllegalTransition for one that was released.
        """
        require_curator(actor)
        with write_transaction():
            lock_branches(actor.project_id)
            quarantine = find_quarantine(actor, quarantine_id)
            if quarantine.released_at:
                raise IllegalTransition("This quarantine was released already.")
            quarantine.released_at, quarantine.released_by = timezone.now(), actor.label
            quarantine.slot = None
            quarantine.save(update_fields=["released_at", "released_by", "slot"])
            HiddenVersion.objects.filter(quarantine=quarantine.pk).delete()
            show_rest(actor.project_id)
            record_entry(actor, "quarantine.release", str(quarantine.pk), {"target": quarantine.target})
        return quarantine

    def get_quarantine(self, *, quarantine_id: UUID, actor: Actor) -> QuarantineDetail:
        """Return a quarantine, for whoever decides about its release. Raises NotFound."""
        require_curator(actor)
        found = find_quarantine(actor, quarantine_id)
        return QuarantineDetail(found, list_examples(found))

    def list_quarantines(
        self, *, actor: Actor, state: str = "", source: str = "", **paging: Unpack[Sorting]
    ) -> Page[Quarantine]:
        """List the project's quarantines, newest first; ``state`` is active or released."""
        require_curator(actor)
        values = c.validate({"state": state, "source": source}, FILTERS)
        rows = Quarantine.objects.filter(project=actor.project_id)
        rows = rows.filter(source=values["source"]) if values["source"] else rows
        if values["state"]:
            rows = rows.filter(released_at__isnull=values["state"] == State.ACTIVE)
        return paginate(rows, QUARANTINES, **paging)

    def count_quarantines(self, *, actor: Actor) -> dict[str, int]:
        """Return how many quarantines there are, by state."""
        require_curator(actor)
        rows = Quarantine.objects.filter(project=actor.project_id)
        active = rows.filter(released_at=None).count()
        return {State.ACTIVE.value: active, State.RELEASED.value: rows.count() - active}


# ---- hiding and showing ----------------------------------------------------------------------------


def hide_all(quarantine: Quarantine) -> None:
    """Hide a source's memory and what is derived, and store the quarantine with its counts."""
    project_id = quarantine.project_id
    quarantine.save(force_insert=True)
    Branch.objects.filter(project=project_id, masked=False).update(masked=True)
    hide_own(quarantine)
    Derivation(quarantine).spread()
    hide_confirmations(quarantine)
    sessions = select_sessions(quarantine)
    count = sessions.count()
    Session.objects.filter(pk__in=list(sessions.values_list("pk", flat=True))).update(hidden=True)
    mark_documents(project_id)
    counts = count_hidden(quarantine) | {"session": count}
    counts["handoff"] = len(find_touched_handoffs(project_id, [quarantine]))
    counts["bundle"] = len(find_touched_bundles(project_id, [quarantine]))
    counts["score"] = count_scores(quarantine)
    quarantine.counts = {kind: number for kind, number in counts.items() if number}
    quarantine.save(update_fields=["counts"])


def show_rest(project_id: UUID) -> None:
    """Show the sessions and handoffs that no active quarantine hides, and lift the mask without any."""
    active = list_active(project_id)
    kept = {pk for one in active for pk in select_sessions(one).values_list("pk", flat=True)}
    Session.objects.filter(project=project_id, hidden=True).exclude(pk__in=kept).update(hidden=False)
    mark_documents(project_id)
    if not active:
        Branch.objects.filter(project=project_id, masked=True).update(masked=False)


def count_hidden(quarantine: Quarantine) -> dict[str, int]:
    """Count the memories that a quarantine hides, by kind; several versions of one count once."""
    rows = HiddenVersion.objects.filter(quarantine=quarantine.pk).order_by()
    return dict(rows.values_list("kind").annotate(n=Count("uid", distinct=True)))


def list_examples(quarantine: Quarantine) -> list[Any]:
    """Return the newest facts that a quarantine hides, one version of each."""
    hidden = HiddenVersion.objects.filter(quarantine=quarantine.pk, kind="fact").order_by("-vid")
    vids = list(hidden.values_list("vid", flat=True)[: MAX_EXAMPLES * 3])
    fact = models_by_kind()["fact"]
    found = {row.vid: row for row in fact._base_manager.filter(rid__in=vids).select_related("branch")}
    rows = {found[vid].uid: found[vid] for vid in reversed(vids) if vid in found}
    return list(rows.values())[::-1][:MAX_EXAMPLES]


# ---- rows and rights -------------------------------------------------------------------------------


def require_curator(actor: Actor) -> None:
    """Refuse who may not curate every branch and for every agent: a quarantine hides on all of them."""
    actor.require_scope("curate")
    actor.require_every_branch()
    actor.require_every_agent()


def build_quarantine(actor: Actor, source: str, target: str, reason: str) -> Quarantine:
    label = find_label(actor.project_id, source, target)
    target = str(UUID(target)) if source in (Source.KEY, Source.IMPORT) else target  # however it was spelled
    return Quarantine(
        project_id=actor.project_id,
        source=source,
        target=target,
        label=label[:200],
        reason=reason,
        created_at=timezone.now(),
        created_by=actor.label,
        slot=f"{actor.project_id.hex}:{source}:{target}",
    )


def require_free(quarantine: Quarantine) -> None:
    """Refuse a source that is in quarantine already. Raises Exists."""
    if Quarantine.objects.filter(slot=quarantine.slot).exists():
        raise Exists("{name} is in quarantine already.", name=quarantine.label)


def find_quarantine(actor: Actor, quarantine_id: UUID) -> Quarantine:
    rows = Quarantine.objects.filter(project=actor.project_id, pk=c.parse_uuid("id", quarantine_id))
    if (found := rows.first()) is None:
        raise NotFound("There is no quarantine with this id.")
    return found
