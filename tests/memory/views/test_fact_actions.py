"""Actions on a fact's page: undoable, refused with a reason, without losing input."""

from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import AuditEntry, Commit, Fact

pytestmark = pytest.mark.django_db(transaction=True)
FACTS = FactEngine()


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


@pytest.fixture
def fact(actor: Actor) -> Fact:
    return FACTS.write_fact(fact_text="Tokens live an hour.", category="auth", actor=actor).fact


def now(fact: Fact, actor: Actor, branch: str = "main") -> Fact:
    return FACTS.get_fact(fact_id=fact.uid, actor=actor, branch_name=branch)


def act(client: Client, fact: Fact, action: str, branch: str = "", **typed: Any) -> Any:
    path = f"/p/test/facts/{fact.uid}/act{branch}"
    return client.post(path, {"action": action, "version": fact.version, **typed})


def edit(client: Client, fact: Fact, query: str = "", **typed: Any) -> Any:
    form = {
        "fact_text": fact.fact_text,
        "essence": fact.essence,
        "category": fact.category,
        "kind": fact.kind,
        "priority": fact.priority,
        "confidence": fact.confidence,
        "visibility": fact.visibility,
        "tags": ", ".join(fact.tags),
        "version": fact.version,
        "valid_from": "",
        "valid_until": "",
        "expires_at": "",
        **typed,
    }
    return client.post(f"/p/test/facts/{fact.uid}/edit{query}", form)


# ---- one action --------------------------------------------------------------------------------------


def test_a_queue_goes_on_without_a_script(curator: Client, fact: Fact) -> None:
    path, page = f"/p/test/facts/{fact.uid}/act", f"/p/test/facts/{fact.uid}"
    for number, (came_from, led_to) in enumerate((("/p/test/review", "/p/test/review"), (path, page))):
        form = {"action": ("verify", "invalidate")[number], "version": 1}
        answer = curator.post(path, form, headers={"Referer": f"http://testserver{came_from}"})
        assert (answer.status_code, answer.headers["Location"]) == (302, led_to)


def test_a_verdict_with_a_reason_and_the_way_back(curator: Client, actor: Actor, fact: Fact) -> None:
    answer = act(curator, fact, "verify", reason="Read in the code.")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/p/test/facts/{fact.uid}")
    judged = now(fact, actor)
    assert (judged.verification_status, judged.verified_by, judged.verification_reason) == (
        "verified",
        "cora",
        "Read in the code.",
    )
    page = text(curator.get(f"/p/test/facts/{fact.uid}"))
    commit = Commit.objects.get(kind="fact.verify")
    assert f'action="/p/test/undo/{commit.pk}"' in page
    assert commit.surface == AuditEntry.objects.get(action="fact.verify").surface == "web"
    answer = curator.post(f"/p/test/undo/{commit.pk}", headers={"Referer": "http://testserver/p/test/facts"})
    assert answer.headers["Location"] == "/p/test/facts"
    assert now(fact, actor).verification_status == "unverified"


@pytest.mark.parametrize(
    ("action", "status", "verdict"),
    [("invalidate", "active", "invalidated"), ("archive", "archived", "unverified")],
)
def test_other_actions(
    curator: Client, actor: Actor, fact: Fact, action: str, status: str, verdict: str
) -> None:
    act(curator, fact, action)
    assert (now(fact, actor).status, now(fact, actor).verification_status) == (status, verdict)
    back = {"archive": "restore", "invalidate": "unverify"}[action]
    assert f'value="{back}"' in text(curator.get(f"/p/test/facts/{fact.uid}"))
    act(curator, now(fact, actor), back)
    assert (now(fact, actor).status, now(fact, actor).verification_status) == ("active", "unverified")


def test_a_stale_page_shows_what_changed_and_keeps_the_reason(
    curator: Client, actor: Actor, fact: Fact
) -> None:
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "Tokens live a day."}, actor=actor)
    answer = act(curator, fact, "verify", reason="I <b>know</b>")
    page = text(answer)
    assert answer.status_code == 412
    assert "Nothing was changed: somebody was quicker." in page
    assert "Tokens live <del>an hour</del><ins>a day</ins>." in page
    assert 'value="I &lt;b&gt;know&lt;/b&gt;"' in page
    assert 'name="version" value="2"' in page
    assert now(fact, actor).verification_status == "unverified"


# ---- editing -----------------------------------------------------------------------------------------


