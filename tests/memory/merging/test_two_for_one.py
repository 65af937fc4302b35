"""Two facts that arrive and meet one fact of the target: what each of them brings stays."""

from typing import Any

import pytest
from django.utils.timezone import now

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine, get_embedding_states
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import Invalid
from memory.models import Branch, Confirmation, Fact, FactAssessment, FactLink, MergeDecision, Project
from tests.memory.api.client import nothing_left
from tests.memory.fake_provider import FakeProvider, beside
from tests.memory.merging.conftest import TASK

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("without_gates")]
FACTS, MERGES, REQUESTS = FactEngine(), MergeEngine(), MergeRequestEngine()
TEXT = "The build needs make."
SHOP, TILL = "github.com/acme/shop", "github.com/acme/till"
NEAR = ("The cache is cleared every night.", "Every night the cache gets cleared.", "Nights clear the cache.")


def show(project: Project) -> list[Fact]:
    rows = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
    return sorted(rows, key=lambda row: row.fact_text)


def judge(actor: Actor, fact: Fact, action: str) -> None:
    ActionEngine().apply_action(action=action, fact_ids=[fact.uid], branch_name=TASK, actor=actor)


class TestEqualTexts:
    """The same text of two repositories, while the target has it of none."""

    @pytest.fixture
    def pair(self, actor: Actor, main: Branch, write: Any) -> tuple[Fact, Fact, Fact]:
        """Return the target's fact, and two of the branch."""
        BranchManager().create_branch(name=TASK, actor=actor)
        kept = write(TEXT, "main", tags=["old"], confidence=0.5, session_id="s0")
        one = write(TEXT, repository=SHOP, tags=["shop"], confidence=0.9, session_id="s1")
        two = write(TEXT, repository=TILL, tags=["till"], confidence=0.8, session_id="s2")
        return kept, one, two

    def test_become_one_with_the_tags_and_the_confidence_of_all(self, project, pair, merge):
        kept, *_ = pair
        assert merge().counts["fact"] == {"identical": 2}
        (row,) = show(project)
        assert (row.uid, sorted(row.tags), row.confidence) == (kept.uid, ["old", "shop", "till"], 0.9)
        main = Branch.objects.get(project=project, name="main")
        found = Confirmation.objects.filter(uid=kept.uid, branch_id=main.pk).values_list("source", flat=True)
        assert sorted(found) == ["session:s1", "session:s2"]
        assert merge().commit is None

    @pytest.mark.parametrize(
        ("first", "second", "status"),
        [
            ("verify", "invalidate", "invalidated"),
            ("invalidate", "verify", "invalidated"),
            ("verify", "verify", "verified"),
        ],
    )
    @pytest.mark.parametrize("own", [False, True])
    def test_keep_the_weightiest_verdict(self, actor, project, pair, merge, first, second, status, own):
        kept, one, two = pair
        if own:
            ActionEngine().apply_action(action="verify", fact_ids=[kept.uid], branch_name="main", actor=actor)
        judge(actor, one, first)
        judge(actor, two, second)
        assert merge().counts["verdict"] == {"identical": 2}
        main = Branch.objects.get(project=project, name="main")
        assert [(row.uid, row.status) for row in FactAssessment.objects.on(main).fetch_all()] == [
            (kept.uid, status)
        ]
        assert merge().commit is None

    def test_one_that_is_picked_brings_what_it_has_alone(self, project, pair, merge):
        _, _, two = pair
        merge(strategy="cherry_pick", ids=[two.uid])
        (row,) = show(project)
        assert (sorted(row.tags), row.confidence) == (["old", "till"], 0.8)

    def test_links_of_both_become_one_of_the_greater_weight(self, actor, project, pair, write, merge):
        _, one, two = pair
        end = write("Make is installed by apt.")
        for fact, weight in ((one, 0.4), (two, 0.9)):
            named = {"to_id": end.uid, "link_type": "DEPENDS_ON", "weight": weight}
            LinkEngine().write_link(from_id=fact.uid, branch_name=TASK, actor=actor, **named)
        merge()
        main = Branch.objects.get(project=project, name="main")
        assert [row.weight for row in FactLink.objects.on(main).fetch_all()] == [0.9]
        assert merge().commit is None


