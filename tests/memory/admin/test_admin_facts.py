"""The admin's list of facts: access, filters, actions and undo."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.db.backend import get_features
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import AuditEntry, Commit
from memory.models.usage import forget_known
from tests.memory.admin.conftest import HOME
from tests.memory.api.client import UNKNOWN, nothing_left
from tests.queries import nothing_noted

pytestmark = pytest.mark.django_db(transaction=True)
LIST = f"{HOME}facts"


def page(client, path=LIST, status=200):
    answer = client.get(path)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return answer.content.decode()


def texts(html):
    return re.findall(r'<a class="line" href="[^"]*" dir="auto">([^<]*)</a>', html)


def tick(*facts):
    return [f"{fact.uid}:{fact.version}" for fact in facts]


def act(client, action, *facts, path=LIST, **more):
    return client.post(path, {"action": action, "fact": tick(*facts), **more})


def undo_of(html):
    return re.search(r'action="(/admin/p/test/undo/[^"]+)"', html)[1]


def status(fact, actor, branch="main"):
    found = FactEngine().get_fact(fact_id=fact.uid, actor=actor, branch_name=branch)
    return found.status, found.verification_status


class TestShown:
    def test_what_is_typed_runs_in_its_own_direction(self, curator, write):
        write("one")
        html = page(curator)
        for name in ("q", "new_fact_text", "reason"):
            fields = re.findall(rf'<(?:input|textarea)[^>]* name="{name}"[^>]*>', html)
            assert {'dir="auto"' in field for field in fields} == {True}, name

    def test_another_branch_and_the_past_are_named_and_take_no_button(self, curator, write, actor):
        write("one")
        BranchManager().create_branch(name="task/x", actor=actor)
        write("two", branch="task/x")
        elsewhere = page(curator, f"{LIST}?branch=task/x")
        assert texts(elsewhere) == ["two", "one"]
        assert 'class="bar elsewhere"' in elsewhere
        assert "You are on the branch task/x" in elsewhere
        past = page(curator, f"{LIST}?at=0")
        assert texts(past) == []
        assert 'class="bar past"' in past
        write("three")
        assert 'name="action"' not in page(curator, f"{LIST}?at=1")

    def test_no_row_id_leaves_the_server(self, curator, write):
        fact = write("one")
        assert str(fact.rid) not in page(curator)
        assert str(fact.rid) not in page(curator, f"{LIST}/{fact.uid}")

    def test_the_queries_do_not_grow_with_the_rows(self, curator, actor, main):
        def queries(n):
            texts = [{"fact_text": f"{n} {place}"} for place in range(n)]
            FactEngine().write_facts(facts=texts, actor=actor)
            forget_known()  # else read again after a second
            with CaptureQueriesContext(connection) as seen:
                page(curator)
            # Two read how many questions and merge requests wait, up to 100, for the navigation, and one the
            # policy of the branch; three are of the strip of the past, of live pages and of the tour.
            # Confirmations are counted for the facts of the page; the facts themselves never.
            counted = [q for q in seen if "COUNT(*)" in q["sql"].upper() and "LIMIT 100" not in q["sql"]]
            return len(seen), counted

        page(curator)
        keys_first = bool(get_features().sorts_whole_rows)
        with nothing_noted():
            assert queries(10) == queries(100) == (15 + keys_first, [])


class TestDone:
    @pytest.mark.parametrize(
        ("action", "more", "expected"),
        [
            ("verify", {}, ("active", "verified")),
            ("invalidate", {"reason": "Wrong."}, ("active", "invalidated")),
            ("archive", {}, ("archived", "unverified")),
            ("supersede", {"new_fact_text": "new"}, ("superseded", "unverified")),
        ],
    )
    def test_an_action_on_some_and_its_undoing(self, curator, write, actor, action, more, expected):
        one, two, three = write("one"), write("two"), write("three")
        answer = act(curator, action, one, two, **more)
        assert (answer.status_code, answer["Location"]) == (302, LIST)
        assert [status(fact, actor) for fact in (one, two, three)] == [
            expected,
            expected,
            ("active", "unverified"),
        ]
        html = page(curator)
        assert "2 done" in html
        assert html.count(">done</span>") == 2
        assert curator.post(undo_of(html)).status_code == 302
        assert status(one, actor) == ("active", "unverified")
        assert "Undone." in page(curator)
        assert AuditEntry.objects.filter(action="commit.revert", surface="admin").count() == 1

    def test_superseded_by_one_whose_address_was_pasted(self, curator, write, actor):
        one, two = write("one"), write("two")
        act(curator, "supersede", one, replaced_by=f"http://testserver{LIST}/{two.uid}?branch=main")
        assert status(one, actor)[0] == "superseded"

    def test_the_button_of_a_row(self, curator, write, actor):
        one = write("one")
        curator.post(LIST, {"one": f"verify:{one.uid}:1"})
        assert status(one, actor)[1] == "verified"

    def test_what_became_of_each_row_is_told_refusals_first(self, curator, write, actor):
        one, two, three = write("one"), write("two"), write("three")
        FactEngine().archive_fact(fact_id=two.uid, actor=actor)
        FactEngine().update_fact(fact_id=three.uid, updates={"fact_text": "3"}, actor=actor)
        act(curator, "archive", one, two, three)
        html = page(curator)
        assert "1 done · 2 refused" in html
        assert html.index("refused</span>") < html.index("done</span>")
        assert "The fact is at version 2, not 1" in html
        assert ">Results <" not in page(curator)  # once

    def test_all_that_match_up_to_a_thousand(self, curator, actor, main):
        FactEngine().write_facts(facts=[{"fact_text": f"a {n}"} for n in range(1000)], actor=actor)
        FactEngine().write_facts(facts=[{"fact_text": f"b {n}"} for n in range(60)], actor=actor)
        act(curator, "verify", all="1")
        assert "1000 done" in page(curator)
        act(curator, "archive", all="1", path=f"{LIST}?verification_status=unverified")
        assert FactEngine().list_facts(actor=actor).results[0].status == "active"

    def test_on_another_branch(self, curator, write, actor):
        one = write("one")
        BranchManager().create_branch(name="task/x", actor=actor)
        act(curator, "archive", one, path=f"{LIST}?branch=task/x")
        assert (status(one, actor)[0], status(one, actor, "task/x")[0]) == ("active", "archived")


class TestRefused:
    def test_staff_without_a_membership_sees_nothing(self, person, write):
        write("secret text")
        answer = person(is_staff=True).get("/admin/")
        assert "You belong to no project yet" in answer.content.decode()
        assert "secret" not in answer.content.decode()

    def test_nobody_without_a_right_to_the_admin(self, person):
        assert person().get("/admin/").status_code == 403
        assert person("viewer").get(LIST).status_code == 403
        assert person("curator").get(LIST).status_code == 200

    def test_nothing_ticked_is_told_in_the_words_of_the_page(self, curator, write):
        write("one")
        with nothing_left():
            answer = curator.post(LIST, {"action": "verify"})
        assert answer.status_code == 400
        assert "Tick at least one fact first." in answer.content.decode()
        assert "fact_ids" not in answer.content.decode()

    def test_what_a_form_cannot_say(self, curator, write):
        one = write("one")
        with nothing_left():
            for data in (
                {"action": "verify"},
                {"action": "verify", "fact": "x"},
                {"action": "supersede", "fact": tick(one), "replaced_by": "x"},
                {"action": "set_category", "fact": tick(one), "category": ""},
                {"action": "verify", "all": "1", "fact": []},
            ):
                answer = curator.post(f"{LIST}?q=x", data)
                assert answer.status_code == 400, data
                assert 'class="note warning" role="alert"' in answer.content.decode(), data
            assert curator.post(LIST, {"action": "burn", "fact": tick(one)}).status_code == 400

    @pytest.mark.parametrize(
        ("typed", "status"),
        [
            ({"new_fact_text": "What I typed. " * 9000}, 413),
            ({"replaced_by": "nothing"}, 400),
            ({"replaced_by": str(UNKNOWN)}, 404),
            ({"new_fact_text": "Mine.", "replaced_by": UNKNOWN}, 400),
        ],
    )
    def test_what_is_refused_as_a_whole_keeps_ticks_and_words(self, curator, write, typed, status):
        one, two = write("one"), write("two")
        with nothing_left():
            answer = act(curator, "supersede", one, reason="My <reason>", **typed)
        html = answer.content.decode()
        assert answer.status_code == status
        assert 'value="My &lt;reason&gt;"' in html
        assert str(typed.get("replaced_by", "")) in html
        assert typed.get("new_fact_text", "") in html
        ticked = re.findall(r'name="fact"\s+value="([^"]+)"\s+aria-label="[^"]*" checked', html)
        assert ticked == tick(one) != tick(two)

    @pytest.mark.slow
    def test_what_was_refused_is_no_success(self, curator, write):
        act(curator, "restore", write("one"))
        why = "Only an archived fact can be restored; this one is active."
        assert re.search(rf'class="toast warning">\s*<span>{why}</span>', page(curator))
        act(curator, "archive", write("two"))
        assert re.search(r'class="toast success">\s*<span>1 done</span>', page(curator))

    def test_undo_only_by_post_and_only_ones_own(self, curator, person, write):
        act(curator, "archive", write("one"))
        address = undo_of(page(curator))
        with nothing_left():
            assert "/commits/" in curator.get(address).url
        other = person("curator")
        with nothing_left():
            answer = other.post(address)
        assert answer.status_code == 403
        assert "Only maintainers may do this." in answer.content.decode()
        assert Commit.objects.filter(kind="commit.revert").count() == 0


def test_what_is_like_a_fact_is_not_known_before_it_has_its_vector(viewer, write, settings):
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    html = page(viewer, f"{HOME}facts/{write('The ledger closes at six.').uid}")
    assert ("Indexing: pending" in html, "Nothing on this branch is like it." in html) == (True, False)


def test_the_policy_allows_unfold_what_it_needs_and_other_pages_no_more(admin_client, curator):
    policy = admin_client.get("/admin/auth/user/")["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-eval'" in policy
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "default-src 'self'" in policy
    for path in (LIST, "/p/test/"):
        assert "unsafe" not in curator.get(path)["Content-Security-Policy"]
