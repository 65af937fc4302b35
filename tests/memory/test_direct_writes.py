"""What a branch does with writes that no merge brings: every kind of memory, each policy, each scope."""

from dataclasses import replace

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.facts_across_branches import ProposalEngine
from memory.engines.facts.import_export import FactImport
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import DirectWritesRefused, ScopeMissing
from memory.models import Commit, Fact
from tests.memory.facts.helpers import everything

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS, RELATIONS, ACTIONS = FactEngine(), LinkEngine(), RelationEngine(), ActionEngine()
MANY = [{"fact_text": "N 1"}, {"fact_text": "N 2"}]
TALKS, MESSAGES, OBSERVATIONS = ConversationEngine(), MessageEngine(), ObservationEngine()


def with_scope(actor, *scopes):
    return replace(actor, scopes=frozenset(scopes))


def guard(actor, direct_writes, pattern="main"):
    PolicyEngine().set_policy(pattern=pattern, actor=actor, direct_writes=direct_writes)


def listed(actor, branch="main"):
    facts = FACTS.list_facts(actor=actor, branch_name=branch).results
    return sorted((fact.fact_text, str(fact.status)) for fact in facts)


class Stored:
    """Memories of every kind on main, and every method that writes to them directly."""

    def __init__(self, actor):
        self.actor = actor
        self.one = FACTS.write_fact(fact_text="Alpha.", actor=actor).fact.uid
        self.two = FACTS.write_fact(fact_text="Beta.", actor=actor).fact.uid
        self.task = FACTS.write_fact(fact_text="Ship it.", kind="TASK", actor=actor).fact.uid
        self.link = LINKS.write_link(from_id=self.one, to_id=self.two, link_type="BRIDGE", actor=actor).uid
        self.relation = RELATIONS.write_relation(
            source_entity="API", relation_type="uses", target_entity="Redis", actor=actor
        ).relation.uid
        self.talk = TALKS.create_conversation(actor=actor).uid

    def additions(self):
        """Return the methods that add what cannot be a proposal, by name."""
        return {
            "link": lambda **w: LINKS.write_link(
                from_id=self.two, to_id=self.one, link_type="DEPENDS_ON", **w
            ),
            "relation": lambda **w: RELATIONS.write_relation(
                source_entity="API", relation_type="uses", target_entity="Kafka", **w
            ),
            "observation": lambda **w: OBSERVATIONS.write_observation(summary="Seen.", **w),
            "conversation": lambda **w: TALKS.create_conversation(title="A talk", **w),
            "message": lambda **w: MESSAGES.write_message(
                conversation_id=self.talk, role="user", content="Hello.", **w
            ),
        }

    def changes(self):
        """Return the methods that change or remove what stands, by name."""
        act = ACTIONS.apply_action
        return {
            "update": lambda **w: FACTS.update_fact(fact_id=self.one, updates={"priority": "P1"}, **w),
            "done": lambda **w: FACTS.update_fact(fact_id=self.task, updates={"status": "done"}, **w),
            "delete": lambda **w: FACTS.delete_fact(fact_id=self.two, **w),
            "unlink": lambda **w: LINKS.delete_link(from_id=self.one, link_id=self.link, **w),
            "close": lambda **w: RELATIONS.close_relation(relation_id=self.relation, **w),
            "supersede": lambda **w: act(
                action="supersede", fact_ids=[self.one], new_fact_text="Gamma.", **w
            ),
            "set_category": lambda **w: act(
                action="set_category", fact_ids=[self.one], category="decision", **w
            ),
            "import": lambda **w: FactImport(**w).apply_lines([(1, {"fact_text": "From a file."})]),
        }

    def curation(self):
        """Return the changes that take the scope curate anyway, by name."""
        return {
            "archive": lambda **w: FACTS.archive_fact(fact_id=self.one, **w),
            "archive many": lambda **w: ACTIONS.apply_action(action="archive", fact_ids=[self.two], **w),
        }

    def statements(self):
        """Return the methods that state facts, by name."""
        return {
            "write": lambda **w: FACTS.write_fact(fact_text="New.", **w),
            "write many": lambda **w: FACTS.write_facts(
                facts=[{"fact_text": "N 1"}, {"fact_text": "N 2"}], **w
            ),
            "replace": lambda **w: FACTS.supersede_fact(old_fact_id=self.one, new_fact_text="Alpha 2.", **w),
        }


@pytest.fixture
def stored(actor, main):
    return Stored(actor)


# ---- refuse ----------------------------------------------------------------------------------------


def test_a_branch_that_refuses_takes_no_direct_write_of_any_kind_from_anybody(stored, actor):
    guard(actor, "refuse")
    before = everything()
    writes = {**stored.statements(), **stored.additions(), **stored.changes(), **stored.curation()}
    for name, call in writes.items():
        for scope in ("write", "curate", "admin"):
            if scope == "write" and name in stored.curation():
                continue
            with pytest.raises(DirectWritesRefused) as caught:
                call(actor=with_scope(actor, scope))
            assert (caught.value.code, caught.value.status, caught.value.data) == (
                "direct_writes_refused",
                409,
                {"branch": "main"},
            ), name
    assert caught.value.text == (
        "The branch main takes no direct writes: write on a branch of your own and open a merge request, or"
        " propose the fact."
    )
    assert everything() == before


