"""Facts: written, corrected, replaced, judged. Every method is one commit on one branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines import fact_rules as rules
from memory.engines.belief import attach, attach_new, read_on
from memory.engines.branches import MAIN, find_branch, point_of
from memory.engines.commits import CommitWriter, committing
from memory.engines.comparing import read_since
from memory.engines.fact_batch import FactBatch, Written, replace_parents
from memory.engines.filters import FactFilter
from memory.engines.judging import judge
from memory.engines.pages import Page, page_of_history, page_of_versions, point_in_list
from memory.exceptions import NOT_ARCHIVED, IllegalTransition, Invalid, NotFound, TooLarge
from memory.models import Branch, Commit, Fact, FactAssessment

BULK = 1000
S = Fact.Status


@dataclass(frozen=True)
class BulkWritten:
    """What became of each fact, in the order given; ``commit`` is None when nothing was new."""

    results: Sequence[Written]
    commit: Commit | None


@rerunning
class FactEngine:
    # ---- writing -------------------------------------------------------------------------------

    def write_fact(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        propose: bool = False,
        deduplicate: bool = True,
        session_id: str = "",
        task_id: str = "",
        agent_id: str = "",
        **fields: Any,
    ) -> Written:
        """Store one fact. The same normalised text, visible and current, is returned instead of doubled:
        ``created`` is then False, and another session or agent counts as a confirmation.

        ``propose`` leaves it as ``created``: kept, not searched, until somebody activates it.
        Raises Invalid and its kin, TooLarge, BranchNotFound, BranchArchived, scope and branch refusals.
        """
        actor.require("propose" if propose else "write", branch_name)
        actor = _stating(actor, session_id=session_id, task_id=task_id, agent_id=agent_id)
        written = self.write_facts(
            facts=[fields], actor=actor, branch_name=branch_name, propose=propose, deduplicate=deduplicate,
            kind="fact.write",
        )  # fmt: skip
        return written.results[0]

    def write_facts(
        self,
        *,
        facts: Sequence[Mapping[str, Any]],
        actor: Actor,
        branch_name: str = MAIN,
        propose: bool = False,
        deduplicate: bool = True,
        kind: str = "fact.bulk",
    ) -> BulkWritten:
        """Store up to 1,000 facts in one commit, all or none. Raises as write_fact does."""
        actor.require("propose" if propose else "write", branch_name)
        if not isinstance(facts, Sequence) or not facts:
            raise Invalid("{field} must be a list with at least one fact.", field="facts")
        if len(facts) > BULK:
            raise TooLarge(what="The list of facts", limit=f"{BULK} facts", field="facts")
        batch = FactBatch(facts, actor, S.CREATED if propose else S.ACTIVE, deduplicate)
        with committing(actor, branch_name, kind) as commit:
            results = batch.write(commit)
        attach_new([written.fact for written in results if written.created], actor.project_id)
        attach([written.fact for written in results if not written.created], commit.lineage, actor.project_id)
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
        """A new version with other content; without a real change, the same version.

        Raises NotFound, StaleVersion, IllegalTransition, Invalid and its kin.
        """
        actor.require("write", branch_name)
        wanted = rules.clean_update(updates)
        with committing(actor, branch_name, "fact.update") as commit:
            fact = self._open(commit, fact_id, expected_version)
            fact = self._apply(commit, fact, wanted)
        return self._seen(fact, commit)

    def supersede_fact(
        self,
        *,
        old_fact_id: UUID,
        new_fact_text: str,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
        **fields: Any,
    ) -> Fact:
        """A new fact in the place of an old one, which stays as superseded. Category, kind, priority,
        tags and visibility are taken over from the old where they are not given.

        Raises NotFound, StaleVersion, IllegalTransition, Invalid and its kin.
        """
        actor.require("write", branch_name)
        actor = _stating(actor, **{name: fields.pop(name) for name in rules.STATED if name in fields})
        with committing(actor, branch_name, "fact.supersede") as commit:
            old = self._open(commit, old_fact_id, expected_version)
            commit.change(old, **rules.moved(old, S.SUPERSEDED))
            new = {**rules.inherited(old), **fields, "fact_text": new_fact_text}
            if "parent_id" in fields:
                raise Invalid("parent_id is set by superseding.", field="parent_id")
            (written,) = FactBatch([new], actor, S.ACTIVE, deduplicate=False, parent=old).write(commit)
        return attach_new([written.fact], actor.project_id)[0]

    def archive_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> Fact:
        """Retire a fact: not searched, not deleted, restorable; needs the scope curate.

        Raises NotFound, IllegalTransition.
        """
        return self._move(fact_id, S.ARCHIVED, actor, branch_name, "fact.archive", expected_version)

    def restore_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> Fact:
        """Bring an archived fact back to the status it had. Raises NotFound, IllegalTransition."""
        return self._move(fact_id, None, actor, branch_name, "fact.restore", expected_version)

    def delete_fact(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, expected_version: int | None = None
    ) -> None:
        """A tombstone on this branch; the history and other branches keep it. Raises NotFound."""
        actor.require("write", branch_name)
        with committing(actor, branch_name, "fact.delete") as commit:
            commit.targets.append(str(fact_id))
            commit.remove(self._open(commit, fact_id, expected_version))

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
        """A person's verdict on what the fact says now; the same verdict again changes nothing.

        Raises NotFound, Invalid; needs the scope curate.
        """
        actor.require("curate", branch_name)
        status = rules.c.one_of(FactAssessment.Status.values)("verdict", verdict)
        reason = rules.c.text(2000)("reason", reason)
        with committing(actor, branch_name, "fact.verify") as commit:
            fact = self._open(commit, fact_id, expected_version)
            judge(commit, [fact], status, reason)
        return self._seen(fact, commit)

    # ---- reading -------------------------------------------------------------------------------

    def get_fact(self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None) -> Fact:
        """The fact as the branch shows it, now or at a seq, commit or time. Raises NotFound."""
        branch, seq = self._branch(actor, branch_name, at)
        for fact in Fact.objects.on(branch, seq).filter(uid=fact_id).gather():
            return read_on(branch, attach([fact], branch.lineage(seq), actor.project_id))[0]
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
    ) -> Page[Fact]:
        """Facts of every status, newest first, as the first page saw the branch."""
        branch, _ = self._branch(actor, branch_name, None)
        seq = point_of(branch, point_in_list(branch, cursor, at))
        wanted, archived = filters or FactFilter(), branch.archived_at is not None
        rows = wanted.apply(Fact.objects.on(branch, seq), branch.lineage(seq), archived)
        page = page_of_versions(rows, seq=seq, limit=limit, cursor=cursor, at=at)
        read_on(branch, attach(page.results, branch.lineage(seq), actor.project_id))
        return page

    def history(
        self, *, fact_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None, limit: int = 50,
        cursor: str = "",
    ) -> Page[Fact]:  # fmt: skip
        """The versions that led to what the branch shows, or showed at a seq, commit or time, newest first,
        each with its ``commit``, as the first page saw the branch.

        A deleted fact still has its history. Raises NotFound.
        """
        branch, seq = self._branch(actor, branch_name, at)
        seq = point_of(branch, point_in_list(branch, cursor, None)) if cursor else seq
        rows = Fact.objects.history(branch.lineage(seq), fact_id)
        page = page_of_history(rows, seq=seq, limit=limit, cursor=cursor)
        if not page.results:
            raise NotFound()
        commits = Commit.objects.that_made({(one.branch_id, one.seq_from) for one in page.results})
        for version in page.results:
            version.commit = commits.get((version.branch_id, version.seq_from))
        return page

    # ---- pieces --------------------------------------------------------------------------------

    def _branch(self, actor: Actor, name: str, at: Any) -> tuple[Branch, int]:
        actor.require("read", name)
        branch = find_branch(actor, name)
        return branch, point_of(branch, at)

    def _open(self, commit: CommitWriter, fact_id: UUID, expected: int | None) -> Fact:
        fact = commit.get(Fact, fact_id)
        read_since(commit, fact, expected)
        return fact

    def _apply(self, commit: CommitWriter, fact: Fact, wanted: dict[str, Any]) -> Fact:
        if (status := wanted.pop("status", fact.status)) != fact.status:
            if S.ARCHIVED in (status, fact.status):
                commit.actor.require("curate", commit.branch.name)
            if status == S.SUPERSEDED:
                raise IllegalTransition("A fact is superseded by writing the one that replaces it.")
            if (fact.status, status) == (S.CREATED, S.ACTIVE):
                replace_parents(commit, [fact])
            wanted |= rules.moved(fact, status)
        text = wanted.get("fact_text", fact.fact_text)
        if "essence" not in wanted and fact.essence == rules.essence_of(fact.fact_text):
            wanted["essence"] = rules.essence_of(text)
        wanted = {name: value for name, value in wanted.items() if not rules.same(getattr(fact, name), value)}
        if not wanted:
            return fact
        rules.check_done(wanted.get("status", fact.status), wanted.get("kind", fact.kind))
        rules.check_interval(
            wanted.get("valid_from", fact.valid_from), wanted.get("valid_until", fact.valid_until)
        )
        rules.check_cycles(fact.created_cycle, wanted.get("updated_cycle", fact.updated_cycle))
        return self._rewrite(commit, fact, wanted)

    def _rewrite(self, commit: CommitWriter, fact: Fact, wanted: dict[str, Any]) -> Fact:
        commit.targets.append(str(fact.uid))
        new = commit.change(fact, **rules.rewritten(fact, wanted))
        if new.content_hash != fact.content_hash:
            FactBatch.announce(commit, [new])
        return new

    def _move(
        self,
        fact_id: UUID,
        status: str | None,
        actor: Actor,
        branch_name: str,
        kind: str,
        expected: int | None,
    ) -> Fact:
        actor.require("curate", branch_name)
        with committing(actor, branch_name, kind) as commit:
            fact = self._open(commit, fact_id, expected)
            if status is None and fact.status != S.ARCHIVED:
                raise IllegalTransition(NOT_ARCHIVED, old=fact.status, new="restored")
            commit.targets.append(str(fact.uid))
            fact = commit.change(fact, **rules.moved(fact, status or fact.held_status or S.ACTIVE))
        return self._seen(fact, commit)

    def _seen(self, fact: Fact, commit: CommitWriter) -> Fact:
        return attach([fact], commit.lineage, commit.actor.project_id)[0]


def _stating(actor: Actor, **stated: str) -> Actor:
    """The actor with what the caller says of itself, so that the commit has it too. Raises Invalid."""
    return actor.stating(**rules.c.clean(stated, rules.STATED))
