"""The frame of every project page: the user, the location, and refusals."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.exceptions import Invalid
from memory.templatetags.day1 import format_age
from memory.views.frame.navigation import SECTIONS, Section, add_section
from memory.views.frame.view_context import read_point, relocate
from tests.memory.views.conftest import browser, person


def text(answer) -> str:
    return answer.content.decode()


def get_page(client: Client, path: str) -> str:
    """Return the text of a page that is there."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return text(answer)


def test_where_one_is_stands_in_the_bar(viewer: Client, actor: Actor, project) -> None:
    BranchManager().create_branch(name="task/tags", actor=actor)
    page = text(viewer.get("/p/test/?branch=task/tags"))
    assert "You are on the branch task/tags: what is changed here is not on main." in page
    assert 'class="bar elsewhere"' in page
    assert 'href="/p/test/?branch=task%2Ftags" data-letter="h"' in " ".join(page.split())


def test_the_past_is_said_in_words(viewer: Client, actor: Actor) -> None:
    FactEngine().write_fact(fact_text="Deploys run from main.", actor=actor)
    now = timezone.now().strftime("%Y-%m-%d %H:%M")
    page = text(viewer.get("/p/test/?at=1"))
    assert f"You are reading main as it was at commit 1 of {now}"[:-3] in page
    assert 'class="bar past"' in page
    assert "before its first commit" in text(viewer.get("/p/test/?at=2020-01-01"))
    assert "Nothing can be changed" not in text(viewer.get("/p/test/"))


def test_an_archived_branch_is_said_in_words(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/old", actor=actor)
    BranchManager().archive_branch(name="task/old", actor=actor)
    answer = viewer.get("/p/test/?branch=task/old")
    assert (answer.status_code, "The branch task/old is archived" in text(answer)) == (200, True)


def test_who_is_not_logged_in_comes_back_after_the_login(client: Client, project) -> None:
    person("vera", project)
    answer = client.get("/p/test/?branch=main&at=1")
    assert answer.headers["Location"] == "/login?next=/p/test/%3Fbranch%3Dmain%26at%3D1"
    login = {"username": "vera", "password": "a long password", "next": "/p/test/?at=0"}
    assert client.post("/login", login).headers["Location"] == "/p/test/?at=0"


def test_a_script_that_asks_after_the_session_ran_out_brings_the_whole_page_to_the_login(
    client: Client, project
) -> None:
    page = "http://testserver/p/test/?at=1"
    answer = client.get("/p/test/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (200, "/login?next=/p/test/%3Fat%3D1")
    for page in ("http://[x", "https://evil.example//x", "http://testserver//evil.example/x"):
        answer = client.get("/p/test/", headers={"HX-Request": "true", "HX-Current-URL": page})
        assert (answer.status_code, answer.headers["HX-Redirect"]) == (200, "/login?next=/")


def test_a_form_that_is_sent_after_the_session_ran_out_leads_back_to_its_page(
    client: Client, project
) -> None:
    page = "http://testserver/p/test/?at=1"
    answer = client.post("/p/test/", headers={"Referer": page})
    assert answer.headers["Location"] == "/login?next=/p/test/%3Fat%3D1"
    evil = client.post("/p/test/", headers={"Referer": "https://evil.example/x"})
    assert evil.headers["Location"] == "/login?next=/"


@pytest.mark.parametrize("script", [{}, {"HX-Request": "true"}])
def test_a_form_that_is_out_of_date_leads_back_to_its_page(viewer: Client, script: dict[str, str]) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = viewer.cookies
    sent = {"Referer": "http://testserver/p/test/branches?archived=true", **script}
    answer = strict.post("/p/test/branches", {"name": "task/late"}, headers=sent)
    back = answer.headers.get("Location") or answer.headers["HX-Redirect"]
    assert back == "/p/test/branches?archived=true"
    page = text(strict.get(back))
    assert ('class="toast warning" data-again' in page, "task/late" in page) == (True, False)
    assert "The form was out of date, so nothing was sent" in page


@pytest.mark.parametrize(
    "page",
    ["https://evil.example/p/test/branches", "http://testserver/login", "http://testserver//evil.example/x"],
)
def test_a_form_from_elsewhere_is_refused_and_the_login_leads_nowhere(viewer: Client, page: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/login", {"username": "vera"}, headers={"Referer": page})
    assert (answer.status_code, "This form is out of date" in text(answer)) == (403, True)


def test_a_superuser_without_membership_sees_no_project(admin_client: Client, project) -> None:
    assert admin_client.get("/p/test/").status_code == 404
    page = text(admin_client.get("/"))
    assert ("You belong to no project yet." in page, "Test" in page) == (True, False)


def test_who_belongs_to_nothing_is_told_whom_to_ask(project) -> None:
    page = text(browser(person("nora")).get("/"))
    assert "Ask a maintainer of the project, or whoever runs this server, to add you." in page


def test_the_start_page_leads_to_the_only_project(viewer: Client) -> None:
    assert viewer.get("/").headers["Location"] == "/p/test/"
    assert viewer.get("/p/test?at=1").headers["Location"] == "/p/test/?at=1"


def test_the_start_page_leads_to_the_project_that_was_open_last(project, other_project) -> None:
    user = person("both", project)
    user.memberships.create(project=other_project, role="viewer")
    both = browser(user)
    assert "Your projects" in text(both.get("/"))
    both.get("/p/other/")
    assert both.get("/").headers["Location"] == "/p/other/"


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("branch=task/none", 404, "There is no branch named task/none."),
        ("branch=%FF%00", 404, "There is no branch named"),
        ("at=yesterday", 400, "A time is written such as"),
        ("at=99", 400, "main has the seqs 0 to 0."),
        ("at=0001-01-01T00:00%2B14:00", 400, "A time is written such as"),
        ("at=9999-12-31T23:59-12:00", 400, "A time is written such as"),
        ("at=0192a000-0000-7000-8000-000000000000", 404, "There is no commit or snapshot with this id"),
    ],
)
def test_a_place_that_is_not_there(viewer: Client, query: str, status: int, words: str) -> None:
    answer = viewer.get(f"/p/test/?{query}")
    assert (answer.status_code, words in text(answer)) == (status, True)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("", None),
        ("12", 12),
        ("2026-05-01", datetime(2026, 5, 1, 23, 59, 59, 999999, UTC)),
        ("2026-05-01T12:00", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T12:00+02:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
    ],
)
def test_points_in_time(said: str, meant: object) -> None:
    assert read_point(said) == meant


