"""The pages of batches, exports, imports and compactions of conversations, and the list of ratings."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.batches import ReplayBatchEngine
from conversations.models import Compaction, Conversation, ReplayBatch
from curation.engines.scoring.engine import ScoringEngine
from memory.actors import Actor
from memory.models import Branch
from tests.conversations.fake_model import FakeModel, completion
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, maintainer, person, viewer

__all__ = ["browser", "curator", "maintainer", "person", "viewer"]
pytestmark = pytest.mark.django_db(transaction=True)
BATCHES, PATH = "/p/test/replays/batches", "/p/test/conversations"
conversations, batches = ConversationEngine(), ReplayBatchEngine()


@pytest.fixture
def talk(actor: Actor, main: Branch) -> Conversation:
    row = conversations.create_conversation(actor=actor, title="Login", session_id="s1")
    spoken = [
        {"role": "user", "content": "Why does the login fail?"},
        {"role": "assistant", "content": "The clock is wrong. password=hunter2hunter2"},
    ]
    MessageEngine().write_messages(conversation_id=row.uid, messages=spoken, actor=actor)
    return row


class TestBatches:
    def test_begun_carried_out_and_reported(
        self, curator: Client, viewer: Client, talk: Conversation, actor: Actor, model: FakeModel
    ) -> None:
        typed = {"name": "Smaller", "session_id": "s1", "model": "small", "max_steps": "5"}
        made = curator.post(BATCHES, typed)
        batch = ReplayBatch.objects.get()
        assert (made.status_code, made["Location"]) == (302, f"{BATCHES}/{batch.pk}")
        assert "hx-get" in curator.get(made["Location"]).content.decode()  # while it is at work
        part = curator.get(f"{made['Location']}?limit=1", headers={"HX-Request": "true"}).content.decode()
        assert f'hx-get="{made["Location"]}?limit=1"' in part
        assert '<div id="batch-rows" hx-swap-oob="true">' in part  # the rows go on too
        model.next.append(completion("The clock is wrong."))
        batches.execute_batch(batch.pk)
        row = batch.replays.get()
        for uid, value in ((talk.uid, 0.5), (row.conversation_id, 0.75)):
            ScoringEngine().create_score(
                target_type="conversation", target_id=uid, dimension="safety", value=value, actor=actor
            )
        page = text(viewer.get(made["Location"]))
        assert "1 step, 110 tokens Done Login" in page
        for words in ("Smaller", "1 / 1", "Done: 1", "safety 0.50 0.75 +0.25", "small"):
            assert words in page
        assert "+0.25" in text(viewer.get(f"/p/test/replays/{row.pk}"))
        assert "Smaller" in text(viewer.get(BATCHES))

    def test_the_limit_of_money_is_raised(
        self,
        curator: Client,
        viewer: Client,
        talk: Conversation,
        actor: Actor,
        model: FakeModel,
        settings: Any,
    ) -> None:
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 1000.0}
        batch = batches.create_batch(actor=actor, max_total_cost=0.0)
        batches.execute_batch(batch.pk)
        address = f"{BATCHES}/{batch.pk}"
        assert "would take the batch over 0.0" in text(curator.get(address))
        assert "Go on" not in text(viewer.get(address))
        curator.post(address, {"do": "run", "max_total_cost": "2.5"})
        batch.refresh_from_db()
        assert (batch.max_total_cost, batch.replays.get().state) == (2.5, "queued")
        curator.post(address, {"do": "stop"})
        assert batch.replays.get().state == "stopped"
        refused = text(curator.post(address, {"do": "run", "max_total_cost": "much"}, follow=True))
        assert "max_total_cost" in refused
        assert batch.replays.get().state == "stopped"


class TestFiles:
    def test_what_was_exported_is_imported(self, curator: Client, viewer: Client, talk: Conversation) -> None:
        answer = viewer.get(f"{PATH}/{talk.uid}/export")
        assert f'filename="conversation-{talk.uid}.json"' in answer["Content-Disposition"]
        assert b"hunter2hunter2" not in answer.content
        made = curator.post(f"{PATH}/import", {"file": SimpleUploadedFile("c.json", answer.content)})
        assert made.status_code == 302
        assert "The clock is wrong." in text(curator.get(made["Location"]))
        again = curator.post(
            f"{PATH}/import", {"file": SimpleUploadedFile("c.json", answer.content)}, follow=True
        )
        assert "It was imported before" in text(again)
        assert Conversation._base_manager.count() == 2


class TestCompaction:
    def test_made_and_shown(self, curator: Client, viewer: Client, talk: Conversation) -> None:
        made = curator.post(f"{PATH}/{talk.uid}/compact", {"keep": "1"}, follow=True)
        assert "1 messages are summed up." in text(made)
        assert "Why does the login fail?" in Compaction.objects.get().summary
        page = text(viewer.get(f"{PATH}/{talk.uid}"))
        assert ("Of the first 1 messages" in page, "Sum up" in page) == (True, False)

    @pytest.mark.parametrize(("messages", "keep"), [(2, "1"), (5, "2"), (51, "50")])
    def test_what_is_suggested_works(
        self, curator: Client, actor: Actor, main: Branch, messages: int, keep: str
    ) -> None:
        row = conversations.create_conversation(actor=actor)
        spoken = [{"role": "user", "content": f"Word {number}"} for number in range(messages)]
        MessageEngine().write_messages(conversation_id=row.uid, messages=spoken, actor=actor)
        page = curator.get(f"{PATH}/{row.uid}").content.decode()
        assert re.search(r'name="keep"[^>]*value="(\d+)"', page)[1] == keep
        made = curator.post(f"{PATH}/{row.uid}/compact", {"keep": keep}, follow=True)
        assert f"{messages - int(keep)} messages are summed up." in text(made)


def test_ratings_are_listed_for_curators(
    curator: Client, viewer: Client, talk: Conversation, actor: Actor
) -> None:
    assert "No conversation was rated yet." in text(curator.get("/p/test/scorings"))
    ScoringEngine().start_scoring(conversation_id=talk.uid, actor=actor)
    page = text(curator.get(f"/p/test/scorings?conversation_id={talk.uid}"))
    assert ("no judgement" in page, "No judge is set" in page) == (True, True)
    assert viewer.get("/p/test/scorings").status_code == 403
