"""Erasure: the one operation that takes content out of the history, for good and on every branch.

It is recorded first, with the ids of all that it covers; from then on merges and imports refuse those. The
rows are overwritten in short transactions, then the files of the database. What a crash interrupts, a sweep
finishes. docs/decisions/0022 has the reasons.
"""

from dataclasses import dataclass
from uuid import UUID

from memory.actors import Actor
from memory.engines.erasure.copies import list_copies, refuse_copies
from memory.engines.erasure.execution import build_proof, resume_erasure, run_erasure
from memory.engines.erasure.listing import begin_erasure, drop_erased, list_batches
from memory.engines.erasure.plan import ErasurePlan, build_plan, confirm_name
from memory.engines.erasure.scopes import find_targets
from memory.engines.fields.erasures import ERASURE_FILTERS
from memory.engines.fields.filters import make_filter_checks
from memory.engines.fields.orders import ERASURES
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate
from memory.engines.versions.blanking import load_versions
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import Erasure

MAX_MEMORIES = 50_000  # of one erasure
FILTERS = make_filter_checks(ERASURE_FILTERS)
State = Erasure.State


@dataclass(frozen=True)
class Verification:
    """What is left of an erasure: versions with content, and whether the digests still give the proof."""

    erasure: Erasure
    versions_left: int
    proof_holds: bool

    @property
    def holds(self) -> bool:
        return self.erasure.state == State.DONE and not self.versions_left and self.proof_holds


class ErasureEngine:
    def preview_erasure(self, *, actor: Actor, scope: str, target: str) -> ErasurePlan:
        """Return what an erasure would take, without writing anything.

        ``scope`` is fact, session, agent, actor or match; ``target`` the id, the name of a person or key, or
        the text that is looked for. Needs the scope admin on all branches. Raises Invalid, NotFound;
        Conflict for what was erased already.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, find_targets(actor.project_id, scope, target))
        return build_plan(actor.project_id, scope, target, found)

    def erase(
        self, *, actor: Actor, scope: str, target: str, confirm: str, drop_copies: bool = False
    ) -> Erasure:
        """Erase for good. ``confirm`` is the name that the preview asks for.

        The result is pending while something still holds a copy, and a sweep then finishes it. Raises as
        ``preview_erasure`` does; Invalid for another name; Conflict where copies of the store hold it and
        ``drop_copies`` is not set; TooLarge.
        """
        forbid_patterns(actor)
        found = drop_erased(actor.project_id, find_targets(actor.project_id, scope, target))
        if confirm != confirm_name(actor.project_id, scope, target):
            raise Invalid("The name that was typed is another one: nothing was erased.", field="confirm")
        if sum(found.count_kinds().values()) > MAX_MEMORIES:
            raise TooLarge(what="The erasure", limit=f"{MAX_MEMORIES} memories")
        copies = list_copies(actor.project_id)
        refuse_copies(actor, copies, drop_copies)
        erasure = begin_erasure(actor, scope, target, found, copies)
        return run_erasure(erasure, actor)

    def list_erasures(
        self,
        *,
        actor: Actor,
        state: str = "",
        scope: str = "",
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Erasure]:
        """List the project's erasures, newest first. Needs the scope admin."""
        actor.require_scope("admin")
        filters = c.validate({"state": state, "scope": scope}, FILTERS)
        rows = Erasure.objects.filter(project=actor.project_id)
        rows = rows.filter(**c.drop_empty(filters))
        return paginate(rows, **ERASURES.read_key(ordering), limit=limit, cursor=cursor)

    def get_erasure(self, *, erasure_id: UUID, actor: Actor) -> Erasure:
        """Return an erasure. Needs the scope admin. Raises NotFound."""
        actor.require_scope("admin")
        found = Erasure.objects.filter(project=actor.project_id, pk=erasure_id).first()
        if found is None:
            raise NotFound()
        return found

    def verify_erasure(self, *, erasure_id: UUID, actor: Actor) -> Verification:
        """Check that every version of what was erased is still blank, and the proof. Raises NotFound."""
        erasure = self.get_erasure(erasure_id=erasure_id, actor=actor)
        left = sum(
            len(rows)
            for kind, uids in list_batches(erasure, blank=True)
            for rows in load_versions(erasure.project_id, kind, uids, written=True).values()
        )
        return Verification(erasure, left, erasure.proof == build_proof(erasure))

    def finish_pending(self) -> int:
        """Finish the erasures of all projects that were interrupted or had to wait; return how many."""
        pending = list(Erasure.objects.filter(state=State.PENDING).order_by("requested_at"))
        return sum(resume_erasure(erasure) for erasure in pending)