class TestNearTexts:
    @pytest.fixture
    def pair(self, actor: Actor, main: Branch, settings: Any, write: Any) -> Any:
        """Yield two facts of the branch that are both near to the target's one."""
        with FakeProvider() as provider:
            settings.DAY1 = provider.settings(batch=64)
            provider.vectors[NEAR[1]] = beside(NEAR[0], 0.9)
            provider.vectors[NEAR[2]] = beside(NEAR[0], 0.95)
            BranchManager().create_branch(name=TASK, actor=actor)
            kept = write(NEAR[0], "main", tags=["old"])
            one, two = write(NEAR[1]), write(NEAR[2])
            EmbeddingEngine().embed_pending(actor.project_id)
            yield kept, one, two

    def test_only_one_of_them_may_be_edited(self, actor, pair, merge):
        kept, one, two = pair
        decisions = [Decision(one.uid, "edited", text="One."), Decision(two.uid, "edited", text="Two.")]
        text = (
            f"{one.uid} and {two.uid} both change fact {kept.uid} of the target: where one decision edits it,"
            " choose target, both or skip for the other."
        )
        with nothing_left(), pytest.raises(Invalid) as caught:
            merge(decisions=decisions)
        assert caught.value.text == text
        request = REQUESTS.create_request(source=TASK, actor=actor)
        REQUESTS.decide_conflicts(request_id=request.pk, decisions=decisions[:1], actor=actor)
        with nothing_left(), pytest.raises(Invalid) as caught:
            REQUESTS.decide_conflicts(request_id=request.pk, decisions=decisions[1:], actor=actor)
        assert caught.value.text == text
        assert MergeDecision.objects.get().uid == one.uid

    def test_of_two_people_who_edit_it_at_once_the_first_counts(self, actor, project, pair):
        _, one, two = pair
        request = REQUESTS.create_request(source=TASK, actor=actor)
        REQUESTS.decide_conflicts(
            request_id=request.pk, decisions=[Decision(one.uid, "edited", text="One.")], actor=actor
        )
        (item,) = [
            item
            for item in REQUESTS.plan_request(request_id=request.pk, actor=actor).plan.page.results
            if item.uid == two.uid
        ]
        key = {"kind": "fact", "uid": two.uid, "token": item.token}
        MergeDecision.objects.create(request=request, choice="edited", text="Two.", at=now(), **key)
        view = REQUESTS.check_request(request_id=request.pk, actor=actor).view
        conflicts = view.load(view.list_positions("fact", ["conflict"]))
        assert [item.uid for item in conflicts if item.decision is None] == [two.uid]
        REQUESTS.decide_conflicts(request_id=request.pk, decisions=[Decision(two.uid, "both")], actor=actor)
        REQUESTS.merge_request(request_id=request.pk, actor=actor)
        assert [(row.fact_text, row.tags) for row in show(project)] == [(NEAR[2], []), ("One.", ["old"])]

    @pytest.mark.parametrize(
        "rule", [{"only_open": True}, {"reasons": ["near_duplicate"], "only_open": True}]
    )
    def test_a_rule_leaves_what_cannot_stand_beside_an_edit(self, actor, project, pair, rule):
        _, one, _ = pair
        request = REQUESTS.create_request(source=TASK, actor=actor)
        edit = [Decision(one.uid, "edited", text="New.")]
        REQUESTS.decide_conflicts(request_id=request.pk, decisions=edit, actor=actor)
        found = REQUESTS.decide_conflicts(request_id=request.pk, choice="source", actor=actor, **rule)
        assert (found.decided, found.undecided) == (0, 1)
        found = REQUESTS.decide_conflicts(request_id=request.pk, choice="both", only_open=True, actor=actor)
        assert (found.decided, found.undecided) == (1, 0)

    def test_a_rule_for_all_replaces_an_edit(self, actor, project, pair):
        _, one, _ = pair
        request = REQUESTS.create_request(source=TASK, actor=actor)
        edit = [Decision(one.uid, "edited", text="New.")]
        REQUESTS.decide_conflicts(request_id=request.pk, decisions=edit, actor=actor)
        found = REQUESTS.decide_conflicts(request_id=request.pk, choice="source", actor=actor)
        assert (found.decided, found.undecided) == (2, 0)

    def test_nor_one_edited_for_what_the_other_replaces(self, pair, merge):
        _, one, two = pair
        for choices in (("edited", "source"), ("source", "edited")):
            decisions = [
                Decision(fact.uid, choice, text="New." if choice == "edited" else "")
                for fact, choice in zip((one, two), choices, strict=True)
            ]
            with nothing_left(), pytest.raises(Invalid, match="both change fact"):
                merge(decisions=decisions)

    def test_what_is_edited_stays_beside_what_a_strategy_takes(self, project, pair, merge):
        _, one, _ = pair
        merge(strategy="theirs", decisions=[Decision(one.uid, "edited", text="New.")])
        states = {row.fact_text: row.status for row in show(project)}
        assert states == {"New.": "active", NEAR[2]: "active"}

    def test_what_is_edited_gets_its_vector(self, actor, project, pair, merge):
        kept, one, two = pair
        merge(decisions=[Decision(one.uid, "edited", text="New."), Decision(two.uid, "target")])
        EmbeddingEngine().embed_pending(actor.project_id)
        (row,) = show(project)
        assert (row.uid, row.fact_text) == (kept.uid, "New.")
        ((state, _),) = get_embedding_states(actor.project_id, [row.content_hash]).values()
        assert state == "ready"

    def test_both_may_replace_it(self, project, pair, merge):
        merge(strategy="theirs")
        states = {row.fact_text: row.status for row in show(project)}
        assert states == {NEAR[0]: "superseded", NEAR[1]: "active", NEAR[2]: "active"}
