"""Derivation: which versions come from hidden ones. It is followed until nothing more is found.

A version is derived from the version before it and from the other parent that a merge gave it; a fact also
from the fact that it replaces, from what its links CONSOLIDATED_FROM, DERIVED_FROM and MESSAGE_OF name, and
from the fact of which an import has made it. A message that was picked is derived from its original, and a
conversation that was forked or picked from another, where it has its title.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from conversations.engines.forks import find_conversations
from conversations.engines.inherited_titles import is_named_after
from conversations.models import Conversation, Message, Replay
from curation.models import Quarantine
from memory.db.querysets import Lineage
from memory.engines.support.batches import batched, filter_in, gather_in
from memory.engines.versions.erased import as_uuid
from memory.engines.versions.kinds import models_by_kind
from memory.models import Branch, BranchedModel, Commit, Fact, FactLink, HiddenVersion
from memory.models.links import DERIVING
from memory.word_forms import WORD_PATTERN

BATCH_SIZE = 500
COPIED = (Fact.SourceType.IMPORT, Fact.SourceType.BUNDLE_IMPORT, Fact.SourceType.CHERRY_PICK)


class Version(NamedTuple):
    """What derivation asks of a version."""

    rid: int
    uid: UUID
    vid: int
    prev_vid: int | None
    merged_vid: int | None
    branch_id: int
    seq_from: int
    deleted: bool = False
    content: str = ""  # of a fact: the hash of what it says


Frontier = Mapping[str, Sequence[Any]]  # kind -> ids of hidden memories, in portions or as a subquery


class Edge(NamedTuple):
    """A memory that was derived from another, as a branch had both at a commit."""

    kind: str
    uid: UUID
    source_kind: str
    source: UUID
    branch_id: int
    seq: int
    copied: bool = False  # by an import, which names the other memory and not which version of it


class Statement(NamedTuple):
    """A version that names a source of a fact, in one of its columns."""

    uid: UUID  # of the fact
    kind: str
    source: Any
    branch_id: int
    seq: int
    prev_vid: int | None
    merged_vid: int | None

    def build_edge(self, source: UUID, copied: bool = False) -> Edge:
        return Edge("fact", self.uid, self.kind, source, self.branch_id, self.seq, copied)


class Derivation:
    """The versions derived from what one quarantine hides."""

    def __init__(self, quarantine: Quarantine) -> None:
        self.quarantine = quarantine
        self.hidden = HiddenVersion.objects.filter(quarantine=quarantine.pk)
        self.digests: dict[int, bytes] = {}  # of what merged versions and their parents hold
        self.fresh: dict[str, set[UUID]] = defaultdict(set)  # memories hidden since the last round
        branches = Branch.objects.filter(project=quarantine.project_id)
        self.ancestors: dict[int, Lineage] = dict(branches.values_list("pk", "ancestors"))
        self.reverts = set(
            Commit.objects.filter(branch__project=quarantine.project_id, reverts__isnull=False).values_list(
                "branch_id", "seq"
            )
        )

    def spread(self) -> int:
        """Hide what is derived from hidden versions in the whole project; return how much that is."""
        count = found = self._spread_from({kind: [self._all(kind)] for kind in models_by_kind()})
        while found:  # each round asks only about what the one before has hidden
            fresh, self.fresh = self.fresh, defaultdict(set)
            batches = {kind: list(batched(sorted(uids), BATCH_SIZE)) for kind, uids in fresh.items()}
            found = self._spread_from(batches)
            count += found
        return count

    def _spread_from(self, frontier: Frontier) -> int:
        made = self._spread_versions(frontier) + self._spread_edges(frontier)
        made += self._spread_copies(frontier) + self._spread_forks(frontier)
        return made + self._spread_replays(frontier)

    def _all(self, kind: str) -> Any:
        return self.hidden.filter(kind=kind).values("uid")

    # ---- versions ------------------------------------------------------------------------------

    def _spread_versions(self, frontier: Frontier) -> int:
        """Hide the versions that follow hidden ones of the same memory."""
        count = 0
        for kind, model in models_by_kind().items():
            for uids in frontier.get(kind, ()) if model.DERIVES_FROM_PREVIOUS else ():
                rows = self._select_unhidden(model).filter(uid__in=uids)
                for batch in batched(sorted(set(rows.values_list("uid", flat=True))), BATCH_SIZE):
                    count += self.hide(kind, self.follow_versions(model, batch))
        return count

    def follow_versions(self, model: type[BranchedModel], uids: Sequence[UUID]) -> list[Version]:
        """Return the versions of some memories that derive from hidden ones and are not hidden yet."""
        # Whether a commit is a revert is asked of the row that it made, not of copies that merges brought.
        versions = sorted(load_versions(model, uids), key=lambda one: one.rid == one.vid)
        hidden = set(self.hidden.filter(uid__in=uids).values_list("vid", flat=True))
        before = set(hidden)
        by_vid = {one.vid: one for one in versions}
        self.digests = digest_merged(model, by_vid.values())
        while fresh := [one for one in by_vid.values() if self._follows(one, by_vid, hidden)]:
            hidden |= {one.vid for one in fresh}
        return [one for one in by_vid.values() if one.vid in hidden - before]

    def _follows(self, one: Version, by_vid: Mapping[int, Version], hidden: set[int]) -> bool:
        if one.vid in hidden or self._says_again(one, by_vid, hidden):
            return False
        is_derived = one.prev_vid in hidden or one.merged_vid in hidden
        if is_derived and self._takes_other_side(one, hidden):
            return False
        return is_derived or self._brings_back(one, by_vid, hidden)

    def _takes_other_side(self, one: Version, hidden: set[int]) -> bool:
        """Return whether a merge of a hidden version has taken the other one as it is, and nothing of it."""
        own = self.digests.get(one.vid)
        sides = [self.digests.get(vid) for vid in (one.prev_vid, one.merged_vid) if vid and vid not in hidden]
        return own is not None and own in sides

    def _is_revert(self, one: Version) -> bool:
        return bool(one.content) and (one.branch_id, one.seq_from) in self.reverts

    def _brings_back(self, one: Version, by_vid: Mapping[int, Version], hidden: set[int]) -> bool:
        """Return whether a revert of a revert says again what only hidden versions have said."""
        others = [other for other in by_vid.values() if other.uid == one.uid and other.vid != one.vid]
        said_so = [other for other in others if not other.deleted]  # a deletion says nothing
        same = [other.vid for other in said_so if other.content == one.content]
        return self._is_revert(one) and bool(same) and hidden.issuperset(same)

    def _says_again(self, one: Version, by_vid: Mapping[int, Version], hidden: set[int]) -> bool:
        """Return whether a revert has brought back what the memory said before the source changed it."""
        if not self._is_revert(one):
            return False
        earlier = by_vid.get(one.prev_vid or 0)
        while earlier is not None and (earlier.vid in hidden or earlier.deleted):
            earlier = by_vid.get(earlier.prev_vid or 0)
        return earlier is not None and earlier.content == one.content

    # ---- edges ---------------------------------------------------------------------------------

    def _spread_edges(self, frontier: Frontier) -> int:
        """Hide the facts that were made of hidden memories."""
        edges: list[Edge] = []
        for uids in frontier.get("fact", ()):
            edges += self._list_replacing(uids)
        for kind in FactLink.Target.values:
            for uids in frontier.get(kind, ()):
                edges += self._list_linked(kind, uids)
        return self.hide_edges(edges + list(self._list_copied() if frontier.get("fact") else ()))

    def _spread_copies(self, frontier: Frontier) -> int:
        """Hide the copies that were picked of hidden messages."""
        rows = self._select_unhidden(Message)
        parts = frontier.get("message", ())
        return sum(self._hide_whole(Message, rows.filter(picked_from__in=uids)) for uids in parts)

    def _spread_forks(self, frontier: Frontier) -> int:
        """Hide the conversations that were forked or picked from hidden ones and have the title of one."""
        if not self.hidden.filter(kind="conversation").exists():
            return 0
        rows, messages = self._select_unhidden(Conversation), self._all("message")
        made = [rows.filter(is_named_after(uids, messages)) for uids in frontier.get("conversation", ())]
        return sum(self._hide_whole(Conversation, one) for one in made)

    def _spread_replays(self, frontier: Frontier) -> int:
        """Hide what replays wrote whose source has hidden messages, or whose context tells hidden facts."""
        replays = Replay.objects.filter(project=self.quarantine.project_id).order_by()
        if not replays.exists():
            return 0
        facts, messages = (list_uids(frontier, kind) for kind in ("fact", "message"))
        contexts = replays.exclude(memory_facts=[]).values_list("conversation_id", "memory_facts")
        forks = {fork for fork, named in contexts if facts & {UUID(uid) for uid in named}}
        sources = find_conversations(self.quarantine.project_id, messages)
        forks |= gather_in(replays, "source_id", sources, "conversation_id")
        parts = filter_in(self._select_unhidden(Message), "conversation_id", forks)
        return sum(self._hide_whole(Message, part) for part in parts)

    def _hide_whole(self, model: type[BranchedModel], rows: Any) -> int:
        """Hide every version of the memories of some rows."""
        count = 0
        for batch in batched(sorted(set(rows.values_list("uid", flat=True))), BATCH_SIZE):
            hidden = self._find_hidden("vid", batch)
            fresh = [one for one in load_versions(model, batch) if one.vid not in hidden]
            count += self.hide(str(model._meta.model_name), fresh)
        return count

    def hide_edges(self, edges: Sequence[Edge]) -> int:
        """Hide the version of each fact whose source was hidden where the fact was derived from it."""
        if not edges:
            return 0
        shown = Places(self.ancestors, edges)
        sources = {edge.source for edge in edges}
        tainted = self._find_hidden("vid", sources)
        fresh: dict[int, Version] = {}
        for edge in edges:
            version = shown.find(edge.kind, edge.uid, edge)
            if version and self._is_source_hidden(edge, version, shown, tainted):
                fresh[version.vid] = version
        known = self._find_hidden("vid", {one.uid for one in fresh.values()})
        return self.hide("fact", [one for vid, one in fresh.items() if vid not in known])

    def _is_source_hidden(self, edge: Edge, version: Version, shown: "Places", tainted: set[int]) -> bool:
        if edge.copied and shown.has_any(edge, tainted):
            return find_copied_vid(edge.source, version) in tainted
        source = shown.find(edge.source_kind, edge.source, edge)
        return source.vid in tainted if source else shown.has_any(edge, tainted)

    def _list_replacing(self, uids: Any) -> Iterator[Edge]:
        rows = self._select_unhidden(Fact).filter(parent_id__in=uids)
        for one in self.select_first(rows, "uid", "parent_id"):
            yield one.build_edge(one.source)

    def _list_linked(self, kind: str, uids: Any) -> Iterator[Edge]:
        rows = self._select_unhidden(FactLink).filter(link_type__in=DERIVING, to_type=kind, to_id__in=uids)
        for one in self.select_first(rows, "from_id", "to_id", kind):
            yield one.build_edge(one.source)

    def _list_copied(self) -> Iterator[Edge]:
        rows = self._select_unhidden(Fact).filter(source_type__in=COPIED).exclude(source_id="")
        found = [
            one.build_edge(source, copied=True)
            for one in self.select_first(rows, "uid", "source_id")
            if (source := as_uuid(one.source))
        ]
        known = self._find_hidden("uid", {edge.source for edge in found})
        yield from (edge for edge in found if edge.source in known)

    def select_first(self, rows: Any, uid: str, column: str, kind: str = "fact") -> list[Statement]:
        """Return the versions that were the first to name what a column holds, without copies by merges.

        A source is judged where it was named: the branch that a merge brings the fact to may have another
        version of it, of which nothing was made.
        """
        names = (column, "branch_id", "seq_from", "prev_vid", "merged_vid")
        made = rows.filter(rid=F("vid")).values_list(uid, *names)
        found = [Statement(uid, kind, *values) for uid, *values in made]
        return self.drop_repeated(rows.model, column, found)

    def drop_repeated(
        self, model: type[BranchedModel], column: str, found: Sequence[Statement]
    ) -> list[Statement]:
        """Drop versions that say again what the one before them, or the other parent of a merge, has said."""
        vids = {vid for one in found for vid in (one.prev_vid, one.merged_vid) if vid}
        named = gather_in(model._base_manager.filter(deleted=False), "rid", vids, "vid", column)
        fresh = [one for one in found if (one.branch_id, one.seq) not in self.reverts]
        return [one for one in fresh if not {(v, one.source) for v in (one.prev_vid, one.merged_vid)} & named]

    # ---- what is hidden --------------------------------------------------------------------------

    def hide(self, kind: str, versions: Iterable[Any]) -> int:
        """Hide versions that this quarantine does not hide yet; return how many."""
        of = {"quarantine": self.quarantine.pk, "project_id": self.quarantine.project_id, "kind": kind}
        rows = [HiddenVersion(**of, uid=one.uid, vid=one.vid) for one in versions]
        HiddenVersion.objects.bulk_create(rows, batch_size=BATCH_SIZE)
        self.fresh[kind] |= {row.uid for row in rows}
        return len(rows)

    def _select_unhidden(self, model: type[BranchedModel]) -> Any:
        rows = model._base_manager.filter(branch__project=self.quarantine.project_id, deleted=False)
        return rows.filter(~Exists(self.hidden.filter(vid=OuterRef("vid")))).order_by()

    def _find_hidden(self, column: str, uids: Iterable[UUID]) -> set[Any]:
        """Return a column, such as ``vid``, of what this quarantine hides of some memories."""
        return gather_in(self.hidden, "uid", uids, column)


def list_uids(frontier: Frontier, kind: str) -> set[UUID]:
    """Return the ids of hidden memories of a kind."""
    parts = frontier.get(kind, ())
    return {
        uid
        for uids in parts
        for uid in (uids.values_list("uid", flat=True) if isinstance(uids, QuerySet) else uids)
    }


class Places:
    """The versions of the memories that edges name, to look up by branch and seq."""

    def __init__(self, ancestors: Mapping[int, Lineage], edges: Sequence[Edge]) -> None:
        self.ancestors = ancestors
        self.versions: dict[tuple[str, UUID], list[Version]] = defaultdict(list)
        uids: dict[str, set[UUID]] = defaultdict(set)
        for edge in edges:
            uids[edge.kind].add(edge.uid)
            uids[edge.source_kind].add(edge.source)
        for kind, found in uids.items():
            for batch in batched(sorted(found), BATCH_SIZE):
                for one in load_versions(models_by_kind()[kind], batch):
                    self.versions[kind, one.uid].append(one)

    def find(self, kind: str, uid: UUID, edge: Edge) -> Version | None:
        """Return the version that the branch of an edge had then, or None."""
        own = self.versions[kind, uid]
        for branch, limit in [(edge.branch_id, edge.seq), *self.ancestors.get(edge.branch_id, ())]:
            begun = [one for one in own if one.branch_id == branch and one.seq_from <= limit]
            if begun:
                return max(begun, key=lambda one: one.seq_from)
        return None

    def has_any(self, edge: Edge, vids: set[int]) -> bool:
        """Return whether any version of an edge's source is among these."""
        return any(one.vid in vids for one in self.versions[edge.source_kind, edge.source])


