"""Random derivations: after a quarantine nothing derived is found anywhere, and a release brings all back.

Each text that comes from the source, in whatever way, says so: EVE is in it.
"""

import random
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor, local_actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.import_export import FactImport, export_facts
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import Day1Error, Invalid
from memory.models import Branch, Fact, Project
from tests.curation.test_quarantine import dump
from tests.memory.test_versions import random_histories

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
FACTS = FactEngine()
ACTS = ("write", "eve_writes", "edit", "eve_edits", "replace", "combine", "branch", "merge", "pick", "squash")
MORE = ("import", "revert", "archive", "fork_fork", "delete")
HISTORIES = st.lists(st.sampled_from([*ACTS, *MORE]), min_size=4, max_size=24)


class World:
    """A project in which Ada and Eve work; every act chooses among what is there."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.project = Project.objects.create(name="World", slug=f"w-{uuid4().hex}")
        create_main(self.project)
        self.actor = local_actor(self.project.pk)
        PolicyEngine().set_policy(pattern="*", gates=[], actor=self.actor)
        self.ada = self.actor.with_origin(agent_id="ada", session_id="ada-1")
        self.eve = self.actor.with_origin(agent_id="eve", session_id="eve-1")
        self.count = 0

    def play(self, acts: list[str]) -> None:
        for act in acts:
            try:
                getattr(self, act)()
            except Day1Error:
                continue  # refused, such as a merge without a change

    # ---- choices -------------------------------------------------------------------------------

    def new(self, word: str) -> str:
        self.count += 1
        return f"{word} number {self.count}."

    def branches(self) -> list[str]:
        return sorted(Branch.objects.filter(project=self.project).values_list("name", flat=True))

    def any_branch(self) -> str:
        return self.random.choice(self.branches())

    def facts(self, branch: str) -> list[Fact]:
        rows = Fact.objects.on(Branch.objects.get(project=self.project, name=branch))
        return sorted(rows.fetch_all(), key=lambda fact: fact.uid)

    def any_fact(self, branch: str) -> Fact:
        found = [fact for fact in self.facts(branch) if fact.status == "active"]
        return self.random.choice(found) if found else self.say(self.ada, self.new("Plain"), branch)

    def say(self, who: Actor, text: str, branch: str) -> Fact:
        return FACTS.write_fact(fact_text=text, branch_name=branch, actor=who).fact

    # ---- acts ----------------------------------------------------------------------------------

    def write(self) -> None:
        self.say(self.ada, self.new("Plain"), self.any_branch())

    def eve_writes(self) -> None:
        self.say(self.eve, self.new("EVE"), self.any_branch())

    def edit(self) -> None:
        branch = self.any_branch()
        self.change(self.ada, branch, self.any_fact(branch), self.new("Edited"))

    def eve_edits(self) -> None:
        branch = self.any_branch()
        self.change(self.eve, branch, self.any_fact(branch), self.new("EVE"))

    def change(self, who: Actor, branch: str, fact: Fact, word: str) -> None:
        updates = {"fact_text": f"{fact.fact_text} {word}"}
        FACTS.update_fact(fact_id=fact.uid, updates=updates, branch_name=branch, actor=who)

    def replace(self) -> None:
        branch = self.any_branch()
        fact = self.any_fact(branch)
        text = f"{self.new('Newer')} {fact.fact_text}"
        FACTS.supersede_fact(old_fact_id=fact.uid, new_fact_text=text, branch_name=branch, actor=self.ada)

    def combine(self) -> None:
        branch = self.any_branch()
        sources = {fact.uid: fact for fact in (self.any_fact(branch), self.any_fact(branch))}
        text = " ".join([self.new("Combined"), *(fact.fact_text for fact in sources.values())])
        made = self.say(self.ada, text, branch)
        kind = self.random.choice(["CONSOLIDATED_FROM", "DERIVED_FROM"])
        for uid in sources:
            where = {"branch_name": branch, "actor": self.ada}
            LinkEngine().write_link(from_id=made.uid, to_id=uid, link_type=kind, **where)

    def branch(self) -> None:
        name = f"task/b{len(self.branches())}"
        BranchManager().create_branch(name=name, parent=self.any_branch(), actor=self.ada)

    fork_fork = branch

    def merge(self) -> None:
        self.merge_with(self.random.choice(["theirs", "ours"]))

    def squash(self) -> None:
        """Squash, unless a part is the fact of a squash: only the first line of it stays, which may not say
        where it comes from.
        """
        source = self.any_branch()
        if not any(fact.source_type == "merge" for fact in self.facts(source)):
            self.merge_with("squash", source)

    def pick(self) -> None:
        source = self.any_branch()
        self.merge_with("cherry_pick", source, [self.any_fact(source).uid])

    def merge_with(self, strategy: str, source: str = "", ids: list[UUID] | None = None) -> None:
        source, target = source or self.any_branch(), self.any_branch()
        more: dict[str, Any] = {"ids": ids} if ids else {}
        MergeEngine().merge_branch(source=source, target=target, strategy=strategy, actor=self.ada, **more)

    def archive(self) -> None:
        branch = self.any_branch()
        FACTS.archive_fact(fact_id=self.any_fact(branch).uid, branch_name=branch, actor=self.ada)

    def delete(self) -> None:
        branch = self.any_branch()
        FACTS.delete_fact(fact_id=self.any_fact(branch).uid, branch_name=branch, actor=self.ada)

    def revert(self) -> None:
        branch = Branch.objects.get(project=self.project, name=self.any_branch())
        commits = sorted(branch.commits.all(), key=lambda one: one.seq)
        if commits:
            RevertEngine().revert_commit(commit_id=self.random.choice(commits[-3:]).pk, actor=self.actor)

    def import_(self) -> None:
        fact = self.any_fact(self.any_branch())
        line = {"fact_text": f"{fact.fact_text} {self.new('Imported')}", "id": str(fact.uid)}
        FactImport(actor=self.actor, branch_name=self.any_branch()).apply_lines([(1, line)])


setattr(World, "import", World.import_)


def read_all(world: World) -> list[str]:
    """Return every text that a reader finds, on any branch."""
    actor, found = world.actor, []
    for branch in world.branches():
        where = {"branch_name": branch, "actor": actor}
        found += [fact.fact_text for fact in world.facts(branch)]
        found += [repr(fact.fact_text) for fact, _links in export_facts(**where)]
        hits = SearchEngine().search(
            query="eve number", include=["archived", "superseded"], limit=100, **where
        )
        found += [hit.fact.fact_text for hit in hits.hits]
        with suppress(Invalid):  # a branch on which all is hidden has nothing to hand over
            packet = HandoffEngine().create_handoff(
                source_branch=branch, include_unverified=True, actor=actor
            )
            found += [packet.context_summary, repr(packet.facts)]
        for fact in world.facts(branch):
            found += [one.fact_text for one in FACTS.list_versions(fact_id=fact.uid, **where).results]
    for session in ("ada-1", "eve-1"):
        try:
            context = SessionManager().get_session_context(session_id=session, actor=actor)
            found += [fact.fact_text for fact in context.facts]
        except Day1Error:
            continue
    return found


def list_shown(world: World) -> dict[str, list[str]]:
    return {name: sorted(fact.fact_text for fact in world.facts(name)) for name in world.branches()}


@random_histories(10)
@given(acts=HISTORIES, later=HISTORIES, seed=st.integers(0, 10**6))
def test_nothing_derived_is_found(acts: list[str], later: list[str], seed: int) -> None:
    world = World(seed)
    world.play(["write", "eve_writes", "branch", *acts])
    before, rows = list_shown(world), dump()
    source = {"source": "agent", "target": "eve", "actor": world.actor}
    quarantine = QuarantineEngine().create_quarantine(**source)
    after = list_shown(world)
    assert "EVE" not in repr(after)
    assert after == {name: [text for text in texts if "EVE" not in text] for name, texts in before.items()}
    QuarantineEngine().release_quarantine(quarantine_id=quarantine.pk, actor=world.actor)
    assert dump() == rows
    quarantine = QuarantineEngine().create_quarantine(**source)
    assert "EVE" not in repr(read_all(world))
    world.play(later)
    assert "EVE" not in repr(read_all(world))
    shown = list_shown(world)
    # What was hidden as it was written is what a quarantine of all of it hides.
    QuarantineEngine().release_quarantine(quarantine_id=quarantine.pk, actor=world.actor)
    QuarantineEngine().create_quarantine(**source)
    assert list_shown(world) == shown
