"""Verdicts on facts, stored outside of the facts themselves: of people, of a judge, of the heuristic."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

from memory.engines.facts.assessment import load_own_verdicts
from memory.engines.versions.commits import CommitWriter
from memory.exceptions import IllegalTransition
from memory.models import Fact, FactAssessment

Method, Status = FactAssessment.Method, FactAssessment.Status
# A verdict never takes the place of one by a stronger method on the same text.
STRENGTH: dict[str, int] = {Method.HEURISTIC: 0, Method.JUDGE: 1, Method.HUMAN: 2}


# What a verdict may be given on: the others count as ended.
JUDGEABLE = frozenset({Fact.Status.CREATED, Fact.Status.ACTIVE, Fact.Status.DONE})
NOT_JUDGED = _("Only a proposal, an active or a done fact is verified; this one is {old}.")


@dataclass(frozen=True)
class NewVerdict:
    """A verdict to store on a fact's present text; ``by`` says who gave it.

    The heuristic's is plausible or unverified, whatever a caller makes of it.
    """

    fact: Fact
    status: str
    method: str
    reason: str
    by: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", FactAssessment.read_status(self.status, self.method))


def require_judgeable(fact: Fact) -> Fact:
    """Refuse a verdict on a fact that is archived or superseded. Raises IllegalTransition."""
    if fact.status not in JUDGEABLE:
        raise IllegalTransition(NOT_JUDGED, old=fact.status)
    return fact


def record_verdict(commit: CommitWriter, facts: Sequence[Fact], status: str, reason: str) -> list[Fact]:
    """Store a person's verdict on each fact's present text; return the facts whose verdict changed."""
    by = commit.actor.label
    news = record_verdicts(commit, [NewVerdict(fact, status, Method.HUMAN, reason, by) for fact in facts])
    return [one.fact for one in news]


def record_verdicts(commit: CommitWriter, verdicts: Sequence[NewVerdict]) -> list[NewVerdict]:
    """Store each verdict that says more than the one that is there; return those."""
    known = load_own_verdicts([one.fact.uid for one in verdicts], commit.lineage)
    news = [one for one in verdicts if says_more(known.get(one.fact.uid), one)]
    contents = {
        one.fact.uid: {
            "status": one.status,
            "method": one.method,
            "reason": one.reason,
            "by": one.by,
            "at": commit.at,
            "judged_hash": one.fact.judged_hash,
        }
        for one in news
    }
    commit.add_versions([(known[uid], content, False) for uid, content in contents.items() if uid in known])
    commit.add_rows(
        [FactAssessment(uid=uid, **content) for uid, content in contents.items() if uid not in known]
    )
    commit.targets += [str(one.fact.uid) for one in verdicts]
    return news


def says_more(old: FactAssessment | None, new: NewVerdict) -> bool:
    """Return whether a verdict changes what is known: it is new on this text, and by no weaker a method.

    What a person has cleared, a judge may judge; the heuristic may not.
    """
    if old is None or old.judged_hash != new.fact.judged_hash:
        return new.method != Method.HEURISTIC or new.status != Status.UNVERIFIED
    if STRENGTH[old.method] > STRENGTH[new.method]:
        return new.method == Method.JUDGE and old.status == Status.UNVERIFIED
    if new.method == Method.HUMAN:
        return (old.status, old.method, old.reason) != (new.status, new.method, new.reason)
    return (old.status, old.method) != (new.status, new.method)
