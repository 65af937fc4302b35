"""What a later session contradicted: the newer statement holds, the older one is shown as what was before."""

import re
from typing import Any

import pytest

from curation.engines.queue.engine import QueueEngine
from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, FactLink
from memory.ranking import count_tokens
from tests.memory.api.client import Api
from tests.site.hook_events import event, learn, send, told
from tests.site.test_hooks_decisions import import_said, live

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]
OLD = "We decided that the gateway listens on port 9443."
NEW = "The gateway listens on port 8443 now, we decided."
ASKED = "Which port does the gateway listen on, and who decided it?"


def read_start(api: Api, session: str, **fields: Any) -> list[tuple[str, str]]:
    """Return the lines of a session's start: each text, and what stood before."""
    answer = send(api, event("SessionStart", session, **fields))
    found = told(answer) if answer else ""
    lines = re.findall(r"^- (?:was: (.*); later: )?(.*) \[[^\]]*\]$", found, re.M)
    return [(text, f"{before}." if before else "") for before, text in lines]


def find_fact(text: str) -> Fact:
    return Fact.objects.all_versions().filter(fact_text=text).latest("rid")


def ask(api: Api, session: str, prompt: str = ASKED) -> str:
    answer = send(api, event("UserPromptSubmit", session, prompt=prompt, prompt_id=f"{session}-p"))
    return told(answer) if answer else ""


def test_the_newer_statement_holds_and_says_what_was_before(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    assert read_start(api, "s3") == [(NEW, OLD)]
    assert [(fact.fact_text, fact.status, fact.version) for fact in Fact.objects.all_versions()] == [
        (OLD, "active", 1),
        (NEW, "active", 1),
    ]


def test_a_prompt_is_not_told_what_its_own_session_changed(api):
    live(api, "s1", OLD)
    assert read_start(api, "s2") == [(OLD, "")]
    send(api, event("UserPromptSubmit", "s2", prompt=NEW, prompt_id="s2-new"))
    learn("s2")
    assert ask(api, "s2") == ""
    assert NEW in ask(api, "s3")


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_a_session_that_goes_on_is_told_anew_what_changed_since_its_start(api, client):
    def resume() -> str:
        answer = send(api, event("SessionStart", "s2", source="resume", day1=own), client=client)
        return told(answer) if answer else ""

    own = {"client": client, "root": "github.com/acme/shop"}
    live(api, "s1", OLD)
    start = told(send(api, event("SessionStart", "s2", day1=own), client=client))
    live(api, "s3", "We decided that Maria owns the menu.")
    kept = "" if client == "codex" else start  # it keeps what it was told with the session
    assert resume() == kept
    live(api, "s4", NEW)
    assert f"- was: {OLD.rstrip('.')}; later: {NEW} [" in resume()
    assert ("Maria" in resume()) is (client != "codex")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "We decided to use Sidekiq for the mail queue.",
            "We no longer use Sidekiq for the mail queue; use Faktory instead.",
        ),
        (
            "We'll use Sidekiq for the mail queue.",
            "Use Faktory instead of Sidekiq for the mail queue from now on.",
        ),
        ("邮件队列用 Sidekiq。", "邮件队列改用 Faktory。"),
    ],
)
def test_a_superseding_decision_waits_in_the_queue_with_both_sides(
    api: Api, actor: Actor, older: str, newer: str
) -> None:
    """From the prompts of two sessions over their ends to the question that a curator is asked."""
    live(api, "s1", older)
    live(api, "s2", newer)
    both = {find_fact(older).uid, find_fact(newer).uid}
    waiting = QueueEngine().list_entries(actor=actor, reasons=["contested"]).results
    assert {entry.fact.uid for entry in waiting} <= both
    assert len(waiting) >= 1
    (item,) = ReviewItem.objects.all()
    assert ({item.fact_id, item.other_id}, item.kind) == (both, "contested")
    assert {fact.status for fact in Fact.objects.all_versions()} == {"active"}  # nothing is replaced silently


