"""Actions on many facts at once: one commit, and a result for each fact.

Each action has the rules and the audit record of the same action in FactEngine. The commit's id undoes it:
see RevertEngine.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.facts import rules
from memory.engines.facts.batch import FactBatch, WriteResult, inherit_content, replace_parents
from memory.engines.facts.field_diff import check_version
from memory.engines.facts.links import check_keeper, link_superseded
from memory.engines.facts.verdicts import record_verdict, require_judgeable
from memory.engines.fields.base import Field
from memory.engines.fields.common import EXPECTED_VERSIONS
from memory.engines.fields.facts import FACT, NEW_FACT_TEXT, TEXT_BYTES
from memory.engines.fields.types import Choice, Identifier, ListOf, LongText, Text
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import Write, require_curator
from memory.exceptions import NOT_ARCHIVED, Day1Error, IllegalTransition, Invalid, NotFound, TooLarge
from memory.models import Commit, Fact, FactAssessment

MAX_FACTS = 1000
REASON = 2000
DONE, UNCHANGED, REFUSED = "done", "unchanged", "refused"
Status, VerdictStatus = Fact.Status, FactAssessment.Status

Content = dict[str, Any]


@dataclass(frozen=True)
class Action:
    """Action: its scope, the kind of its commit, the message for each changed fact, and what it is to the
    branch's policy.
    """

    scope: str
    kind: str
    label: str
    write: Write = Write.CHANGE


ACTIONS = {
    "verify": Action("curate", "fact.verify", "Verified.", Write.EXEMPT),
    "invalidate": Action("curate", "fact.verify", "Invalidated.", Write.EXEMPT),
    "unverify": Action("curate", "fact.verify", "Unverified.", Write.EXEMPT),
    "accept": Action("write", "fact.accept", "Accepted.", Write.EXEMPT),
    "refuse": Action("curate", "fact.refuse", "Refused.", Write.EXEMPT),
    "archive": Action("curate", "fact.archive", "Archived."),
    "restore": Action("curate", "fact.restore", "Restored."),
    "supersede": Action("write", "fact.supersede", "Superseded."),
    "pin": Action("write", "fact.update", "Pinned."),
    "unpin": Action("write", "fact.update", "Unpinned."),
    "set_category": Action("write", "fact.update", "Category changed."),
}
ACTION = Field("action", Choice([(name, name) for name in ACTIONS]))
FACT_IDS = Field("fact_ids", ListOf(Identifier(), 1, MAX_FACTS))
GROUNDS = Field("reason", Text(REASON))
CATEGORY = FACT["category"].with_traits(type=Text(100), help="The new one, with set_category.")
REPLACED_BY = Field("replaced_by", Identifier(), "A fact that is there, with supersede.", null=True)
NEW_TEXT = NEW_FACT_TEXT.as_optional().with_traits(
    type=LongText(TEXT_BYTES, blank=True), help="A new fact instead of replaced_by, with supersede."
)
VERDICTS = {
    "verify": VerdictStatus.VERIFIED,
    "invalidate": VerdictStatus.INVALIDATED,
    "unverify": VerdictStatus.UNVERIFIED,
}


@dataclass(frozen=True)
class Outcome:
    """Result of one fact: done, unchanged (it was so already) or refused, and why.

    ``error`` is the refusal itself, for a surface that translates it.
    """

    fact_id: UUID
    outcome: str
    code: str = ""
    message: str = ""
    essence: str = ""  # of the fact; empty for an unknown fact
    error: Day1Error | None = None


@dataclass(frozen=True)
class Report:
    """Results of the facts, in the order given; ``commit`` is None when nothing was changed.

    ``new_fact`` is the fact with the new text that supersedes the others; ``created`` is False where another
    fact had that text already.
    """

    results: Sequence[Outcome]
    commit: Commit | None
    new_fact: Fact | None = None
    created: bool = False

    def count_outcome(self, outcome: str) -> int:
        return sum(result.outcome == outcome for result in self.results)


@retry_methods
class ActionEngine:
    def apply_action(
        self,
        *,
        action: Annotated[str, ACTION],
        fact_ids: Annotated[Iterable[UUID], FACT_IDS],
        actor: Actor,
        branch_name: str = MAIN,
        expected_versions: Annotated[Mapping[UUID, int] | None, EXPECTED_VERSIONS] = None,
        reason: Annotated[str, GROUNDS] = "",
        category: Annotated[str, CATEGORY] = "",
        replaced_by: Annotated[UUID | None, REPLACED_BY] = None,
        new_fact_text: Annotated[str, NEW_TEXT] = "",
    ) -> Report:
        """Apply one action to up to 1,000 facts of a branch. A refusal of one fact does not stop the others.

        Actions: verify, invalidate, unverify (a person's verdict, with ``reason``); accept, refuse (a
        proposal becomes active, or is archived; where direct writes are guarded, accepting needs the scope
        curate); archive, restore; supersede, by an existing fact (``replaced_by``) or by a new one
        (``new_fact_text``); pin, unpin; set_category.

        ``expected_versions`` are those that the caller has read. Raises Invalid, TooLarge, BranchNotFound,
        BranchArchived, DirectWritesRefused, NotFound for ``replaced_by``, scope and branch refusals.
        """
        requested = ActionRequest.parse_request(action, category, replaced_by, new_fact_text, reason)
        actor.require_scope(requested.definition.scope, branch_name)
        ids = check_ids(fact_ids)
        where = (actor, branch_name, requested.definition.kind, requested.reason[:500])
        with open_commit(*where, write=requested.definition.write) as commit:
            if requested.action == "accept":
                require_curator(actor, branch_name)
            commit.detail = {"reason": requested.reason} if requested.reason else {}
            batch = Batch(commit, ids, expected_versions or {})
            new = requested.apply_to(batch)
        outcomes = batch.build_outcomes(requested.definition.label)
        return Report(outcomes, commit.commit, new.fact if new else None, bool(new and new.created))


@dataclass(frozen=True)
class ActionRequest:
    """Validated action with its arguments."""

    action: str
    definition: Action
    category: str
    replaced_by: UUID | None
    new_fact_text: str
    reason: str

    @classmethod
    def parse_request(
        cls, action: str, category: str, by: UUID | None, text: str, reason: str
    ) -> "ActionRequest":
        name = c.one_of(list(ACTIONS))("action", action)
        reason = c.redact_stored(c.text_check(REASON))("reason", reason)
        if name == "set_category":
            category = rules.CHECKS["category"]("category", category)
        elif category:
            raise Invalid("Only set_category takes a category.", field="category")
        if name == "supersede" and (by is None) == (not text):
            raise Invalid(
                "Say what takes its place: either a new text (new_fact_text) or a fact that is there"
                " (replaced_by).",
                field="replaced_by",
            )
        if name != "supersede" and (by or text):
            raise Invalid("Only supersede takes replaced_by and new_fact_text.", field="replaced_by")
        if text:
            text = rules.CHECKS["fact_text"]("new_fact_text", text)
        return cls(name, ACTIONS[name], category, by, text, reason)

    def apply_to(self, batch: "Batch") -> WriteResult | None:
        """Apply the action to a batch; return the fact with the new text, where one was given."""
        if self.action in VERDICTS:
            batch.record_verdicts(VERDICTS[self.action], self.reason)
        elif self.action == "supersede":
            return batch.supersede_facts(self.replaced_by, self.new_fact_text)
        elif self.action == "set_category":
            batch.change_facts(self._change_category)
        else:
            fresh = batch.change_facts(CHANGES_BY_ACTION[self.action])
            if self.action == "accept":
                replace_parents(batch.commit, fresh)
        return None

    def _change_category(self, fact: Fact) -> Content:
        return (
            rules.rewrite_fields(fact, {"category": self.category}) if fact.category != self.category else {}
        )


def accept_proposal(fact: Fact) -> Content:
    """Return the content of an accepted proposal. Raises IllegalTransition for any other fact."""
    return (
        {}
        if fact.status == Status.ACTIVE
        else dict(rules.change_status(require_proposal(fact), Status.ACTIVE))
    )


def refuse_proposal(fact: Fact) -> Content:
    """Return the content of an archived proposal. Raises IllegalTransition for any other fact."""
    if fact.status == Status.ARCHIVED and fact.held_status == Status.CREATED:
        return {}
    return dict(rules.change_status(require_proposal(fact), Status.ARCHIVED))


def require_proposal(fact: Fact) -> Fact:
    if fact.status != Status.CREATED:
        raise IllegalTransition(
            "Only a proposal is accepted or refused; this fact is {old}.", old=fact.status
        )
    return fact


def plan_verdict(fact: Fact) -> Content:
    """Return no content: a verdict leaves the fact as it is. Raises IllegalTransition."""
    require_judgeable(fact)
    return {}


def archive_fact(fact: Fact) -> Content:
    return dict(rules.change_status(fact, Status.ARCHIVED))


def restore_fact(fact: Fact) -> Content:
    if fact.status != Status.ARCHIVED:
        raise IllegalTransition(NOT_ARCHIVED, old=fact.status, new="restored")
    return dict(rules.change_status(fact, fact.held_status or Status.ACTIVE))


def pin_fact(fact: Fact) -> Content:
    return {} if fact.pinned else {"pinned": True}


def unpin_fact(fact: Fact) -> Content:
    return {"pinned": False} if fact.pinned else {}


CHANGES_BY_ACTION = {
    "pin": pin_fact,
    "unpin": unpin_fact,
    "accept": accept_proposal,
    "refuse": refuse_proposal,
    "archive": archive_fact,
    "restore": restore_fact,
}


def check_ids(fact_ids: Iterable[UUID]) -> list[UUID]:
    """Return the ids, each once, in the order given. Raises Invalid, TooLarge."""
    ids = list(dict.fromkeys(fact_ids))
    if not ids:
        raise Invalid("{field} must have at least one id.", field="fact_ids")
    if len(ids) > MAX_FACTS:
        raise TooLarge(what="The list of facts", limit=f"{MAX_FACTS} facts", field="fact_ids")
    return ids


class Batch:
    """Facts of a commit, each changed or refused on its own."""

    def __init__(self, commit: CommitWriter, ids: Sequence[UUID], expected: Mapping[UUID, int]) -> None:
        self.commit, self.ids, self.expected = commit, ids, expected
        rows: list[Fact] = commit.visible_rows(Fact).fetch_by_key("uid", ids)
        self.found = {fact.uid: fact for fact in rows}
        self.refused: dict[UUID, Day1Error] = {}
        self.changed: set[UUID] = set()

    def change_facts(self, rule: Callable[[Fact], Content]) -> list[Fact]:
        """Change each fact by the content that the rule returns, if any; return the changed. The rule may
        refuse.
        """
        planned = list(self._plan_changes(rule))
        fresh = self.commit.add_versions([(fact, content, False) for fact, content in planned if content])
        self.commit.targets += [str(fact.uid) for fact in fresh]
        self.changed |= {fact.uid for fact in fresh}
        return fresh

    def record_verdicts(self, status: str, reason: str) -> None:
        facts = [fact for fact, _ in self._plan_changes(plan_verdict)]
        self.changed |= {fact.uid for fact in record_verdict(self.commit, facts, status, reason)}

    def supersede_facts(self, by: UUID | None, text: str) -> WriteResult | None:
        """Supersede the facts by an existing one, or by a new one like the first of them; return the new
        one, or the one that has its text already.
        """
        if keeper := self.commit.get_version(Fact, by) if by else None:
            check_keeper(keeper)
        old = [fact for fact, _ in self._plan_changes(lambda fact: supersede_fact(fact, keeper))]
        if not old:
            return None
        self.commit.add_versions([(fact, supersede_fact(fact, keeper), False) for fact in old])
        self.commit.targets += [str(fact.uid) for fact in old]
        self.changed |= {fact.uid for fact in old}
        if keeper:
            link_superseded(self.commit, keeper, old)
            return None
        written = self._write_like(old[0], text)
        link_superseded(self.commit, written.fact, old)
        return WriteResult(self.commit.get_version(Fact, written.fact.uid), written.created)

    def _write_like(self, first: Fact, text: str) -> WriteResult:
        content = inherit_content(first, self.commit.actor.project_id) | {"fact_text": text}
        batch = FactBatch([content], self.commit.actor, Status.ACTIVE, deduplicate=True, parent=first)
        (written,) = batch.write_facts(self.commit)
        return written

    def _plan_changes(self, rule: Callable[[Fact], Content]) -> Iterable[tuple[Fact, Content]]:
        for uid in self.ids:
            try:
                if (fact := self.found.get(uid)) is None:
                    raise NotFound()
                check_version(self.commit, fact, self.expected.get(uid))
                yield fact, rule(fact)
            except Day1Error as error:
                self.refused[uid] = error

    def build_outcomes(self, label: str) -> list[Outcome]:
        return [self._build_result(uid, label) for uid in self.ids]

    def _build_result(self, uid: UUID, label: str) -> Outcome:
        essence = self.found[uid].essence if uid in self.found else ""
        if error := self.refused.get(uid):
            return Outcome(uid, REFUSED, error.code, error.text, essence, error)
        if uid in self.changed:
            return Outcome(uid, DONE, "", label, essence)
        return Outcome(uid, UNCHANGED, "", "It was so already.", essence)


def supersede_fact(fact: Fact, keeper: Fact | None) -> Content:
    if keeper is not None and keeper.uid == fact.uid:
        raise Invalid("A fact cannot take its own place.", field="replaced_by")
    return dict(rules.change_status(fact, Status.SUPERSEDED))
