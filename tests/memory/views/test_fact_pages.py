"""Search, the list of facts, a fact and its explanation: contents and access."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.items.engine import ItemEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.support.write_buffer import buffer
from memory.models import Fact, RecallLog

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = FactEngine()
NOWHERE = "01970000-0000-7000-8000-000000000000"
HOSTILE = '<script>alert(1)</script> "><img src=x onerror=alert(2)> שלום'


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def write(actor: Actor, said: str, **fields: Any) -> Fact:
    return FACTS.write_fact(fact_text=said, actor=actor, **fields).fact


# ---- search ------------------------------------------------------------------------------------------


def test_hits_with_their_signals_and_their_cost(viewer: Client, actor: Actor) -> None:
    fact = write(actor, "Access tokens expire after 15 minutes.", category="security")
    write(actor, "The staging database is restored every night.")
    page = text(viewer.get("/p/test/search?q=tokens"))
    assert f'href="/p/test/facts/{fact.uid}"' in page
    assert "staging" not in page
    assert '<meter class="signal keyword" min="0" max="1" value="1.000">' in page
    assert "<strong>1</strong> hit" in page
    assert "<strong>11</strong> tokens in a prompt" in page
    (hit,) = SearchEngine().search(query="tokens", actor=actor).hits
    assert 0 < hit.evidence < 1
    bar = page.partition('<details class="score">')[2].partition("</summary>")[0]
    word = "strong" if hit.evidence >= 0.5 else "some" if hit.evidence >= 0.15 else "weak"
    assert ('value="1.000"' in bar, f"Score {hit.score:.2f} · {word} evidence" in bar) == (True, True)
    assert (
        f'<dt>Evidence</dt> <dd> <meter class="signal evidence" min="0" max="1" value="{hit.evidence:.3f}">'
        in page
    )
    assert f'href="/p/test/facts/{fact.uid}/why?q=tokens"' in page


def test_hits_with_weak_evidence_are_folded_behind_the_others(viewer: Client, actor: Actor) -> None:
    for said in ("Access tokens expire after 15 minutes.", "Gift cards are red.", "Access lists are short."):
        write(actor, said)
    query = "access tokens expire after"
    hits = SearchEngine().search(query=query, actor=actor).hits
    weak = [hit.fact.uid for hit in hits if hit.evidence < 0.15]
    assert 0 < len(weak) < len(hits)
    first, _fold, rest = text(viewer.get(f"/p/test/search?q={query}")).partition('<details class="rest">')
    assert [f'href="/p/test/facts/{hit.fact.uid}"' in first for hit in hits] == [
        hit.fact.uid not in weak for hit in hits
    ]
    assert all(f'href="/p/test/facts/{uid}"' in rest for uid in weak)
    assert f"Less sure, with weak evidence: {len(weak)}" in rest


def test_pages_say_that_nothing_is_known_and_what_is_nearest(
    viewer: Client, curator: Client, actor: Actor, project: Any
) -> None:
    write(actor, "Access tokens expire  after <15> minutes.")
    seen = {"session_id": "s", "observation_type": "insight", "summary": "Gift tokens are red."}
    ObservationEngine().write_observation(actor=actor, **seen)
    note = "Nothing is known here on this; nearest: “{}”"
    known = note.format("Access tokens expire after &lt;15&gt; minutes.")
    pages = {
        "search": "Nothing known. Nearest:",
        "facts": known,
        "observations": note.format("Gift tokens are red."),
    }
    for name, told in pages.items():
        assert told not in text(viewer.get(f"/p/test/{name}?q=tokens"))
    type(project).objects.update(least_evidence=1.0)
    for name, told in pages.items():
        assert told in text(viewer.get(f"/p/test/{name}?q=tokens"))
        assert told in text(curator.get(f"/p/test/{name}?q=tokens"))
        assert told not in text(viewer.get(f"/p/test/{name}"))
    for number in range(4):
        write(actor, f"Gift tokens of kind {number}.")
    page = text(viewer.get("/p/test/search?q=tokens"))  # three, without a count, a bar or an order by score
    assert page.count('class="line"') == 3
    assert not re.search('<meter|class="score"|</strong> hit', page)


def test_filters_stand_in_the_address_and_can_be_taken_away(viewer: Client, actor: Actor) -> None:
    write(actor, "Access tokens expire.", category="security")
    write(actor, "Gift tokens are red.", category="design")
    page = text(viewer.get("/p/test/search?q=tokens&category=design"))
    assert ("Gift tokens" in page, "Access tokens" in page) == (True, False)
    assert '<a href="/p/test/search?q=tokens" title="Category: design. Take this filter away">' in page
    assert "<bdi>category:design</bdi>" in page


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("", None),
        ("2026-05-20", "2026-05-20T00:00:00.000"),
        ("2026-05-20T14:30%2B02:00", "2026-05-20T12:30:00.000"),
    ],
)
def test_a_filter_by_time_keeps_a_time_that_a_link_gave(
    viewer: Client, actor: Actor, given: str, shown: str | None
) -> None:
    write(actor, "Gift tokens are red.")
    for path in ("facts?", "search?q=tokens&"):
        page = text(viewer.get(f"/p/test/{path}created_after={given}", follow=True))
        value = f' value="{shown}"' if shown else ""
        assert f'<input type="datetime-local" name="created_after"{value} ' in page
        assert "Gift tokens" in page


@pytest.mark.parametrize(
    ("asked", "told", "kept"),
    [
        ("created_after=soon", "Stored from must be a time in ISO 8601", 'value="soon"'),
        ("status=active&max_confidence=9", "Maximum confidence must be a number from 0 to 1.", "selected"),
        ("agent_id=claude&cursor=x", "cursor", 'value="claude"'),
    ],
)
def test_a_filter_that_cannot_be_leaves_the_form_as_it_is(
    viewer: Client, actor: Actor, asked: str, told: str, kept: str
) -> None:
    write(actor, "Gift tokens are red.")
    page = text(viewer.get(f"/p/test/facts?{asked}"))
    alert = page.split('role="alert"')[1].split("</p>")[0]
    assert (told in alert, kept in page, "Gift tokens" in page) == (True, True, False)


def test_what_is_left_out_is_told_with_its_reason(viewer: Client, actor: Actor) -> None:
    old = write(actor, "Access tokens live an hour.")
    FACTS.archive_fact(fact_id=old.uid, actor=actor)
    page = text(viewer.get("/p/test/search?q=tokens"))
    assert "Nothing here answers this." in page
    page = text(viewer.get("/p/test/search?q=tokens&left_out=1"))
    assert "Not found, because it is" in page
    assert '<span class="badge archived">' in page


def test_typing_asks_for_a_part_and_a_look_is_no_recall(viewer: Client, actor: Actor) -> None:
    write(actor, "Access tokens expire.")
    answer = viewer.get("/p/test/search?q=tok&category=", headers={"HX-Request": "true"})
    assert "<html" not in text(answer)
    assert answer.headers["HX-Replace-Url"] == "/p/test/search?q=tok"
    assert "Access tokens expire." in text(viewer.get("/p/test/search?q=tokens"))
    buffer.flush()
    assert RecallLog.objects.count() == 0


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("q=gift" + "x" * 8000, "8,?000"),
        ("q=gift&status=x", "Status must be "),
        ("q=gift&search_type=x", "search_type"),
        ("q=gift&include=x", "include"),
        ("q=gift&limit=0&min_confidence=7", "Minimum confidence must be a number from 0 to 1."),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_search_that_cannot_be_made_says_why_and_leaves_the_form(
    viewer: Client, actor: Actor, asked: str, told: str, headers: dict[str, str]
) -> None:
    write(actor, "Gift tokens are red.")
    page = text(viewer.get(f"/p/test/search?{asked}", headers=headers))
    alert = page.split('role="alert"')[1].split("</p>")[0]
    kept = bool(headers) or 'value="gift' in page
    assert (bool(re.search(told, alert)), kept, "Gift tokens" in page) == (True, True, False), alert


def test_a_search_on_a_branch_and_in_the_past(viewer: Client, actor: Actor) -> None:
    write(actor, "Access tokens expire.")
    BranchManager().create_branch(name="task/a", actor=actor)
    write(actor, "Tokens are blue here.", branch_name="task/a")
    write(actor, "Tokens are later.")
    page = text(viewer.get("/p/test/search?q=tokens&branch=task/a"))
    assert ("blue here" in page, "later" in page) == (True, False)
    assert '<input type="hidden" name="branch" value="task/a">' in page
    page = text(viewer.get("/p/test/search?q=tokens&at=1"))
    assert ("Access tokens" in page, "later" in page) == (True, False)


# ---- the list ----------------------------------------------------------------------------------------


def test_a_line_names_the_agent_or_else_the_source(viewer: Client, actor: Actor) -> None:
    write(actor, "By an agent.", source="a wiki", agent_id="ledger-agent")
    page = text(viewer.get("/p/test/facts"))
    assert "ledger-agent" in page
    assert "a wiki" not in page
    write(actor, "By a person.", source="Priya <Nair>")
    assert "<bdi>Priya &lt;Nair&gt;</bdi>" in text(viewer.get("/p/test/facts"))


def test_the_list_pages_by_cursor_and_keeps_its_filters(viewer: Client, actor: Actor) -> None:
    for number in range(5):
        write(actor, f"fact number {number}", category="x")
    write(actor, "another")
    page = text(viewer.get("/p/test/facts?category=x&limit=2"))
    assert ("fact number 4" in page, "fact number 2" in page, "another" in page) == (True, False, False)
    link = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "category=x" in link
    page = text(viewer.get(link))
    assert ("fact number 2" in page, "fact number 4" in page) == (True, False)


# ---- a fact ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a" * 275 + " 93.1 %", "a" * 275 + "…"),
        ("word " * 55 + "on and on", "word " * 55 + "on…"),
        ("字" * 300, "字" * 279 + "…"),
        ("x" * 280, "x" * 280),
    ],
)
def test_a_text_that_is_cut_ends_with_a_whole_word(
    viewer: Client, actor: Actor, said: str, shown: str
) -> None:
    write(actor, said)
    assert f">{shown}</a>" in text(viewer.get("/p/test/facts"))


def test_a_fact_with_all_that_stands_beside_it(viewer: Client, actor: Actor) -> None:
    where = {"session_id": "s1", "agent_id": "builder", "repository": "git@github.com:acme/shop.git"}
    old = write(actor, "Tokens expire after an hour.", **where)
    fact = FACTS.supersede_fact(old_fact_id=old.uid, new_fact_text="Tokens expire after a day.", actor=actor)
    on = {"fact_id": fact.uid, "actor": actor}
    FACTS.update_fact(updates={"fact_text": "Tokens expire after two days.", "category": "auth"}, **on)
    FACTS.set_verification(verdict="verified", reason="Read in the code.", **on)
    other = write(actor, "The clock is UTC.")
    LinkEngine().write_link(from_id=fact.uid, to_id=other.uid, link_type="DEPENDS_ON", actor=actor)
    SearchEngine().search(query="tokens", actor=actor)
    buffer.flush()
    page = text(viewer.get(f"/p/test/facts/{fact.uid}"))
    assert "Tokens expire after two days.</p></div>" in page
    assert "Read in the code." in page
    assert "<bdi>github.com/acme/shop</bdi>" in page
    assert "It replaces" in page
    assert f'href="/p/test/facts/{old.uid}"' in page
    assert "Tokens expire after <del>a day</del><ins>two days</ins>." in page
    assert '<dt>Category</dt> <dd dir="auto"> <del>general</del>' in page
    assert "depends on" in page
    assert "The clock is UTC." in page
    assert 'Told and found <span class="quiet">1 ×</span>' in page
    assert 'href="/p/test/search?q=tokens"' in page
    page = text(viewer.get(f"/p/test/facts/{old.uid}"))
    assert "Replaced by" in page
    assert 'href="/p/test/session?key=s1"' in page


def test_a_verdict_is_by_the_kind_that_gave_it_also_after_a_merge(viewer: Client, actor: Actor) -> None:
    """A key has the name of a person who merges what it verified: neither passes for the other."""
    key, person = (replace(actor, kind=kind, id=kind, label="admin") for kind in ("key", "user"))
    BranchManager().create_branch(name="side", actor=actor)
    fact = write(actor, "Deploys run from main.", branch_name="side")
    FACTS.set_verification(fact_id=fact.uid, branch_name="side", verdict="verified", actor=key)
    MergeEngine().merge_branch(source="side", target="main", actor=person)
    belief = text(viewer.get(f"/p/test/facts/{fact.uid}")).partition("Is it believed?")[2]
    belief = belief.partition("</section>")[0]
    assert (belief.count('title="API key"'), belief.count('title="person"')) == (2, 0)


def test_a_fact_as_it_was(viewer: Client, actor: Actor) -> None:
    fact = write(actor, "one")
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "two"}, actor=actor)
    page = text(viewer.get(f"/p/test/facts/{fact.uid}?at=1"))
    assert '<div class="memory hero rich" dir="auto"><p>one</p></div>' in page
    assert "two" not in page


def test_a_link_to_an_observation_says_what_was_seen(viewer: Client, curator: Client, actor: Actor) -> None:
    seen = ObservationEngine().write_observation(
        observation_type="insight", summary="The build took an hour.", actor=actor
    )
    LinkEngine().write_link(
        from_id=write(actor, "Builds are slow.").uid,
        to_id=seen.uid,
        to_type="observation",
        link_type="DERIVED_FROM",
        actor=actor,
    )
    address = f"/p/test/observations/{seen.uid}"
    for client in (viewer, curator):
        page = text(client.get("/p/test/branches/main?tab=diff&type=link"))
        assert f'href="{address}"' in page
        assert "The build took an hour." in page


def test_hostile_text_is_text_everywhere(viewer: Client, actor: Actor) -> None:
    fact = write(
        actor,
        HOSTILE,
        category="<b>x</b>",
        tags=["<i>"],
        session_id="<s>",
        agent_id="<a>",
        source="<q>",
        metadata={"<k>": "<v>"},
    )
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": f"<u>new</u> {HOSTILE}"}, actor=actor)
    FACTS.set_verification(fact_id=fact.uid, verdict="invalidated", reason="<em>no</em>", actor=actor)
    paths = (
        "search?q=<script>alert&include=invalidated",
        "facts",
        f"facts/{fact.uid}",
        f"facts/{fact.uid}/why?q=<script>",
        "session?key=<s>",
        "sessions",
        "branches/main?tab=diff",
        "branches/main?tab=log",
    )
    for path in paths:
        page = text(viewer.get(f"/p/test/{path}"))
        for tag in (
            "<script>alert",
            "<img src=x",
            "<b>x",
            "<i>",
            "<s>",
            "<a>",
            "<q>",
            "<k>",
            "<u>",
            "<em>no",
        ):
            assert tag not in page, (path, tag)
    assert "&lt;script&gt;alert(1)" in text(viewer.get(f"/p/test/facts/{fact.uid}"))


def test_a_fact_that_is_elsewhere_deleted_or_nowhere(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    fact = write(actor, "only there", branch_name="task/a")
    answer = viewer.get(f"/p/test/facts/{fact.uid}")
    assert (answer.status_code, "It is on another branch:" in text(answer)) == (404, True)
    assert f'href="/p/test/facts/{fact.uid}?branch=task%2Fa"' in text(answer)
    FACTS.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
    answer = viewer.get(f"/p/test/facts/{fact.uid}?branch=task/a")
    assert (answer.status_code, "only there" in text(answer)) == (404, True)
    answer = viewer.get(f"/p/test/facts/{NOWHERE}")
    assert (answer.status_code, "No fact of this project has this id" in text(answer)) == (404, True)


def test_what_is_over_is_judged_by_the_time_that_is_read(viewer: Client, actor: Actor) -> None:
    now = timezone.now()
    ends = {"expires_at": now + timedelta(hours=1), "valid_until": now + timedelta(hours=1)}
    address = f"/p/test/facts/{write(actor, 'Tokens expire.', **ends).uid}"
    with time_machine.travel(now + timedelta(hours=2)):
        page = text(viewer.get(address))
        assert ('class="badge expired"' in page, 'class="badge outdated"' in page) == (True, True)
        then = (now + timedelta(minutes=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
        page = text(viewer.get(f"{address}?at={then}"))
        assert ("Tokens expire." in page, 'class="badge expired"' in page) == (True, False)
        assert 'class="badge outdated"' not in page


def test_why_and_why_not(viewer: Client, actor: Actor) -> None:
    fact = write(actor, "Tokens expire.")
    assert "Ranked #1 for this query" in text(viewer.get(f"/p/test/facts/{fact.uid}/why?q=tokens"))
    FACTS.archive_fact(fact_id=fact.uid, actor=actor)
    page = text(viewer.get(f"/p/test/facts/{fact.uid}/why?q=tokens", headers={"HX-Request": "true"}))
    assert ("It is archived." in page, "<html" in page) == (True, False)
    assert viewer.get(f"/p/test/facts/{NOWHERE}/why?q=tokens").status_code == 404


# ---- everywhere --------------------------------------------------------------------------------------


def test_a_changed_state_has_the_words_of_the_page(viewer: Client, actor: Actor) -> None:
    fact = FactEngine().write_fact(fact_text="Fees are data.", propose=True, actor=actor).fact
    FactEngine().update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=actor)
    page = " ".join(text(viewer.get(f"/p/test/facts/{fact.uid}")).split())
    assert "<del>proposed</del>" in page
    assert "<ins>active</ins>" in page


def test_an_item_says_where_it_stands_and_its_value(viewer: Client, actor: Actor) -> None:
    value = {"text": HOSTILE, "n": 1}
    item = ItemEngine().put_item(namespace="users/ada", key="theme", value=value, actor=actor).fact
    plain = write(actor, "The staging database is restored every night.")
    page = text(viewer.get(f"/p/test/facts/{item.uid}"))
    assert "<bdi>users/ada</bdi></a> / <bdi>theme</bdi>" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert "<dt>Key</dt>" not in text(viewer.get(f"/p/test/facts/{plain.uid}"))
    listed = text(viewer.get("/p/test/facts?namespace=users"))
    assert (str(item.uid) in listed, str(plain.uid) in listed) == (True, False)
