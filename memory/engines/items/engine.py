"""Items: a value under a namespace and a key. What can be done with facts can be done with items.

On a branch one fact stands under a path: its id follows from the path, see docs/decisions/0089.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Annotated, Any

from django.utils import timezone

from memory.actors import Actor
from memory.db.fields import dumps
from memory.db.transactions import retry_methods
from memory.engines.embedding.awaited import awaited_texts
from memory.engines.facts import rules
from memory.engines.facts.batch import NOTHING, FactBatch, WriteResult
from memory.engines.facts.end_user_room import check_user_room
from memory.engines.facts.filters import filter_lasting
from memory.engines.facts.item_paths import (
    Places,
    check_path,
    check_prefix,
    check_value,
    find_places,
    is_over,
)
from memory.engines.fields import items
from memory.engines.items.conditions import parse_conditions
from memory.engines.items.listing import Listed, filter_prefix, walk_namespaces
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, check_limit
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import MAIN, open_point
from memory.exceptions import Conflict, Invalid, KeyTaken, NotFound, StaleVersion
from memory.models import Fact

CHECK_TTL = c.optional_check(c.integer_check(1, items.MAX_SECONDS))
CHECK_TEXT = items.SEARCHED_TEXT.type.build_check()
RENEWED_SHARE = 10  # a ttl begins anew once a tenth of it is over, so that most reads write nothing
ONLY = ("only_new", "only_present")
# What a put leaves as it is: who made the item and when, and what it follows from others.
STAYS = Fact.KIND.origin | Fact.KIND.derived | {"updated_cycle", "parent_id", "source_id"}


@dataclass(frozen=True)
class Put:
    """A checked put: where, and the fact that shall stand there."""

    path: str
    row: Fact
    ttl: int | None = None
    only_new: bool = False
    only_present: bool = False
    expected_version: int | None = None


@retry_methods
class ItemEngine:
    # ---- one item ------------------------------------------------------------------------------

    def put_item(
        self,
        *,
        namespace: str,
        key: str,
        value: Annotated[Any, items.VALUE],
        actor: Actor,
        branch_name: str = MAIN,
        text: Annotated[str, items.SEARCHED_TEXT] = "",
        ttl: Annotated[int | None, items.TTL] = None,
        embed: Annotated[bool, items.EMBED] = True,
        only_new: Annotated[bool, items.ONLY_NEW] = False,
        only_present: Annotated[bool, items.ONLY_PRESENT] = False,
        expected_version: int | None = None,
        **fields: Any,
    ) -> WriteResult:
        """Make or replace the item under a key; the same again makes no version.

        Raises Invalid and its subclasses, TooLarge, KeyTaken (``only_new``), StaleVersion (also for
        ``only_present``), BranchNotFound, BranchArchived, DirectWritesRefused, scope and branch refusals.
        """
        actor.require_scope("write", branch_name)
        content = {**fields, "namespace": namespace, "key": key, "value": value, "text": text, "ttl": ttl}
        content |= {"embed": embed, "only_new": only_new, "only_present": only_present}
        writer = ItemWriter(actor)
        put = writer.check_put(content, expected_version)
        with open_commit(actor, branch_name, "item.put") as commit:
            (written,) = writer.write_all(commit, {put.path: put}).values()
        assert written is not None
        return written

    def get_item(
        self,
        *,
        namespace: str,
        key: str,
        actor: Actor,
        branch_name: str = MAIN,
        at: Any = None,
        renew: Annotated[bool, items.RENEW] = False,
    ) -> Fact:
        """Return the item under a key, now or at a point. Raises NotFound, also for one that has expired."""
        path = check_path(namespace, key)
        if renew:
            actor.require_scope("write", branch_name)
        branch, seq = open_point(actor, branch_name, at)
        row = find_places(Fact.objects.on(branch, seq), actor.project_id, [path], actor.end_user).get(
            path, timezone.now()
        )
        if row is None:
            raise NotFound()
        if renew and at is None and is_due(row):
            return self.renew_items(actor, branch_name, [path])[path]
        return row

    def delete_item(
        self,
        *,
        namespace: str,
        key: str,
        actor: Actor,
        branch_name: str = MAIN,
        expected_version: int | None = None,
    ) -> None:
        """Delete the item under a key from this branch; the history keeps it.

        Raises NotFound, StaleVersion.
        """
        actor.require_scope("write", branch_name, grows=False)
        path = check_path(namespace, key)
        with open_commit(actor, branch_name, "item.delete") as commit:
            row = find_own_places(commit, [path]).get(path, commit.at)
            if row is None:
                raise NotFound()
            check_expected(row, expected_version)
            commit.targets.append(str(row.uid))
            commit.remove_row(row)

    def renew_items(self, actor: Actor, branch_name: str, paths: Sequence[str]) -> dict[str, Fact]:
        """Begin the ttl of items anew, in one commit; return them as they are then."""
        with open_commit(actor, branch_name, "item.renew") as commit:
            places = find_own_places(commit, paths)
            rows = [row for path in paths if (row := places.get(path, commit.at))]
            due = [row for row in rows if is_due(row)]
            changes = [(row, {"expires_at": commit.at + find_ttl(row)}, False) for row in due]
            renewed = commit.add_versions(changes) if changes else []
        return {str(row.path): row for row in (*rows, *renewed)}

    # ---- lists ---------------------------------------------------------------------------------

    def list_items(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        prefix: Annotated[str, items.PREFIX] = "",
        where: Annotated[Any, items.WHERE] = None,
        at: Any = None,
        limit: int = 50,
        cursor: str = "",
    ) -> Page[Fact]:
        """List items in the order of namespace and key. A page with conditions may have fewer results than
        its limit, and go on all the same. Raises Invalid.
        """
        check_limit(limit)
        branch, seq = open_point(actor, branch_name, at, cursor)
        rows = filter_prefix(Fact.objects.on(branch, seq), check_prefix("prefix", prefix))
        listed = Listed(rows, seq, at, timezone.now(), parse_conditions("where", where))
        return listed.read_page(limit, cursor)

    def list_namespaces(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        prefix: Annotated[str, items.ENDS] = "",
        suffix: Annotated[str, items.SUFFIX] = "",
        depth: Annotated[int | None, items.DEPTH] = None,
        at: Any = None,
        limit: Annotated[int, items.MANY] = 100,
        offset: Annotated[int, items.OFFSET] = 0,
    ) -> list[str]:
        """Return the different namespaces of items in their order. Raises Invalid."""
        branch, seq = open_point(actor, branch_name, at)
        rows = Fact.objects.on(branch, seq)
        limit, offset = (
            items.MANY.type.build_check()("limit", limit),
            items.OFFSET.type.build_check()("offset", offset),
        )
        depth = c.optional_check(items.DEPTH.type.build_check())("depth", depth)
        lasting = filter_lasting(rows, timezone.now())
        ends = check_prefix("prefix", prefix), check_prefix("suffix", suffix)
        found = walk_namespaces(lasting, *ends, depth)
        return list(islice(found, offset, offset + limit))


# ---- writing -------------------------------------------------------------------------------------------


class ItemWriter:
    """The writes of a request, checked before a lock is taken."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.batch = FactBatch((), actor, Fact.Status.ACTIVE, deduplicate=False)

    def check_put(self, content: Mapping[str, Any], expected_version: int | None = None) -> Put:
        """Return a checked put. Raises Invalid and its subclasses, TooLarge."""
        path = check_path(content.get("namespace"), content.get("key"))
        if "value" not in content:
            raise Invalid("{field} is needed.", field="value")
        value = check_value(content["key"], content["value"])
        ttl = CHECK_TTL("ttl", content.get("ttl"))
        if ttl and content.get("expires_at"):
            raise Invalid("ttl and expires_at cannot be given together.", field="ttl")
        fields = {name: content[name] for name in items.FACT_NAMES if content.get(name) is not None}
        checked = {"path": path, "value": value, "embed": find_embed(content)}
        if text := CHECK_TEXT("text", content.get("text") or ""):
            fields["fact_text"] = text
        else:  # there is no secret in the value
            checked |= describe_value(content["key"], value)
        row = self.batch.build_fact(fields, checked=checked)
        conditions = {name: c.check_boolean(name, content.get(name, False)) for name in ONLY}
        return Put(path, row, ttl, **conditions, expected_version=expected_version)

    def write_all(
        self, commit: CommitWriter, puts: Mapping[str, Put], removed: Mapping[str, int | None] = NOTHING
    ) -> dict[str, WriteResult | None]:
        """Write puts and deletions by path in one commit; return what stands there now, None for what was
        deleted. ``removed`` has the versions that are expected, None for any.

        Raises KeyTaken, StaleVersion, and Conflict for a key whose item is in quarantine.
        """
        places = find_own_places(commit, [*puts, *removed])
        self._refuse_hidden(commit, [path for path in puts if path not in places.taken])
        fresh: list[Fact] = []
        changes: list[tuple[Fact, dict[str, Any], bool]] = []
        done: dict[str, WriteResult | None] = {}
        for path, put in puts.items():
            old = places.taken.get(path)
            check_place(put, places.get(path, commit.at))
            if put.ttl:
                put.row.expires_at = commit.at + timedelta(seconds=put.ttl)
            if old is None:
                put.row.uid = places.free[path]
                fresh.append(put.row)
            elif changed := find_changes(old, put.row):
                changes.append((old, rules.rewrite_fields(old, changed), False))
            awaited_texts.note([put.row.content_hash] if put.row.embed is None else [])
            done[path] = WriteResult(put.row if old is None else old, old is None or is_over(old, commit.at))
        gone = {path: row for path in removed if (row := places.get(path, commit.at))}
        for path, expected in removed.items():
            check_expected(gone.get(path), expected)
        changes += [(row, {}, True) for row in gone.values()]
        done |= dict.fromkeys(gone)
        self._write_rows(commit, fresh, changes, done)
        return done

    def _refuse_hidden(self, commit: CommitWriter, paths: Sequence[str]) -> None:
        """Refuse to put where something is in quarantine: what follows from it would be hidden too."""
        if not commit.branch.masked:
            return
        every = Fact.objects.in_lineage(commit.lineage)
        hidden = find_places(every, self.actor.project_id, paths, self.actor.end_user)
        for row in hidden.taken.values():
            raise Conflict("What stands under {key} is in quarantine.", key=row.key)

    def _write_rows(
        self,
        commit: CommitWriter,
        fresh: list[Fact],
        changes: Sequence[tuple[Fact, dict[str, Any], bool]],
        done: dict[str, WriteResult | None],
    ) -> None:
        self.batch.rows = fresh
        self.batch.open_sessions(commit)
        for row in fresh:
            row.created_cycle = row.updated_cycle = commit.branch.cycle
        check_user_room(commit, fresh)
        if fresh:
            commit.add_rows(fresh)
        written = commit.add_versions(changes) if changes else []
        shown = [row for row in written if not row.deleted]
        for row in shown:
            before = done[path := str(row.path)]
            done[path] = WriteResult(row, before is not None and before.created)
        self.batch.enqueue_embedding(commit, [*fresh, *shown])
        commit.targets += [str(row.uid) for row in (*fresh, *written)]


