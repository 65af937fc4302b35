"""What is shown of plans: pages of large ones, of which no rows are kept, and checks that are kept."""

from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision, PlanItem
from memory.engines.merging.plan_views import ITEM_FIELDS, LARGE, SIDES, FrozenItems, PlanView, mask_items
from memory.engines.merging.request_previews import build_options
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import Branch, Fact, HiddenVersion, Project
from tests.memory.fake_provider import FakeProvider
from tests.memory.merging.conftest import TASK, judge, write_verified

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE, FACTS = MergeRequestEngine(), FactEngine()
BATCH = 500


def describe(item: PlanItem) -> tuple[Any, ...]:
    """Return all that is shown of a memory of a plan."""
    rows = [getattr(item, side) for side in SIDES]
    shown = [row and (row.rid, row.uid, row.content_values()) for row in rows]
    values = [getattr(item, name) for name in ITEM_FIELDS]
    return item.model, item.merged, item.fields, item.token, shown, values


@pytest.mark.parametrize("choice", ["", "source", "target", "both", "skip", "edited"])
def test_an_item_without_its_rows_is_shown_as_before(mira: Actor, conflict: Fact, choice: str) -> None:
    other = FACTS.write_fact(fact_text="Builds run at night.", branch_name=TASK, actor=mira).fact
    LinkEngine().write_link(
        from_id=conflict.uid, to_id=other.uid, link_type="ASSOCIATED", branch_name=TASK, actor=mira
    )
    gone = write_verified(mira, "Badges are blue.", "main")
    FACTS.write_fact(fact_text="Builds run at night.", actor=mira)
    BranchManager().create_branch(name="task/later", actor=mira)
    FACTS.delete_fact(fact_id=gone.uid, branch_name="task/later", actor=mira)
    for source in (TASK, "task/later"):
        request = ENGINE.create_request(source=source, actor=mira)
        if choice and source == TASK:
            text = "Tokens live for an age." if choice == "edited" else ""
            decision = Decision(conflict.uid, choice, text=text)
            ENGINE.decide_conflicts(request_id=request.pk, decisions=[decision], actor=mira)
        options = build_options(ENGINE.get_request(request_id=request.pk, actor=mira))
        items = load_plan(options, options.points).select_items()
        frozen = FrozenItems.freeze(items)
        assert [frozen.get_uid(place) for place in range(len(items))] == [item.uid for item in items]
        assert list(map(describe, frozen.load(range(len(items))))) == list(map(describe, items))


@pytest.mark.usefixtures("without_gates")
def test_what_each_side_last_agreed_to_is_shown_and_kept(mira: Actor, main: Branch, project: Project) -> None:
    """Both merged a fork of the other, the task branch once more: one agreed to P2, the other to P3."""
    fact = FACTS.write_fact(fact_text="Tokens live for a day.", priority="P3", actor=mira).fact
    for name, parent in ((TASK, "main"), ("main2", "main")):
        BranchManager().create_branch(name=name, parent=parent, actor=mira)
    edit = partial(FACTS.update_fact, fact_id=fact.uid, actor=mira)
    edit(updates={"fact_text": "Tokens live for an hour.", "priority": "P2"}, branch_name="main2")
    edit(updates={"tags": ["t"]})
    merge = partial(MergeEngine().merge_branch, actor=mira)
    merge(source="main2", target="main")
    edit(updates={"pinned": True}, branch_name=TASK)
    merge(source="main2", target=TASK)
    edit(updates={"fact_text": "Tokens live for a week."})
    edit(updates={"fact_text": "Tokens live for a year."}, branch_name=TASK)
    ENGINE.create_request(source=TASK, actor=mira)
    options = build_options(ENGINE.get_request(request_id=1, actor=mira))
    (item,) = load_plan(options, options.points).select_items()
    assert (item.conflicting, item.disagreed) == (("fact_text", "essence"), {})
    assert list(item.fields) == ["fact_text", "essence", "pinned", "tags"]
    assert item.fields["fact_text"][0] == item.build_base().fact_text == "Tokens live for an hour."
    (thawed,) = FrozenItems.freeze([item]).load([0])
    assert describe(thawed) == describe(item)
    hidden = Fact._base_manager.get(branch__name="main2", fact_text="Tokens live for an hour.")
    HiddenVersion.objects.create(project=project, kind="fact", uid=fact.uid, vid=hidden.vid)
    (masked,) = mask_items([item])
    assert "an hour" not in str([masked.fields, masked.build_base().content_values()])


