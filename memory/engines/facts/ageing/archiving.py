"""The commit of an ageing: each fact is looked at again under the lock, and archived with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from memory.engines.facts import rules as fact_rules
from memory.engines.facts.ageing.plan import AgeingPlan, KeptFacts
from memory.engines.facts.ageing.rules import Candidate, Reason
from memory.engines.support.batches import batched
from memory.engines.versions.commits import CommitWriter
from memory.models import AgedVersion, Fact

BATCH_SIZE = 500
ARCHIVED = Fact.Status.ARCHIVED


def archive_candidates(
    commit: CommitWriter, plan: AgeingPlan, chosen: Sequence[Candidate], versions: Mapping[UUID, int]
) -> list[Candidate]:
    """Archive the chosen facts that are as they were when the plan was made; return those.

    ``versions`` are those in which a person saw some of them.
    """
    known = {one.uid: one for one in chosen}
    unchanged = find_unchanged(commit, plan, known)
    facts = [fact for fact in unchanged if fact.version == versions.get(fact.uid, fact.version)]
    contents = [(fact, dict(fact_rules.change_status(fact, ARCHIVED)), False) for fact in facts]
    fresh = commit.add_versions(contents)
    done = [known[fact.uid] for fact in facts]
    store_reasons(commit, fresh, done)
    commit.targets += [str(fact.uid) for fact in facts]
    return done


def find_unchanged(commit: CommitWriter, plan: AgeingPlan, known: dict[UUID, Candidate]) -> Iterator[Fact]:
    """Yield the facts whose versions are those of the plan and that nothing keeps meanwhile."""
    kept = KeptFacts(commit.branch, plan.now)
    for batch in batched(list(known), BATCH_SIZE):
        for fact in commit.visible_rows(Fact).filter(uid__in=batch).fetch_all():
            if fact.vid == known[fact.uid].vid and fact.searchable and not kept.find_code(fact):
                yield fact


def store_reasons(commit: CommitWriter, fresh: Sequence[Fact], done: Sequence[Candidate]) -> None:
    rows = [
        AgedVersion(
            vid=fact.vid,
            project_id=commit.branch.project_id,
            branch=commit.branch,
            seq=commit.seq,
            uid=fact.uid,
            reason=one.reason,
            since=one.since,
            worth=one.worth.total if one.reason == Reason.OVER_BUDGET else None,
        )
        for fact, one in zip(fresh, done, strict=True)
    ]
    AgedVersion.objects.bulk_create(rows, batch_size=BATCH_SIZE)
