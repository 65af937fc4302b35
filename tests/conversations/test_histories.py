"""Random histories of every versioned model, through the engines: a state once shown is shown again, whether
the past is read, the last commit reverted, or an earlier point restored as its dry run predicted.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db.models import Count
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.deletion import conversation_deletion, message_deletion
from conversations.engines.messages import MessageEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.deletion.memories import MemoryDeletion
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions.kinds import versioned_models
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Conflict, Exists, IllegalTransition, NotFound
from memory.models import OPEN, Commit, Observation
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS, RELATIONS = FactEngine(), LinkEngine(), RelationEngine()
CONVERSATIONS, MESSAGES, SNAPSHOTS = ConversationEngine(), MessageEngine(), SnapshotManager()
OBSERVATIONS = ObservationEngine()
DELETIONS: dict[str, MemoryDeletion] = {
    "message": message_deletion,
    "talk": conversation_deletion,
    "observation": MemoryDeletion(Observation),
}

# Few memories and many reverts: errors lie in memories that are made again after a revert.
WRITES = [
    "write",
    "confirm",
    "edit",
    "delete",
    "verify",
    "invalidate",
    "link",
    "relate",
    "close",
    "talk",
    "say",
    "observe",
    "unsay",
    "untalk",
    "unobserve",
]
numbers = st.integers(0, 5)
writes = st.tuples(st.sampled_from(WRITES), numbers)
steps = st.one_of(
    writes,
    st.tuples(st.sampled_from(["verify", "relate", "close", "say"]), st.just(0)),
    st.tuples(st.sampled_from(["undo", "undo", "restore", "fork", "bring_back", "bring_back"]), numbers),
)
histories = st.lists(steps, min_size=6, max_size=14)
State = dict[tuple[str, Any], tuple]


class Played:
    """History on main and a branch of it, with the state of each after each of its commits."""

    def __init__(self) -> None:
        self.actor = some_actor()
        self.branch = "main"
        self.states: dict[str, dict[int, State]] = {"main": {0: {}}}
        self.gone: list[tuple[str, str, Any, State]] = []  # deletions: where, what, and what went with it
        self.play("write", 0)

    def where(self, **more: Any) -> dict[str, Any]:
        return {"actor": self.actor, "branch_name": self.branch, **more}

    # ---- visible state -------------------------------------------------------------------------

    def shown(self, at: int | None = None) -> State:
        read = self.where(at=at)
        found: State = {}
        for fact in FACTS.list_facts(**read).results:
            verdict = (fact.verification_status, fact.verification_reason, fact.confirmation_count)
            found["fact", fact.uid] = (fact.fact_text, str(fact.status), *verdict)
            for link in LINKS.list_links(fact_id=fact.uid, **read).results:
                found["link", link.uid] = (link.from_id, link.to_id)
        for edge in RELATIONS.list_relations(**read).results:
            found["edge", edge.uid] = (edge.strength, edge.valid_until, edge.properties)
        for talk in CONVERSATIONS.list_conversations(**read).results:
            found["talk", talk.uid] = (talk.title, talk.message_count)
            for row in MESSAGES.list_messages(conversation_id=talk.uid, **read).results:
                found["message", row.uid] = (row.sequence_num, row.content)
        for seen in OBSERVATIONS.list_observations(**read).results:
            found["observation", seen.uid] = (seen.summary,)
        return found

    @property
    def head(self) -> int:
        return find_branch(self.actor, self.branch).head

    @property
    def state(self) -> State:
        """Return the state of the branch after its last commit."""
        return self.states[self.branch][self.head]

    def pick(self, kind: str, number: int) -> Any:
        found = sorted(uid for name, uid in self.state if name == kind)
        return found[number % len(found)] if found else None

    # ---- one step ------------------------------------------------------------------------------

    def play(self, step: str, number: int) -> None:
        getattr(self, step)(number)
        shown = self.shown()
        assert self.states[self.branch].setdefault(self.head, shown) == shown

    def write(self, number: int) -> None:
        FACTS.write_fact(fact_text=f"fact {number}", **self.where())

    def confirm(self, number: int) -> None:
        FACTS.write_fact(fact_text=f"fact {number % 2}", session_id=f"s{number}", **self.where())

    def edit(self, number: int) -> None:
        self._with_fact(
            number,
            lambda uid: FACTS.update_fact(
                fact_id=uid, updates={"fact_text": f"edit {self.head}"}, **self.where()
            ),
        )

    def delete(self, number: int) -> None:
        self._with_fact(number, lambda uid: FACTS.delete_fact(fact_id=uid, **self.where()))

    def verify(self, number: int) -> None:
        self._judge(number, "verified")

    def invalidate(self, number: int) -> None:
        self._judge(number, "invalidated")

    def _judge(self, number: int, verdict: str) -> None:
        given = {"verdict": verdict, "reason": str(number % 2)}
        self._with_fact(number, lambda uid: FACTS.set_verification(fact_id=uid, **given, **self.where()))

    def link(self, number: int) -> None:
        ends = {"from_id": self.pick("fact", number), "to_id": self.pick("fact", number + 1)}
        if ends["from_id"] != ends["to_id"]:
            with suppress(Exists):
                LINKS.write_link(**ends, link_type="BRIDGE", **self.where())

    def _with_fact(self, number: int, work: Callable[[Any], Any]) -> None:
        if uid := self.pick("fact", number):
            work(uid)

    def relate(self, number: int) -> None:
        names = {"source_entity": "a", "relation_type": "r", "target_entity": str(number % 2)}
        RELATIONS.write_relation(**names, properties={str(number): self.head}, **self.where())

    def close(self, number: int) -> None:
        still_open = sorted(u for (kind, u), row in self.state.items() if kind == "edge" and not row[1])
        if still_open:
            RELATIONS.close_relation(relation_id=still_open[number % len(still_open)], **self.where())

    def talk(self, number: int) -> None:
        CONVERSATIONS.create_conversation(title=str(number), **self.where())

    def say(self, number: int) -> None:
        if talk := self.pick("talk", number):
            where = self.where(conversation_id=talk)
            MESSAGES.write_message(role="user", content=f"said {self.head}", **where)

    def observe(self, number: int) -> None:
        """Record an observation, where there is a message as its other half."""
        half = {"message_id": uid} if (uid := self.pick("message", number)) else {}
        OBSERVATIONS.write_observation(summary=f"seen {self.head}", **half, **self.where())

    def unsay(self, number: int) -> None:
        self._delete("message", number)

    def untalk(self, number: int) -> None:
        self._delete("talk", number)

    def unobserve(self, number: int) -> None:
        self._delete("observation", number)

    def _delete(self, kind: str, number: int) -> None:
        """Delete a memory; the next restore finds it, and what it took along, as it was."""
        if uid := self.pick(kind, number):
            before = self.state
            DELETIONS[kind].delete(uid=uid, **self.where())
            gone = before.keys() - self.shown().keys()
            assert (kind, uid) in gone
            self.gone.append((self.branch, kind, uid, {key: before[key] for key in gone}))

    # ---- back ----------------------------------------------------------------------------------

    def undo(self, number: int) -> None:
        """Revert a commit: the last one always succeeds; an earlier one may be refused without a change."""
        seq, states = self.head - number // 2, self.states[self.branch]
        commit = Commit.objects.filter(branch=find_branch(self.actor, self.branch), seq=seq).first()
        if commit is None:
            return
        try:
            RevertEngine().revert_commit(commit_id=commit.pk, actor=self.actor)
        except Conflict:
            assert seq < max(states)
        else:
            assert seq < max(states) or self.shown() == states[seq - 1]

    def bring_back(self, number: int) -> None:
        """Restore what was deleted last on this branch: it is as before, or refused without a change."""
        deleted = [one for one in self.gone if one[0] == self.branch]
        if not deleted:
            return
        _branch, kind, uid, before = last = deleted[-1]
        self.gone.remove(last)
        state = self.shown()
        try:
            DELETIONS[kind].restore(uid=uid, **self.where())
        except (Conflict, IllegalTransition, NotFound):
            assert self.shown() == state
        else:
            now = self.shown()
            assert now[kind, uid] == before[kind, uid]
            assert now.keys() - state.keys() <= before.keys()

    def restore(self, number: int) -> None:
        states = self.states[self.branch]
        seq = sorted(states)[-1 - number % len(states)]
        named = {"name": f"{self.branch} {self.head} {seq}", "at": seq}
        with suppress(Exists):
            self._restore(SNAPSHOTS.create_snapshot(**named, **self.where()).pk)
            assert self.shown() == states[seq]

    def _restore(self, snapshot: Any) -> None:
        how = {"snapshot_id": snapshot, "actor": self.actor}
        plan = SNAPSHOTS.restore_snapshot(**how, dry_run=True)
        done = SNAPSHOTS.restore_snapshot(**how)
        assert [one.counts for one in done.branches] == [one.counts for one in plan.branches]

    def fork(self, number: int) -> None:
        """Create the branch, or switch to the other one of the two."""
        if "task/x" not in self.states:
            self.states["task/x"] = {0: self.shown()}
            BranchManager().create_branch(name="task/x", actor=self.actor, parent="main")
        self.branch = "main" if self.branch == "task/x" else "task/x"


def check_past(played: Played) -> None:
    for branch, states in played.states.items():
        played.branch = branch
        for seq, state in states.items():
            assert played.shown(seq) == state


def check_versions() -> None:
    for model in versioned_models():
        opened = model._base_manager.filter(seq_to=OPEN).order_by().values("branch", "uid")
        assert not opened.annotate(number=Count("rid")).filter(number__gt=1)


@pytest.mark.slow
@given(histories)
@random_histories(10)
def test_what_a_branch_showed_it_shows_again(history: list[tuple[str, int]]) -> None:
    played = Played()
    for step, number in history:
        played.play(step, number)
    check_past(played)
    check_versions()
