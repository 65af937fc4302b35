"""What random histories do, as calls of the engines of this process; rest_transport.py says it over REST."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.assessment import list_sources
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Day1Error
from memory.models import Commit, Fact, FactAssessment, FactLink, Observation, Project, Relation
from tests.memory.merging.oracle import Key, Row

MODELS = {
    "fact": Fact,
    "verdict": FactAssessment,
    "link": FactLink,
    "relation": Relation,
    "observation": Observation,
    "conversation": Conversation,
    "message": Message,
}


class Refused(Exception):
    """A refusal, by the code of its error."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


@dataclass(frozen=True)
class Item:
    """Memory in a plan."""

    kind: str
    uid: str
    name: str  # of its class
    reason: str
    token: str
    other: str = ""  # the target's own memory that it is compared with

    @property
    def key(self) -> Key:
        return self.kind, self.uid


@dataclass(frozen=True)
class Choice:
    """Decision on a conflict."""

    item: Item
    choice: str
    text: str = ""


@dataclass(frozen=True)
class Merged:
    commit: str | None
    held: int


@contextmanager
def refusals() -> Iterator[None]:
    try:
        yield
    except Day1Error as error:
        raise Refused(error.code, str(error)) from error


class EngineTransport:
    """Calls of the engines, and rows read as they are stored."""

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.snapshots = 0

    # ---- writing -------------------------------------------------------------------------------

    def write_fact(self, branch: str, text: str, **fields: Any) -> None:
        FactEngine().write_fact(fact_text=text, **fields, **self.where(branch))

    def update_fact(self, branch: str, uid: str, updates: Mapping[str, Any]) -> None:
        with refusals():
            FactEngine().update_fact(fact_id=UUID(uid), updates=updates, **self.where(branch))

    def delete_fact(self, branch: str, uid: str) -> None:
        with refusals():
            FactEngine().delete_fact(fact_id=UUID(uid), **self.where(branch))

    def replace_fact(self, branch: str, uid: str, text: str) -> None:
        with refusals():
            FactEngine().replace_fact(old_fact_id=UUID(uid), new_fact_text=text, **self.where(branch))

    def judge_fact(self, branch: str, uid: str, verdict: str) -> None:
        with refusals():
            FactEngine().set_verification(fact_id=UUID(uid), verdict=verdict, **self.where(branch))

    def write_link(self, branch: str, start: str, end: str, end_type: str) -> None:
        ends = {"from_id": UUID(start), "to_id": UUID(end), "to_type": end_type, "link_type": "BRIDGE"}
        with refusals():
            LinkEngine().write_link(**ends, **self.where(branch))

    def delete_link(self, branch: str, start: str, uid: str) -> None:
        with refusals():
            LinkEngine().delete_link(from_id=UUID(start), link_id=UUID(uid), **self.where(branch))

    def write_relation(self, branch: str, target: str, properties: Mapping[str, Any]) -> None:
        ends = {"source_entity": "app", "relation_type": "uses", "target_entity": target}
        RelationEngine().write_relation(**ends, properties=properties, **self.where(branch))

    def close_relation(self, branch: str, uid: str) -> None:
        with refusals():
            RelationEngine().close_relation(relation_id=UUID(uid), **self.where(branch))

    def write_observation(self, branch: str, text: str) -> None:
        ObservationEngine().write_observation(summary=text, **self.where(branch))

    def create_conversation(self, branch: str, title: str) -> None:
        ConversationEngine().create_conversation(title=title, **self.where(branch))

    def close_conversation(self, branch: str, uid: str) -> None:
        ConversationEngine().close_conversation(conversation_id=UUID(uid), **self.where(branch))

    def write_message(self, branch: str, uid: str, text: str) -> None:
        with refusals():
            where = self.where(branch)
            MessageEngine().write_message(conversation_id=UUID(uid), role="user", content=text, **where)

    def erase_fact(self, uid: str) -> None:
        with refusals():
            slug = Project.objects.get(pk=self.actor.project_id).slug
            ErasureEngine().erase(scope="fact", target=uid, confirm=slug, actor=self.actor)

    def begin_quarantine(self, session: str) -> UUID:
        made = QuarantineEngine().create_quarantine(source="session", target=session, actor=self.actor)
        return made.pk

    def release_quarantine(self, quarantine: UUID) -> None:
        QuarantineEngine().release_quarantine(quarantine_id=quarantine, actor=self.actor)

    def embed(self) -> None:
        """Give every text its vector: facts without one are not compared."""
        EmbeddingEngine().embed_pending(self.actor.project_id)

    # ---- branches ------------------------------------------------------------------------------

    def create_branch(self, name: str, parent: str, at: int) -> None:
        BranchManager().create_branch(name=name, actor=self.actor, parent=parent, at=at)

    def read_head(self, branch: str) -> int:
        return find_branch(self.actor, branch).head

    def revert(self, branch: str, seq: int) -> None:
        commit = Commit.objects.get(branch=find_branch(self.actor, branch), seq=seq)
        with refusals():
            RevertEngine().revert_commit(commit_id=commit.pk, actor=self.actor)

    def restore(self, branch: str, seq: int) -> None:
        self.snapshots += 1
        named = {"name": f"s{self.snapshots}", "at": seq, "branch_name": branch}
        snapshot = SnapshotManager().create_snapshot(**named, actor=self.actor)
        SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=self.actor)

    # ---- merging -------------------------------------------------------------------------------

    def plan(self, source: str, target: str, **options: Any) -> list[Item]:
        """Return the whole plan, read in pages of few."""
        read = partial(MergeEngine().preview_merge, source=source, target=target, actor=self.actor, limit=7)
        with refusals():
            page = (plan := read(**options).plan).page
            items = list(page.results)
            while page.next:
                page = read(**options, cursor=page.next).plan.page
                items += page.results
        counts = {kind: sum(found.values()) for kind, found in plan.counts.items() if kind != "confirmation"}
        assert counts == count_kinds(item.key for item in items)
        return [build_item(item) for item in items]

    def merge(
        self, source: str, target: str, strategy: str, choices: Sequence[Choice] = (), ids: Sequence[str] = ()
    ) -> Merged:
        decisions = [
            Decision(UUID(one.item.uid), one.choice, token=one.item.token, text=one.text, kind=one.item.kind)
            for one in choices
        ]
        options = {
            "strategy": strategy,
            "ids": [UUID(uid) for uid in ids],
            "decisions": decisions,
            "force": True,
        }
        with refusals():
            done = MergeEngine().merge_branch(source=source, target=target, actor=self.actor, **options)
        return Merged(str(done.commit.pk) if done.commit else None, done.open_conflicts)

    # ---- reading -------------------------------------------------------------------------------

    def observe(self, branch: str, seq: int | None = None) -> dict[Key, Row]:
        """Return all that a branch shows, or showed at a seq, with what is in quarantine."""
        lineage = find_branch(self.actor, branch).full_lineage(seq)
        shown = {
            (kind, str(row.uid)): Row(row.version, row.content_values())
            for kind, model in MODELS.items()
            for row in model.objects.in_lineage(lineage).fetch_all()
        }
        facts = [UUID(uid) for kind, uid in shown if kind == "fact"]
        sources = list_sources(facts, lineage)
        return shown | {("confirmation", f"{uid} {source}"): Row(1, {}) for uid, source in sources}

    def read_texts(self, branch: str) -> list[str]:
        """Return the facts that a reader of a branch finds."""
        return [row.fact_text for row in Fact.objects.on(find_branch(self.actor, branch)).fetch_all()]

    def where(self, branch: str) -> dict[str, Any]:
        return {"actor": self.actor, "branch_name": branch}


def build_item(item: Any) -> Item:
    return Item(
        item.kind,
        str(item.uid),
        item.outcome,
        item.reason,
        item.token,
        str(item.other.uid) if item.other else "",
    )


def count_kinds(keys: Iterable[Key]) -> dict[str, int]:
    found: dict[str, int] = {}
    for kind, _ in keys:
        found[kind] = found.get(kind, 0) + 1
    return found
