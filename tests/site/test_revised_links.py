"""What takes an older statement's place: links that hold, those that do not, and what is compared."""

from typing import Any

import pytest

from conversations.engines.consolidation import session as consolidation
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Message
from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.briefing import newest_facts
from memory.engines.sessions.manager import SessionManager
from memory.models import ErasedMemory, Erasure, Fact, FactLink, Session
from tests.memory.api.client import Api
from tests.site.hook_events import event, learn, send
from tests.site.test_hooks_decisions import import_said, live
from tests.site.test_hooks_revised import NEW, OLD, ask, find_fact, read_start

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]
SHOP = "github.com/acme/shop"
OTHER = {"client": "claude-code", "root": "github.com/acme/other"}
PORT = "We decided that the gateway has port 9443."
BUMP = "Bump the gateway port to 8443."


def say(actor: Actor, session: str, *texts: str) -> None:
    """Write messages of a person at once, without their times, and learn from them."""
    SessionManager().create_session(actor=actor, session_id=session, project_path=SHOP)
    talk = ConversationEngine().create_conversation(actor=actor, session_id=session)
    rows = [{"role": "user", "content": text} for text in texts]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=rows, actor=actor)
    learn(session)


def list_newest(actor: Actor) -> list[str]:
    found = newest_facts(actor, "main", 10)
    return [fact.fact_text for fact in found]


def link_by_hand(api: Api, older: Fact, newer: Fact, **fields: Any) -> None:
    body = {"to_id": str(newer.uid), "link_type": "CONTESTED_BY", "valid_from": "2099-01-01T00:00:00Z"}
    assert api.post(f"/facts/{older.uid}/links", {**body, **fields}).status_code == 201


def list_links() -> list[tuple[str, str]]:
    texts = {fact.uid: fact.fact_text for fact in Fact.objects.all_versions()}
    links = FactLink.objects.all_versions().filter(link_type="CONTESTED_BY")
    return [(texts[link.from_id], texts[link.to_id]) for link in links]


def keep_both(actor: Actor, kind: str = "contested") -> None:
    (item,) = ReviewEngine().list_items(actor=actor, kind=kind).results
    ReviewEngine().resolve_item(item_id=item.pk, decision="keep_both", actor=actor)


# ---- directions ----------------------------------------------------------------------------------------


def test_of_statements_that_were_said_at_once_the_last_one_holds(api, actor):
    say(actor, "a", OLD, NEW, OLD)
    assert list_links() == [(NEW, OLD)]
    assert read_start(api, "s3") == [(OLD, NEW)]
    assert list_newest(actor) == [OLD]


def test_the_last_of_those_said_at_once_holds_also_where_they_are_learned_one_by_one(api, actor, monkeypatch):
    monkeypatch.setattr(consolidation, "MAX_COMMIT_FINDINGS", 1)
    say(actor, "a", OLD, NEW, OLD)
    assert read_start(api, "s3") == [(OLD, NEW)]
    assert list_newest(actor) == [OLD]


def test_links_that_were_written_by_hand_hide_nothing(api, actor):
    texts = ["We decided that Maria owns the menu.", "Never push to main without a review."]
    live(api, "s1", *texts[::-1])
    menu, push = (find_fact(text) for text in texts)
    link_by_hand(api, push, menu)
    assert sorted(read_start(api, "s2")) == sorted((text, "") for text in texts)
    link_by_hand(api, menu, push)
    assert sorted(read_start(api, "s3")) == sorted((text, "") for text in texts)
    assert sorted(list_newest(actor)) == sorted(texts)


def test_a_link_against_the_order_of_time_hides_nothing(api, actor):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    keep_both(actor)
    link_by_hand(api, find_fact(NEW), find_fact(OLD))
    assert read_start(api, "s3") == [(NEW, ""), (OLD, "")]


def test_a_link_that_ended_hides_nothing(api, actor):
    import_said(actor, "s1", "2019-01-01T00:00:00Z", OLD)
    live(api, "s2", NEW)
    keep_both(actor)
    times = {"valid_from": "2020-01-01T00:00:00Z", "valid_until": "2021-01-01T00:00:00Z"}
    link_by_hand(api, find_fact(OLD), find_fact(NEW), **times)
    assert read_start(api, "s3") == [(NEW, ""), (OLD, "")]
    assert list_newest(actor) == [NEW, OLD]


