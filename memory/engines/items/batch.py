"""Many calls on items in one request: what is read, and all writes as one commit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.budget import take_within
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.facts.batch import WriteResult
from memory.engines.facts.filters import FactFilter
from memory.engines.facts.item_paths import check_path, check_prefix
from memory.engines.fields import items as f
from memory.engines.items import listing
from memory.engines.items.conditions import parse_conditions
from memory.engines.items.engine import ItemEngine, ItemWriter, Put, is_due
from memory.engines.items.listing import Listed, filter_prefix
from memory.engines.search.engine import SearchEngine
from memory.engines.search.result_pages import MAX_HITS
from memory.engines.support import validation as c
from memory.engines.support.pagination import PAGE_BYTES
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import MAIN, open_point
from memory.exceptions import Invalid, NotFound, TooLarge, UnknownField
from memory.models import Fact

CHECK_VERSION = c.optional_check(c.integer_check(0))
CHECK_TYPE = c.one_of(f.SEARCH_TYPES)
CHECK_WHERE = c.optional_check(f.WHERE.type.build_check())
MAX_SEARCHES = 50  # in one request, of items and of namespaces: each may look at 10,000 items
NAMES = frozenset(one.name for one in f.CALL.fields)


Found = tuple[Fact, float | None, float | None]  # an item, and without a query neither score nor evidence


@dataclass
class CallResult:
    """What came of one call: of a get its ``item``, of a search ``items`` with score and evidence, of a put
    what stands there and whether it is new.
    """

    op: str
    item: Fact | None = None
    created: bool = False
    deleted: bool = False
    items: list[Found] = field(default_factory=list)
    more: bool = False
    namespaces: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ItemFilter(FactFilter):
    """The filter of facts for items, of which conditions may have left these ids."""

    uids: frozenset[UUID] | None = None

    def apply(self, rows: VersionedQuerySet, lineage: Lineage, archived: bool = False) -> VersionedQuerySet:
        rows = super().apply(rows, lineage, archived).filter(path__gt="")
        return rows if self.uids is None else rows.filter(uid__in=self.uids)


@retry_methods
class ItemBatchEngine:
    """Runs calls in one request. Reads see what stood before the writes, which are one commit."""

    def run_calls(
        self, *, calls: Annotated[Sequence[Mapping[str, Any]], f.CALLS], actor: Actor, branch_name: str = MAIN
    ) -> list[CallResult]:
        """Return what came of each call, in their order; all writes are done, or none.

        Raises Invalid and its subclasses, TooLarge, KeyTaken, StaleVersion, BranchNotFound, BranchArchived,
        DirectWritesRefused, scope and branch refusals.
        """
        if not isinstance(calls, Sequence) or not 0 < len(calls) <= f.MAX_CALLS:
            raise Invalid("{field} must be a list of 1 to {most}.", field="calls", most=f.MAX_CALLS)
        run = BatchRun(actor, branch_name)
        checked = [
            run.check_call(index, call) for index, call in enumerate(c.secrets_found.walk("calls", calls))
        ]
        results = [read() if read else None for read in checked]
        run.write()
        run.renew()
        return [found or run.describe(index) for index, found in enumerate(results)]


class BatchRun:
    """One request: its writes by path, the last of each, and which call wrote where."""

    def __init__(self, actor: Actor, branch_name: str) -> None:
        self.actor, self.branch = actor, branch_name
        self.where: dict[str, Any] = {"actor": actor, "branch_name": branch_name}
        self.writer = ItemWriter(actor)
        self.puts: dict[str, Put] = {}
        self.removed: dict[str, int | None] = {}  # by path, the version that is expected
        self.paths: dict[int, tuple[str, str]] = {}  # by call: op, path
        self.done: dict[str, WriteResult | None] = {}
        self.renewed: dict[str, None] = {}  # paths whose ttl begins anew
        self.searches = 0

    def check_call(self, index: int, call: Any) -> Callable[[], CallResult] | None:
        """Check a call, and note what it writes; of one that reads, return what does it. Raises Invalid."""
        try:
            if not isinstance(call, Mapping):
                raise Invalid("A call must be an object.", field="")
            for name in call.keys() - NAMES:
                raise UnknownField(field=name)
            op = c.one_of(OPERATIONS)("op", call.get("op"))
            self._count_search(op)
            return OPERATIONS[op](self, index, call)
        except (Invalid, TooLarge) as error:
            error.name_in_list("calls", index)
            raise

    def _count_search(self, op: str) -> None:
        self.searches += op in SEARCHES
        if self.searches > MAX_SEARCHES:
            raise TooLarge(what="The list of calls", limit=f"{MAX_SEARCHES} searches", field="op")

    # ---- writes --------------------------------------------------------------------------------

    def note_put(self, index: int, call: Mapping[str, Any]) -> None:
        self.actor.require_scope("write", self.branch)
        put = self.writer.check_put(call, CHECK_VERSION("expected_version", call.get("expected_version")))
        self.paths[index] = "put", put.path
        self.removed.pop(put.path, None)
        self.puts[put.path] = put

    def note_delete(self, index: int, call: Mapping[str, Any]) -> None:
        self.actor.require_scope("write", self.branch, grows=False)
        path = check_path(call.get("namespace"), call.get("key"))
        self.paths[index] = "delete", path
        self.puts.pop(path, None)
        self.removed[path] = CHECK_VERSION("expected_version", call.get("expected_version"))

    def write(self) -> None:
        """Write all in one commit, if there is anything to write."""
        if not self.paths:
            return
        with open_commit(self.actor, self.branch, "item.batch") as commit:
            self.done = self.writer.write_all(commit, self.puts, self.removed)

    def renew(self) -> None:
        """Begin the ttl anew of what was read with that wish, once the writes are done."""
        if self.renewed:
            ItemEngine().renew_items(self.actor, self.branch, list(self.renewed))

    def describe(self, index: int) -> CallResult:
        op, path = self.paths[index]
        written = self.done.get(path)
        if op == "delete":  # None stands for what was deleted, and nothing for what was not there
            return CallResult(op, deleted=path in self.done and written is None)
        return CallResult(op, written.fact, written.created) if written else CallResult(op)

    # ---- reads ---------------------------------------------------------------------------------

    def plan_get(self, _: int, call: Mapping[str, Any]) -> Callable[[], CallResult]:
        path = check_path(call.get("namespace"), call.get("key"))
        renew = self._take_renew(call)

        def get() -> CallResult:
            try:
                row = ItemEngine().get_item(namespace=call["namespace"], key=call["key"], **self.where)
            except NotFound:
                return CallResult("get")
            self.renewed |= {path: None} if renew and is_due(row) else {}
            return CallResult("get", row)

        return get

    def plan_search(self, _: int, call: Mapping[str, Any]) -> Callable[[], CallResult]:
        prefix = check_prefix("prefix", call.get("prefix", ""))
        conditions = parse_conditions("where", CHECK_WHERE("where", call.get("where")))
        limit = f.MANY.type.build_check()("limit", call.get("limit", 10))
        offset = f.OFFSET.type.build_check()("offset", call.get("offset", 0))
        search_type = CHECK_TYPE("search_type", call.get("search_type", "hybrid"))
        query, renew = c.plain_text("query", call.get("query") or ""), self._take_renew(call)
        if query.strip() and offset + limit > MAX_HITS:
            raise Invalid("A search has at most {most} results.", most=MAX_HITS, field="limit")

        def search() -> CallResult:
            branch, seq = open_point(self.actor, self.branch, None)
            rows = filter_prefix(Fact.objects.on(branch, seq), prefix)
            listed = Listed(rows, seq, None, timezone.now(), conditions)
            find = partial(self._search, query, search_type, prefix) if query.strip() else self._list
            result = find(listed, limit, offset)
            due = [row.path for row, *_ in result.items if renew and is_due(row)]
            self.renewed |= dict.fromkeys(map(str, due))
            return result

        return search

    def _take_renew(self, call: Mapping[str, Any]) -> bool:
        renew = bool(c.check_boolean("renew", call.get("renew", False)))
        if renew:
            self.actor.require_scope("write", self.branch)
        return renew

    def _list(self, listed: Listed, limit: int, offset: int) -> CallResult:
        scan = listed.scan()
        found = iter(scan)
        batch = take_within(islice(found, offset, None), limit + 1, PAGE_BYTES)
        if scan.stopped and len(batch) <= limit:
            raise TooLarge(what="What a search looks at", limit=f"{listing.SCAN_ROWS} items", field="prefix")
        more = len(batch) > limit or next(found, None) is not None
        return CallResult("search", items=[(row, None, None) for row in batch[:limit]], more=more)

    def _search(
        self, query: str, search_type: str, prefix: str, listed: Listed, limit: int, offset: int
    ) -> CallResult:
        scan = listed.scan()
        uids = frozenset(row.uid for row in scan) if listed.conditions else None
        if scan.stopped:
            raise TooLarge(what="What a search looks at", limit=f"{listing.SCAN_ROWS} items", field="prefix")
        filters = replace(ItemFilter.from_values({"namespace": prefix}), uids=uids)
        found = SearchEngine().search_range(
            query=query,
            search_type=search_type,
            filters=filters,
            offset=offset,
            limit=limit + 1,
            **self.where,
        )
        items: list[Found] = [(hit.fact, hit.score, hit.evidence) for hit in found[:limit]]
        return CallResult("search", items=items, more=len(found) > limit)

    def plan_namespaces(self, _: int, call: Mapping[str, Any]) -> Callable[[], CallResult]:
        options = {
            name: call[name] for name in ("prefix", "suffix", "depth", "limit", "offset") if name in call
        }
        check_prefix("prefix", options.get("prefix", ""))

        def list_namespaces() -> CallResult:
            return CallResult("namespaces", namespaces=ItemEngine().list_namespaces(**options, **self.where))

        return list_namespaces


SEARCHES = frozenset({"search", "namespaces"})
OPERATIONS: dict[str, Callable[[BatchRun, int, Mapping[str, Any]], Any]] = {
    "put": BatchRun.note_put,
    "get": BatchRun.plan_get,
    "delete": BatchRun.note_delete,
    "search": BatchRun.plan_search,
    "namespaces": BatchRun.plan_namespaces,
}