def test_another_branch_takes_what_main_refuses(stored, actor):
    guard(actor, "refuse")
    BranchManager().create_branch(name="task/a", actor=actor)
    for call in {**stored.statements(), **stored.additions()}.values():
        call(actor=with_scope(actor, "write"), branch_name="task/a")
    assert ("New.", "active") in listed(actor, "task/a")
    assert listed(actor) == [("Alpha.", "active"), ("Beta.", "active"), ("Ship it.", "active")]


def test_a_pattern_guards_every_branch_that_it_matches(stored, actor):
    guard(actor, "refuse", "task/*")
    BranchManager().create_branch(name="task/a", actor=actor)
    with pytest.raises(DirectWritesRefused) as caught:
        FACTS.write_fact(fact_text="New.", actor=actor, branch_name="task/a")
    assert caught.value.data == {"branch": "task/a"}
    assert FACTS.write_fact(fact_text="New.", actor=actor).fact.status == "active"


def test_a_proposal_is_what_a_branch_takes_that_refuses(stored, actor):
    guard(actor, "refuse")
    fact = FACTS.write_fact(
        fact_text="Alpha, corrected.", parent_id=stored.one, propose=True, actor=with_scope(actor, "propose")
    ).fact
    assert fact.status == "created"
    hits = SearchEngine().search(query="alpha corrected", actor=actor).hits
    assert "Alpha, corrected." not in [hit.fact.fact_text for hit in hits]
    for scope in ("propose", "write"):
        with pytest.raises(ScopeMissing):
            ACTIONS.apply_action(action="accept", fact_ids=[fact.uid], actor=with_scope(actor, scope))
    with pytest.raises(DirectWritesRefused):
        FACTS.update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=with_scope(actor, "write"))
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).status == "created"
    ACTIONS.apply_action(action="accept", fact_ids=[fact.uid], actor=with_scope(actor, "curate"))
    assert listed(actor)[:2] == [("Alpha, corrected.", "active"), ("Alpha.", "superseded")]


def test_a_curator_answers_one_proposal_by_its_status_and_changes_nothing_else_with_it(stored, actor):
    guard(actor, "refuse")
    curator = with_scope(actor, "curate")
    fact = FACTS.write_fact(fact_text="New.", propose=True, actor=actor).fact
    with pytest.raises(DirectWritesRefused):
        FACTS.update_fact(
            fact_id=fact.uid, updates={"status": "active", "fact_text": "Other."}, actor=curator
        )
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).version == 1
    assert FACTS.update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=curator).status == "active"
    with pytest.raises(DirectWritesRefused):  # it is no proposal any more
        FACTS.update_fact(fact_id=fact.uid, updates={"status": "archived"}, actor=curator)


def test_answers_verdicts_reverts_and_restores_are_no_direct_writes(stored, actor):
    snapshot = SnapshotManager().create_snapshot(name="before", actor=actor, branch_name="main")
    guard(actor, "refuse")
    curator = with_scope(actor, "curate")
    fact = FACTS.write_fact(fact_text="New.", propose=True, actor=actor).fact
    refused = ACTIONS.apply_action(action="refuse", fact_ids=[fact.uid], reason="Not so.", actor=curator)
    RevertEngine().revert_commit(commit_id=refused.commit.pk, actor=curator)
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).status == "created"
    FACTS.set_verification(fact_id=stored.one, verdict="verified", actor=curator)
    ACTIONS.apply_action(action="verify", fact_ids=[stored.two], actor=curator)
    SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=actor)
    facts = FACTS.list_facts(actor=actor).results
    assert [(f.fact_text, str(f.verification_status)) for f in sorted(facts, key=lambda f: f.uid)] == [
        ("Alpha.", "unverified"),
        ("Beta.", "unverified"),
        ("Ship it.", "unverified"),
    ]


def test_undoing_on_a_guarded_branch_takes_a_curator(stored, actor):
    writer = replace(with_scope(actor, "write"), id="w")
    FACTS.write_fact(fact_text="Mine.", actor=writer)
    commit = Commit.objects.latest("seq")
    for direct_writes in ("propose", "refuse"):
        guard(actor, direct_writes)
        with pytest.raises(ScopeMissing):
            RevertEngine().revert_commit(commit_id=commit.pk, actor=writer)
    guard(actor, "allow")
    RevertEngine().revert_commit(commit_id=commit.pk, actor=writer)
    assert ("Mine.", "active") not in listed(actor)


# ---- propose ---------------------------------------------------------------------------------------


