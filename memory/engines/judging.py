"""Verdicts of people, written beside the facts that they are on."""

from collections.abc import Sequence

from memory.engines.belief import CHUNK, assessments
from memory.engines.commits import CommitWriter
from memory.models import Fact, FactAssessment


def judge(commit: CommitWriter, facts: Sequence[Fact], status: str, reason: str) -> list[Fact]:
    """Store a person's verdict on what each fact says now; returns those for which it is news."""
    known: dict = {}
    for start in range(0, len(facts), CHUNK):
        known |= assessments([fact.uid for fact in facts[start : start + CHUNK]], commit.lineage)
    news = [fact for fact in facts if not _stands(known.get(fact.uid), fact, status, reason)]
    content = {
        "status": status, "method": FactAssessment.Method.HUMAN, "reason": reason, "by": commit.actor.label,
        "at": commit.at,
    }  # fmt: skip
    commit.succeed_all(
        [(known[f.uid], {**content, "judged_hash": f.judged_hash}, False) for f in news if f.uid in known]
    )
    commit.add(
        [FactAssessment(uid=f.uid, **content, judged_hash=f.judged_hash) for f in news if f.uid not in known]
    )
    commit.targets += [str(fact.uid) for fact in facts]
    return news


def _stands(old: FactAssessment | None, fact: Fact, status: str, reason: str) -> bool:
    """Whether a person has said just this already."""
    if old is None:
        return False
    said = (old.status, old.method, old.judged_hash, old.reason)
    return said == (status, FactAssessment.Method.HUMAN, fact.judged_hash, reason)
