"""Scopes and branch patterns, checked before any read, and isolation of projects."""

from dataclasses import replace
from uuid import uuid4

import pytest

from memory.actors import SCOPES, local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.search.engine import SearchEngine
from memory.exceptions import BranchForbidden, NotFound, ScopeMissing
from memory.models import Fact, Session
from tests.memory.facts.helpers import everything

pytestmark = pytest.mark.django_db(transaction=True)

FACTS, LINKS, SEARCH, BRANCHES = (
    FactEngine(),
    LinkEngine(),
    SearchEngine(),
    BranchManager(),
)


class Stored:
    """Two facts and a link between them, with every method that takes one of them."""

    def __init__(self, actor):
        self.one = FACTS.write_fact(fact_text="Alpha.", actor=actor, session_id="s").fact.uid
        self.two = FACTS.write_fact(fact_text="Beta.", actor=actor).fact.uid
        self.link = LINKS.write_link(from_id=self.one, to_id=self.two, link_type="BRIDGE", actor=actor).uid

    def methods(self):
        """Return the required scope and the call of each method, by name."""
        one = {"fact_id": self.one}
        fields = {"to_id": self.one, "link_type": "BRIDGE"}
        return {
            "get_fact": ("read", lambda **w: FACTS.get_fact(**one, **w)),
            "list_facts": ("read", FACTS.list_facts),
            "history": ("read", lambda **w: FACTS.list_versions(**one, **w)),
            "search": ("read", lambda **w: SEARCH.search(query="alpha", **w)),
            "explain": ("read", lambda **w: SEARCH.explain(query="alpha", **one, **w)),
            "list_links": ("read", lambda **w: LINKS.list_links(**one, **w)),
            "propose": ("propose", lambda **w: FACTS.write_fact(fact_text="New.", propose=True, **w)),
            "propose many": (
                "propose",
                lambda **w: FACTS.write_facts(facts=[{"fact_text": "N"}], propose=True, **w),
            ),
            "write_fact": ("write", lambda **w: FACTS.write_fact(fact_text="New.", session_id="new", **w)),
            "write_facts": ("write", lambda **w: FACTS.write_facts(facts=[{"fact_text": "Many."}], **w)),
            "update_fact": ("write", lambda **w: FACTS.update_fact(updates={"priority": "P1"}, **one, **w)),
            "supersede_fact": (
                "write",
                lambda **w: FACTS.supersede_fact(old_fact_id=self.two, new_fact_text="Other.", **w),
            ),
            "archive_fact": ("curate", lambda **w: FACTS.archive_fact(**one, **w)),
            "restore_fact": ("curate", lambda **w: FACTS.restore_fact(**one, **w)),
            "write_link": ("write", lambda **w: LINKS.write_link(from_id=self.two, **fields, **w)),
            "delete_link": ("write", lambda **w: LINKS.delete_link(from_id=self.one, link_id=self.link, **w)),
            "set_verification": (
                "curate",
                lambda **w: FACTS.set_verification(verdict="verified", **one, **w),
            ),
            "delete_fact": ("write", lambda **w: FACTS.delete_fact(**one, **w)),
        }


@pytest.fixture
def stored(actor, main):
    return Stored(actor)


def with_scope(actor, *scopes):
    return replace(actor, scopes=frozenset(scopes))


def test_each_scope_includes_those_before_it(actor):
    for held in SCOPES:
        able = [scope for scope in SCOPES if with_scope(actor, held).has_scope(scope)]
        assert able == list(SCOPES[: SCOPES.index(held) + 1])
    assert not with_scope(actor).has_scope("read")


def test_below_the_scope_every_method_refuses(stored, actor):
    before = everything()
    for name, (needed, call) in stored.methods().items():
        for scopes in ((), SCOPES[: SCOPES.index(needed)]):
            with pytest.raises(ScopeMissing) as caught:
                call(actor=with_scope(actor, *scopes))
            assert str(caught.value) == f"This needs the scope {needed}.", name
    with pytest.raises(ScopeMissing):
        SEARCH.search_cross_branch(query="x", branch_names=["main"], actor=with_scope(actor))
    assert everything() == before


def test_with_just_the_scope_every_method_works(stored, actor):
    for needed, call in stored.methods().values():
        call(actor=with_scope(actor, needed))


def test_the_scope_is_looked_at_before_the_input(actor, main):
    reader = with_scope(actor, "read")
    with pytest.raises(ScopeMissing):
        FACTS.write_fact(fact_text="", session_id=5, actor=reader)
    with pytest.raises(ScopeMissing):
        FACTS.write_facts(facts=[], actor=reader)
    with pytest.raises(ScopeMissing):
        FACTS.update_fact(fact_id=uuid4(), updates={"no": 1}, actor=reader)
    with pytest.raises(ScopeMissing):
        SEARCH.search(query="x" * 9000, actor=with_scope(actor), branch_name="none")