def test_the_line_of_a_change_has_both_ids(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    ids = f"{find_fact(NEW).uid.hex[-6:]} was {find_fact(OLD).uid.hex[-6:]}"
    line = f"- was: {OLD[:-1]}; later: {NEW} [{ids}]"
    assert f"\n{line}\n" in told(send(api, event("SessionStart", "s3")))
    assert f"\n{line}\n" in ask(api, "s4")


def test_where_many_decisions_stand_each_comes_before_what_was_before(api):
    live(api, "a", *[f"We decided that dock {n}0 ships on floor 1{n} with crane K{n}." for n in range(80)])
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    text = told(send(api, event("SessionStart", "s3")))
    assert f"\n- {NEW} [{find_fact(NEW).uid.hex[-6:]}]\n" in text
    assert OLD not in text
    assert count_tokens(text) <= 1000


def test_what_casts_doubt_on_several_is_told_with_each_of_them_once(api):
    uses = [f"We use Redis for the {thing}." for thing in ("sessions", "carts", "mails")]
    live(api, "s1", *uses)
    live(api, "s2", "不用 Redis 了，改用 Postgres。")
    text = told(send(api, event("SessionStart", "s3")))
    assert [text.count(f"- was: {use[:-1]}; later: 不用 Redis 了") for use in uses] == [1, 1, 1]
    assert text.count("; later: ") == len(uses)


def test_what_an_agent_notes_against_a_decision_stands_in_doubt_beside_it(api):
    live(api, "s1", OLD)
    note = "The gateway listens on port 9444 now."
    fact = {"fact_text": note, "repository": "github.com/acme/shop"}
    assert api.post("/facts", fact).status_code == 201
    line = f"- was: {OLD[:-1]}; later: {note} ["
    assert told(send(api, event("SessionStart", "s3"))).count(line) == 1
    assert line in ask(api, "s4")


def test_an_agent_that_notes_a_decision_in_another_common_word_says_nothing_against_it(api):
    live(api, "s1", "Passwords are always hashed with argon2id, never bcrypt.")
    note = "Passwords are always hashed with argon2id, never with bcrypt."
    assert api.post("/facts", {"fact_text": note, "repository": "github.com/acme/shop"}).status_code == 201
    assert "later: " not in told(send(api, event("SessionStart", "s3")))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We decided that the API port is 9443.", "We decided that the admin port is 8443 now."),
        ("We decided: Postgres 16 for the ledger.", "We decided: Redis 7 for the cache now."),
        ("Never commit to main.", "Never push to main."),
    ],
)
def test_other_subjects_hide_nothing(api, older, newer):
    live(api, "s1", older)
    live(api, "s2", newer)
    assert read_start(api, "s3") == [(newer, ""), (older, "")]
    assert not ReviewItem.objects.exists()