def test_a_statement_of_another_repository_takes_no_place_by_a_link(api, actor):
    live(api, "s1", OLD)
    send(api, event("UserPromptSubmit", "o1", prompt=NEW, prompt_id="o1", day1=OTHER))
    send(api, event("SessionEnd", "o1", day1=OTHER))
    learn("o1")
    link_by_hand(api, find_fact(OLD), find_fact(NEW))
    assert read_start(api, "s3") == [(OLD, "")]
    assert list_newest(actor) == [NEW, OLD]


@pytest.mark.parametrize("ended", ["invalidated", "outdated"])
def test_a_statement_holds_again_where_the_newer_one_holds_no_more(api, actor, ended):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    uid = find_fact(NEW).uid
    if ended == "invalidated":
        FactEngine().set_verification(fact_id=uid, verdict="invalidated", reason="no", actor=actor)
    else:
        FactEngine().update_fact(fact_id=uid, actor=actor, updates={"valid_until": "2020-01-01T00:00:00Z"})
    assert read_start(api, "s3") == [(OLD, "")]
    assert list_newest(actor) == [NEW, OLD]


# ---- curators ------------------------------------------------------------------------------------------


def test_what_a_curator_keeps_stays_also_when_the_newer_one_is_said_again(api, actor):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    keep_both(actor)
    say(actor, "s4", NEW)
    assert read_start(api, "s5") == [(NEW, ""), (OLD, "")]
    assert [item.status for item in ReviewItem.objects.all()] == ["resolved"]
    say(actor, "s6", OLD)
    assert read_start(api, "s7") == [(OLD, ""), (NEW, "")]


def test_near_duplicates_that_a_curator_keeps_take_no_place(api, actor):
    live(api, "s1", OLD)
    written = {"category": "decision", "repository": SHOP}
    new = FactEngine().write_fact(fact_text=NEW, actor=actor, **written).fact
    NearDuplicateEngine().ask_about(
        fact_id=new.uid, other_id=find_fact(OLD).uid, score=0.9, model="m", actor=actor
    )
    keep_both(actor, "near_duplicate")
    say(actor, "s2", NEW)
    assert list_links() == []


# ---- with a prompt -------------------------------------------------------------------------------------


def test_a_prompt_brings_a_verified_statement_with_the_id_of_the_newer_one(api, actor):
    live(api, "s1", OLD)
    FactEngine().set_verification(fact_id=find_fact(OLD).uid, verdict="verified", reason="seen", actor=actor)
    live(api, "s2", NEW)
    found = ask(api, "s3")
    assert f"- {NEW} [" in found
    assert f"- {OLD} [" in found
    ids = f"{find_fact(OLD).uid.hex[-6:]} ✓ replaced by {find_fact(NEW).uid.hex[-6:]}"
    assert f"[{ids}]" in found


def test_a_prompt_brings_the_last_of_several_changes_alone(api, actor):
    texts = [
        "We decided to deploy the api with Docker.",
        "We decided to deploy the api with Podman, not Docker.",
        "We decided not to deploy the api with Podman.",
    ]
    for number, text in enumerate(texts):
        say(actor, f"s{number}", text)
    assert list_links() == [(texts[0], texts[1]), (texts[1], texts[2])]
    assert read_start(api, "s4") == [(texts[2], texts[1])]
    found = ask(api, "s5", "How do we deploy the api, is it with Docker?")
    assert [text in found for text in texts] == [False, False, True]


# ---- order ---------------------------------------------------------------------------------------------


def test_a_preference_stands_where_the_decision_stood_that_it_changes(api):
    menu, older = (
        "We decided that Maria owns the menu.",
        "We decided to always squash before a rebase of main.",
    )
    live(api, "s1", menu)
    live(api, "s2", older)
    newer = "Never squash before a rebase of main."
    live(api, "s3", newer)
    assert find_fact(newer).category == "preference"
    assert read_start(api, "s4") == [(newer, older), (menu, "")]


# ---- what is compared ----------------------------------------------------------------------------------


@pytest.mark.parametrize("prompts", [(BUMP, PORT), (f"{BUMP} {PORT}",)])
def test_an_order_before_a_decision_changes_nothing(api, prompts):
    live(api, "s1", *prompts)
    assert [fact.fact_text for fact in Fact.objects.all_versions()] == [PORT]


def test_an_order_after_a_decision_of_the_same_prompt_changes_it(api):
    live(api, "s1", f"{PORT} {BUMP}")
    assert read_start(api, "s2") == [(BUMP, PORT)]


def test_an_order_of_long_ago_changes_no_decision_of_today(api, actor):
    live(api, "s1", PORT)
    import_said(actor, "a", "2020-01-01T00:00:00Z", BUMP)
    assert read_start(api, "s2") == [(PORT, "")]
    assert not Fact.objects.all_versions().filter(fact_text=BUMP).exists()


