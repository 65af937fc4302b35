"""Handoffs: created with a frozen packet, read by the receiver, accepted or rejected once."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.db.models import Manager, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from curation.engines.fields.handoffs import (
    HANDOFF,
    HANDOFF_FILTERS,
    MAX_FACTS,
    HandoffFields,
)
from curation.engines.handoffs.packet import (
    Packet,
    build_packet,
    compose_summary,
    compute_sha256,
    weaken_packets,
)
from curation.engines.handoffs.traces import forget_briefings
from curation.engines.orders import HANDOFFS
from curation.engines.quarantine.documents import is_from_hidden_source
from curation.models import Handoff
from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.engines.deletion.memories import NOT_DELETED, Deletion, count_deleted, require_filter
from memory.engines.fields.base import Use
from memory.engines.fields.deletion import DRY_DELETION, ERASE, MANY
from memory.engines.fields.filters import make_filter_checks
from memory.engines.sessions.creation import refuse_erased_session
from memory.engines.sessions.manager import SessionManager
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.branch_access import list_allowed_branches
from memory.engines.versions.commits import lock_branches
from memory.engines.versions.lookup import MAIN
from memory.exceptions import AgentForbidden, BranchForbidden, IllegalTransition, Invalid, NotFound
from memory.models import Branch, Session

READ = "handoffs read"  # the kind of buffered values: a read does not become a write
State = Handoff.State
NOTHING = _("There is nothing to hand over: no facts, messages, summary, instructions or blockers.")
ALL_LEFT_OUT = _(
    "There is nothing to hand over: all facts are left out ({reasons}), and there are no messages, summary,"
    " instructions or blockers."
)


def check_fact_ids(name: str, value: Any) -> list[UUID]:
    """Check for a list of at most 200 ids. Raises Invalid."""
    if not isinstance(value, list | tuple) or len(value) > MAX_FACTS:
        raise Invalid("{field} must be a list of at most {most} ids.", field=name, most=MAX_FACTS)
    return [c.parse_uuid(f"{name}[{index}]", item) for index, item in enumerate(value)]


CHECKS = HANDOFF.field_checks(Use.CREATE) | {"fact_ids": check_fact_ids}
REASON = HANDOFF["reason"].check
FILTERS = make_filter_checks(HANDOFF_FILTERS)
COLUMNS = {"target_branch": "target__name"}  # of filters that are called otherwise


@retry_methods
class HandoffEngine:
    def create_handoff(self, *, actor: Actor, **fields: Unpack[HandoffFields]) -> Handoff:
        """Freeze facts, the session's last messages and what is said of them, for the next agent or session.

        The session is that of the actor, if it states one. Only verified facts are taken, with
        ``include_unverified`` others too; private and invalidated ones never are. Raises Invalid,
        also where there is nothing to hand over, UnknownField, NotFound, BranchNotFound, BranchArchived,
        Conflict for an erased session, scope and branch refusals.
        """
        values = {"handoff_type": HANDOFF["handoff_type"].default, **c.validate(fields, CHECKS)}
        actor.require_scope("write")
        session = find_session(actor)
        source, target = choose_branches(values, session)
        for name in (source, target):
            actor.require_scope("write", name)
        with write_transaction():
            # An erasure locks them too: it comes before the facts are read, or finds the packet.
            branches = lock_branches(actor, sorted({source, target}))
            unverified, ids = values.get("include_unverified", False), values.get("fact_ids", [])
            packet = build_packet(actor, branches[source], session, ids, unverified)
            handoff = build_handoff(actor, branches[source], branches[target], session, values, packet)
            refuse_empty(handoff)
            handoff.hidden = is_from_hidden_source(handoff)
            handoff.save(force_insert=True)
            detail = {"type": handoff.handoff_type, "from": source, "to": target, "facts": len(packet.facts)}
            record_entry(actor, "handoff.create", str(handoff.pk), detail)
        return handoff

    def get_handoff(self, *, handoff_id: UUID, actor: Actor) -> Handoff:
        """Return a handoff with its packet. The first time that a possible receiver reads it is kept.

        Raises NotFound, BranchForbidden.
        """
        actor.require_scope("read")
        handoff = find_handoff(actor, handoff_id)
        if handoff.read_at is None and may_receive(actor, handoff):
            buffer.add_value(READ, handoff.pk, timezone.now())
        return handoff

    def list_handoffs(
        self,
        *,
        actor: Actor,
        state: str = "",
        handoff_type: str = "",
        target_branch: str = "",
        to_agent: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[Handoff]:
        """List the handoffs from or to branches that the actor may use, the newest first."""
        actor.require_scope("read")
        requested = {"state": state, "handoff_type": handoff_type}
        requested |= {"target_branch": target_branch, "to_agent": to_agent}
        values = c.drop_empty(c.validate(requested, FILTERS))
        changing = {name: value for name, value in values.items() if name == "state"}
        lasting = {COLUMNS.get(n, n): value for n, value in values.items() if n not in changing}
        every = list_visible_handoffs(actor).filter(**lasting)
        page = paginate(every.filter(**changing), HANDOFFS, **paging, of=every)
        weaken_packets(page.results)
        return page

    def count_handoffs(self, *, actor: Actor) -> dict[str, int]:
        """Return how many handoffs the actor may see, by state."""
        actor.require_scope("read")
        return {state: list_visible_handoffs(actor).filter(state=state).count() for state in State.values}

    def accept_handoff(self, *, handoff_id: UUID, actor: Actor) -> Handoff:
        """Accept a handoff: the next sessions on its target branch begin with it.

        Raises NotFound, IllegalTransition for one that was accepted or rejected, scope and branch refusals;
        AgentForbidden for another agent's.
        """
        return self._decide(handoff_id, actor, State.ACCEPTED, "")

    def reject_handoff(self, *, handoff_id: UUID, actor: Actor, reason: str) -> Handoff:
        """Reject a handoff with a reason. Raises as ``accept_handoff`` does, and Invalid without a reason."""
        return self._decide(handoff_id, actor, State.REJECTED, REASON("reason", reason))

    def delete_handoff(
        self, *, handoff_id: UUID, actor: Actor, erase: Annotated[bool, ERASE] = False
    ) -> Deletion:
        """Delete a handoff, or erase its packet for good: no session is told of it any more.

        Needs the scope write for one of the actor's own, curate for another, and admin to erase. Raises
        NotFound, scope and branch refusals.
        """
        actor.require_scope("admin" if erase else "write", grows=False)
        with write_transaction():
            handoff = find_handoff(actor, handoff_id, Handoff.every if erase else Handoff.objects, lock=True)
            require_deleter(actor, handoff)
            forget_briefings(handoff)
            if erase:
                Handoff.every.filter(pk=handoff.pk).delete()
            else:
                handoff.mark_deleted(actor.write_time(), actor.label or actor.kind)
            record_entry(actor, "handoff.erase" if erase else "handoff.delete", str(handoff_id))
        return Deletion(1, [str(handoff_id)], {"handoff": 1})

    def delete_handoffs(
        self,
        *,
        actor: Actor,
        state: str = "",
        handoff_type: str = "",
        target_branch: str = "",
        to_agent: str = "",
        ids: Annotated[Sequence[UUID], MANY] = (),
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete the handoffs that fit all filters, all or none. Raises Invalid and scope refusals."""
        actor.require_scope("write", grows=False)
        requested = {"state": state, "handoff_type": handoff_type}
        requested |= {"target_branch": target_branch, "to_agent": to_agent}
        values = c.drop_empty(c.validate(requested, FILTERS))
        require_filter(ids, values)
        columns = {COLUMNS.get(name, name): value for name, value in values.items()}
        rows = list_visible_handoffs(actor).filter(**columns, **({"pk__in": ids} if ids else {}))
        with write_transaction():
            found = list(rows)
            for handoff in found:
                require_deleter(actor, handoff)
            for handoff in [] if dry_run else found:
                self.delete_handoff(handoff_id=handoff.pk, actor=actor)
        return count_deleted("handoff", [handoff.pk for handoff in found], dry_run)

    def restore_handoff(self, *, handoff_id: UUID, actor: Actor) -> Handoff:
        """Restore a deleted handoff. Raises NotFound, IllegalTransition, scope and branch refusals."""
        actor.require_scope("write")
        with write_transaction():
            handoff = find_handoff(actor, handoff_id, Handoff.every, lock=True)
            require_deleter(actor, handoff)
            if not handoff.deleted_at:
                raise IllegalTransition(NOT_DELETED)
            handoff.mark_deleted(None)
            record_entry(actor, "handoff.restore", str(handoff.pk))
        return handoff

    def may_delete(self, *, handoff: Handoff, actor: Actor) -> bool:
        """Return whether an actor that may see a handoff may delete it."""
        scope = "write" if handoff.owner == get_owner_name(actor) else "curate"
        return actor.has_scope(scope) and actor.may_use(handoff.source.name)

    def may_decide(self, *, handoff: Handoff, actor: Actor) -> bool:
        """Return whether the actor may accept or reject a handoff now."""
        is_open = handoff.state == State.PENDING and actor.has_scope("write")
        return is_open and actor.may_use(handoff.target.name) and is_for(handoff, actor.agent_id)

    def _decide(self, handoff_id: UUID, actor: Actor, state: str, reason: str) -> Handoff:
        actor.require_scope("write", grows=False)
        with write_transaction():
            handoff = find_handoff(actor, handoff_id, lock=True)
            actor.require_scope("write", handoff.target.name, grows=False)
            require_receiver(handoff, actor)
            if handoff.state != State.PENDING:
                raise IllegalTransition("This handoff is {state} already.", state=handoff.state)
            now = actor.write_time()
            handoff.state, handoff.reason, handoff.decided_at = state, reason, now
            handoff.decided_by, handoff.read_at = actor.label, handoff.read_at or now
            handoff.save(update_fields=["state", "reason", "decided_at", "decided_by", "read_at"])
            action = "handoff.accept" if state == State.ACCEPTED else "handoff.reject"
            record_entry(actor, action, str(handoff.pk), {"reason": reason} if reason else {})
        return handoff