def test_where_facts_are_proposed_those_of_writers_wait_and_those_of_curators_do_not(stored, actor):
    guard(actor, "propose")
    for call in stored.statements().values():
        call(actor=with_scope(actor, "write"))
    new = [("Alpha 2.", "created"), ("N 1", "created"), ("N 2", "created"), ("New.", "created")]
    assert listed(actor) == sorted([*new, ("Alpha.", "active"), ("Beta.", "active"), ("Ship it.", "active")])
    assert ProposalEngine().count_proposals(actor=actor, maximum=10) == 4
    written = FACTS.write_fact(fact_text="A curator's.", actor=with_scope(actor, "curate")).fact
    assert written.status == "active"


def test_a_replacement_that_is_proposed_takes_its_place_when_it_is_accepted(stored, actor):
    guard(actor, "propose")
    written = FACTS.replace_fact(
        old_fact_id=stored.one, new_fact_text="Alpha 2.", actor=with_scope(actor, "write")
    )
    assert (written.fact.status, written.fact.parent_id, written.created) == ("created", stored.one, True)
    assert FACTS.get_fact(fact_id=stored.one, actor=actor).status == "active"
    ACTIONS.apply_action(action="accept", fact_ids=[written.fact.uid], actor=with_scope(actor, "curate"))
    assert FACTS.get_fact(fact_id=stored.one, actor=actor).status == "superseded"
    assert FACTS.get_fact(fact_id=written.fact.uid, actor=actor).status == "active"


def test_a_text_that_stands_already_is_returned_and_neither_proposed_nor_confirmed(stored, actor):
    guard(actor, "propose")
    written = FACTS.write_fact(fact_text="Alpha.", session_id="other", actor=with_scope(actor, "write"))
    assert (written.fact.uid, written.created, written.fact.status) == (stored.one, False, "active")
    assert written.fact.confirmation_count == 0


def test_where_facts_are_proposed_everything_else_is_added_as_before(stored, actor):
    guard(actor, "propose")
    before = Commit.objects.count()
    for call in stored.additions().values():
        call(actor=with_scope(actor, "write"))
    assert Commit.objects.count() == before + len(stored.additions())


def test_where_facts_are_proposed_only_curators_change_what_stands(stored, actor):
    guard(actor, "propose")
    before = everything()
    for name, call in stored.changes().items():
        with pytest.raises(DirectWritesRefused) as caught:
            call(actor=with_scope(actor, "write"))
        assert caught.value.code == "direct_writes_refused", name
    assert caught.value.text == (
        "The branch main takes proposals only: nothing on it is changed or removed without the scope curate."
        " Propose a fact that replaces it, or change it on a branch of your own and open a merge request."
    )
    assert everything() == before
    for name in ("update", "done", "unlink", "close", "set_category", "supersede", "import", "delete"):
        stored.changes()[name](actor=with_scope(actor, "curate"))
    assert ("Gamma.", "active") in listed(actor)


def test_a_writer_neither_accepts_nor_refuses_where_facts_are_proposed(stored, actor):
    guard(actor, "propose")
    fact = FACTS.write_fact(fact_text="New.", actor=with_scope(actor, "write")).fact
    for action in ("accept", "refuse"):
        with pytest.raises(ScopeMissing):
            ACTIONS.apply_action(action=action, fact_ids=[fact.uid], actor=with_scope(actor, "write"))
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).status == "created"
    guard(actor, "allow")
    ACTIONS.apply_action(action="accept", fact_ids=[fact.uid], actor=with_scope(actor, "write"))
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).status == "active"


def test_the_policy_that_is_in_force_counts_at_once(stored, actor):
    writer = with_scope(actor, "write")
    for direct_writes, status in (("propose", "created"), ("allow", "active"), ("propose", "created")):
        guard(actor, direct_writes)
        text = f"Under {direct_writes} {Fact.objects.all_versions().count()}."
        assert FACTS.write_fact(fact_text=text, actor=writer).fact.status == status


# ---- merges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("direct_writes", ["propose", "refuse"])
def test_a_merge_and_its_revert_pass_where_direct_writes_do_not(stored, actor, direct_writes):
    guard(actor, direct_writes)
    BranchManager().create_branch(name="task/a", actor=actor)
    writer, merger = with_scope(actor, "write"), with_scope(actor, "merge")
    FACTS.write_fact(fact_text="Learned on the branch.", actor=writer, branch_name="task/a")
    FACTS.delete_fact(fact_id=stored.two, actor=writer, branch_name="task/a")
    PolicyEngine().set_policy(pattern="main", gates=[], actor=actor)
    before = listed(actor)
    merged = MergeEngine().merge_branch(source="task/a", target="main", actor=merger)
    assert listed(actor) == [
        ("Alpha.", "active"),
        ("Learned on the branch.", "active"),
        ("Ship it.", "active"),
    ]
    RevertEngine().revert_commit(commit_id=merged.commit.pk, actor=merger)
    assert listed(actor) == before
