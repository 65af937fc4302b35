"""Facts: writing, updating, superseding, verification. Every write is one commit on one branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts import rules
from memory.engines.facts.assessment import annotate_facts, attach_new, mask_archived
from memory.engines.facts.batch import FactBatch, WriteResult, inherit_content
from memory.engines.facts.field_diff import check_version
from memory.engines.facts.filters import FactFilter, filter_lasting
from memory.engines.facts.links import link_superseded
from memory.engines.facts.updates import answers_proposal, write_update
from memory.engines.facts.verdicts import record_verdict, require_judgeable
from memory.engines.fields.base import Field
from memory.engines.fields.common import DEDUPLICATE, PROPOSE, STATED_CHECKS
from memory.engines.fields.facts import ITEM, NEW_FACT_TEXT, FactContent, NewFact
from memory.engines.fields.types import ListOf, Record
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, paginate_history, paginate_versions
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, open_point
from memory.engines.versions.policies import Write
from memory.exceptions import NOT_ARCHIVED, IllegalTransition, Invalid, NotFound, TooLarge
from memory.models import Commit, Fact, FactAssessment

MAX_FACTS_PER_WRITE = 1000
FACTS = Field("facts", ListOf(Record("FactItemInput", "One fact of many.", ITEM), 1, MAX_FACTS_PER_WRITE))
Status = Fact.Status


@dataclass(frozen=True)
class BulkWritten:
    """Results in the order given; ``commit`` is None when nothing was new."""

    results: Sequence[WriteResult]
    commit: Commit | None


@retry_methods
class FactEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_fact(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        propose: Annotated[bool, PROPOSE] = False,
        deduplicate: Annotated[bool, DEDUPLICATE] = True,
        **fields: Unpack[NewFact],
    ) -> WriteResult:
        """Store one fact. A visible, current fact with the same normalised text is returned instead:
        ``created`` is then False, and another session or agent counts as a confirmation.

        ``propose`` stores it with the status ``created``: not searched until it is activated. So does the
        policy of a branch, for an actor without the scope curate. Raises Invalid and its subclasses,
        TooLarge, BranchNotFound, BranchArchived, DirectWritesRefused, scope and branch refusals.
        """
        actor.require_scope("propose" if propose else "write", branch_name)
        actor, content = with_origin(actor, fields)
        written = self.write_facts(
            facts=[content],
            actor=actor,
            branch_name=branch_name,
            propose=propose,
            deduplicate=deduplicate,
            kind="fact.write",
        )
        return written.results[0]

    def write_facts(
        self,
        *,
        facts: Annotated[Sequence[Mapping[str, Any]], FACTS],
        actor: Actor,
        branch_name: str = MAIN,
        propose: Annotated[bool, PROPOSE] = False,
        deduplicate: Annotated[bool, DEDUPLICATE] = True,
        kind: str = "fact.bulk",
    ) -> BulkWritten:
        """Store up to 1,000 facts in one commit, all or none. Raises as write_fact does."""
        actor.require_scope("propose" if propose else "write", branch_name)
        if not isinstance(facts, Sequence) or not facts:
            raise Invalid("{field} must be a list with at least one fact.", field="facts")
        if len(facts) > MAX_FACTS_PER_WRITE:
            raise TooLarge(what="The list of facts", limit=f"{MAX_FACTS_PER_WRITE} facts", field="facts")
        batch = FactBatch(facts, actor, Status.CREATED if propose else Status.ACTIVE, deduplicate)
        with open_commit(actor, branch_name, kind, write=Write.EXEMPT if propose else Write.STATE) as commit:
            results = batch.write_facts(commit)
        attach_new([written.fact for written in results if written.created], actor.project_id)
        if known := [written.fact for written in results if not written.created]:
            annotate_facts(known, commit.lineage, actor.project_id)
        return BulkWritten(results, commit.commit)

    def update_fact(
        self,
        *,
        fact_id: UUID,
        updates: Mapping[str, Any],
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
    ) -> Fact:
        """Write a new version with changed content; without a real change, return the present version.

        Raises NotFound, StaleVersion, IllegalTransition, Invalid and its subclasses.
        """
        actor.require_scope("write", branch_name)
        requested = rules.clean_update(updates)
        with open_commit(actor, branch_name, "fact.update", write=Write.EXEMPT) as commit:
            fact = self._get_current(commit, fact_id, expected_version)
            if not answers_proposal(actor, fact, requested):
                commit.require_write(Write.CHANGE)
            fact = write_update(commit, fact, requested)
        return self._annotate_fact(fact, commit)

    def supersede_fact(
        self,
        *,
        old_fact_id: UUID,
        new_fact_text: str,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        **fields: Unpack[FactContent],
    ) -> Fact:
        """Supersede a fact as replace_fact does, and return the one that stands now."""
        written = self.replace_fact(
            old_fact_id=old_fact_id,
            new_fact_text=new_fact_text,
            actor=actor,
            branch_name=branch_name,
            expected_version=expected_version,
            **fields,
        )
        return written.fact

    def replace_fact(
        self,
        *,
        old_fact_id: UUID,
        new_fact_text: Annotated[str, NEW_FACT_TEXT],
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        deduplicate: Annotated[bool, DEDUPLICATE] = True,
        **fields: Unpack[FactContent],
    ) -> WriteResult:
        """Write a fact that supersedes an old one. Category, kind, priority, tags, visibility and repository
        are inherited where they are not given. Where another current fact has the text already, that one
        takes the place of the old one, as it is, and ``created`` is False. Where the branch's policy makes
        proposals of facts, the old one stands until the new one is accepted.

        Raises NotFound, StaleVersion, IllegalTransition, Invalid and its subclasses.
        """
        actor.require_scope("write", branch_name)
        actor, content = with_origin(actor, fields)
        text = rules.CHECKS["fact_text"]("new_fact_text", new_fact_text)
        with open_commit(actor, branch_name, "fact.supersede", write=Write.STATE) as commit:
            old = self._get_current(commit, old_fact_id, expected_version)
            rules.check_move(old, Status.SUPERSEDED)
            new = {**inherit_content(old, actor.project_id), **content, "fact_text": text}
            if "parent_id" in fields:
                raise Invalid("parent_id is set by superseding.", field="parent_id")
            if not commit.proposes:
                commit.change_row(old, **rules.change_status(old, Status.SUPERSEDED))
            batch = FactBatch([new], actor, Status.ACTIVE, deduplicate, parent=old)
            (written,) = batch.write_facts(commit)
            if not written.created and not commit.proposes:
                written = self._put_in_place(commit, written.fact, old)
        if written.created:
            attach_new([written.fact], actor.project_id)
            return written
        return WriteResult(self._annotate_fact(written.fact, commit), created=False)

    def archive_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> Fact:
        """Archive a fact: not searched, not deleted, restorable; needs the scope curate.

        Raises NotFound, IllegalTransition.
        """
        return self._change_status(
            fact_id, Status.ARCHIVED, actor, branch_name, "fact.archive", expected_version
        )

    def restore_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> Fact:
        """Restore an archived fact to its former status. Raises NotFound, IllegalTransition."""
        return self._change_status(fact_id, None, actor, branch_name, "fact.restore", expected_version)

    def delete_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> None:
        """Delete a fact from this branch by a tombstone; the history and other branches keep it. Raises
        NotFound.
        """
        actor.require_scope("write", branch_name, grows=False)
        with open_commit(actor, branch_name, "fact.delete") as commit:
            commit.targets.append(str(fact_id))
            commit.remove_row(self._get_current(commit, fact_id, expected_version))

    def set_verification(
        self,
        *,
        fact_id: UUID,
        verdict: str,
        actor: Actor,
        branch_name: str = MAIN,
        reason: str = "",
        expected_version: int | None = None,
    ) -> Fact:
        """Record a person's verdict on the fact's present text; the same verdict again changes nothing.

        Raises NotFound, Invalid, IllegalTransition for a fact that is archived or superseded; needs the scope
        curate.
        """
        actor.require_scope("curate", branch_name)
        status = c.one_of(FactAssessment.JUDGEMENTS)("verdict", verdict)
        reason = c.redact_stored(c.text_check(2000))("reason", reason)
        with open_commit(actor, branch_name, "fact.verify", write=Write.EXEMPT) as commit:
            fact = self._get_current(commit, fact_id, expected_version)
            record_verdict(commit, [require_judgeable(fact)], status, reason)
        return self._annotate_fact(fact, commit)

    # ---- reading -------------------------------------------------------------------------------

    def get_fact(self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None) -> Fact:
        """Return the fact as the branch shows it, now or at a seq, commit or time. Raises NotFound."""
        branch, seq = open_point(actor, branch_name, at)
        for fact in Fact.objects.on(branch, seq).fetch_by_key("uid", [fact_id]):
            return mask_archived(branch, annotate_facts([fact], branch.lineage(seq), actor.project_id))[0]
        raise NotFound()

    def list_facts(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        filters: FactFilter | None = None,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
        ordering: str = "",
    ) -> Page[Fact]:
        """List facts of every status, newest first; further pages stay at the point of the first. Of a
        namespace there are no items that have expired.
        """
        branch, seq = open_point(actor, branch_name, at, cursor)
        requested, archived = filters or FactFilter(), branch.archived_at is not None
        rows = requested.apply(Fact.objects.on(branch, seq), branch.lineage(seq), archived)
        shown = filter_lasting(rows, timezone.now()) if requested.namespace else rows
        options = {"limit": limit, "cursor": cursor, "at": at, "ordering": ordering}
        page = paginate_versions(shown, of=rows, seq=seq, **options)
        mask_archived(branch, annotate_facts(page.results, branch.lineage(seq), actor.project_id))
        return page

    def list_versions(
        self,
        *,
        fact_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Fact]:
        """List the versions of a fact on a branch, now or at a seq, commit or time, newest first, each with
        its ``commit``; further pages stay at the point of the first.

        A deleted fact still has its history. Raises NotFound.
        """
        branch, seq = open_point(actor, branch_name, None if cursor else at, cursor)
        rows = Fact.objects.history(branch.lineage(seq), fact_id)
        page = paginate_history(rows, seq=seq, limit=limit, cursor=cursor)
        if not page.results:
            raise NotFound()
        commits = Commit.objects.that_made({(one.branch_id, one.seq_from) for one in page.results})
        for version in page.results:
            version.commit = commits.get((version.branch_id, version.seq_from))
        return page

    # ---- pieces --------------------------------------------------------------------------------

    def _put_in_place(self, commit: CommitWriter, known: Fact, old: Fact) -> WriteResult:
        """Link a fact that is there already to the one that it takes the place of; return its version now."""
        commit.targets.append(str(known.uid))
        link_superseded(commit, known, [old])
        return WriteResult(commit.get_version(Fact, known.uid), created=False)

    def _get_current(self, commit: CommitWriter, fact_id: UUID, expected: int | None) -> Fact:
        fact = commit.get_version(Fact, fact_id)
        check_version(commit, fact, expected)
        return fact

    def _change_status(
        self,
        fact_id: UUID,
        status: str | None,
        actor: Actor,
        branch_name: str,
        kind: str,
        expected: int | None,
    ) -> Fact:
        actor.require_scope("curate", branch_name)
        with open_commit(actor, branch_name, kind) as commit:
            fact = self._get_current(commit, fact_id, expected)
            if status is None and fact.status != Status.ARCHIVED:
                raise IllegalTransition(NOT_ARCHIVED, old=fact.status, new="restored")
            commit.targets.append(str(fact.uid))
            fact = commit.change_row(
                fact, **rules.change_status(fact, status or fact.held_status or Status.ACTIVE)
            )
        return self._annotate_fact(fact, commit)

    def _annotate_fact(self, fact: Fact, commit: CommitWriter) -> Fact:
        return annotate_facts([fact], commit.lineage, commit.actor.project_id)[0]


def with_origin(actor: Actor, fields: Mapping[str, Any]) -> tuple[Actor, dict[str, Any]]:
    """Return the actor with the session, task and agent ids given by the caller. Raises Invalid."""
    known = {name: value for name, value in fields.items() if name in STATED_CHECKS}
    rest = {name: value for name, value in fields.items() if name not in known}
    return actor.with_origin(**c.validate(known, STATED_CHECKS)), rest
