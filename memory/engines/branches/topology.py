"""The tree of a project's branches, and what people keep about each: purpose, owner, days to live, tags."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from django.apps import apps
from django.db.models import Count

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.branches import branch_states
from memory.engines.branches.branch_states import ArchiveReport, BranchState, ExpiredBranch, KnownBranches
from memory.engines.branches.distance import PlacedBranch
from memory.engines.branches.manager import DETAIL_CHECKS, BranchManager
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Choice, Flag, ListOf, Reference, Whole
from memory.engines.support import pagination
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchArchived, Invalid
from memory.models import OPEN, Branch, Commit

MAX_NODES = 500  # branches on one page: a line of a tree is short, and a tree is read as a whole
COUNTED = ("fact", "conversation", "observation")
NAMED_LIKE = Field(
    "name", Reference(200), "A part of the name.", option=Option("a part of the name", metavar="TEXT")
)
STATES = Field(
    "state",
    ListOf(Choice(BranchState.choices)),
    "Only branches in these states; all but archived ones when not given.",
    option=Option("only these; default all but archived", checked=True),
)
OWNER = Field(
    "owner",
    Reference(200),
    "Only those of this owner.",
    option=Option("only those of this owner", metavar="NAME"),
)
TAG = Field(
    "tag",
    Reference(200),
    "Only those with this tag.",
    option=Option("only those with this tag", metavar="TAG"),
)
NODES = Field(
    "limit",
    Whole(1, MAX_NODES),
    "Branches.",
    option=Option(f"at most so many, 1 to {MAX_NODES}; default {MAX_NODES}"),
)
ONLY_TELL = Field("dry_run", Flag(), "true, the default, only tells what would be archived.")
DEFAULT_STATES = (BranchState.LIVE, BranchState.EXPIRED, BranchState.MERGED)


@dataclass(frozen=True)
class BranchNode:
    """A branch in its tree. ``counts`` are the memories that it wrote or changed itself and still has.

    ``level`` counts from 0; ``children`` are those of all states. Only a branch that ``matches`` is what was
    looked for: others show where it grew.
    """

    branch: Branch
    level: int
    state: BranchState
    since: datetime | None
    children: int
    matches: bool = True
    facts: int = 0
    conversations: int = 0
    observations: int = 0
    agents: int = 0

    @property
    def last_activity(self) -> datetime:
        return self.branch.head_at


@dataclass(frozen=True)
class BranchTree(Page[BranchNode]):
    """A page of a tree, parents before their children; ``counts`` has the branches of each state."""

    counts: dict[str, int] | None = None
    matching: int = 0


@dataclass(frozen=True)
class TreeFilter:
    """Which branches are looked for; a text is a part of a name, in any case."""

    name: str = ""
    states: Sequence[str] = ()
    owner: str = ""
    tag: str = ""

    def matches(self, branch: PlacedBranch, state: str) -> bool:
        return (
            state in (self.states or DEFAULT_STATES)
            and self.name.lower() in branch.name
            and (not self.owner or self.owner.casefold() == branch.owner.casefold())
            and (not self.tag or self.tag in branch.tags)
        )


@retry_methods
class BranchTopologyEngine:
    def get_topology(
        self,
        *,
        actor: Actor,
        name: Annotated[str, NAMED_LIKE] = "",
        states: Annotated[Sequence[str], STATES] = (),
        owner: Annotated[str, OWNER] = "",
        tag: Annotated[str, TAG] = "",
        limit: Annotated[int, NODES] = MAX_NODES,
        cursor: str = "",
    ) -> BranchTree:
        """Return the tree of the branches that the actor may use, with what each holds of its own.

        Archived ones come only with their state. The ancestors of what matches are there too. All branches
        are read in a few queries, and what the branches of a page hold is counted in four. Raises Invalid,
        ScopeMissing.
        """
        actor.require_scope("read")
        if not 1 <= limit <= MAX_NODES:
            raise Invalid(
                "A page has 1 to {most} results, not {limit}.", most=MAX_NODES, limit=limit, field="limit"
            )
        states = [c.one_of(BranchState.values)("state", state) for state in states]
        known = branch_states.load_branches(actor.project_id)
        lines = list_lines(actor, known, TreeFilter(name, states, owner, tag))
        mark = pagination.mark_from(repr(("topology", actor.project_id, name, states, owner, tag)))
        page = cut_page(known, lines, limit, cursor, mark)
        return BranchTree(
            build_nodes(known, page.results),
            page.next,
            page.previous,
            counts=None if cursor else count_states(actor, known),
            matching=sum(line.matches for line in lines),
        )

    def enrich_branch(self, *, name: str, actor: Actor, **details: Any) -> Branch:
        """Change the purpose, owner, days to live or tags of a branch; what is not given stays.

        Raises BranchNotFound, BranchArchived, UnknownField, Invalid, scope and branch refusals.
        """
        actor.require_scope("write", name)
        requested = c.validate(details, DETAIL_CHECKS)
        with write_transaction():
            branch = find_branch(actor, name)
            if branch.archived_at:
                raise BranchArchived(name=name)
            changed = {key: value for key, value in requested.items() if getattr(branch, key) != value}
            if changed:
                Branch.objects.filter(pk=branch.pk).update(**changed)
                record_entry(actor, "branch.enrich", name, {"changed": sorted(changed)})
        return BranchManager().get_branch(name=name, actor=actor)

    def list_expired(self, *, actor: Actor, limit: int = 50, cursor: str = "") -> Page[ExpiredBranch]:
        """List the branches whose days are over, or that were merged whole; archived ones are not among them.

        Each has the reason for which ``auto_archive`` would leave it, if any. Raises Invalid, ScopeMissing.
        """
        page, _count = self.plan_archive(actor=actor, limit=limit, cursor=cursor)
        return page

    def plan_archive(
        self, *, actor: Actor, limit: int = 50, cursor: str = ""
    ) -> tuple[Page[ExpiredBranch], int]:
        """Return a page of ``list_expired``, and how many of all ``auto_archive`` would archive at once."""
        actor.require_scope("read")
        found = branch_states.find_expired(actor, branch_states.load_branches(actor.project_id))
        page = branch_states.list_page(
            found, limit, cursor, pagination.mark_from(repr(("expired", actor.project_id)))
        )
        return page, sum(not one.kept for one in found[: branch_states.MAX_ARCHIVED])

    def auto_archive(self, *, actor: Actor, dry_run: Annotated[bool, ONLY_TELL] = True) -> ArchiveReport:
        """Archive what ``list_expired`` lists, as far as the actor may; the dry run, the default, only tells.

        Left with a reason: branches with children in use or an open merge request, and those that changed
        meanwhile. Raises ScopeMissing.
        """
        actor.require_scope("read" if dry_run else "write", grows=False)
        return branch_states.archive_expired(actor, dry_run)


# ---- the tree ----------------------------------------------------------------------------------------


class TreeLine(NamedTuple):
    """A branch in the order of the tree, of which no more is known than its place."""

    branch: PlacedBranch
    level: int
    matches: bool


def list_lines(actor: Actor, known: KnownBranches, filters: TreeFilter) -> list[TreeLine]:
    """Return the branches that match, and their ancestors, in the order of the tree."""
    lines, shown_ids = [], set[int]()
    for branch, level in known.list_in_order():
        if not actor.may_use(branch.name):
            continue
        matches = filters.matches(branch, known.states[branch.pk][0])
        lines.append(TreeLine(branch, level, matches))
        if matches:
            add_ancestry(known, branch, shown_ids)
    return [line for line in lines if line.branch.pk in shown_ids]


def add_ancestry(known: KnownBranches, branch: PlacedBranch, ids: set[int]) -> None:
    """Add the ids of a branch and its ancestors; where one is known, so are those above it."""
    pk: int | None = branch.pk
    while pk is not None and pk not in ids:
        ids.add(pk)
        pk = known.by_id[pk].parent_id


def build_nodes(known: KnownBranches, lines: Sequence[TreeLine]) -> list[BranchNode]:
    """Return the nodes of a page, with all that is known of their branches."""
    whole = branch_states.load_whole(line.branch for line in lines)
    known.measure_distances(whole.values())
    nodes = [
        BranchNode(
            whole[line.branch.pk],
            line.level,
            *known.states[line.branch.pk],
            len(known.children.get(line.branch.pk, [])),
            line.matches,
        )
        for line in lines
    ]
    return count_nodes(nodes)


def count_states(actor: Actor, known: KnownBranches) -> dict[str, int]:
    """Count the branches of each state that the actor may use."""
    counts = dict.fromkeys(BranchState.values, 0)
    for branch in known.by_id.values():
        if actor.may_use(branch.name):
            counts[known.states[branch.pk][0].value] += 1
    return counts


# ---- pages -------------------------------------------------------------------------------------------


def cut_page(
    known: KnownBranches, lines: Sequence[TreeLine], limit: int, cursor: str, mark: str
) -> Page[TreeLine]:
    """Return the page that begins at the branch which the cursor names, or at the next one in the order.

    Branches are never deleted, so its place in the order is known even where it does not match any more.
    """
    position = pagination.read_cursor(cursor, mark)
    start = 0
    if position:
        order = {branch.pk: index for index, (branch, _level) in enumerate(known.list_in_order())}
        if (first := order.get(pagination.parse_count(position["key"]))) is None:
            raise Invalid(pagination.NOT_OURS, field="cursor")
        start = sum(1 for line in lines if order[line.branch.pk] < first)
    batch = lines[start : start + limit]

    def cursor_at(index: int) -> str:
        return pagination.write_cursor({"key": str(lines[index].branch.pk), "list": mark})

    after = cursor_at(start + limit) if start + limit < len(lines) else None
    return Page(batch, after, cursor_at(max(0, start - limit)) if start else None)


def count_nodes(nodes: Sequence[BranchNode]) -> list[BranchNode]:
    """Return the nodes with counts of what each branch holds: a query per kind, one for the agents."""
    ids = [node.branch.pk for node in nodes]
    counts: dict[str, Any] = {f"{kind}s": count_own_rows(kind, ids) for kind in COUNTED}
    counts["agents"] = count_agents(ids)
    return [
        replace(node, **{name: found.get(node.branch.pk, 0) for name, found in counts.items()})
        for node in nodes
    ]


def count_own_rows(kind: str, ids: Sequence[int]) -> dict[int, int]:
    """Count the open versions of a kind of memory on each branch."""
    model = next(model for model in apps.get_models() if model._meta.model_name == kind)
    rows = model._base_manager.filter(branch__in=ids, seq_to=OPEN, deleted=False)
    return dict(rows.order_by().values_list("branch_id").annotate(Count("pk")))


def count_agents(ids: Sequence[int]) -> dict[int, int]:
    """Count the agents that committed on each branch."""
    commits = Commit.objects.filter(branch__in=ids).exclude(agent_id="").order_by()
    return dict(commits.values_list("branch_id").annotate(Count("agent_id", distinct=True)))