# ---- creation --------------------------------------------------------------------------------------


def find_session(actor: Actor) -> Session | None:
    """Return the session that an actor states, if it states one. Raises NotFound, Conflict."""
    if not actor.session_id:
        return None
    session = SessionManager().get_session(session_id=actor.session_id, actor=actor)
    refuse_erased_session(session)
    return session


def choose_branches(values: Mapping[str, Any], session: Session | None) -> tuple[str, str]:
    """Return the names of source and target. Raises Invalid for a session of another branch."""
    own = session.branch.name if session else ""
    source = values.get("source_branch") or own or MAIN
    if own and source != own:
        raise Invalid(
            "The session is on the branch {branch}: hand over from that one.",
            branch=own,
            field="source_branch",
        )
    return source, values.get("target_branch") or source


def build_handoff(
    actor: Actor,
    source: Branch,
    target: Branch,
    session: Session | None,
    values: Mapping[str, Any],
    packet: Packet,
) -> Handoff:
    texts = {name: values.get(name, "") for name in ("to_agent", "context_summary", "instructions")}
    handoff = Handoff(
        project_id=actor.project_id,
        source=source,
        target=target,
        handoff_type=values["handoff_type"],
        blockers=values.get("blockers", []),
        facts=packet.facts,
        conversations=packet.conversations,
        left_out=packet.left_out,
        verification_status=packet.verification.value,
        fact_count=len(packet.facts),
        message_count=packet.message_count,
        owner=get_owner_name(actor),
        created_by=actor.label,
        created_at=actor.write_time(),
        **texts,
        **actor.origin_fields(),
    )
    handoff.context_summary = handoff.context_summary or compose_summary(session, packet.facts)
    handoff.sha256 = compute_sha256(handoff)
    return handoff


