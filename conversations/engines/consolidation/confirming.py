"""Confirmations of facts by independent sources, and the confidence that they add."""

from collections import Counter
from collections.abc import Iterable

from memory.engines.facts.assessment import list_sources
from memory.engines.facts.batch import get_source
from memory.engines.versions.commits import CommitWriter
from memory.models import Confirmation, Fact

STEP = 0.1  # of confidence for each independent source
DIGITS = 6  # so that 0.7 + 0.1 counts as 0.8


def confirm_facts(commit: CommitWriter, stated: Iterable[tuple[Fact, str]]) -> int:
    """Confirm facts by sources that are independent and have not done so before, and raise the confidence of
    each fact that the commit confirmed; return how many those are.
    """
    if commit.proposes:  # a proposal changes nothing that is active
        return 0
    store_confirmations(commit, stated)
    return raise_confidence(commit)


def store_confirmations(commit: CommitWriter, stated: Iterable[tuple[Fact, str]]) -> None:
    pairs = {(fact.uid, source) for fact, source in stated if source and source != get_source(fact)}
    new = pairs - list_sources({uid for uid, _ in pairs}, commit.lineage) if pairs else pairs
    where = {"branch_id": commit.branch.pk, "seq": commit.seq, "at": commit.at}
    Confirmation.objects.bulk_create(
        [Confirmation(uid=uid, source=source, **where) for uid, source in sorted(new)]
    )
    commit.side_rows += len(new)


def raise_confidence(commit: CommitWriter) -> int:
    """Raise the confidence of each fact by the confirmations that this commit gave it."""
    own = Confirmation.objects.filter(branch_id=commit.branch.pk, seq=commit.seq)
    counts = Counter(own.values_list("uid", flat=True))
    rows = commit.visible_rows(Fact).filter(uid__in=sorted(counts)).fetch_all() if counts else []
    for fact in rows:
        if fact.confidence < 1:
            confidence = round(fact.confidence + STEP * counts[fact.uid], DIGITS)
            commit.change_row(fact, confidence=min(1.0, confidence))
    return len(rows)
