"""Changes of facts: what one writes, and many of them in one commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts import rules
from memory.engines.facts.batch import FactBatch, replace_parents
from memory.engines.facts.field_diff import check_version
from memory.engines.fields.base import Field
from memory.engines.fields.common import EXPECTED_VERSION
from memory.engines.fields.facts import CONTENT, FACT_ID, UPDATED
from memory.engines.fields.types import ListOf, Record, Whole
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import Write
from memory.exceptions import Day1Error, IllegalTransition, Invalid, NotFound, TooLarge
from memory.models import Commit, Fact

MAX_UPDATES = 1000
FIELDS = tuple(field.as_optional() for field in (*CONTENT, *UPDATED))
OWN = (FACT_ID.with_traits(name="id", required=True), EXPECTED_VERSION)
UPDATE = Record("FactUpdateItemInput", "The changes of one fact of many.", (*OWN, *FIELDS))
UPDATES = Field("facts", ListOf(UPDATE, 1, MAX_UPDATES), "Each fact once; what is not named stays.")
Status = Fact.Status
Changes = dict[str, Any]


@dataclass(frozen=True)
class BulkUpdated:
    """The facts as they are now, in the order given; ``commit`` is None when nothing was changed."""

    results: Sequence[Fact]
    commit: Commit | None


@retry_methods
class UpdateEngine:
    def update_facts(
        self,
        *,
        facts: Annotated[Sequence[Mapping[str, Any]], UPDATES],
        actor: Actor,
        branch_name: str = MAIN,
    ) -> BulkUpdated:
        """Change up to 1,000 facts in one commit, all or none.

        Raises NotFound, StaleVersion, IllegalTransition, TooLarge, Invalid and its subclasses; ``field``
        names the fact.
        """
        actor.require_scope("write", branch_name)
        updates = check_updates(facts)
        with open_commit(actor, branch_name, "fact.update", write=Write.EXEMPT) as commit:
            written = _UpdateRun(commit, updates).write_all()
        return BulkUpdated(written, commit.commit)


class _UpdateRun:
    """The updates of one commit. Those of content alone are written together, then moves one by one: a
    proposal that becomes active replaces its parent, which may be one of the others.
    """

    def __init__(self, commit: CommitWriter, updates: Mapping[UUID, tuple[int | None, Changes]]) -> None:
        self.commit, self.updates = commit, updates
        self.facts = self._read_all()

    def write_all(self) -> list[Fact]:
        self._check_all()
        plain = {uid for uid, (_, changes) in self.updates.items() if "status" not in changes}
        self._write_together(plain)
        for index, (uid, (_, changes)) in enumerate(self.updates.items()):
            if "status" in changes:
                with named_in_list(index):
                    write_update(self.commit, self.commit.get_version(Fact, uid), changes)
        shown = self.facts if len(plain) == len(self.updates) else self._read_all()
        return [shown[uid] for uid in self.updates]

    def _read_all(self) -> dict[UUID, Fact]:
        rows: list[Fact] = self.commit.visible_rows(Fact).fetch_by_key("uid", self.updates)
        return {row.uid: row for row in rows}

    def _check_all(self) -> None:
        for index, (uid, (expected, changes)) in enumerate(self.updates.items()):
            with named_in_list(index):
                if uid not in self.facts:
                    raise NotFound(field="id")
                check_version(self.commit, self.facts[uid], expected)
                if not answers_proposal(self.commit.actor, self.facts[uid], changes):
                    self.commit.require_write(Write.CHANGE)

    def _write_together(self, uids: Collection[UUID]) -> None:
        planned = []
        for index, uid in enumerate(self.updates):
            if uid in uids:
                with named_in_list(index):
                    fact = self.facts[uid]
                    planned.append((fact, plan_update(self.commit, fact, self.updates[uid][1])))
        written = self.commit.add_versions([(fact, changes, False) for fact, changes in planned if changes])
        stale = [row for row in written if row.content_hash != self.facts[row.uid].content_hash]
        FactBatch.enqueue_embedding(self.commit, stale)
        self.commit.targets += [str(row.uid) for row in written]
        self.facts |= {row.uid: row for row in written}


def check_updates(facts: Any) -> dict[UUID, tuple[int | None, Changes]]:
    """Return the expected version and the changes of each fact.

    Raises Invalid and its subclasses, TooLarge.
    """
    if not isinstance(facts, Sequence) or not facts:
        raise Invalid("{field} must be a list with at least one fact.", field="facts")
    if len(facts) > MAX_UPDATES:
        raise TooLarge(what="The list of facts", limit=f"{MAX_UPDATES} facts", field="facts")
    found: dict[UUID, tuple[int | None, Changes]] = {}
    for index, stated in enumerate(c.secrets_found.walk("facts", facts)):
        with named_in_list(index):
            if not isinstance(stated, Mapping):
                raise Invalid("A fact must be an object.", field="")
            rest = dict(stated)
            uid = c.parse_uuid("id", rest.pop("id", None))
            if uid in found:
                raise Invalid("The fact {id} is given twice.", id=uid, field="id")
            expected = CHECK_EXPECTED("expected_version", rest.pop("expected_version", None))
            found[uid] = expected, rules.clean_update(rest)
    return found


CHECK_EXPECTED = c.optional_check(c.integer_check(Whole().low))


@contextmanager
def named_in_list(index: int) -> Iterator[None]:
    """Name the fact of a list in the refusals of a block."""
    try:
        yield
    except Day1Error as error:
        error.name_in_list("facts", index)
        raise


# ---- one fact ------------------------------------------------------------------------------------------


def write_update(commit: CommitWriter, fact: Fact, requested: Changes) -> Fact:
    """Write a new version of a fact with what is requested; without a real change, return it as it is."""
    changes = plan_update(commit, fact, dict(requested))
    if not changes:
        return fact
    commit.targets.append(str(fact.uid))
    new = commit.change_row(fact, **changes)
    if new.content_hash != fact.content_hash:
        FactBatch.enqueue_embedding(commit, [new])
    return new


def plan_update(commit: CommitWriter, fact: Fact, requested: Changes) -> Changes:
    """Return the changed content of a fact, with its hashes; a proposal that becomes active replaces its
    parents. Raises Invalid, IllegalTransition, ScopeMissing.
    """
    if (status := requested.pop("status", fact.status)) != fact.status:
        requested |= _move_fact(commit, fact, status)
    text = requested.get("fact_text", fact.fact_text)
    if "essence" not in requested and fact.essence == rules.compute_essence(fact.fact_text):
        requested["essence"] = rules.compute_essence(text)
    requested = {
        name: value for name, value in requested.items() if not rules.is_same(getattr(fact, name), value)
    }
    if not requested:
        return {}
    requested.setdefault("updated_cycle", max(fact.updated_cycle, commit.branch.cycle))
    rules.check_done(requested.get("status", fact.status), requested.get("kind", fact.kind))
    rules.check_interval(
        requested.get("valid_from", fact.valid_from), requested.get("valid_until", fact.valid_until)
    )
    rules.check_cycles(fact.created_cycle, requested.get("updated_cycle", fact.updated_cycle))
    return rules.rewrite_fields(fact, requested)


def _move_fact(commit: CommitWriter, fact: Fact, status: str) -> Changes:
    if Status.ARCHIVED in (status, fact.status):
        commit.actor.require_scope("curate", commit.branch.name)
    if status == Status.SUPERSEDED:
        raise IllegalTransition("A fact is superseded by writing the one that replaces it.")
    if (fact.status, status) == (Status.CREATED, Status.ACTIVE):
        replace_parents(commit, [fact])
    return dict(rules.change_status(fact, status))


def answers_proposal(actor: Actor, fact: Fact, requested: Mapping[str, Any]) -> bool:
    """Return whether an update is a curator's answer to a proposal, and nothing else."""
    return fact.status == Status.CREATED and set(requested) == {"status"} and actor.has_scope("curate")
