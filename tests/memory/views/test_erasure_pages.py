"""The pages of erasure: a preview with counts, the name typed, the result with its proof; admins alone."""

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Erasure
from memory.models.base import ERASED_MARK
from tests.memory.erasure.helpers import FACTS, SESSION, WORD, tables_with, write_everything
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)


def test_from_a_fact_to_the_proof(maintainer: Client, actor: Actor, main) -> None:
    fact = FACTS.write_fact(actor=actor, fact_text=f"The code is {WORD}").fact
    link = f"/p/test/erase?scope=fact&target={fact.uid}"
    assert link.replace("&", "&amp;") in maintainer.get(f"/p/test/facts/{fact.uid}").content.decode()
    page = text(maintainer.get(link))
    assert f"The code is {WORD}" in page
    assert "type <strong>test</strong>" in page
    body = {"scope": "fact", "target": str(fact.uid), "confirm": "Test"}
    wrong = maintainer.post("/p/test/erase", body)
    assert (wrong.status_code, "nothing was erased" in text(wrong)) == (400, True)
    assert not Erasure.objects.exists()
    done = maintainer.post("/p/test/erase", {**body, "confirm": "test"}, follow=True)
    erasure = Erasure.objects.get()
    assert done.redirect_chain == [(f"/p/test/erasures/{erasure.pk}", 302)]
    assert (erasure.proof in text(done), "is blank" in text(done)) == (True, True)
    assert str(erasure.pk) in maintainer.get("/p/test/erasures").content.decode()
    assert ERASED_MARK in text(maintainer.get(f"/p/test/facts/{fact.uid}"))
    assert erasure.requested_by == "max"


def test_a_session_and_a_text(maintainer: Client, actor: Actor, main) -> None:
    write_everything(actor)
    page = maintainer.get(f"/p/test/session?key={SESSION}").content.decode()
    assert f"/p/test/erase?scope=session&amp;target={SESSION}" in page
    assert "/p/test/erase?scope=agent&amp;target=ada" in page
    preview = maintainer.post("/p/test/erase", {"scope": "match", "target": WORD})
    assert f"I found {WORD} in the log." in text(preview)
    assert Erasure.objects.count() == 0
    maintainer.post("/p/test/erase", {"scope": "session", "target": SESSION, "confirm": SESSION})
    assert tables_with(WORD) == set()
    for address in (f"session?key={SESSION}", "conversations", "observations", "relations", "facts", "audit"):
        assert maintainer.get(f"/p/test/{address}").status_code == 200


@pytest.mark.usefixtures("copies_open")
def test_copies_are_named_and_dropped_when_ticked(maintainer: Client, actor: Actor, main) -> None:
    fact = FACTS.write_fact(actor=actor, fact_text="Frozen").fact
    SnapshotManager().create_store_snapshot(name="nightly", actor=actor)
    body = {"scope": "fact", "target": str(fact.uid), "confirm": "test"}
    refused = maintainer.post("/p/test/erase", body)
    assert (refused.status_code, "Snapshot nightly" in text(refused)) == (409, True)
    assert maintainer.post("/p/test/erase", {**body, "drop_copies": "on"}).status_code == 302
    assert Erasure.objects.get().dropped == ["snapshot nightly"]
