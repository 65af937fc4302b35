"""Erasure in projects that hold the same ids: each erases its own memories, and lists what it erased."""

from typing import Any

import pytest

from memory.actors import Actor, local_actor
from memory.engines.facts.import_export import FactImport
from memory.engines.versions.blanking import replay_erasures
from memory.exceptions import Conflict
from memory.models import ErasedMemory, Fact
from memory.models.base import ERASED_MARK
from memory.models.nodes import uuid7
from tests.memory.erasure.helpers import ERASURES, FACTS, WORD

pytestmark = pytest.mark.django_db(transaction=True)
GONE = ("broken", "conflict: This fact was erased.")


@pytest.fixture
def theirs(other_project) -> Actor:
    return local_actor(other_project.pk)


def import_line(actor: Actor, line: dict[str, Any]) -> tuple[Any, str, str]:
    (found,) = FactImport(actor=actor).apply_lines([(1, line)])
    return found.fact_id, found.state, found.reason


def erase(actor: Actor, uid: Any) -> Any:
    what = {"scope": "fact", "target": str(uid)}
    name = ERASURES.preview_erasure(actor=actor, **what).confirm
    return ERASURES.erase(actor=actor, **what, confirm=name)


def read_texts(actor: Actor) -> list[str]:
    rows = Fact._base_manager.filter(branch__project=actor.project_id).order_by("rid")
    return list(rows.values_list("fact_text", flat=True))


class TestSameIds:
    @pytest.mark.parametrize("copy_first", [True, False])
    def test_an_import_of_anothers_export(self, actor, theirs, main, copy_first) -> None:
        """The id of the fact here is the source of the fact there. Either may be erased first."""
        fact = FACTS.write_fact(actor=actor, fact_text=f"About {WORD}.").fact
        line = {"id": str(fact.uid), "fact_text": fact.fact_text}
        copy, state, _ = import_line(theirs, line)
        assert state == "new"
        both = [(theirs, copy), (actor, fact.uid)]
        (one, its), (other, uid) = both if copy_first else both[::-1]
        first = erase(one, its)
        assert (read_texts(one), read_texts(other)) == ([ERASED_MARK], [f"About {WORD}."])
        assert import_line(one, line)[1:] == GONE
        assert import_line(other, line)[:2] == (uid, "known")
        second = erase(other, uid)
        for who, done in ((one, first), (other, second)):
            found = ERASURES.verify_erasure(erasure_id=done.pk, actor=who)
            assert (found.holds, done.counts) == (True, {"fact": 1})
            assert [row.pk for row in ERASURES.list_erasures(actor=who).results] == [done.pk]
            assert import_line(who, line)[1:] == GONE
        kinds = ErasedMemory.objects.filter(uid=fact.uid).values_list("project", "kind")
        assert set(kinds) == {(actor.project_id, "fact"), (theirs.project_id, "source")}

    @pytest.mark.parametrize("swapped", [False, True])
    def test_one_file_in_two_projects(self, actor, theirs, main, swapped) -> None:
        line = {"id": str(uuid7()), "fact_text": f"From elsewhere {WORD}"}
        ours, copied = import_line(actor, line)[0], import_line(theirs, line)[0]
        both = [(actor, ours), (theirs, copied)]
        (one, its), (other, uid) = both[::-1] if swapped else both
        erase(one, its)
        assert import_line(one, line)[1:] == GONE
        assert import_line(other, line)[:2] == (uid, "known")
        erase(other, uid)
        for who in (one, other):
            assert import_line(who, line)[1:] == GONE
            assert read_texts(who) == [ERASED_MARK]
        assert ErasedMemory.objects.filter(kind="source").count() == 2

    def test_played_again_in_its_own_project(self, actor, theirs, main) -> None:
        line = {"id": str(uuid7()), "fact_text": f"From elsewhere {WORD}"}
        ours, copied = import_line(actor, line)[0], import_line(theirs, line)[0]
        erase(actor, ours)
        Fact._base_manager.filter(uid=ours).update(fact_text=f"Back {WORD}")
        assert replay_erasures(theirs.project_id) == 0
        assert replay_erasures(actor.project_id) == 1
        assert Fact._base_manager.get(uid=copied).fact_text == f"From elsewhere {WORD}"

    def test_the_source_of_an_erased_fact_may_be_erased(self, actor, main) -> None:
        """A deleted fact was imported again under a new id: the old one has its versions still."""
        fact = FACTS.write_fact(actor=actor, fact_text=f"About {WORD}.").fact
        line = {"id": str(fact.uid), "fact_text": fact.fact_text}
        FACTS.delete_fact(fact_id=fact.uid, actor=actor)
        again, state, _ = import_line(actor, line)
        assert (state, again != fact.uid) == ("new", True)
        erase(actor, again)
        assert ERASED_MARK not in Fact._base_manager.filter(uid=fact.uid).values_list("fact_text", flat=True)
        erase(actor, fact.uid)
        assert set(read_texts(actor)) == {ERASED_MARK}
        assert import_line(actor, line)[1:] == GONE
        with pytest.raises(Conflict, match="erased already"):
            erase(actor, fact.uid)
