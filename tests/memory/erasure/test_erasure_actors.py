"""Erasure of a person: what the history shows as theirs, and nothing of others."""

from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.facts.import_export import FactImport
from memory.engines.merging.engine import MergeEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import Invalid, NotFound
from memory.models import Commit, Erasure, Fact, FactAssessment, Project, Session
from memory.models.base import ERASED_MARK
from tests.memory.api.client import nothing_left
from tests.memory.erasure.helpers import BRANCHES, ERASURES, FACTS, RELATIONS, WORD, tables_with
from tests.memory.views.conftest import browser, person
from tests.memory.views.test_fact_actions import edit

pytestmark = pytest.mark.django_db(transaction=True)


def user(project: Project, name: str) -> Actor:
    return Actor(project.pk, "user", name[::-1], name, frozenset({"admin"}), surface="web")


@pytest.fixture
def mira(project) -> Actor:
    return user(project, "mira")


def write(actor: Actor, text: str, **fields: Any) -> Fact:
    return FACTS.write_fact(actor=actor, fact_text=text, **fields).fact


def erase(actor: Actor, name: str, scope: str = "actor") -> Erasure:
    return ERASURES.erase(actor=actor, scope=scope, target=name, confirm=name)


def texts() -> set[str]:
    return set(Fact._base_manager.values_list("fact_text", flat=True))


class TestWhatAPersonWrote:
    def test_all_kinds_of_memories(self, actor, main, mira) -> None:
        write(mira, f"My sister lives at {WORD} 7.")
        RELATIONS.write_relation(
            actor=mira, source_entity="mira", relation_type="lives_at", target_entity=f"{WORD} 7"
        )
        write(actor, "Of somebody else.")
        plan = ERASURES.preview_erasure(actor=actor, scope="actor", target="mira")
        assert (plan.counts, plan.confirm) == ({"fact": 1, "relation": 1}, "mira")
        done = erase(actor, "mira")
        assert (done.state, done.counts, done.target) == ("done", {"fact": 1, "relation": 1}, "mira")
        assert tables_with(WORD) == set()
        assert texts() == {ERASED_MARK, "Of somebody else."}
        assert ERASURES.verify_erasure(erasure_id=done.pk, actor=actor).holds

    def test_a_text_that_was_changed_and_a_state_that_was(self, actor, main, mira) -> None:
        """A new text is the person's own; archiving, pinning and merging another's is not."""
        changed, archived, tagged = (write(actor, f"Number {n} of an agent.") for n in range(3))
        FACTS.update_fact(fact_id=changed.uid, updates={"fact_text": f"Mine: {WORD}"}, actor=mira)
        FACTS.archive_fact(fact_id=archived.uid, actor=mira)
        FACTS.update_fact(fact_id=tagged.uid, updates={"tags": ["x"]}, actor=mira)
        done = erase(actor, "mira")
        assert done.counts == {"fact": 1}
        assert texts() == {ERASED_MARK, "Number 1 of an agent.", "Number 2 of an agent."}

    def test_what_others_restored_or_merged_is_still_theirs(self, actor, main, mira, without_gates) -> None:
        write(actor, "Of an agent, before.")
        point = SnapshotManager().create_snapshot(name="before", actor=actor)
        BRANCHES.create_branch(name="task/x", actor=actor)
        write(actor, "Of an agent, on a branch.", branch_name="task/x")
        write(mira, f"About {WORD}", branch_name="task/x")
        FACTS.delete_fact(fact_id=FACTS.list_facts(actor=actor).results[0].uid, actor=actor)
        SnapshotManager().restore_snapshot(snapshot_id=point.pk, actor=mira)
        MergeEngine().merge_branch(source="task/x", target="main", actor=mira)
        assert erase(actor, "mira").counts == {"fact": 1}
        assert texts() == {ERASED_MARK, "Of an agent, before.", "Of an agent, on a branch."}

    def test_what_stands_beside_memories(self, actor, main, mira) -> None:
        """Messages of the person's commits and reasons of verdicts, not those of others."""
        fact = write(actor, "Of an agent.")
        FACTS.set_verification(fact_id=fact.uid, verdict="verified", actor=mira, reason=f"Seen: {WORD}")
        FactImport(actor=mira, message=f"From {WORD}").apply_lines([(1, {"fact_text": "Imported."})])
        FactImport(actor=actor, message="From the wiki").apply_lines([(1, {"fact_text": "By another."})])
        erase(actor, "mira")
        assert tables_with(WORD) == set()
        assert Commit.objects.filter(message="From the wiki").exists()
        shown = FACTS.get_fact(fact_id=fact.uid, actor=actor)
        assert (shown.fact_text, shown.verification_status) == ("Of an agent.", "verified")
        assert FactAssessment._base_manager.get().reason == ERASED_MARK

    def test_programs_are_named_by_their_agent(self, actor, main, mira) -> None:
        """The history shows the agent where there is one, whoever's login or key it used."""
        write(mira, "Written on a page")
        write(mira.with_origin(agent_id="ada", session_id="s1"), "Written by a program")
        assert erase(actor, "mira").counts == {"fact": 1}
        assert texts() == {ERASED_MARK, "Written by a program"}
        assert erase(actor, "ada").counts == {"fact": 1, "session": 1}
        assert Session.objects.get(key="s1").erased_at
        assert texts() == {ERASED_MARK}

    def test_a_key_and_the_command_line(self, actor, main, project) -> None:
        write(Actor(project.pk, "key", "1", "ci", frozenset({"write"})), "By a key")
        write(actor, "On the command line")
        assert erase(actor, "ci").counts == {"fact": 1}
        assert texts() == {ERASED_MARK, "On the command line"}

    def test_names_that_are_those_of_several(self, actor, main, project) -> None:
        """A person named as the command line or as a key: neither goes with the other."""
        local, key = user(project, "local"), Actor(project.pk, "key", "k1", "local", frozenset({"admin"}))
        same_key = Actor(project.pk, "key", "k2", "local", frozenset({"admin"}))  # as after a rotation
        for who, text in ((actor, "By the command line"), (local, "By a person"), (key, f"By a key {WORD}")):
            write(who, text)
        write(same_key, "By the key again")
        judged = write(actor, "Of nobody")
        FACTS.set_verification(fact_id=judged.uid, verdict="verified", actor=local, reason=f"Seen: {WORD}")
        with nothing_left(), pytest.raises(Invalid) as caught:
            erase(actor, "local")
        assert "key:k1 (API key local), key:k2 (API key local), local: (command line local), user:lacol" in (
            caught.value.text
        )
        plan = ERASURES.preview_erasure(actor=actor, scope="actor", target="key:k1")
        assert ([*plan.actors], plan.counts, plan.confirm) == (
            [("key", "k1", "local")],
            {"fact": 1},
            "key:k1",
        )
        assert erase(actor, "key:k1").counts == {"fact": 1}
        assert texts() == {ERASED_MARK, "By the command line", "By a person", "By the key again", "Of nobody"}
        assert FactAssessment._base_manager.get().reason == f"Seen: {WORD}"
        assert erase(actor, "user:lacol").counts == {"fact": 1}
        assert FactAssessment._base_manager.get().reason == ERASED_MARK
        assert erase(actor, "local:").counts == {"fact": 2}
        assert texts() == {ERASED_MARK, "By the key again"}
        assert {(one.requested_by, one.requested_by_kind) for one in Erasure.objects.all()} == {
            ("local", "local")
        }
        with pytest.raises(NotFound):
            erase(actor, "user:other")

    def test_what_is_written_afterwards(self, actor, main, mira) -> None:
        write(mira, "Before")
        done = erase(actor, "mira")
        write(mira, "Afterwards")
        Erasure.objects.filter(pk=done.pk).update(state="pending", blanked_at=None)
        assert ERASURES.finish_pending() == 1
        assert texts() == {ERASED_MARK, "Afterwards"}
        assert erase(actor, "mira").counts == {"fact": 1}


