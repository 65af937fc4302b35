"""What people do to many facts at once: one commit, and a result for each fact.

Each action does to a fact what FactEngine does to one, under the same rules and with the same audit record.
The commit's id undoes it: see RevertEngine.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines import cleaning as c
from memory.engines import fact_rules as rules
from memory.engines.branches import MAIN
from memory.engines.commits import CommitWriter, committing
from memory.engines.comparing import read_since
from memory.engines.fact_batch import FactBatch
from memory.engines.judging import judge
from memory.engines.replacing import check_keeper, replace_by
from memory.exceptions import NOT_ARCHIVED, Day1Error, IllegalTransition, Invalid, NotFound, TooLarge
from memory.models import Commit, Fact, FactAssessment

MOST = 1000
TOGETHER = 500
REASON = 2000
DONE, UNCHANGED, REFUSED = "done", "unchanged", "refused"
S, V = Fact.Status, FactAssessment.Status

Content = dict[str, Any]


@dataclass(frozen=True)
class Action:
    """Its scope, the kind of its commit, and the sentence for a fact that it was done to."""

    scope: str
    kind: str
    said: str


ACTIONS = {
    "verify": Action("curate", "fact.verify", "Verified."),
    "invalidate": Action("curate", "fact.verify", "Invalidated."),
    "unverify": Action("curate", "fact.verify", "Unverified."),
    "archive": Action("curate", "fact.archive", "Archived."),
    "restore": Action("curate", "fact.restore", "Restored."),
    "supersede": Action("write", "fact.supersede", "Superseded."),
    "set_category": Action("write", "fact.update", "Category changed."),
}
VERDICTS = {"verify": V.VERIFIED, "invalidate": V.INVALIDATED, "unverify": V.UNVERIFIED}


@dataclass(frozen=True)
class Outcome:
    """What became of one fact: done, unchanged (it was so already) or refused, and why.

    ``error`` is the refusal itself, for a surface that says it in another language.
    """

    fact_id: UUID
    outcome: str
    code: str = ""
    message: str = ""
    essence: str = ""  # of the fact; empty where there is none
    error: Day1Error | None = None


@dataclass(frozen=True)
class Report:
    """A result for each fact, in the order given; ``commit`` is None when nothing was changed.

    ``new_fact`` is the fact that was written in the place of the others.
    """

    results: Sequence[Outcome]
    commit: Commit | None
    new_fact: Fact | None = None

    def count(self, outcome: str) -> int:
        return sum(result.outcome == outcome for result in self.results)


@rerunning
class ActionEngine:
    def act(
        self,
        *,
        action: str,
        fact_ids: Iterable[UUID],
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Mapping[UUID, int] | None = None,
        reason: str = "",
        category: str = "",
        replaced_by: UUID | None = None,
        new_fact_text: str = "",
    ) -> Report:
        """Do one action to up to 1,000 facts of a branch. What is refused for one fact stops no other.

        Actions: verify, invalidate, unverify (a person's verdict, with ``reason``); archive, restore;
        supersede, by a fact that is there (``replaced_by``) or by a new one (``new_fact_text``);
        set_category. ``expected_versions`` are those that the caller has read. Raises Invalid, TooLarge,
        BranchNotFound, BranchArchived, NotFound for ``replaced_by``, scope and branch refusals.
        """
        asked = Asked.of(action, category, replaced_by, new_fact_text, reason)
        actor.require(asked.what.scope, branch_name)
        ids = check_ids(fact_ids)
        with committing(actor, branch_name, asked.what.kind, asked.reason[:500]) as commit:
            batch = Batch(commit, ids, expected_versions or {})
            new = asked.apply(batch)
        return Report(batch.results(asked.what.said), commit.commit, new)


@dataclass(frozen=True)
class Asked:
    """An action with what it needs, checked."""

    action: str
    what: Action
    category: str
    replaced_by: UUID | None
    new_fact_text: str
    reason: str

    @classmethod
    def of(cls, action: str, category: str, by: UUID | None, text: str, reason: str) -> "Asked":
        name = c.one_of(list(ACTIONS))("action", action)
        reason = c.text(REASON)("reason", reason)
        if name == "set_category":
            category = rules.CHECKS["category"]("category", category)
        elif category:
            raise Invalid("Only set_category takes a category.", field="category")
        if name == "supersede" and (by is None) == (not text):
            raise Invalid("supersede takes either replaced_by or new_fact_text.", field="replaced_by")
        if name != "supersede" and (by or text):
            raise Invalid("Only supersede takes replaced_by and new_fact_text.", field="replaced_by")
        if text:
            text = rules.CHECKS["fact_text"]("new_fact_text", text)
        return cls(name, ACTIONS[name], category, by, text, reason)

    def apply(self, batch: "Batch") -> Fact | None:
        """Returns the fact that was newly written, where one was."""
        if self.action in VERDICTS:
            batch.judge(VERDICTS[self.action], self.reason)
        elif self.action == "supersede":
            return batch.supersede(self.replaced_by, self.new_fact_text)
        elif self.action == "set_category":
            batch.change(self._recategorized)
        else:
            batch.change(archived if self.action == "archive" else restored)
        return None

    def _recategorized(self, fact: Fact) -> Content:
        return rules.rewritten(fact, {"category": self.category}) if fact.category != self.category else {}


def archived(fact: Fact) -> Content:
    return dict(rules.moved(fact, S.ARCHIVED))


def restored(fact: Fact) -> Content:
    if fact.status != S.ARCHIVED:
        raise IllegalTransition(NOT_ARCHIVED, old=fact.status, new="restored")
    return dict(rules.moved(fact, fact.held_status or S.ACTIVE))


def check_ids(fact_ids: Iterable[UUID]) -> list[UUID]:
    """The ids, each once, in the order given. Raises Invalid, TooLarge."""
    ids = list(dict.fromkeys(fact_ids))
    if not ids:
        raise Invalid("{field} must have at least one id.", field="fact_ids")
    if len(ids) > MOST:
        raise TooLarge(what="The list of facts", limit=f"{MOST} facts", field="fact_ids")
    return ids


class Batch:
    """Some facts of a commit, each changed or refused by itself."""

    def __init__(self, commit: CommitWriter, ids: Sequence[UUID], expected: Mapping[UUID, int]) -> None:
        self.commit, self.ids, self.expected = commit, ids, expected
        self.found: dict[UUID, Fact] = {}
        for start in range(0, len(ids), TOGETHER):
            some = commit.visible(Fact).filter(uid__in=ids[start : start + TOGETHER]).gather()
            self.found |= {fact.uid: fact for fact in some}
        self.refused: dict[UUID, Day1Error] = {}
        self.changed: set[UUID] = set()

    def change(self, rule: Callable[[Fact], Content]) -> list[Fact]:
        """Each fact gets what the rule says; an empty answer leaves it. The rule may refuse."""
        planned = list(self._planned(rule))
        fresh = self.commit.succeed_all([(fact, content, False) for fact, content in planned if content])
        self.commit.targets += [str(fact.uid) for fact in fresh]
        self.changed |= {fact.uid for fact in fresh}
        return fresh

    def judge(self, status: str, reason: str) -> None:
        facts = [fact for fact, _ in self._planned(lambda fact: {})]
        self.changed |= {fact.uid for fact in judge(self.commit, facts, status, reason)}

    def supersede(self, by: UUID | None, text: str) -> Fact | None:
        """By a fact that is there, or by a new one like the first of them; returns the new one."""
        if keeper := self.commit.get(Fact, by) if by else None:
            check_keeper(keeper)
        old = [fact for fact, _ in self._planned(lambda fact: _superseded(fact, keeper))]
        if not old:
            return None
        self.commit.succeed_all([(fact, _superseded(fact, keeper), False) for fact in old])
        self.commit.targets += [str(fact.uid) for fact in old]
        self.changed |= {fact.uid for fact in old}
        new = None if keeper else self._like(old[0], text)
        replace_by(self.commit, keeper or new, old)  # type: ignore[arg-type]  # one of the two is there
        return new

    def _like(self, first: Fact, text: str) -> Fact:
        given = rules.inherited(first) | {"fact_text": text}
        batch = FactBatch([given], self.commit.actor, S.ACTIVE, deduplicate=False, parent=first)
        (written,) = batch.write(self.commit)
        return written.fact

    def _planned(self, rule: Callable[[Fact], Content]) -> Iterable[tuple[Fact, Content]]:
        for uid in self.ids:
            try:
                if (fact := self.found.get(uid)) is None:
                    raise NotFound()
                read_since(self.commit, fact, self.expected.get(uid))
                yield fact, rule(fact)
            except Day1Error as error:
                self.refused[uid] = error

    def results(self, said: str) -> list[Outcome]:
        return [self._result(uid, said) for uid in self.ids]

    def _result(self, uid: UUID, said: str) -> Outcome:
        essence = self.found[uid].essence if uid in self.found else ""
        if error := self.refused.get(uid):
            return Outcome(uid, REFUSED, error.code, error.text, essence, error)
        if uid in self.changed:
            return Outcome(uid, DONE, "", said, essence)
        return Outcome(uid, UNCHANGED, "", "It was so already.", essence)


def _superseded(fact: Fact, keeper: Fact | None) -> Content:
    if keeper is not None and keeper.uid == fact.uid:
        raise Invalid("A fact cannot take its own place.", field="replaced_by")
    return dict(rules.moved(fact, S.SUPERSEDED))
