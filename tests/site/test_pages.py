import gzip
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.exceptions import SuspiciousOperation
from django.test import Client, override_settings

from day1site import __version__, account_views, error_views
from day1site.api_router import router
from day1site.settings.env import allowed_hosts
from memory.db.errors import CommitLost, DatabaseAway
from tests.memory.api.client import refused

ROOT = Path(__file__).resolve().parents[2]
RESOURCES = [name for name, view, _ in router.registry if hasattr(view, "list") and name != "health"]


class Loaded(HTMLParser):
    """Parser that collects what a page loads or runs."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses, self.inline = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        attrs = dict(attrs)
        self.addresses += [attrs[name] for name in ("src", "href", "action") if name in attrs]
        if tag == "style" or (tag == "script" and "src" not in attrs):
            self.inline.append(tag)
        self.inline += [name for name in attrs if name == "style" or name.startswith("on")]


def look(text: str) -> Loaded:
    return Loaded(text)


@pytest.mark.django_db
def test_the_start_page_asks_who_is_there(client: Client) -> None:
    answer = client.get("/", follow=True)
    assert answer.redirect_chain == [("/login?next=/", 302)]
    assert {"/api/v1/docs", "/api/v1/health", "/help"} <= set(look(answer.content.decode()).addresses)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login", "/help", "/nothing/here"])
def test_pages_load_nothing_from_elsewhere_and_run_nothing_inline(client: Client, path: str) -> None:
    answer = client.get(path)
    loaded = look(answer.content.decode())
    assert loaded.inline == []
    assert [address for address in loaded.addresses if not re.match(r"#|/(?!/)", address)] == []
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert "unsafe" not in answer["Content-Security-Policy"]


@pytest.mark.django_db
def test_static_files_are_served_by_the_process_itself(client: Client) -> None:
    for path in ("tokens.css", "frame.css", "day1.css", "forms.css", "icon.svg", "icons.svg", "js/day1.js"):
        assert client.get(f"/static/day1/{path}").status_code == 200


@pytest.mark.django_db
def test_styles_are_sent_compressed_to_who_takes_that_and_pages_never(client: Client) -> None:
    plain, packed = (
        client.get("/static/unfold/css/styles.css", headers={"accept-encoding": coding})
        for coding in ("identity", "gzip, br")
    )
    sent = b"".join(packed.streaming_content)
    assert (packed["Content-Encoding"], "Content-Encoding" in plain) == ("gzip", False)
    assert gzip.decompress(sent) == b"".join(plain.streaming_content)
    assert len(sent) < 60_000
    since = {"accept-encoding": "gzip", "if-modified-since": packed["Last-Modified"]}
    again = client.get("/static/unfold/css/styles.css", headers=since)
    assert (again.status_code, "Content-Encoding" in again) == (304, False)
    assert "Content-Encoding" not in client.get("/login", headers={"accept-encoding": "gzip"})


def test_an_unknown_page_is_a_page_and_an_unknown_route_of_the_api_a_problem(client: Client) -> None:
    page, route = client.get("/nothing"), client.get("/api/v1/nothing")
    assert (page.status_code, "There is no page" in page.content.decode()) == (404, True)
    assert (route.status_code, route["Content-Type"]) == (404, "application/problem+json")
    assert route.json()["code"] == "not_found"


def test_the_admin_is_found_without_its_last_slash(client: Client) -> None:
    answer = client.get("/admin?next=1")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/?next=1")


def test_the_address_that_up_prints_tells_where_everything_is() -> None:
    for path in ("/api/v1/", "/api/v1"):
        answer = Client().get(path, headers={"Authorization": "Bearer no-key"})
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
        told = answer.json()
        assert told == {
            "name": "Day1",
            "version": __version__,
            "docs": "/api/v1/docs",
            "schema": "/api/v1/schema",
            "health": "/api/v1/health",
            "resources": {name: f"/api/v1/{name}" for name in RESOURCES},
        }
    assert refused(Client().post("/api/v1/"), 405, "method_not_allowed")
    assert refused(Client().get("/api/v1/?x=1"), 400, "unknown_field", "x")


@pytest.mark.django_db
def test_every_address_of_the_index_answers(client: Client) -> None:
    told = client.get("/api/v1/").json()
    assert {client.get(told[name]).status_code for name in ("docs", "schema", "health")} == {200}
    for address in told["resources"].values():
        refused(client.get(address), 401, "unauthenticated")


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1/nothing", "/api/v2/facts"])
def test_an_unknown_address_of_the_api_says_where_to_look(path: str) -> None:
    assert "GET /api/v1/ " in refused(Client().get(path), 404, "not_found")["detail"]


def test_the_admin_is_found_without_its_slash(client: Client) -> None:
    answer = client.get("/admin?next=x")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/?next=x")


def test_the_version_is_that_of_the_package() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert told["project"]["version"] == __version__


def test_a_failure_is_a_page_that_needs_no_database(client: Client, monkeypatch) -> None:
    client.raise_request_exception = False
    monkeypatch.setattr(account_views.Login, "get", fail)
    answer = client.get("/login")
    assert (answer.status_code, "Something went wrong" in answer.content.decode()) == (500, True)


@pytest.mark.parametrize(
    ("error", "told"),
    [(DatabaseAway(2003), "Try again in a moment."), (CommitLost(), "which may have happened or not")],
)
def test_a_database_that_went_away_is_told(client: Client, monkeypatch, error: Exception, told: str) -> None:
    def away(*args: object) -> bool:
        raise error

    monkeypatch.setattr(account_views.Login, "get", away)
    answer = client.get("/login")
    assert (answer.status_code, told in answer.content.decode()) == (503, True)


def fail(*args: object) -> bool:
    raise RuntimeError("for a test")


def test_a_failure_of_the_api_is_a_problem_without_details(rf) -> None:
    answer = error_views.server_error(rf.get("/api/v1/facts"))
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")


@override_settings(ALLOWED_HOSTS=allowed_hosts("127.0.0.1", []))
def test_a_request_by_another_name_is_refused(client: Client) -> None:
    assert client.get("/nothing", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/nothing", headers={"host": "localhost:8765"}).status_code == 404
    answer = client.get("/api/v1/health", headers={"host": "evil.example"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert (answer.json()["code"], "DAY1_ALLOWED_HOSTS" in answer.json()["detail"]) == ("invalid", True)


def test_other_refusals_of_django_are_problems_in_the_api_too(rf) -> None:
    route, page = (
        error_views.bad_request(rf.get(path), SuspiciousOperation("x")) for path in ("/api/v1/x", "/x")
    )
    assert (route.status_code, route["Content-Type"]) == (400, "application/problem+json")
    assert "Host" not in route.content.decode()
    assert (page.status_code, page["Content-Type"].split(";")[0]) == (400, "text/html")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_an_unknown_route_is_a_problem_by_every_method(method: str) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, "/api/v2/facts")
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "not_found"


def test_the_admin_has_the_schedules_that_are_used(admin_client: Client) -> None:
    page = admin_client.get("/admin/").content.decode()
    assert ("Django administration" in page, "Day1" in page) == (False, True)
    links = look(page).addresses
    assert "/admin/django_celery_beat/periodictask/" in links
    assert {link for link in links if "clocked" in link or "solar" in link} == set()


@pytest.mark.parametrize(
    ("host", "others", "names"),
    [
        ("127.0.0.1", [], ["localhost", "127.0.0.1", "[::1]"]),
        ("10.0.0.5", ["day1.lan"], ["localhost", "127.0.0.1", "[::1]", "10.0.0.5", "day1.lan"]),
        ("fd00::5", [], ["localhost", "127.0.0.1", "[::1]", "[fd00::5]"]),
        ("", ["day1.lan"], ["localhost", "127.0.0.1", "[::1]", "day1.lan"]),
        ("0.0.0.0", [], ["*"]),
        ("::", [], ["*"]),
    ],
)
def test_allowed_hosts(host, others, names) -> None:
    assert allowed_hosts(host, others) == names
