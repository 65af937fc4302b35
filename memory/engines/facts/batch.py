"""Batches of facts in one commit: validated, deduplicated, written with few statements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from memory.actors import Actor
from memory.db.bulk_sql import build_row, insert_all
from memory.db.expressions import ColumnIn
from memory.db.raw_select import by_key
from memory.engines.embedding.awaited import awaited_texts
from memory.engines.embedding.engine import enqueue_texts
from memory.engines.embedding.models import embedder_is_on
from memory.engines.facts import rules
from memory.engines.facts.assessment import has_verdict, list_sources
from memory.engines.facts.end_user_room import check_user_room
from memory.engines.facts.known_texts import KnownTexts
from memory.engines.facts.prototypes import Prototype, pack_all_but
from memory.engines.fields.common import DEDUPLICATE, STATED_CHECKS
from memory.engines.support.validation import check_boolean, secrets_found, validate
from memory.engines.versions.commits import CommitWriter
from memory.engines.versions.repositories import find_named_repository, find_repositories, name_repositories
from memory.engines.versions.session_activity import SessionOrigin, begin_sessions
from memory.exceptions import Invalid, TooLarge
from memory.models import Confirmation, Fact, FactAssessment, NearCheck
from memory.models.nodes import new_uuid
from memory.queue.producer import enqueue

NOTHING: Mapping[str, Any] = {}
CURRENT = (Fact.Status.CREATED, Fact.Status.ACTIVE, Fact.Status.DONE)


@dataclass(frozen=True)
class WriteResult:
    """Stored fact; ``created`` is False where the same text existed already."""

    fact: Fact
    created: bool


class FactBatch:
    """Batch of facts, validated before anything is written and stored whole or not at all.

    An import, which writes in its own way, calls the steps separately: build_fact, find_existing,
    activate_proposal, confirm_facts, open_sessions, enqueue_embedding.
    """

    def __init__(
        self,
        facts: Sequence[Mapping[str, Any]],
        actor: Actor,
        status: str,
        deduplicate: bool,
        parent: Fact | None = None,
    ) -> None:
        actor = actor.for_owner(parent) if parent else actor  # a fact stays whose it was
        self.actor, self.status, self.deduplicate, self.parent = actor, status, deduplicate, parent
        self._stated: tuple[Mapping[str, str], Actor] = ({}, actor.with_origin())
        self._prototypes: dict[bytes, Prototype] = {}  # by all that facts have but their texts
        self._uids = iter(new_uuid.take_ids(len(facts)))
        self._compared: dict[int, bool] = {}  # whether a row is compared, where its fact says so for itself
        items = enumerate(secrets_found.walk("facts", facts))
        self.rows = [self._build_row(index, values, len(facts)) for index, values in items]

    def _build_row(self, index: int, values: Mapping[str, Any], count: int) -> Fact:
        try:
            return self._build_item(values)
        except (Invalid, TooLarge) as error:
            if count > 1:
                error.name_in_list("facts", index)
                error.text = f"Fact {index}: {error.text}"
                error.args = (error.text,)
            raise

    def _build_item(self, values: Any) -> Fact:
        """Build a row of one of many facts, which may say for itself whether it is compared with others."""
        if not isinstance(values, Mapping):
            raise Invalid("A fact must be an object.", field="")
        stated = {name: value for name, value in values.items() if name != DEDUPLICATE.name}
        compared = check_boolean(DEDUPLICATE.name, values.get(DEDUPLICATE.name, self.deduplicate))
        row = self._build_like(stated)
        if compared is not self.deduplicate:
            self._compared[id(row)] = compared
        return row

    def _build_like(self, values: Mapping[str, Any]) -> Fact:
        """Build a row as ``build_fact``, of a fact that differs from one before in its text alone by checking
        that one.
        """
        if not (key := pack_all_but(values, "fact_text")):
            return self.build_fact(values)
        if prototype := self._prototypes.get(key):
            return prototype.build_fact(values["fact_text"], self._next_uid())
        secrets = secrets_found.get_seen()
        row = self.build_fact(values)
        if secrets == secrets_found.get_seen():  # each secret counts, so it is found in each row
            self._prototypes[key] = Prototype(row, is_own="essence" in values)
        return row

    def build_fact(
        self, values: Mapping[str, Any], *, reserved: bool = False, checked: Mapping[str, Any] = NOTHING
    ) -> Fact:
        """Build a row without storing it; ``reserved`` as in the rules, ``checked`` are columns that the
        caller has checked. Raises Invalid and its subclasses.
        """
        stated = validate({k: v for k, v in values.items() if k in STATED_CHECKS}, STATED_CHECKS)
        actor = self._find_actor(stated)
        rest = {name: value for name, value in values.items() if name not in STATED_CHECKS}
        fields = rules.clean_new(rest, reserved=reserved, checked=checked)
        fields.setdefault("source", actor.label)
        fields.setdefault("repository", None)  # until its session is known
        own = {"rid": None, "uid": self._next_uid()}  # the commit numbers its rows
        fact = build_row(Fact, {**own, **fields, "status": self.status, **actor.owner_fields(), **checked})
        if self.parent:
            fact.parent_id = self.parent.uid
        fact.compute_hashes()
        return fact

    def _next_uid(self) -> UUID:
        return next(self._uids, None) or new_uuid()

    def _find_actor(self, stated: Mapping[str, str]) -> Actor:
        """Return the actor with the origin that a fact states, mostly the same as the fact before."""
        if stated != self._stated[0]:
            self._stated = stated, self.actor.with_origin(**stated)
        return self._stated[1]

    # ---- writing -------------------------------------------------------------------------------

    def write_facts(self, commit: CommitWriter) -> list[WriteResult]:
        """Write the batch in the commit, as proposals where the branch's policy wants that.

        Raises Invalid for a parent that the branch does not show.
        """
        if commit.proposes:
            self._become_proposals()
        self._check_parents(commit)
        self.open_sessions(commit)
        self._stamp_cycles(commit)
        compared = any(map(self._is_compared, self.rows))
        known = self.find_existing(commit) if compared else KnownTexts(commit.at)
        results = [self._take_row(commit, row, known) for row in self.rows]
        fresh = [result.fact for result in results if result.created]
        awaited_texts.note(result.fact.content_hash for result in results)  # one of before may wait too
        check_user_room(commit, fresh)
        if self.status == Fact.Status.ACTIVE:
            replace_parents(commit, fresh)
        self.enqueue_embedding(commit, fresh)
        commit.add_rows(fresh)
        self.confirm_facts(commit, results)
        commit.targets += [row.uid for row in fresh]
        return results

    def _become_proposals(self) -> None:
        self.status = Fact.Status.CREATED
        for row in self.rows:
            row.status = self.status

    def _stamp_cycles(self, commit: CommitWriter) -> None:
        """Stamp the rows that name no cycle with that of the branch."""
        for row in self.rows:
            if not row.updated_cycle:
                row.created_cycle = row.updated_cycle = commit.branch.cycle

    def _is_compared(self, row: Fact) -> bool:
        return self._compared.get(id(row), self.deduplicate)

    def _take_row(self, commit: CommitWriter, row: Fact, known: KnownTexts) -> WriteResult:
        """Return the fact that says the same already, else the row as a new one."""
        found = known.find(row) if self._is_compared(row) else None
        if found is None:
            known.add(row)
            return WriteResult(row, created=True)
        if found.status == Fact.Status.CREATED and self.status == Fact.Status.ACTIVE:
            found = self.activate_proposal(commit, found)
            known.replace(found)
        return WriteResult(found, created=False)

    def activate_proposal(self, commit: CommitWriter, known: Fact) -> Fact:
        """Activate a proposal whose text is now written as a fact."""
        commit.targets.append(str(known.uid))
        replace_parents(commit, [known])
        return commit.change_row(known, **rules.change_status(known, Fact.Status.ACTIVE))

    def _check_parents(self, commit: CommitWriter) -> None:
        named = {row.parent_id: index for index, row in reversed(list(enumerate(self.rows))) if row.parent_id}
        if self.parent or not named:
            return
        found = {fact.uid for fact in commit.visible_rows(Fact).filter(uid__in=named).fetch_all()}
        for uid, index in named.items():
            if uid not in found:
                field = "parent_id" if len(self.rows) == 1 else f"facts[{index}].parent_id"
                raise Invalid("There is no fact {id} on this branch.", id=uid, field=field)

    def find_existing(self, commit: CommitWriter) -> KnownTexts:
        """Return the branch's current facts with the batch's texts."""
        hashes = list({row.norm_hash for row in self.rows})
        found: list[Fact] = []
        for start in range(0, len(hashes), 500):
            if not self._load_written(commit, hashes[start : start + 500]):
                continue
            same = commit.visible_rows(Fact).filter(
                ~Q(expires_at__lte=commit.at), norm_hash__in=hashes[start : start + 500], status__in=CURRENT
            )
            same = same.exclude(Q(has_verdict([FactAssessment.Status.INVALIDATED], commit.lineage)))
            found += same.fetch_all()
        known = KnownTexts(commit.at)
        for fact in name_repositories(sorted(found, key=lambda fact: fact.uid), self.actor.project_id):
            known.add(fact)
        return known

    @staticmethod
    def _load_written(commit: CommitWriter, hashes: Sequence[str]) -> bool:
        """Return whether the lineage ever had one of these texts; mostly not, which saves the full query."""
        of = ColumnIn(Fact, "branch", [branch for branch, _ in commit.lineage])
        return bool(by_key(Fact._base_manager.db, Fact, ("rid",), ("norm_hash", hashes), [of]))

    def confirm_facts(self, commit: CommitWriter, results: Sequence[WriteResult]) -> None:
        """Confirm a text that another session or agent writes again; each source counts once."""
        sources = {
            (written.fact.uid, source)
            for row, written in zip(self.rows, results, strict=True)
            if not written.created and (source := get_source(row)) and source != get_source(written.fact)
        }
        if not sources or self.status == Fact.Status.CREATED:  # a proposal changes nothing that is active
            return
        new = sources - list_sources({uid for uid, _ in sources}, commit.lineage)
        where = {"branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
        rows = [Confirmation(uid=uid, source=source, **where) for uid, source in sorted(new)]
        Confirmation.objects.bulk_create(rows)
        commit.side_rows += len(new)

    def open_sessions(self, commit: CommitWriter) -> None:
        """Begin the sessions that the rows name, and set where each row was learned: what it states, be it no
        repository, else that of its session, else the actor's.
        """
        own = find_named_repository(self.actor)
        last = {row.session_id: row for row in self.rows if row.session_id}
        named = {key: SessionOrigin.of_row(row) for key, row in last.items()}
        known = begin_sessions(commit.branch, commit.at, named, own) if named else {}
        commit.sessions |= set(named)
        for row in self.rows:
            if row.repository is None:
                row.repository = known.get(row.session_id, own)

    @staticmethod
    def enqueue_embedding(commit: CommitWriter, facts: Sequence[Fact]) -> None:
        """Queue the texts for embedding and duplicate detection, and notify the worker."""
        facts = [fact for fact in facts if fact.embed is None]
        if not facts or not embedder_is_on():
            return
        project_id = commit.actor.project_id
        enqueue("memory.embed", str(project_id))
        enqueue_texts(project_id, {fact.content_hash: fact.fact_text for fact in facts}, commit.at)
        index = {"project_id": project_id, "branch_id": commit.branch.pk}
        checked = [fact for fact in facts if fact.path is None]  # items may resemble one another
        rows = ({"uid": fact.uid, "content_hash": fact.content_hash, **index} for fact in checked)
        insert_all([build_row(NearCheck, row) for row in rows])


def inherit_content(old: Fact, project_id: UUID) -> dict[str, Any]:
    """Return the fields inherited from a superseded fact, its repository among them."""
    (repository,) = find_repositories(project_id, [old])
    return {**rules.inherit_fields(old), "repository": repository}


def replace_parents(commit: CommitWriter, facts: Iterable[Fact]) -> None:
    """Supersede the active parents of facts that become active."""
    if parents := {fact.parent_id for fact in facts if fact.parent_id}:
        for parent in (
            commit.visible_rows(Fact).filter(uid__in=parents, status=Fact.Status.ACTIVE).fetch_all()
        ):
            commit.change_row(parent, **rules.change_status(parent, Fact.Status.SUPERSEDED))


def get_source(fact: Fact) -> str:
    """Return the source of a fact: its session, else its agent; empty when neither is known."""
    if fact.session_id:
        return f"session:{fact.session_id}"
    return f"agent:{fact.agent_id}" if fact.agent_id else ""