def load_versions(model: type[BranchedModel], uids: Sequence[UUID]) -> list[Version]:
    names = ["rid", "uid", "vid", "prev_vid", "merged_vid", "branch_id", "seq_from", "deleted"]
    names += ["judged_hash"] if model is Fact else []
    rows = model._base_manager.filter(uid__in=uids).order_by()
    return [Version(*values) for values in rows.values_list(*names)]


def digest_merged(model: type[BranchedModel], versions: Iterable[Version]) -> dict[int, bytes]:
    """Return a digest of all that a version holds, by vid, of those that merges made and of their parents."""
    vids = {
        vid for one in versions if one.merged_vid for vid in (one.vid, one.prev_vid, one.merged_vid) if vid
    }
    digests: dict[int, bytes] = {}
    for part in filter_in(model._base_manager.order_by(), "rid", vids):
        for row in part.iterator(BATCH_SIZE):
            content = repr((row.deleted, sorted(row.content_values().items())))
            digests[row.vid] = blake2b(content.encode(), digest_size=16).digest()
    return digests


def find_copied_vid(source: UUID, copy: Version) -> int | None:
    """Return the version of a fact that an import was most likely made of: it shares most words with it.

    Of equally like ones the first, which others followed.
    """
    (text,) = Fact._base_manager.filter(vid=copy.vid).values_list("fact_text", flat=True)[:1]
    rows = Fact._base_manager.filter(uid=source, deleted=False).order_by("vid")
    found: list[tuple[int, str]] = list(rows.values_list("vid", "fact_text"))
    best = max(found, key=lambda one: measure_likeness(one[1], text), default=None)
    return best[0] if best else None


def measure_likeness(text: str, other: str) -> float:
    """Return the share of all words of two texts that both have."""
    words, others = (set(WORD_PATTERN.findall(one.casefold())) for one in (text, other))
    return len(words & others) / max(len(words | others), 1)
