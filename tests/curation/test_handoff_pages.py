"""The pages of handoffs: what each role sees and may do."""

from typing import Any

import pytest
from django.test import Client

from curation.engines.handoffs.engine import HandoffEngine
from curation.models import Handoff
from memory.actors import Actor
from tests.curation.test_handoffs import ADA, BOB, branches, write_fact  # noqa: F401
from tests.memory.views.test_page_frame import get_page, text

pytestmark = pytest.mark.django_db(transaction=True)
engine = HandoffEngine()
LIST = "/p/test/handoffs"


@pytest.fixture
def handoff(actor: Actor, branches: None) -> Handoff:  # noqa: F811
    write_fact(actor, "The clock is `two minutes` ahead.")
    return engine.create_handoff(
        source_branch=ADA, target_branch=BOB, instructions="Mend <b>the clock</b>.", actor=actor
    )


def test_the_page_shows_what_the_receiver_gets(viewer: Client, handoff: Handoff) -> None:
    answer = viewer.get(f"{LIST}/{handoff.pk}")
    page = text(answer)
    assert "It asks for: Mend &lt;b&gt;the clock&lt;/b&gt;." in answer.content.decode()
    assert "<code>two minutes</code>" in answer.content.decode()
    assert "tokens of a session’s start" in page
    assert "lacks messages" in " ".join(page.split())


def test_who_may_answers(viewer: Client, curator: Client, stranger: Any, handoff: Handoff) -> None:
    path = f"{LIST}/{handoff.pk}"
    assert "Accept the handoff" not in get_page(viewer, path)
    assert viewer.post(path, {"do": "accept"}).status_code == 403
    assert Handoff.objects.get().state == "pending"
    assert "Accept the handoff" in get_page(curator, path)
    assert curator.post(path, {"do": "reject"}).status_code == 400
    assert curator.post(path, {"do": "burn"}).status_code == 400
    assert curator.post(path, {"do": "accept"}).status_code == 302
    assert Handoff.objects.get().state == "accepted"
    assert curator.post(path, {"do": "accept"}).status_code == 409
    assert "Accept the handoff" not in get_page(curator, path)
    assert viewer.get(f"/p/other/handoffs/{handoff.pk}").status_code == 404


def test_a_form_makes_one_and_keeps_what_was_typed(curator: Client, viewer: Client, handoff: Handoff) -> None:
    typed = {
        "handoff_type": "escalation",
        "source_branch": ADA,
        "target_branch": BOB,
        "blockers": "One.\n\nTwo.\n",
        "include_unverified": "yes",
    }
    answer = curator.post(LIST, typed)
    made = Handoff.objects.exclude(pk=handoff.pk).get()
    assert (answer.status_code, answer.url) == (302, f"{LIST}/{made.pk}")
    assert (made.blockers, made.handoff_type, made.owner[:5]) == (["One.", "Two."], "escalation", "user:")
    refused = curator.post(LIST, {**typed, "source_branch": "nowhere", "instructions": "Keep this."})
    assert refused.status_code == 404
    assert "Keep this." in refused.content.decode()
    assert viewer.post(LIST, typed).status_code == 403
    assert Handoff.objects.count() == 2