def test_a_point_that_is_none() -> None:
    with pytest.raises(Invalid):
        read_point("last week")


def test_the_forms_of_the_bar_keep_filters_and_page(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)

    def gone(**words: str) -> str:
        return viewer.get("/p/test/go", words).headers["Location"]

    assert gone(page="/p/test/?q=x&cursor=abc&at=3", branch="task/a") == "/p/test/?q=x&branch=task%2Fa"
    assert viewer.get("/p/test/go", {"page": "/p/test/", "branch": "task/none"}).status_code == 404
    assert gone(page="/p/test/help", at="2026-05-01T12:00") == "/p/test/help?at=2026-05-01T12%3A00"
    assert gone(page="https://evil.example/") == "/p/test/"
    assert gone(page="/p/test/no/such/page", branch="task/a") == "/p/test/?branch=task%2Fa"


def test_moving_to_main_leaves_the_word_out() -> None:
    assert relocate("/p/test/?branch=task/a&q=1", branch="main", at="") == "/p/test/?q=1"


def test_two_sections_never_want_one_letter() -> None:
    letters = [section.letter for section in SECTIONS if section.letter]
    assert len(set(letters)) == len(letters)
    with pytest.raises(ValueError, match="taken"):
        add_section(Section("other", "Other", "home", "h"))


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=30), "2026-04-29 18:00"),
        (timedelta(hours=5, minutes=59), "5 h ago"),
        (timedelta(days=8), "2026-04-23 00:00"),
        (timedelta(days=-2), "2026-05-03 00:00"),
    ],
)
def test_how_long_ago(passed: timedelta, words: str) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert format_age(now - passed, now) == words


def test_the_theme_is_remembered(viewer: Client) -> None:
    for chosen, said in (("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')):
        answer = viewer.post("/theme", {"theme": chosen}, headers={"Referer": "http://testserver/account"})
        assert answer.headers["Location"] == "/account"
        assert said in text(viewer.get("/p/test/"))
    viewer.post("/theme", {"theme": "<script>"})
    assert "data-theme" not in text(viewer.get("/p/test/"))
    assert viewer.get("/theme").status_code == 405


def test_the_password_can_be_changed(project) -> None:
    user = person("vera", project)
    one, other = browser(user), browser(user)
    new = {"old_password": "a long password", "new_password1": "quite another one", "new_password2": "x"}
    assert "didn’t match" in text(one.post("/account/password", new))
    answer = one.post("/account/password", {**new, "new_password2": "quite another one"}, follow=True)
    assert "The password was changed." in text(answer)
    assert other.get("/p/test/").status_code == 302


def test_logging_out_ends_the_session(viewer: Client) -> None:
    assert viewer.post("/logout").headers["Location"] == "/login"
    assert viewer.get("/p/test/").status_code == 302


def test_pages_are_not_kept_by_anybody_between(viewer: Client) -> None:
    assert viewer.get("/p/test/").headers["Cache-Control"] == "private, no-cache"


def test_an_inactive_person_sees_nothing(project) -> None:
    user = person("gone", project)
    client = browser(user)
    user.is_active = False
    user.save()
    assert client.get("/p/test/").status_code == 302


# ---- pages that read themselves again -----------------------------------------------------------------


def find_stream(client: Client, address: str, **query: str) -> str:
    found = re.search(r'data-live="([^"]*)"', client.get(address, query).content.decode())
    return html.unescape(found[1]).rpartition("after=")[0] if found else ""


def test_a_page_follows_its_branch_or_where_it_shows_all_the_project(viewer: Client) -> None:
    start, stream = "/p/test", "/live/test/changes?"
    assert find_stream(viewer, f"{start}/facts") == f"{stream}branch=main&"
    for name in ("", "activity", "sessions", "tasks"):
        assert find_stream(viewer, f"{start}/{name}") == stream
    assert find_stream(viewer, f"{start}/facts", at="0") == ""


def test_what_was_typed_into_a_refused_form_is_not_read_over(curator: Client) -> None:
    refused = curator.post("/p/test/tasks", {"name": "", "description": "Typed for long."})
    assert refused.status_code == 400
    page = refused.content.decode()
    assert "Typed for long." in page
    assert "data-live=" not in page
