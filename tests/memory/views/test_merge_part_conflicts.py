"""Changes of a request in words: conflicts of links and verdicts, and why facts were not compared."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.links import LinkEngine
from memory.models import FactLink, MergeDecision, Project
from tests.memory.fake_provider import FakeProvider
from tests.memory.views.test_merge_request_pages import ENGINE, FACTS, TASK, ask, conflicting, text, verify

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/p/test/merge-requests/2"
ONE, TWO = "Logins need the clock.", "The clock runs four minutes fast."
LINE = f"{ONE} → depends on → {TWO}"


@pytest.fixture
def link(actor: Actor, project: Project) -> FactLink:
    """Link two facts of main on a branch and verify one there: merged, taken back, and asked for again."""
    one, two = (FACTS.write_fact(fact_text=line, actor=actor).fact for line in (ONE, TWO))
    BranchManager().create_branch(name=TASK, actor=actor)
    ends = {"from_id": one.uid, "to_id": two.uid}
    made = LinkEngine().write_link(**ends, link_type="DEPENDS_ON", branch_name=TASK, actor=actor)
    verify(actor, two.uid, TASK)
    merge_and_revert(actor)
    return made


def merge_and_revert(actor: Actor) -> None:
    request = ask(TASK, actor)
    ENGINE.merge_request(request_id=request.pk, actor=actor)
    ENGINE.revert_request(request_id=request.pk, actor=actor)
    ask(TASK, actor)


def test_a_conflict_of_a_link_names_both_facts(curator: Client, link: FactLink) -> None:
    for page in (f"{PAGE}?tab=changes", f"{PAGE}/conflicts/link/{link.uid}"):
        shown = text(curator.get(page))
        assert "link: it was merged before and taken back" in shown
        assert f"<del>{LINE}</del>" in shown  # main removed it
        assert f">{LINE}</p>" in shown
        assert f"{link.from_id} DEPENDS_ON" not in shown


def test_a_conflict_of_a_verdict_names_the_fact(curator: Client, link: FactLink) -> None:
    shown = text(curator.get(f"{PAGE}?tab=changes"))
    assert "verdict: it was merged before and taken back" in shown
    assert f">verified: {TWO}</p>" in shown
    assert f"{link.to_id} verified" not in shown


def test_a_decided_link_folds_to_its_facts(curator: Client, link: FactLink) -> None:
    address = f"{PAGE}/conflicts/link/{link.uid}"
    assert curator.post(address, {"choice": "both"}).status_code == 400
    assert not MergeDecision.objects.exists()
    assert curator.post(address, {"choice": "source"}).status_code == 302
    folded = f'<strong>the branch’s side</strong> <span class="cut">{LINE}</span>'
    assert folded in text(curator.get(f"{PAGE}?tab=changes"))


def write_message(actor: Actor) -> object:
    talk = ConversationEngine().create_conversation(actor=actor)
    said = {"role": "user", "content": "Look at the clock."}
    return MessageEngine().write_message(conversation_id=talk.uid, actor=actor, **said).uid


@pytest.mark.parametrize(("kind", "write"), [("message", write_message)])
def test_a_link_to_what_was_said_shows_its_text(
    curator: Client, actor: Actor, project: Project, kind: str, write: Callable[[Actor], object]
) -> None:
    fact, target = FACTS.write_fact(fact_text=ONE, actor=actor).fact, write(actor)
    BranchManager().create_branch(name=TASK, actor=actor)
    LinkEngine().write_link(
        from_id=fact.uid,
        to_id=target,
        to_type=kind,
        link_type="DERIVED_FROM",
        branch_name=TASK,
        actor=actor,
    )
    merge_and_revert(actor)
    assert f"{ONE} → follows from → Look at the clock." in text(curator.get(f"{PAGE}?tab=changes"))


@pytest.mark.parametrize(
    ("provider", "words"),
    [
        (
            "off",
            "Without an embedder no near duplicates are looked for: 1 new fact was compared with no other.",
        ),
        ("http", "1 new fact has no vector yet and was compared with no other."),
    ],
)
def test_the_page_says_why_facts_were_not_compared(
    viewer: Client, actor: Actor, settings: Any, provider: str, words: str
) -> None:
    with FakeProvider() as fake:
        settings.DAY1 = {"embedder": "off"} if provider == "off" else fake.settings(batch=64)
        conflicting(actor, 1)
        assert words in text(viewer.get("/p/test/merge-requests/1?tab=changes"))
