"""The feed of a project: commits of all branches by time; those of one burst stand together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.actors import Actor
from memory.db.expressions import NotHidden
from memory.engines.activity.contributors import filter_usable
from memory.engines.branches.commit_titles import Tally, load_titles, title_changes
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import find_branch
from memory.models import Commit, Fact

MAX_COMMITS = 400  # that a page reads
BURST_GAP = timedelta(minutes=15)  # between two commits of one burst
MAX_LEARNED = 3  # facts that a burst names
MAX_NAMED = 50  # facts of a commit that are looked at: those of an import are counted


@dataclass
class Burst:
    """Commits of one author in one session on one branch, without a long break; the newest first."""

    commits: list[Commit]
    learned: list[Fact] = field(default_factory=list)
    day: Any = None  # set where it is shown

    @property
    def newest(self) -> Commit:
        return self.commits[0]

    @property
    def oldest(self) -> Commit:
        return self.commits[-1]

    @property
    def tally(self) -> Tally:
        return sum((commit.tally for commit in self.commits), Counter())

    @property
    def title(self) -> str:
        """Return the title of its only commit, else what all of them changed."""
        if len(self.commits) == 1:
            return self.newest.title
        kinds = {commit.kind for commit in self.commits}
        return title_changes(kinds.pop() if len(kinds) == 1 else "", self.tally) or self.newest.title

    def takes_commit(self, commit: Commit) -> bool:
        """Return whether an older commit belongs to it: what has a message of its own stands alone."""
        is_plain = not (self.newest.message or commit.message)
        return is_plain and self.oldest.at - commit.at <= BURST_GAP


@dataclass(frozen=True)
class FeedFilter:
    """A filter of the feed by all of these; an empty one lets everything pass."""

    agent_id: str = ""
    session_id: str = ""
    kind: str = ""
    after: datetime | None = None
    before: datetime | None = None

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "FeedFilter":
        """Build a filter of texts. Raises Invalid."""
        found: dict[str, Any] = {
            name: c.text_check(200)(name, values[name]) for name in TEXTS if values.get(name)
        }
        found |= {name: c.parse_time(name, values[name]) for name in TIMES if values.get(name)}
        return cls(**found)

    def apply(self, commits: QuerySet[Commit]) -> QuerySet[Commit]:
        named = {name: value for name in TEXTS if (value := getattr(self, name))}
        commits = commits.filter(**named)
        commits = commits.filter(at__gte=self.after) if self.after else commits
        return commits.filter(at__lt=self.before) if self.before else commits


TEXTS, TIMES = ("agent_id", "session_id", "kind"), ("after", "before")


class FeedEngine:
    def list_bursts(
        self,
        *,
        actor: Actor,
        branch_name: str = "",
        filters: FeedFilter | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Burst]:
        """Return a page of bursts on a branch, or on all that the actor may use, the newest first.

        A burst that a page ends in goes on with the next one. Raises Invalid, BranchNotFound.
        """
        pagination.check_limit(limit)
        commits = self._select_commits(actor, branch_name)
        commits = (filters or FeedFilter()).apply(commits)
        mark = pagination.list_fingerprint(commits)
        commits = commits.filter(at__lte=until) if until else commits
        if position := pagination.read_cursor(cursor, mark):
            commits = commits.filter(pk__lt=pagination.parse_cursor_id(position["key"]))
        rows = list(commits.prefetch_related("branch").order_by("-pk")[: MAX_COMMITS + 1])
        bursts, last = gather_bursts(rows[:MAX_COMMITS], limit)
        load_titles([commit for burst in bursts for commit in burst.commits])
        load_learned(bursts)
        has_more = last is not None and rows[-1].pk != last
        return Page(bursts, pagination.write_cursor({"key": str(last), "list": mark}) if has_more else None)

    def _select_commits(self, actor: Actor, branch_name: str) -> QuerySet[Commit]:
        actor.require_scope("read", branch_name or None)
        if branch_name:
            return Commit.objects.filter(branch=find_branch(actor, branch_name))
        return filter_usable(actor)


def gather_bursts(commits: Sequence[Commit], limit: int) -> tuple[list[Burst], UUID | None]:
    """Return the first bursts of commits, at most so many, and the last commit that they took."""
    bursts: list[Burst] = []
    open_bursts: dict[tuple, Burst] = {}
    last = None
    for commit in commits:
        author = (commit.agent_id, commit.actor_kind, commit.actor_id, commit.actor_label)
        key = (commit.branch_id, commit.session_id, *author)
        burst = open_bursts.get(key)
        if burst is not None and burst.takes_commit(commit):
            burst.commits.append(commit)
        elif len(bursts) == limit:
            break
        else:
            open_bursts[key] = burst = Burst([commit])
            bursts.append(burst)
        last = commit.pk
    return bursts, last


def load_learned(bursts: Sequence[Burst]) -> None:
    """Set the first facts that each burst added."""
    made = {key: burst for burst in bursts for key in list_sources(burst)}
    seqs: dict[int, set[int]] = {}
    for branch, seq in made:
        seqs.setdefault(branch, set()).add(seq)
    for fact in read_added(seqs):
        burst = made[fact.branch_id, fact.seq_from]
        if len(burst.learned) < MAX_LEARNED:
            burst.learned.append(fact)


def list_sources(burst: Burst) -> Iterator[tuple[int, int]]:
    """Yield the commits whose facts are named: those that added a few."""
    for commit in burst.commits:
        if 0 < commit.tally["fact", "added"] <= MAX_NAMED:
            yield commit.branch_id, commit.seq


def read_added(seqs: dict[int, set[int]]) -> Sequence[Fact]:
    if not seqs:
        return []
    added = reduce(or_, (Q(branch=branch, seq_from__in=own) for branch, own in seqs.items()))
    rows = Fact._base_manager.filter(added, NotHidden(), version=1, deleted=False)
    return list(rows.select_related("branch").order_by("rid"))
