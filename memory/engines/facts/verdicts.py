"""Verdicts of people on facts, stored outside of the facts themselves."""

from collections.abc import Sequence

from memory.engines.facts.assessment import BATCH_SIZE, load_own_verdicts
from memory.engines.versions.commits import CommitWriter
from memory.models import Fact, FactAssessment


def record_verdict(commit: CommitWriter, facts: Sequence[Fact], status: str, reason: str) -> list[Fact]:
    """Store a person's verdict on each fact's present text; return the facts whose verdict changed."""
    known: dict = {}
    for start in range(0, len(facts), BATCH_SIZE):
        known |= load_own_verdicts([fact.uid for fact in facts[start : start + BATCH_SIZE]], commit.lineage)
    news = [fact for fact in facts if not is_unchanged(known.get(fact.uid), fact, status, reason)]
    content = {
        "status": status,
        "method": FactAssessment.Method.HUMAN,
        "reason": reason,
        "by": commit.actor.label,
        "at": commit.at,
    }
    commit.add_versions(
        [(known[f.uid], {**content, "judged_hash": f.judged_hash}, False) for f in news if f.uid in known]
    )
    commit.add_rows(
        [FactAssessment(uid=f.uid, **content, judged_hash=f.judged_hash) for f in news if f.uid not in known]
    )
    commit.targets += [str(fact.uid) for fact in facts]
    return news


def is_unchanged(old: FactAssessment | None, fact: Fact, status: str, reason: str) -> bool:
    """Return whether a person's verdict with the same content is stored already."""
    if old is None:
        return False
    former = (old.status, old.method, old.judged_hash, old.reason)
    return former == (status, FactAssessment.Method.HUMAN, fact.judged_hash, reason)