class TestRefused:
    def test_agents_alone(self, actor, main, mira) -> None:
        """The scope agent is what it was: an id of an agent, and no person of that name."""
        write(mira, "Of a person")
        with pytest.raises(NotFound):
            erase(actor, "mira", scope="agent")
        write(actor.with_origin(agent_id="mira"), "Of an agent")
        assert erase(actor, "mira", scope="agent").counts == {"fact": 1}
        assert texts() == {"Of a person", ERASED_MARK}

    @pytest.mark.parametrize("name", ["Mira", "mir", "arim", "", "day1"])
    def test_another_name(self, actor, main, mira, name) -> None:
        write(mira, "Of a person")
        with pytest.raises(NotFound):
            ERASURES.preview_erasure(actor=actor, scope="actor", target=name)

    def test_a_namesake_of_another_project(self, actor, main, mira, other_project) -> None:
        write(mira, "Here")
        write(user(other_project, "mira"), "There")
        with pytest.raises(Invalid, match="nothing was erased"):
            ERASURES.erase(actor=actor, scope="actor", target="mira", confirm="test")
        assert texts() == {"Here", "There"}
        erase(actor, "mira")
        assert texts() == {ERASED_MARK, "There"}


class TestSurfaces:
    def test_the_page(self, project, main, actor) -> None:
        max_ = browser(person("max", project, "maintainer"))
        fact = write(actor, "Of an agent.")
        assert edit(max_, fact, fact_text=f"About {WORD}").status_code == 302
        preview = max_.post("/p/test/erase", {"scope": "actor", "target": "max"}).content.decode()
        assert f"About {WORD}" in preview
        assert "type <strong>max</strong>" in preview
        done = max_.post("/p/test/erase", {"scope": "actor", "target": "max", "confirm": "max"})
        assert done.status_code == 302
        assert "Person or agent" in max_.get("/p/test/erasures").content.decode()
        assert tables_with(WORD) == set()
