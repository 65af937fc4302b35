"""The second factor: set up, asked for, required by a project, and what a lost device does."""

import re
import time
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from day1site.cli import main as run_command
from memory.engines.access import second_factors
from memory.engines.access.second_factors import FACTOR, SecondFactorEngine, build_code, make_secret
from memory.exceptions import Conflict, Invalid, RateLimited
from memory.models import AuditEntry, Connection, Membership, Project, SecondFactor
from memory.views.frame.view_context import COUNTERS, REVIEW
from tests.access.oauth_program import BASE, Program
from tests.access.test_oidc import log_in, oidc, running, server
from tests.memory.api.client import api_for, nothing_left
from tests.memory.views.conftest import browser, person

__all__ = ["oidc", "running", "server"]
pytestmark = pytest.mark.django_db(transaction=True)
ENGINE = SecondFactorEngine()
PAGE, PASSWORD = "/account/second-factor", {"username": "vera", "password": "a long password"}
NOW = 1_900_000_000


@pytest.fixture(autouse=True)
def begin() -> None:
    cache.clear()  # the rate of codes


@pytest.fixture
def vera(project: Project) -> Any:
    return person("vera", project, Membership.Role.CURATOR)


def show_code(secret: str) -> str:
    return build_code(secret, int(time.time()) // 30)


def text(answer: Any) -> str:
    return answer.content.decode()


def set_up(user: Any) -> tuple[str, list[str]]:
    """Give a user a factor, whose code of this half minute is used up."""
    secret = make_secret()
    return secret, ENGINE.add_factor(user=user, secret=secret, code=show_code(secret))


def test_codes_are_those_of_the_standard() -> None:
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # RFC 6238, appendix B
    for moment, code in ((59, "287082"), (1111111109, "081804"), (20000000000, "353130")):
        assert build_code(secret, moment // 30) == code


def test_a_code_works_once_and_near_its_time(vera: Any) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        secret, recovery = set_up(vera)
        stored = SecondFactor.objects.get()
        assert secret not in stored.secret
        assert not set(recovery) & set(stored.recovery_hashes)
        for code in (show_code(secret), "000000", "", "é", recovery[0][:-1]):
            cache.clear()
            with pytest.raises(Invalid, match="not right"):
                ENGINE.check_code(user=vera, code=code)
        clock.shift(60)
        cache.clear()
        assert ENGINE.check_code(user=vera, code=f" {show_code(secret)[:3]} {show_code(secret)[3:]}") is None
        clock.shift(60)
        late = show_code(secret)
        clock.shift(60)
        with pytest.raises(Invalid):
            ENGINE.check_code(user=vera, code=late)
        assert ENGINE.check_code(user=vera, code=recovery[0].upper()) is None
        with pytest.raises(Invalid):
            ENGINE.check_code(user=vera, code=recovery[0])
        with pytest.raises(Conflict), nothing_left():
            ENGINE.add_factor(user=vera, secret=secret, code=show_code(secret))
    actions = AuditEntry.objects.filter(action__startswith="second_factor").values_list("action", flat=True)
    assert set(actions) == {"second_factor.add", "second_factor.failed", "second_factor.recovery"}


def test_who_guesses_codes_is_slowed_down(vera: Any) -> None:
    with time_machine.travel(NOW, tick=False):
        secret, _ = set_up(vera)
        for _turn in range(4):
            with pytest.raises(Invalid):
                ENGINE.check_code(user=vera, code="1")
        with pytest.raises(RateLimited):
            ENGINE.check_code(user=vera, code=show_code(secret))


def test_after_a_day_of_guesses_a_recovery_code_alone_is_taken(
    vera: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_factors, "MAX_WRONG", 3)
    monkeypatch.setattr(second_factors, "TRIES", 100)
    with time_machine.travel(NOW, tick=False) as clock:
        secret, recovery = set_up(vera)
        for words in ("not right", "not right", "3 wrong codes within a day"):
            with pytest.raises(Invalid, match=words):
                ENGINE.check_code(user=vera, code="1")
        clock.shift(60)
        with pytest.raises(Invalid, match="a recovery code alone"):
            ENGINE.check_code(user=vera, code=show_code(secret))
        ENGINE.check_code(user=vera, code=recovery[0])
        other = person("olga", Project.objects.get(slug="test"), Membership.Role.CURATOR)
        its, _ = set_up(other)
        clock.shift(60)
        ENGINE.check_code(user=other, code=show_code(its))
        clock.shift(second_factors.DAY_SECONDS)
        ENGINE.check_code(user=vera, code=show_code(secret))


def test_the_login_asks_for_it(vera: Any) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        secret, _ = set_up(vera)
        clock.shift(60)
        client = Client()
        answer = client.post("/login?next=/p/test/facts", {**PASSWORD, "next": "/p/test/facts"})
        assert (answer.status_code, answer["Location"]) == (302, "/login/code")
        assert client.get("/p/test/facts").status_code == 302  # not logged in
        assert AuditEntry.objects.filter(action="login").count() == 0
        wrong = client.post("/login/code", {"code": "1"})
        assert (wrong.status_code, "This code is not right." in text(wrong)) == (400, True)
        assert client.post("/login/code", {"code": show_code(secret)})["Location"] == "/p/test/facts"
        assert client.get("/p/test/facts").status_code == 200
        assert AuditEntry.objects.get(action="login").target == "vera"
        assert Client().get("/login/code")["Location"] == "/login"


def test_the_first_step_of_a_login_ends(vera: Any) -> None:
    """After ten minutes, with the password, and with the account."""
    with time_machine.travel(NOW, tick=False) as clock:
        secret, _ = set_up(vera)
        for end in ("time", "password", "account", ""):
            client = Client()
            client.get("/login")
            client.session["planted"] = "x"
            planted = client.cookies.get("sessionid")
            client.post("/login", PASSWORD)
            assert client.cookies["sessionid"] != planted  # who knew it before has typed no password
            clock.shift(660 if end == "time" else 60)
            cache.clear()
            if end == "password":
                vera.set_password("another long password")
            vera.is_active = end != "account"
            vera.save()
            code = {"code": show_code(secret)}
            assert client.post("/login/code", code)["Location"] == ("/login" if end else "/")
            vera.set_password(PASSWORD["password"])
            vera.is_active = True
            vera.save()
    assert AuditEntry.objects.filter(action="login").count() == 1


def test_who_showed_none_connects_no_program(vera: Any, project: Project, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "oauth": True}
    program = Program(browser(vera))
    Project.objects.filter(pk=project.pk).update(require_second_factor=True)
    form = {"project": "test", "rights": "read"}
    for resource in (f"{BASE}/mcp", f"{BASE}/mcp/test"):
        address = program.build_url(resource=resource)
        shown = program.browser.get(address)
        assert shown["Location"].startswith(f"{PAGE}?next=/oauth/authorize%3F")
        assert program.browser.post(address, form)["Location"].startswith(PAGE)
    assert Connection.objects.count() == 0
    session = program.browser.session
    session[FACTOR] = True
    session.save()
    program.connect({"rights": "read"})
    assert Connection.objects.count() == 1


def test_the_admin_counts_nothing_of_a_project_that_requires_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COUNTERS, REVIEW, lambda actor, branch: "37")
    boss = person("boss", project, Membership.Role.OWNER)
    boss.is_superuser = boss.is_staff = True
    boss.save()
    client, page = browser(boss), "/admin/auth/user/"
    assert ">37<" in text(client.get(page))
    Project.objects.filter(pk=project.pk).update(require_second_factor=True)
    shown = client.get(page)
    assert (shown.status_code, ">37<" in text(shown)) == (200, False)
    assert client.get(f"/admin/p/{project.slug}/facts")["Location"].startswith(PAGE)


def test_a_project_requires_it(vera: Any, project: Project) -> None:
    boss = browser(person("max", project, Membership.Role.OWNER))
    client, key = browser(vera), api_for(project)
    assert client.get("/p/test/facts").status_code == 200
    form = {"require_second_factor": "on"}
    assert boss.post("/p/test/members/second-factor", form).status_code == 302
    assert Project.objects.get(pk=project.pk).require_second_factor
    for who in (boss, client):
        for page in ("/p/test/facts?q=x", "/p/test/members"):
            answer = who.get(page)
            assert answer.status_code == 302
            assert answer["Location"].startswith(f"{PAGE}?next=/p/test/")
    assert key.get("/facts").status_code == 200  # keys are not touched
    page = text(client.get(f"{PAGE}?next=/p/test/facts"))
    found = re.search(r'id="secret" value="(\w+)"', page)
    assert found
    assert '<img src="data:image/svg+xml;' in page
    done = client.post(f"{PAGE}?next=/p/test/facts", {"code": show_code(found[1])})
    assert (done.status_code, done["Cache-Control"]) == (201, "private, no-store")
    assert len(re.findall(r"\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b", text(done))) == 10
    assert 'href="/p/test/facts"' in text(done)
    assert client.get("/p/test/facts").status_code == 200
    other = browser(vera)  # a login that showed none
    assert other.get("/p/test/facts")["Location"] == f"{PAGE}?next=/p/test/facts"
    assert "Type a code of your authenticator" in text(other.get(PAGE))
    assert "evil" not in other.get(f"{PAGE}?next=https://evil.example").content.decode()


def test_a_lost_device(vera: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, recovery = set_up(vera)
    client = Client()
    client.post("/login", PASSWORD)
    assert client.post("/login/code", {"code": recovery[3]})["Location"] == "/"
    assert "and 9 recovery codes" in text(client.get(PAGE))
    assert run_command(["user", "reset-second-factor", "vera"]) == 0
    assert capsys.readouterr().out == "vera\tno second factor\n"
    assert run_command(["user", "reset-second-factor", "vera"]) == 1
    assert run_command(["user", "reset-second-factor", "nobody"]) == 1
    assert Client().post("/login", PASSWORD)["Location"] == "/"
    assert AuditEntry.objects.get(action="second_factor.reset").target == "vera"


def test_it_is_taken_away_with_a_code(vera: Any) -> None:
    _, recovery = set_up(vera)
    client = Client()
    client.post("/login", PASSWORD)
    client.post("/login/code", {"code": recovery[0]})
    assert client.post(PAGE, {"do": "remove", "code": "1"}).status_code == 400
    assert SecondFactor.objects.exists()
    assert client.post(PAGE, {"do": "remove", "code": recovery[1]})["Location"] == "/account"
    assert not SecondFactor.objects.exists()


def test_another_secret_key(vera: Any, settings: Any) -> None:
    set_up(vera)
    settings.SECRET_KEY = "another"
    with pytest.raises(Conflict, match="secret key of this server was changed"):
        ENGINE.check_code(user=vera, code="123456")


def test_the_provider_asked_for_it(oidc: Any, server: Any, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(require_second_factor=True)
    for methods, status in ((["pwd"], 302), (["pwd", "mfa"], 200), ("mfa", None), (None, 302)):
        server.person["amr"] = methods
        client = Client()
        answer = log_in(client)
        if status is None:
            assert answer.status_code == 401  # no list
        else:
            assert client.get("/p/test/facts").status_code == status


def test_who_comes_from_the_provider_is_asked_for_it(oidc: Any, server: Any, project: Project) -> None:
    """The login is in the trail once, when the code was right."""
    log_in()
    _, recovery = set_up(User.objects.get(username="anna"))
    logins = AuditEntry.objects.filter(action="login")
    logins.delete()
    client = Client()
    assert log_in(client, "/login/oidc?next=/p/test/facts")["Location"] == "/login/code"
    assert (client.get("/p/test/facts").status_code, logins.count()) == (302, 0)
    assert client.post("/login/code", {"code": recovery[0]})["Location"] == "/p/test/facts"
    assert client.get("/p/test/facts").status_code == 200
    told = logins.get()
    assert (told.target, told.detail) == ("anna", {"address": "127.0.0.1", "provider": server.issuer})