def find_own_places(commit: CommitWriter, paths: Sequence[str]) -> Places:
    """Return what stands under paths of the end user for whom a commit is made."""
    actor = commit.actor
    return find_places(commit.visible_rows(Fact), actor.project_id, paths, actor.end_user)


def find_embed(content: Mapping[str, Any]) -> bool | None:
    """Return False for what shall have no vector; else None, as in every fact."""
    return None if c.check_boolean("embed", content.get("embed", True)) else False


def describe_value(key: str, value: Any) -> dict[str, str]:
    """Return the text of an item that says none, and its line in lists, which begins with the key."""
    text = value if isinstance(value, str) and value.strip() else dumps(value)
    return {"fact_text": text, "essence": rules.compute_essence(f"{key}: {text}")}


def find_changes(old: Fact, new: Fact) -> dict[str, Any]:
    """Return what a put changes of the item that stands there."""
    values = {name: getattr(new, name) for name in Fact.content_fields() if name not in STAYS}
    if values["repository"] is None:  # not stated
        values["repository"] = old.repository
    return {name: value for name, value in values.items() if not rules.is_same(getattr(old, name), value)}


def check_place(put: Put, present: Fact | None) -> None:
    if put.only_new and present is not None:
        raise KeyTaken(key=present.key, current=present.version)
    if put.only_present and present is None:
        raise StaleVersion("Nothing stands under this key.", current=0, expected="*")
    check_expected(present, put.expected_version)


def check_expected(present: Fact | None, expected: int | None) -> None:
    """Raise StaleVersion unless the item is at the version that the caller has read."""
    current = present.version if present else 0
    if expected is not None and expected != current:
        raise StaleVersion(current=current, expected=expected)


def find_ttl(row: Fact) -> timedelta:
    """Return for how long an item was to last when it was written; nothing for one that has no end."""
    return row.expires_at - row.updated_at if row.expires_at else timedelta()


def is_due(row: Fact) -> bool:
    """Return whether enough of a ttl is over for it to begin anew."""
    ttl = find_ttl(row)
    return bool(ttl) and timezone.now() - row.updated_at >= ttl / RENEWED_SHARE