def test_a_proposer_can_only_propose(actor, main):
    proposer = with_scope(actor, "propose")
    fact = FACTS.write_fact(fact_text="New.", actor=proposer, propose=True).fact
    assert fact.status == "created"
    with pytest.raises(ScopeMissing):
        FACTS.update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=proposer)


@pytest.mark.parametrize(
    ("patterns", "name", "allowed"),
    [
        ((), "main", True),
        (("main",), "main", True),
        (("task/*",), "main", False),
        (("task/*",), "task/a", True),
        (("task/*",), "task/a/b", True),
        (("task/*",), "task", False),
        (("task/*",), "xtask/a", False),
        (("task/*", "main"), "main", True),
        (("*",), "main", True),
        (("TASK/*",), "task/a", False),
    ],
)
def test_patterns(actor, patterns, name, allowed):
    assert replace(actor, branch_patterns=patterns).may_use(name) is allowed


def test_outside_of_its_patterns_every_method_refuses(stored, actor):
    BRANCHES.create_branch(name="task/a", actor=actor)
    bound = replace(actor, branch_patterns=("task/*",))
    before = everything()
    for name, (_, call) in stored.methods().items():
        for branch in ("main", "none"):  # the same, whether the branch exists or not
            with pytest.raises(BranchForbidden) as caught:
                call(actor=bound, branch_name=branch)
            assert str(caught.value) == f"This key may not use the branch {branch}.", name
    assert everything() == before
    for _, call in stored.methods().values():
        call(actor=bound, branch_name="task/a")
    assert FACTS.get_fact(fact_id=stored.one, actor=actor).version == 1


def test_across_branches_only_those_of_the_patterns(stored, actor):
    for name in ("task/a", "task/b"):
        BRANCHES.create_branch(name=name, actor=actor)
    bound = replace(actor, branch_patterns=("task/a",))
    found = SEARCH.search_cross_branch(query="alpha", branch_names=["*"], actor=bound)
    assert (found.branches, [hit.branches for hit in found.hits]) == (("task/a",), [("task/a",)])
    for names in (["main"], ["task/a", "task/b"], ["none"]):
        with pytest.raises(BranchForbidden):
            SEARCH.search_cross_branch(query="alpha", branch_names=names, actor=bound)


class TestAnotherProject:
    def test_its_ids_are_like_none(self, stored, other_project):
        stranger = local_actor(other_project.pk)
        before = everything()
        named = {
            "get_fact",
            "history",
            "list_links",
            "update_fact",
            "supersede_fact",
            "archive_fact",
            "restore_fact",
            "write_link",
            "delete_link",
            "set_verification",
            "delete_fact",
        }
        for name, (_, call) in stored.methods().items():
            if name in named:
                with pytest.raises(NotFound) as caught:
                    call(actor=stranger)
                assert str(caught.value) == "Nothing with this id is visible here.", name
        assert everything() == before
        assert SEARCH.explain(query="alpha", fact_id=stored.one, actor=stranger).reason == "absent"

    def test_its_branches_are_none_of_mine(self, stored, actor, other_project):
        BRANCHES.create_branch(name="task/a", actor=actor)
        stranger = local_actor(other_project.pk)
        for _, call in stored.methods().values():
            with pytest.raises(NotFound) as caught:
                call(actor=stranger, branch_name="task/a")
            assert str(caught.value) == "There is no branch named task/a."

    def test_nothing_of_it_is_listed_counted_or_found(self, stored, other_project):
        stranger = local_actor(other_project.pk)
        assert FACTS.list_facts(actor=stranger).results == []
        assert SEARCH.search(query="alpha beta", actor=stranger).hits == []
        assert SEARCH.search_cross_branch(query="alpha", branch_names=["*"], actor=stranger).hits == []

    def test_the_same_text_and_session_are_its_own(self, stored, actor, other_project):
        stranger = local_actor(other_project.pk)
        written = FACTS.write_fact(fact_text="Alpha.", actor=stranger, session_id="s")
        assert (written.created, written.fact.confirmation_count, written.fact.seq_from) == (True, 0, 1)
        assert Session.objects.filter(key="s").count() == 2
        assert Fact.objects.on(other_project.branches.get()).count() == 1

    def test_a_parent_from_there_is_unknown(self, stored, other_project):
        with pytest.raises(Exception, match="There is no fact"):
            FACTS.write_fact(fact_text="x", parent_id=stored.one, actor=local_actor(other_project.pk))