def test_what_was_compared_once_is_not_compared_again(api, actor):
    live(api, "s1", "The tests are slow.", BUMP, "Have a look at 3 of them.")
    session = Session.objects.get(key="s1")
    assert session.compared_to == Message.objects.all_versions().latest("uid").uid
    import_said(actor, "a", "2020-01-01T00:00:00Z", PORT)
    assert learn("s1") == 0
    assert read_start(api, "s2") == [(PORT, "")]


def test_comparing_goes_on_in_further_tasks_until_all_was_compared(api, actor, monkeypatch):
    monkeypatch.setattr(consolidation, "MAX_PIECES", 1)
    monkeypatch.setattr(consolidation, "MAX_COMMIT_FINDINGS", 2)
    say(actor, "a", *[f"Bump the gateway port to 80{number}0." for number in range(5)])
    messages = Message.objects.all_versions().order_by("uid").values_list("uid", flat=True)
    marks = []
    for _ in range(4):
        marks.append(Session.objects.get(key="a").compared_to)
        learn("a")
    assert marks == [messages[1], messages[3], messages[4], messages[4]]


MAILED = "We decided that mails go out through SendGrid."
MOVED = "We decided that mails are sent by SES from March."
INVOICES = "We decided to keep the invoices for ten years."
SNAKE, CAMEL = "我们决定：变数名称用蛇形命名。", "我们决定：变数名称采驼峰命名。"  # the model reads neither
MAPS, TILES = "maps are drawn with Leaflet in this app", "swap Leaflet for MapLibre, we need vector tiles"
PDF, PDF_NOW = "PDFs erzeugen wir mit wkhtmltopdf.", "Wir sind auf weasyprint umgestiegen für die PDFs."
FORMS, FORMS_NOW = "Os formulários são feitos com Formik.", "trocamos o Formik por react-hook-form"


@pytest.fixture
def near(settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}


@pytest.mark.slow
@pytest.mark.usefixtures("near")
@pytest.mark.parametrize(
    ("older", "newer"), [(MAILED, MOVED), (SNAKE, CAMEL), (MAPS, TILES), (FORMS, FORMS_NOW)]
)
def test_a_decision_about_the_same_thing_leaves_an_earlier_one_in_doubt(
    api: Api, actor: Actor, older: str, newer: str
) -> None:
    """No rule tells that the newer one takes the older one's place."""
    live(api, "s1", older, INVOICES)
    EmbeddingEngine().embed_pending(actor.project_id)
    live(api, "s2", newer)
    assert list_links() == [(older, newer)]
    assert (newer, f"{older.rstrip('.')}.") in read_start(api, "s3")
    keep_both(actor)
    assert {text for text, before in read_start(api, "s4") if not before} == {older, newer, INVOICES}


@pytest.mark.slow
@pytest.mark.usefixtures("near")
def test_a_prompt_that_taught_nothing_is_learned_with_what_is_said_of_the_same_thing_later(
    api: Api, actor: Actor
) -> None:
    live(api, "s1", PDF)
    EmbeddingEngine().embed_pending(actor.project_id)
    live(api, "s2", "Run the tests.", PDF_NOW)
    assert sorted(fact.fact_text for fact in Fact.objects.all_versions()) == [PDF, PDF_NOW]
    assert read_start(api, "s3") == [(PDF_NOW, PDF)]


@pytest.mark.slow
@pytest.mark.usefixtures("near")
def test_within_a_session_what_is_alike_stands_side_by_side(api: Api) -> None:
    live(api, "s1", MAILED, MOVED)
    assert list_links() == []


def test_a_link_by_hand_of_that_weight_doubts_nothing_of_another_subject(api: Api) -> None:
    live(api, "s1", OLD, INVOICES)
    link_by_hand(
        api, find_fact(OLD), find_fact("We decided to keep the invoices for ten years."), weight=0.25
    )
    assert not [line for line, _ in read_start(api, "s2") if "later: " in line]


def test_a_decision_that_is_being_erased_is_not_linked(api, actor):
    live(api, "s1", OLD)
    old = find_fact(OLD)
    erasure = Erasure.objects.create(project_id=actor.project_id, scope="fact", requested_at=old.created_at)
    ErasedMemory.objects.create(
        id=old.uid, uid=old.uid, project_id=actor.project_id, erasure=erasure, kind="fact"
    )
    live(api, "s2", NEW)
    assert list_links() == []
    assert not ReviewItem.objects.exists()