def test_a_person_may_go_back_to_what_was_before(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    read_start(api, "s3")
    live(api, "s3", OLD)
    assert read_start(api, "s4") == [(OLD, NEW)]


def test_what_the_agent_says_replaces_nothing_and_stands_below(api, actor):
    import_said(actor, "a", "2020-01-01T00:00:00Z", OLD)
    import_said(actor, "b", "2020-02-01T00:00:00Z", NEW, role="assistant")
    assert read_start(api, "s3") == [(OLD, ""), (NEW, "")]


def test_an_older_statement_that_is_imported_later_comes_as_what_was_before(api, actor):
    live(api, "s1", NEW)
    import_said(actor, "a", "2020-01-01T00:00:00Z", OLD)
    assert read_start(api, "s3") == [(NEW, OLD)]


SET = "We decided that the gateway has port 9443."
BY_ORDER = {
    "The gateway listens on port 8443 now.": [("The gateway listens on port 8443 now.", SET)],
    "Bump the gateway port to 8443.": [("Bump the gateway port to 8443.", SET)],
}


@pytest.mark.parametrize("newer", list(BY_ORDER))
def test_what_would_not_be_learned_by_itself_is_learned_where_it_changes_a_decision(api, newer):
    other = {"client": "claude-code", "root": "github.com/acme/other"}
    send(api, event("UserPromptSubmit", "o1", prompt=newer, prompt_id="o1", day1=other))
    send(api, event("SessionEnd", "o1", day1=other))
    assert learn("o1") == 0
    live(api, "s1", OLD, SET)
    live(api, "s2", f"{newer} The tests are slow today, have a look.")
    assert read_start(api, "s3") == BY_ORDER[newer]


def test_a_question_about_a_decision_and_a_passing_change_are_not_learned(api):
    live(api, "s1", OLD)
    live(api, "s2", "Does the gateway listen on port 8443 now?", "The gateway listens on port 8443 for now.")
    assert read_start(api, "s3") == [(OLD, "")]


def test_one_session_may_change_its_mind(api):
    live(api, "s1", OLD, NEW)
    assert read_start(api, "s3") == [(NEW, OLD)]


def test_a_statement_of_another_repository_replaces_nothing(api):
    other = {"client": "claude-code", "root": "github.com/acme/other"}
    send(api, event("UserPromptSubmit", "o1", prompt=OLD, prompt_id="o1", day1=other))
    send(api, event("SessionEnd", "o1", day1=other))
    learn("o1")
    live(api, "s2", NEW)
    assert read_start(api, "s3") == [(NEW, "")]
    assert read_start(api, "o3", day1=other) == [(OLD, "")]


def test_a_fact_that_was_written_is_replaced_too(api, actor):
    where = {"category": "decision", "repository": "github.com/acme/shop"}
    FactEngine().write_fact(fact_text=OLD, actor=actor, **where)
    live(api, "s2", NEW)
    assert read_start(api, "s3") == [(NEW, OLD)]


def test_a_verified_statement_stays_with_the_id_of_the_newer_one(api, actor):
    live(api, "s1", OLD)
    old = find_fact(OLD)
    FactEngine().set_verification(fact_id=old.uid, verdict="verified", reason="seen", actor=actor)
    live(api, "s2", NEW)
    assert read_start(api, "s3") == [(NEW, ""), (OLD, "")]
    text = told(send(api, event("SessionStart", "s4")))
    assert f"{old.uid.hex[-6:]} ✓ replaced by {find_fact(NEW).uid.hex[-6:]}]" in text


def test_a_statement_holds_again_when_the_newer_one_is_archived(api, actor):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    FactEngine().archive_fact(fact_id=find_fact(NEW).uid, actor=actor)
    assert read_start(api, "s3") == [(OLD, "")]


def test_a_link_without_a_time_and_one_to_what_nobody_said_hide_nothing(api, actor):
    live(api, "s1", OLD, "We decided that Maria owns the menu.")
    old, other = find_fact(OLD), find_fact("We decided that Maria owns the menu.")
    written = FactEngine().write_fact(fact_text="The gateway has port 1.", actor=actor).fact
    links = [(other.uid, {}), (written.uid, {"valid_from": "2031-01-01T00:00:00Z"})]
    for uid, fields in links:
        body = {"to_id": str(uid), "link_type": "CONTESTED_BY", **fields}
        assert api.post(f"/facts/{old.uid}/links", body).status_code == 201
    assert (OLD, "") in read_start(api, "s3")


# ---- the review queue ----------------------------------------------------------------------------------


def test_a_curator_is_asked_once_and_may_confirm(api, actor):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    live(api, "s3", NEW)
    (item,) = ReviewEngine().list_items(actor=actor, kind="contested").results
    assert (item.fact.fact_text, item.other.fact_text, item.best) == (NEW, OLD, item.fact)
    assert 0.5 < item.score <= 1
    ReviewEngine().resolve_item(item_id=item.pk, decision="supersede", keeper=item.fact_id, actor=actor)
    assert find_fact(OLD).status == "superseded"
    assert read_start(api, "s4") == [(NEW, "")]


def test_a_curator_may_keep_both_and_undo_it(api, actor):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    (item,) = ReviewEngine().list_items(actor=actor, kind="contested").results
    done = ReviewEngine().resolve_item(item_id=item.pk, decision="keep_both", actor=actor)
    assert read_start(api, "s3") == [(NEW, ""), (OLD, "")]
    assert api.post(f"/commits/{done.commit.pk}/revert", {}).status_code in (200, 201)
    assert read_start(api, "s4") == [(NEW, OLD)]


def test_the_link_is_one_and_says_since_when(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    (link,) = FactLink.objects.all_versions().filter(link_type="CONTESTED_BY")
    assert (link.from_id, link.to_id) == (find_fact(OLD).uid, find_fact(NEW).uid)
    assert link.valid_from <= find_fact(NEW).created_at


# ---- with a prompt -------------------------------------------------------------------------------------


def test_a_prompt_brings_the_newer_statement_alone(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    found = ask(api, "s3")
    assert NEW in found
    assert OLD not in found


def test_a_start_that_says_what_was_before_is_not_followed_by_it(api):
    live(api, "s1", OLD)
    live(api, "s2", NEW)
    read_start(api, "s3")
    assert ask(api, "s3") == ""
