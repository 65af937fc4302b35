"""Home: is memory healthy, what waits for me, who worked today."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches import BranchManager
from memory.engines.facts import FactEngine
from memory.models import Branch, Project, ReviewItem, Vector
from tests.memory.views.test_shell import text


@pytest.fixture(autouse=True)
def no_answer_kept() -> None:
    """How the memory is doing is kept for some seconds."""
    cache.clear()


def words(client: Client, query: str = "") -> str:
    return " ".join(text(client.get(f"/p/test/{query}")).split())


def test_with_nothing_it_teaches(viewer: Client) -> None:
    page = words(viewer)
    assert "Nothing is remembered here yet." in page
    assert "python3 manage.py day1 write-fact" in page
    assert "Nobody, on any branch of this project." in page
    assert "Nothing was remembered here at this time." in words(viewer, "?at=2020-01-01")


def test_who_worked_today_on_any_branch(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/tags", actor=actor)
    agent = actor.stating(agent_id="builder")
    written = FactEngine().write_fact(fact_text="One.", actor=agent)
    FactEngine().write_fact(fact_text="Two.", actor=agent, branch_name="task/tags")
    FactEngine().update_fact(fact_id=written.fact.uid, updates={"priority": "P1"}, actor=actor)
    page = words(viewer)
    assert "<strong>2</strong> came in today" in page
    assert "<strong>1</strong> changed or removed today" in page
    assert "builder" in page


def test_what_waits_is_for_those_who_may_answer(
    viewer: Client, curator: Client, actor: Actor, main: Branch
) -> None:
    one, other = (FactEngine().write_fact(fact_text=said, actor=actor).fact for said in ("Red.", "Crimson."))
    ReviewItem.objects.create(
        project=main.project, branch=main, kind="near_duplicate", fact_id=other.uid, other_id=one.uid,
        pair="1", score=0.9,
    )  # fmt: skip
    page = words(curator)
    assert "<strong>1</strong> wait for a decision" in page
    assert "Do these two say the same?" in page
    assert page.count(f'href="/p/test/facts/{one.uid}"') == 2  # among the newest, and in the question
    assert "What waits for you" not in words(viewer)
    assert "wait for a decision" not in words(curator, "?at=2020-01-01")


@pytest.mark.parametrize(("how_many", "said"), [(5, "5"), (6, "6"), (99, "99"), (100, "99+"), (101, "99+")])
def test_what_waits_is_counted_as_far_as_two_digits_go(
    curator: Client, main: Branch, how_many: int, said: str
) -> None:
    ReviewItem.objects.bulk_create(
        ReviewItem(
            project=main.project, branch=main, kind="contradiction", fact_id=uuid4(), other_id=uuid4(),
            pair=str(number), score=0.9,
        )
        for number in range(how_many)
    )  # fmt: skip
    assert f"<strong>{said}</strong> wait for a decision" in words(curator)


def test_what_is_wrong_is_said_with_what_to_do(viewer: Client, project: Project, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "/no/such/model.onnx"}
    Vector.objects.bulk_create(
        Vector(slot=f"{n:032}", project=project, model="m", state=state, next_try=timezone.now())
        for n, state in enumerate(["pending"] * 3 + ["failed"] * 2)
    )
    page = words(viewer)
    assert "The embedding model does not answer:" in page
    assert "/no/such/model.onnx" in page
    assert "2 texts could not be embedded" in page
    assert "<strong>3</strong> texts wait for their vector" in page
    assert 'href="/p/test/help#vectors"' in page


def test_text_with_markup_and_from_right_to_left(viewer: Client, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="<img src=x onerror=alert(1)> ذاكرة", actor=actor)
    page = words(viewer)
    assert ("<img src=x" in page, "&lt;img src=x" in page, 'dir="auto"' in page) == (False, True, True)