def test_a_correction_with_the_way_back(curator: Client, actor: Actor, fact: Fact) -> None:
    assert "Tokens live an hour." in text(curator.get(f"/p/test/facts/{fact.uid}/edit"))
    answer = edit(
        curator,
        fact,
        fact_text="Tokens live a day.\r\nOr two.",
        tags="a, b",
        confidence="0.9",
        essence="",
        valid_from="2026-05-01T12:00:00",
        pinned="yes",
    )
    assert answer.headers["Location"] == f"/p/test/facts/{fact.uid}"
    new = now(fact, actor)
    assert (new.fact_text, new.tags, new.confidence, new.pinned, new.version) == (
        "Tokens live a day.\nOr two.",
        ["a", "b"],
        0.9,
        True,
        2,
    )
    assert (new.essence, str(new.valid_from)) == ("Tokens live a day.", "2026-05-01 12:00:00+00:00")
    commit = Commit.objects.get(kind="fact.update")
    curator.post(f"/p/test/undo/{commit.pk}")
    assert (now(fact, actor).fact_text, now(fact, actor).tags) == ("Tokens live an hour.", [])


def test_saving_without_a_change_makes_no_commit(curator: Client, fact: Fact) -> None:
    edit(curator, fact)
    assert Commit.objects.count() == 1
    assert "Nothing was changed." in text(curator.get(f"/p/test/facts/{fact.uid}"))


def test_what_cannot_be_saved_is_kept_and_told(curator: Client, actor: Actor, fact: Fact) -> None:
    answer = edit(curator, fact, confidence="7", category="kept")
    page = text(answer)
    assert (answer.status_code, "Confidence must be a number from 0" in page) == (400, True)
    assert "This field is required" not in page
    assert 'value="kept"' in page
    for typed in ({"fact_text": " "}, {"confidence": "x"}, {"valid_from": "x"}, {"kind": "REFLECTION"}):
        assert edit(curator, fact, **typed).status_code == 400
    assert now(fact, actor).version == 1


def test_a_stale_form_shows_what_changed_keeps_what_was_typed_and_undoes_nothing(
    curator: Client, actor: Actor, fact: Fact
) -> None:
    FACTS.update_fact(fact_id=fact.uid, updates={"category": "security", "tags": ["x"]}, actor=actor)
    answer = edit(curator, fact, fact_text="Tokens live a week.")
    page = text(answer)
    assert answer.status_code == 412
    assert '<del>auth</del> <span aria-hidden="true">→</span> <ins>security</ins>' in page
    assert "Tokens live a week.</textarea>" in page
    assert 'name="category" value="security"' in page
    assert 'name="version" value="2"' in page
    assert now(fact, actor).fact_text == "Tokens live an hour."
    edit(curator, now(fact, actor), fact_text="Tokens live a week.")
    new = now(fact, actor)
    assert (new.fact_text, new.category, new.tags) == ("Tokens live a week.", "security", ["x"])


def test_a_replacement(curator: Client, actor: Actor, fact: Fact) -> None:
    answer = edit(curator, fact, "?as=new", fact_text="Tokens live a day.")
    assert now(fact, actor).status == "superseded"
    new = FACTS.get_fact(fact_id=answer.headers["Location"].rsplit("/", 1)[1], actor=actor)
    assert (new.fact_text, new.parent_id, new.category) == ("Tokens live a day.", fact.uid, "auth")
    curator.post(f"/p/test/undo/{Commit.objects.get(kind='fact.supersede').pk}")
    assert now(fact, actor).status == "active"


# ---- undo --------------------------------------------------------------------------------------------


def test_what_has_changed_since_is_not_undone(curator: Client, actor: Actor, fact: Fact) -> None:
    edit(curator, fact, fact_text="two")
    commit = Commit.objects.get(kind="fact.update")
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "three"}, actor=actor)
    answer = curator.post(f"/p/test/undo/{commit.pk}", follow=True)
    assert "This cannot be undone any more" in text(answer)
    assert now(fact, actor).fact_text == "three"


def test_undoing_can_be_undone(curator: Client, actor: Actor, fact: Fact) -> None:
    act(curator, fact, "verify")
    verified = Commit.objects.get(kind="fact.verify")
    page = text(curator.post(f"/p/test/undo/{verified.pk}", follow=True))
    back = Commit.objects.get(kind="commit.revert")
    assert ("Undone." in page, f'action="/p/test/undo/{back.pk}?redo=1"' in page) == (True, True)
    assert now(fact, actor).verification_status == "unverified"
    again = text(curator.post(f"/p/test/undo/{back.pk}?redo=1", follow=True))
    assert now(fact, actor).verification_status == "verified"
    redone = Commit.objects.filter(kind="commit.revert").latest("seq")
    assert ("Done again." in again, f'action="/p/test/undo/{redone.pk}"' in again) == (True, True)