def refuse_empty(handoff: Handoff) -> None:
    """Refuse a handoff that hands nothing over. Raises Invalid."""
    texts = (handoff.context_summary, handoff.instructions, *handoff.blockers)
    if handoff.fact_count or handoff.message_count or any(text.strip() for text in texts):
        return
    if not handoff.left_out:
        raise Invalid(NOTHING, field="instructions")
    reasons = ", ".join(f"{count} {reason}" for reason, count in handoff.left_out.items())
    raise Invalid(ALL_LEFT_OUT, reasons=reasons, field="instructions")


# ---- who sees and receives what --------------------------------------------------------------------


def list_visible_handoffs(actor: Actor) -> QuerySet[Handoff]:
    """Return the project's handoffs from or to branches that the actor may use."""
    rows = Handoff.objects.filter(project=actor.project_id, hidden=False).select_related("source", "target")
    if (allowed := list_allowed_branches(actor)) is None:
        return rows
    return rows.filter(Q(source__in=allowed) | Q(target__in=allowed))


def find_handoff(
    actor: Actor, handoff_id: UUID, among: Manager[Handoff] = Handoff.objects, lock: bool = False
) -> Handoff:
    """Return a handoff, with ``lock`` locked until the transaction ends. Raises NotFound, BranchForbidden.

    Its packet is read as verdicts are now; the stored one stays.
    """
    rows = among.filter(project=actor.project_id, pk=c.parse_uuid("id", handoff_id), hidden=False)
    if lock:
        rows.select_for_update().first()
    found = rows.select_related("source", "target").first()
    if found is None:
        raise NotFound("There is no handoff with this id.")
    if not (actor.may_use(found.source.name) or actor.may_use(found.target.name)):
        raise BranchForbidden("This handoff is between branches that this key may not use.")
    return weaken_packets([found])[0]


def require_deleter(actor: Actor, handoff: Handoff) -> None:
    """Refuse who may not delete a handoff. Raises ScopeMissing, BranchForbidden."""
    is_own = handoff.owner == get_owner_name(actor)
    actor.require_scope("write" if is_own else "curate", handoff.source.name, grows=False)


def is_for(handoff: Handoff, agent_id: str) -> bool:
    """Return whether an agent may receive a handoff; who says no name may receive any."""
    return not handoff.to_agent or not agent_id or handoff.to_agent == agent_id


def require_receiver(handoff: Handoff, actor: Actor) -> None:
    """Refuse an agent for which a handoff is not meant. Raises AgentForbidden."""
    if not is_for(handoff, actor.agent_id):
        raise AgentForbidden("This handoff is for the agent {agent}.", agent=handoff.to_agent)


def may_receive(actor: Actor, handoff: Handoff) -> bool:
    """Return whether the actor is a possible receiver: somebody else who may write on the target branch."""
    is_meant = get_owner_name(actor) != handoff.owner and is_for(handoff, actor.agent_id)
    return is_meant and actor.has_scope("write") and actor.may_use(handoff.target.name)


def write_reads(values: Mapping[UUID, datetime]) -> None:
    for pk, at in values.items():
        Handoff.objects.filter(pk=pk, read_at=None).update(read_at=at)


buffer.register_kind(READ, write_reads)
