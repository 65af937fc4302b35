"""Scores on the page of a conversation: charts, a person's score, judges, who may give one."""

import pytest
from django.test import Client

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from curation.engines.scoring.dimensions import MEANINGS
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Score, Scoring
from curation.views.scores import DIMENSION_TITLES
from memory.actors import Actor
from memory.models import Branch
from tests.curation.fake_judge import FakeJudge, rating
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, person, viewer

__all__ = ["browser", "curator", "person", "viewer"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def talk(actor: Actor, main: Branch) -> Conversation:
    one = ConversationEngine().create_conversation(actor=actor, title="Login")
    said = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The clock."}]
    MessageEngine().write_messages(conversation_id=one.uid, messages=said, actor=actor)
    return one


def path(talk: Conversation) -> str:
    return f"/p/test/conversations/{talk.uid}"


def test_a_persons_score_is_a_chart(
    curator: Client, viewer: Client, talk: Conversation, actor: Actor
) -> None:
    assert "Nobody has rated it yet." in text(viewer.get(path(talk)))
    typed = {"dimension": "safety", "value": "0.8", "explanation": "It asked <b>first</b>."}
    done = curator.post(f"{path(talk)}/score", typed, follow=True)
    assert "Your score is kept." in text(done)
    ScoringEngine().create_score(
        target_type="conversation", target_id=talk.uid, dimension="safety", value=0.4, actor=actor
    )
    html = viewer.get(path(talk)).content.decode()
    assert 'aria-label="0.60 on average, from 0.40 to 0.80"' in html
    assert "Rate it" not in html
    row = Score.objects.get(value=0.8)
    assert (row.method, row.scorer, row.explanation) == ("human", "cora", "It asked <b>first</b>.")


def test_without_a_judge_nothing_is_a_judgement(curator: Client, talk: Conversation) -> None:
    done = text(curator.post(f"{path(talk)}/score", {"do": "judge"}, follow=True))
    assert "which is no judgement" in done
    assert "Nobody has rated it yet." in done
    assert "not counted here" in done


def test_what_was_rated_is_asked_for_again_by_a_button_of_its_own(
    curator: Client, talk: Conversation, judge: FakeJudge
) -> None:
    address = f"{path(talk)}/score"
    curator.post(address, {"do": "judge"})
    first = Scoring.objects.get()
    judge.say(rating(0.5, names=list(MEANINGS)))
    ScoringEngine().run_scoring(first.pk)
    assert "Ask the judges again" in text(curator.get(path(talk)))
    stale = curator.post(address, {"do": "judge"}, follow=True)  # of a page that was open before
    assert ("They rated it already" in text(stale), Scoring.objects.count()) == (True, 1)
    assert "Queued: the judges rate it." in text(curator.post(address, {"do": "again"}, follow=True))
    assert Scoring.objects.count() == 2


def test_all_dimensions_of_day1_have_a_title() -> None:
    assert DIMENSION_TITLES.keys() == MEANINGS.keys()