# ---- access ------------------------------------------------------------------------------------------

BUTTONS = ("Verify", "Edit")
MENU = ("Invalidate", "Pin", "Archive", "Supersede")


def buttons(page: str) -> list[str]:
    """Return what can be pressed on a fact: its buttons, then the entries of its menu."""
    actions = page.split('class="row actions"')[1].split("</article>")[0]
    return [word for word in (*BUTTONS, *MENU) if f"</svg> {word}<" in actions]


def test_a_fact_has_two_buttons_and_a_menu_and_is_edited_in_place(curator: Client, fact: Fact) -> None:
    page = text(curator.get(f"/p/test/facts/{fact.uid}"))
    actions = page.split('class="row actions"')[1].split("</article>")[0]
    shown, menu = actions.split('<details class="menu"')
    assert [word for word in (*BUTTONS, *MENU) if f"</svg> {word}<" in shown] == list(BUTTONS)
    assert [word for word in (*BUTTONS, *MENU) if f"</svg> {word}<" in menu] == list(MENU)
    assert f'action="/p/test/facts/{fact.uid}/edit"' in shown
    assert "Tokens live an hour.</textarea>" in shown
    act(curator, fact, "archive")
    archived = text(curator.get(f"/p/test/facts/{fact.uid}"))
    assert buttons(archived) == ["Edit"]  # and Restore, the first of its two
    assert 'value="restore"' in archived.split('class="row actions"')[1].split("<details")[0]


def test_a_viewer_sees_no_button_and_is_refused(
    viewer: Client, curator: Client, actor: Actor, fact: Fact
) -> None:
    path = f"/p/test/facts/{fact.uid}"
    assert buttons(text(curator.get(path))) == [*BUTTONS, *MENU]
    assert buttons(text(viewer.get(path))) == []
    commit = Commit.objects.get()
    for answer in (
        *(act(viewer, fact, action) for action in ("verify", "invalidate", "archive", "restore", "unverify")),
        viewer.get(f"{path}/edit"),
        edit(viewer, fact, fact_text="mine"),
        edit(viewer, fact, "?as=new", fact_text="mine"),
        viewer.post(f"/p/test/undo/{commit.pk}"),
        viewer.post("/p/test/branches", {"name": "task/a", "parent": "main"}),
        viewer.get("/p/test/review"),
    ):
        assert answer.status_code == 403
    assert (Commit.objects.count(), now(fact, actor).version) == (1, 1)


@pytest.mark.parametrize("query", ["?at=1", "?branch=task/a"])
def test_nothing_can_be_changed_in_the_past_or_on_an_archived_branch(
    curator: Client, actor: Actor, fact: Fact, query: str
) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    BranchManager().archive_branch(name="task/a", actor=actor)
    assert buttons(text(curator.get(f"/p/test/facts/{fact.uid}{query}"))) == []


def test_what_is_sent_to_the_past_changes_nothing(curator: Client, actor: Actor, fact: Fact) -> None:
    for answer in (
        act(curator, fact, "verify", "?at=1"),
        curator.get(f"/p/test/facts/{fact.uid}/edit?at=1"),
        typed := edit(curator, fact, "?at=1", fact_text="two is kept"),
        edit(curator, fact, "?at=1&as=new", fact_text="two is kept"),
    ):
        assert (answer.status_code, "The past is only read" in text(answer)) == (409, True)
    assert "two is kept</textarea>" in text(typed)
    assert (now(fact, actor).version, Commit.objects.count()) == (1, 1)


def test_a_branch_that_was_archived_under_an_open_page(curator: Client, actor: Actor, fact: Fact) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    BranchManager().archive_branch(name="task/a", actor=actor)
    before = Commit.objects.count()
    for answer in (
        act(curator, fact, "verify", "?branch=task/a"),
        typed := edit(curator, fact, "?branch=task/a", fact_text="two is kept"),
    ):
        assert (answer.status_code, "is archived and takes no writes" in text(answer)) == (409, True)
    assert "two is kept</textarea>" in text(typed)
    assert Commit.objects.count() == before