def test_a_view_finds_what_its_plan_has(mira: Actor, conflict: Fact) -> None:
    uids = [conflict.uid, *(write_verified(mira, f"Step {number}.").uid for number in range(5))]
    ENGINE.create_request(source=TASK, actor=mira)
    options = build_options(ENGINE.get_request(request_id=1, actor=mira))
    plan = load_plan(options, options.points)
    view = PlanView.from_plan(plan)
    for item in plan.items:
        assert view.find_item(item.kind, item.uid) is item
        assert item in view.find_items([item.uid])
    assert view.find_item("relation", conflict.uid) is None
    assert view.find_item("fact", mira.project_id) is None
    assert {item.uid for item in view.load(view.list_positions("fact"))} == set(uids)
    assert [item.uid for item in view.load(view.list_positions("fact", ["conflict"]))] == [conflict.uid]
    assert (view.undecided, view.open_conflicts) == ({"edited": 1}, 1)


@pytest.mark.slow
class TestLarge:
    @pytest.fixture
    def request_id(self, mira: Actor, conflict: Fact) -> Any:
        for start in range(0, LARGE, BATCH):
            rows = [{"fact_text": f"Step {start + number} of many."} for number in range(BATCH)]
            FACTS.write_facts(facts=rows, branch_name=TASK, actor=mira)
        return ENGINE.create_request(source=TASK, actor=mira).pk

    def list_plan(self, actor: Actor, request_id: Any, **options: Any) -> list[tuple]:
        """Return what all pages of the plan say, with their counts."""
        found, cursor = [], ""
        while cursor is not None:
            page = ENGINE.plan_request(
                request_id=request_id, limit=100, cursor=cursor, actor=actor, **options
            ).plan
            found += [
                (item.uid, item.outcome, item.reason, item.theirs.fact_text) for item in page.page.results
            ]
            cursor = page.page.next
        return [*found, (page.counts, page.open_conflicts)]

    def test_its_pages_are_those_of_the_plan(self, mira: Actor, request_id: Any) -> None:
        options = build_options(ENGINE.get_request(request_id=request_id, actor=mira))
        items = load_plan(options, options.points).select_items("fact")
        shown = self.list_plan(mira, request_id, kind="fact")
        assert shown[:-1] == [(one.uid, one.outcome, one.reason, one.theirs.fact_text) for one in items]
        assert shown[-1][1] == 1

    def test_it_is_not_planned_again(self, mira: Actor, request_id: Any) -> None:
        first = ENGINE.check_request(request_id=request_id, actor=mira)
        with CaptureQueriesContext(connection) as again:
            assert ENGINE.check_request(request_id=request_id, actor=mira) == first
        assert len(again) < 20

    def test_one_that_waits_for_vectors_is_kept_until_one_comes(
        self, mira: Actor, request_id: Any, settings: Any
    ) -> None:
        with FakeProvider() as fake:
            settings.DAY1 = fake.settings()
            write_verified(mira, "Ledgers are kept for a year.")
            first = ENGINE.check_request(request_id=request_id, actor=mira)
            assert (first.view.unchecked, first.view.unchecked_reason) == (LARGE + 1, "vectors_pending")
            with CaptureQueriesContext(connection) as again:
                assert ENGINE.check_request(request_id=request_id, actor=mira) == first
            assert len(again) < 20
            EmbeddingEngine().embed_pending(mira.project_id)
            assert ENGINE.check_request(request_id=request_id, actor=mira).view.unchecked == LARGE

    def test_what_changes_it_is_seen_at_once(
        self, mira: Actor, vera: Actor, conflict: Fact, request_id: Any, project: Any
    ) -> None:
        def count() -> tuple[int, int, list[str]]:
            found = ENGINE.check_request(request_id=request_id, actor=mira)
            states = [one.name for one in found.check.failed]
            return found.view.open_conflicts, len(found.view.list_positions("fact")), states

        assert count() == (1, LARGE + 1, ["conflicts", "require_verified"])
        ENGINE.decide_conflicts(request_id=request_id, choice="source", actor=vera)
        assert count() == (0, LARGE + 1, ["require_verified"])
        ENGINE.withdraw_decision(request_id=request_id, uid=conflict.uid, actor=vera)
        assert count() == (1, LARGE + 1, ["conflicts", "require_verified"])
        write_verified(mira, "One more.")
        assert count() == (1, LARGE + 2, ["conflicts", "require_verified"])
        main = Branch.objects.get(project=project, name="main")
        FACTS.update_fact(fact_id=conflict.uid, updates={"fact_text": "Three days."}, actor=mira)
        judge(mira, conflict, "main")
        found = ENGINE.check_request(request_id=request_id, actor=mira)
        assert found.view.points.target_seq == main.head + 2
        (item,) = found.view.load(found.view.list_positions("fact", ["conflict"]))
        assert item.ours.fact_text == "Three days."
