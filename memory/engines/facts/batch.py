"""Many facts in one commit: checked, compared with what is there, written with few statements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from memory.actors import Actor
from memory.db.bulk import insert_all
from memory.db.expressions import OneOf
from memory.db.reading import by_key
from memory.engines import fact_rules as rules
from memory.engines.belief import judged, sources
from memory.engines.cleaning import clean
from memory.engines.commits import CommitWriter
from memory.engines.embedding import embedder_is_on, want
from memory.engines.sessions import begin_sessions
from memory.exceptions import Invalid, TooLarge
from memory.models import Confirmation, Fact, FactAssessment, NearCheck
from memory.queue import enqueue

CURRENT = (Fact.Status.CREATED, Fact.Status.ACTIVE, Fact.Status.DONE)


Key = tuple[str, datetime | None]  # the hash of a text, and until when it was true where that is over


@dataclass(frozen=True)
class Written:
    """A fact as stored; ``created`` is False where the same text was there already."""

    fact: Fact
    created: bool


class FactBatch:
    """Checks everything before anything is written: a batch is stored whole or not at all.

    An import, which writes in its own way, takes the steps one by one: fact, known, activate, confirm,
    open_sessions, announce.
    """

    def __init__(
        self,
        facts: Sequence[Mapping[str, Any]],
        actor: Actor,
        status: str,
        deduplicate: bool,
        parent: Fact | None = None,
    ) -> None:
        self.actor, self.status, self.deduplicate, self.parent = actor, status, deduplicate, parent
        self.rows = [self._row(place, given, len(facts)) for place, given in enumerate(facts)]

    def _row(self, place: int, given: Mapping[str, Any], count: int) -> Fact:
        try:
            return self.fact(given)
        except (Invalid, TooLarge) as error:
            if count > 1:  # say which one, as a path into the list
                error.data["field"] = f"facts[{place}].{error.data.get('field', '')}".rstrip(".")
                error.text = f"Fact {place}: {error.text}"
                error.args = (error.text,)
            raise

    def fact(self, given: Mapping[str, Any], *, reserved: bool = False) -> Fact:
        """The row, not yet stored; ``reserved`` as in the rules. Raises Invalid and its kin."""
        if not isinstance(given, Mapping):
            raise Invalid("A fact must be an object.", field="")
        stated = clean({k: v for k, v in given.items() if k in rules.STATED}, rules.STATED)
        actor = self.actor.stating(**stated)
        fields = rules.clean_new({k: v for k, v in given.items() if k not in rules.STATED}, reserved=reserved)
        fields.setdefault("source", actor.label)
        fact = Fact(
            **fields,
            status=self.status,
            session_id=actor.session_id,
            task_id=actor.task_id,
            agent_id=actor.agent_id,
        )
        if self.parent:
            fact.parent_id = self.parent.uid
        fact.rehash()
        return fact

    # ---- writing -------------------------------------------------------------------------------

    def write(self, commit: CommitWriter) -> list[Written]:
        """Raises NotFound for a parent that the branch does not show."""
        self._check_parents(commit)
        there = self.known(commit) if self.deduplicate else {}
        fresh: list[Fact] = []
        results: list[Written] = []
        for row in self.rows:
            key = _key(row, commit.at)
            known = there.get((row.norm_hash, None)) or there.get(key)
            if known is None:
                fresh.append(row)
                if self.deduplicate:
                    there[key] = row
            elif known.status == Fact.Status.CREATED and self.status == Fact.Status.ACTIVE:
                known = there[_key(known, commit.at)] = self.activate(commit, known)
            results.append(Written(known or row, created=known is None))
        if self.status == Fact.Status.ACTIVE:
            replace_parents(commit, fresh)
        commit.add(fresh)
        self.confirm(commit, results)
        self.open_sessions(commit)
        self.announce(commit, fresh)
        commit.targets += [str(row.uid) for row in fresh]
        return results

    def activate(self, commit: CommitWriter, known: Fact) -> Fact:
        """What was proposed is now written by somebody who may."""
        commit.targets.append(str(known.uid))
        replace_parents(commit, [known])
        return commit.change(known, **rules.moved(known, Fact.Status.ACTIVE))

    def _check_parents(self, commit: CommitWriter) -> None:
        named = {row.parent_id: place for place, row in reversed(list(enumerate(self.rows))) if row.parent_id}
        if self.parent or not named:
            return
        found = {fact.uid for fact in commit.visible(Fact).filter(uid__in=named).gather()}
        for uid, place in named.items():
            if uid not in found:
                field = "parent_id" if len(self.rows) == 1 else f"facts[{place}].parent_id"
                raise Invalid("There is no fact {id} on this branch.", id=uid, field=field)

    def known(self, commit: CommitWriter) -> dict[Key, Fact]:
        """Current facts of the branch with one of these texts; those that are true no more by their time."""
        hashes = list({row.norm_hash for row in self.rows})
        found: dict[Key, Fact] = {}
        for start in range(0, len(hashes), 500):
            if not self._written(commit, hashes[start : start + 500]):
                continue
            same = commit.visible(Fact).filter(
                ~Q(expires_at__lte=commit.at), norm_hash__in=hashes[start : start + 500], status__in=CURRENT
            )
            same = same.exclude(Q(judged([FactAssessment.Status.INVALIDATED], commit.lineage)))
            for fact in sorted(same.gather(), key=lambda fact: fact.uid, reverse=True):
                found[_key(fact, commit.at)] = fact
        return found

    @staticmethod
    def _written(commit: CommitWriter, hashes: Sequence[str]) -> bool:
        """Whether the branch or an ancestor ever had one of these texts: mostly there is no more to ask."""
        of = OneOf(Fact, "branch", [branch for branch, _ in commit.lineage])
        return bool(by_key(Fact._base_manager.db, Fact, ("rid",), ("norm_hash", hashes), [of]))

    def confirm(self, commit: CommitWriter, results: Sequence[Written]) -> None:
        """A text that comes again from another session or agent is confirmed; each source counts once."""
        said = {
            (written.fact.uid, source)
            for row, written in zip(self.rows, results, strict=True)
            if not written.created and (source := source_of(row)) and source != source_of(written.fact)
        }
        if not said or self.status == Fact.Status.CREATED:  # a proposal changes nothing that is active
            return
        new = said - sources({uid for uid, _ in said}, commit.lineage)
        where = {"branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
        rows = [Confirmation(uid=uid, source=source, **where) for uid, source in sorted(new)]
        Confirmation.objects.bulk_create(rows)
        commit.beside += len(new)

    def open_sessions(self, commit: CommitWriter) -> None:
        if named := {row.session_id: (row.task_id, row.agent_id) for row in self.rows if row.session_id}:
            begin_sessions(commit.branch, commit.at, named)
            commit.sessions |= set(named)

    @staticmethod
    def announce(commit: CommitWriter, facts: Sequence[Fact]) -> None:
        """Leave the texts to be embedded and compared, and say so to the worker."""
        if not facts or not embedder_is_on():
            return
        project_id = commit.actor.project_id
        want(project_id, {fact.content_hash: fact.fact_text for fact in facts}, commit.at)
        place = {"project_id": project_id, "branch_id": commit.branch.pk}
        insert_all([NearCheck(uid=fact.uid, content_hash=fact.content_hash, **place) for fact in facts])
        enqueue("memory.embed", str(project_id))


def replace_parents(commit: CommitWriter, facts: Iterable[Fact]) -> None:
    """Facts that become active take the place of the active ones that they were written over."""
    if parents := {fact.parent_id for fact in facts if fact.parent_id}:
        for parent in commit.visible(Fact).filter(uid__in=parents, status=Fact.Status.ACTIVE).gather():
            commit.change(parent, **rules.moved(parent, Fact.Status.SUPERSEDED))


def _key(fact: Fact, now: datetime) -> Key:
    """One that is true no more answers only for its own time."""
    over = fact.valid_until is not None and fact.valid_until <= now
    return fact.norm_hash, fact.valid_until if over else None


def source_of(fact: Fact) -> str:
    """Who said it: the session, else the agent; empty when neither is known."""
    if fact.session_id:
        return f"session:{fact.session_id}"
    return f"agent:{fact.agent_id}" if fact.agent_id else ""
