"""Login by a provider in this process: who is let in, what groups give, and what is refused."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.test.utils import override_script_prefix

from day1site.settings.env import Env
from day1site.settings.oidc import Oidc, check_roles, read_oidc, read_password_login
from memory.actors import local_actor
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.access.members import MemberEngine, build_member_actor
from memory.exceptions import Conflict
from memory.models import ApiKey, AuditEntry, ExternalLogin, Membership, Project
from memory.models.audit import ServerEntry
from tests.access.oidc_server import CLIENT, SECRET, OidcServer, make_key
from tests.memory.views.conftest import browser, person

pytestmark = pytest.mark.django_db(transaction=True)
Role = Membership.Role
GROUPS = {
    "readers": (("test", "viewer"),),
    "curators": (("test", "curator"),),
    "chiefs": (("test", "owner"),),
    "both": (("test", "curator"), ("other", "maintainer"), ("gone", "viewer")),
}


@pytest.fixture(scope="module")
def running() -> Iterator[OidcServer]:
    with OidcServer() as server:
        yield server


@pytest.fixture
def server(running: OidcServer) -> OidcServer:
    """Return the provider as it is at first, for a person of the group readers."""
    fresh = OidcServer()
    for name in ("person", "keys", "signing_key", "token", "userinfo", "document", "answer", "is_away"):
        setattr(running, name, getattr(fresh, name))
    running.asked.clear()
    cache.clear()  # the rate of logins
    running.person["groups"] = ["readers"]
    return running


@pytest.fixture
def oidc(server: OidcServer, settings: Any) -> Any:
    def change(**changes: Any) -> None:
        usual = {"issuer": server.issuer, "client_id": CLIENT, "client_secret": SECRET, "name": "Acme"}
        settings.OIDC = Oidc(**{**usual, "group_roles": GROUPS, **changes})

    change()
    return change


def go_to_provider(client: Client, address: str = "/login/oidc") -> str:
    """Follow the way to the provider and back; return the address to which it sends the browser."""
    begun = client.get(address)
    assert begun.status_code == 302, begun.content
    parts = urlsplit(begun["Location"])
    http = HTTPConnection(str(parts.hostname), int(parts.port or 80))
    http.request("GET", f"{parts.path}?{parts.query}")
    back = http.getresponse().headers["Location"]
    http.close()
    assert back.startswith("http://testserver/login/oidc/callback?"), back
    return back.removeprefix("http://testserver")


def log_in(client: Client | None = None, address: str = "/login/oidc") -> Any:
    client = client or Client()
    return client.get(go_to_provider(client, address))


def list_roles(name: str = "anna") -> dict[str, str]:
    rows = Membership.objects.filter(user__username=name).values_list("project__slug", "role")
    return dict(rows)


def said(answer: Any) -> str:
    return answer.content.decode().replace("&#x27;", "'").replace("&quot;", '"')


def test_without_a_provider_there_is_nothing(client: Client) -> None:
    assert "oidc" not in client.get("/login").content.decode()
    assert client.get("/login/oidc").status_code == 404
    assert client.get("/login/oidc/callback?code=x&state=y").status_code == 404


def test_a_person_of_a_group_logs_in(oidc: Any, server: OidcServer, project: Project) -> None:
    client = Client()
    page = client.get("/login?next=/p/test/facts").content.decode()
    assert 'href="/login/oidc?next=%2Fp%2Ftest%2Ffacts"' in page
    assert "Log in with Acme" in page
    answer = log_in(client, "/login/oidc?next=/p/test/facts")
    assert (answer.status_code, answer["Location"]) == (302, "/p/test/facts")
    assert client.get("/p/test/facts").status_code == 200
    user = User.objects.get(username="anna")
    assert (user.has_usable_password(), list_roles()) == (False, {"test": "viewer"})
    asked = server.asked[0]
    assert (asked["scope"], asked["code_challenge_method"]) == ("openid profile email", "S256")
    told = AuditEntry.objects.filter(action="login").get()
    assert (told.target, told.actor_id, told.detail["provider"]) == ("anna", str(user.pk), server.issuer)
    log_in()
    assert (User.objects.count(), ExternalLogin.objects.count()) == (1, 1)


def test_below_a_path(oidc: Any, server: OidcServer, project: Project) -> None:
    with override_script_prefix("/tools/day1/"):
        page, begun = Client().get("/login"), Client().get("/login/oidc?next=/tools/day1/p/test/facts")
    assert 'href="/tools/day1/login/oidc"' in said(page)
    back = parse_qs(urlsplit(begun["Location"]).query)["redirect_uri"]
    assert back == ["http://testserver/tools/day1/login/oidc/callback"]
    assert {cookie["path"] for cookie in begun.cookies.values()} == {"/tools/day1/"}


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x"]
)
def test_nobody_is_led_elsewhere(oidc: Any, project: Project, elsewhere: str) -> None:
    assert log_in(address=f"/login/oidc?next={elsewhere}")["Location"] == "/"


def test_groups_give_and_take_roles_and_leave_what_people_gave(
    oidc: Any, server: OidcServer, project: Project, other_project: Project
) -> None:
    chief = local_actor(project.pk)
    person("boss", project, Role.OWNER)
    person("otto", other_project, Role.OWNER)
    for groups, roles in (
        (["readers"], {"test": "viewer"}),
        (["both", "readers"], {"test": "curator", "other": "maintainer"}),
        (["curators"], {"test": "curator"}),
        ([], {}),
        ("readers", {"test": "viewer"}),
    ):
        server.person["groups"] = groups
        log_in()
        assert list_roles() == roles, groups
    member = Membership.objects.get(user__username="anna")
    engine = MemberEngine()
    engine.change_role(member_id=member.pk, role="maintainer", actor=chief)
    server.person["groups"] = ["curators"]
    log_in()
    assert list_roles() == {"test": "maintainer"}  # the wider of the two
    with pytest.raises(Conflict, match="Groups at the login provider give anna the role curator"):
        engine.change_role(member_id=member.pk, role="viewer", actor=chief)
    server.person["groups"] = []
    log_in()
    assert list_roles() == {"test": "maintainer"}
    member.refresh_from_db()
    assert (member.group_role, member.given_role) == ("", "")


def test_what_was_made_ends_with_the_group(oidc: Any, server: OidcServer, project: Project) -> None:
    person("boss", project, Role.OWNER)
    server.person["groups"] = ["chiefs"]
    log_in()
    member = Membership.objects.get(user__username="anna")
    actor = build_member_actor(member, member.user, "web")
    key, _ = KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    server.person["groups"] = []
    client = Client()
    assert log_in(client)["Location"] == "/"
    assert (list_roles(), ApiKey.objects.get(pk=key.pk).ended) == ({}, True)
    assert client.get("/p/test/").status_code == 404


def test_the_last_owner_is_not_taken_away_by_a_group(
    oidc: Any, server: OidcServer, project: Project, caplog: Any
) -> None:
    server.person["groups"] = ["chiefs"]
    log_in()
    server.person["groups"] = ["readers"]
    log_in()
    assert list_roles() == {"test": "owner"}
    kept = AuditEntry.objects.get(action="member.keep")
    assert kept.detail == {"role": "viewer", "reason": "anna is the last owner of the project."}
    assert "anna is the last owner" in caplog.text
    person("boss", project, Role.OWNER)
    log_in()
    assert list_roles() == {"test": "viewer"}


def test_a_full_project_lets_nobody_in_and_keeps_nobody_out(
    oidc: Any, project: Project, other_project: Project, server: OidcServer
) -> None:
    Project.objects.filter(pk=project.pk).update(member_limit=0)
    server.person["groups"] = ["both"]
    assert log_in().status_code == 302
    assert list_roles() == {"other": "owner"}  # the first maintainer of a project


def test_groups_that_are_not_told_change_nothing(oidc: Any, server: OidcServer, project: Project) -> None:
    log_in()
    del server.person["groups"]
    server.person["_claim_names"] = {"groups": "src1"}  # Entra, of who is in more than 200
    log_in()
    assert list_roles() == {"test": "viewer"}
    oidc(groups_claim="realm_access.roles")
    server.person["realm_access"] = {"roles": ["curators"]}
    log_in()
    assert list_roles() == {"test": "curator"}


def test_five_thousand_groups_and_hostile_ones(oidc: Any, server: OidcServer, project: Project) -> None:
    hostile = ["<script>", "test:owner", "\0", "‮", "chiefs ", "CHIEFS", "x" * 9000, None, 7, {"a": 1}]
    server.person["groups"] = [*(f"group-{n:032}" for n in range(5000)), *hostile, "curators"]
    assert log_in().status_code == 302
    assert list_roles() == {"test": "curator"}


@pytest.mark.parametrize(
    ("name", "email", "expected"),
    [
        ("anna", "", "anna"),
        ("", "anna@acme.example", "anna@acme.example"),
        ("<b>anna</b>", "anna@acme.example", "anna@acme.example"),
        ("аdmin", "", None),  # a Cyrillic letter
        ("anna\0", "", None),
        ("x" * 151, "", None),
        ("a b", "", None),
        (7, "", None),
        (["anna"], "", None),
        ("", "", None),
    ],
)
def test_names_that_are_none(
    oidc: Any, server: OidcServer, project: Project, name: Any, email: str, expected: str | None
) -> None:
    server.person |= {"preferred_username": name, "email": email, "email_verified": True}
    answer = log_in()
    names = list(User.objects.values_list("username", flat=True))
    assert names == ([expected] if expected else [])
    if not expected:
        assert (answer.status_code, "no name that an account can have" in said(answer)) == (409, True)


def test_without_a_group_nobody_gets_an_account(oidc: Any, server: OidcServer, project: Project) -> None:
    server.person["groups"] = ["strangers"]
    answer = log_in()
    assert (answer.status_code, "You have no account here" in said(answer)) == (403, True)
    refusal = ServerEntry.objects.get(action="login.failed")
    assert (refusal.target, refusal.detail["reason"][:24]) == ("", "You have no account here")
    oidc(create_users=True)
    assert log_in().status_code == 302
    assert (User.objects.get().username, list_roles()) == ("anna", {})


def test_who_was_invited_gets_an_account(oidc: Any, server: OidcServer, project: Project) -> None:
    actor = local_actor(project.pk)
    _, secret = InvitationEngine().create_invitation(role="curator", actor=actor)
    server.person["groups"] = []
    client = Client()
    assert log_in(client, f"/login/oidc?next=/join/{secret}")["Location"] == f"/join/{secret}"
    client.post(f"/join/{secret}")
    assert list_roles() == {"test": "curator"}
    server.person |= {"sub": "2", "preferred_username": "bert"}
    assert log_in(address=f"/login/oidc?next=/join/{secret}").status_code == 403  # it is used up


def test_who_exists_already_is_linked_if_the_operator_allows_it(
    oidc: Any, server: OidcServer, project: Project
) -> None:
    anna = person("anna", project, Role.CURATOR)
    User.objects.filter(pk=anna.pk).update(email="anna@acme.example")
    server.person |= {"email": "Anna@acme.example", "email_verified": True, "groups": []}
    for changes, claims in (
        ({}, {}),
        ({"create_users": True}, {}),
        ({"link_existing": True, "create_users": True}, {"email_verified": False}),
        ({"link_existing": True, "create_users": True}, {"email": "other@acme.example"}),
    ):
        oidc(**changes)
        server.token = claims
        server.userinfo = claims
        answer = log_in()
        assert answer.status_code == (409 if "create_users" in changes else 403)
        assert ExternalLogin.objects.count() == 0
    assert "There is an account anna here already" in said(answer)
    server.token = server.userinfo = {}
    User.objects.filter(pk=anna.pk).update(is_superuser=True)
    assert log_in().status_code == 409  # who keeps the server connects by hand
    User.objects.filter(pk=anna.pk).update(is_superuser=False)
    assert log_in().status_code == 302
    assert ExternalLogin.objects.get().user == anna
    assert list_roles() == {"test": "curator"}


def find_connect(client: Client) -> str:
    """Return the address behind Connect on the page of an account."""
    found = re.search(r'href="(/login/oidc\?connect=[^"]+)"', said(client.get("/account")))
    assert found
    return found[1]


def test_who_is_logged_in_connects_the_provider(oidc: Any, server: OidcServer, project: Project) -> None:
    anna, client = person("anna", project), browser(User.objects.get(username="anna"))
    assert "Connect Acme" in said(client.get("/account"))
    answer = log_in(client, find_connect(client))
    assert (answer["Location"], ExternalLogin.objects.get().user) == ("/account", anna)
    assert "Acme logs you in from now on." in said(client.get("/account"))
    other = browser(person("bert", project))
    answer = log_in(other, find_connect(other))
    assert (answer.status_code, "belongs to somebody else" in said(answer)) == (409, True)
    third = browser(person("carl", project))
    back = go_to_provider(third, find_connect(third))
    third.force_login(anna)  # another person than who began
    assert third.get(back).status_code == 401


def test_another_site_connects_nobody(oidc: Any, server: OidcServer, project: Project) -> None:
    """It could have logged the browser in at the provider as somebody else, and open any address here."""
    anna, bert = (browser(person(name, project)) for name in ("anna", "bert"))
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=11)):
        late = find_connect(anna)
    for address in ("/login/oidc", "/login/oidc?connect=x", find_connect(bert), late):
        answer = anna.get(address)
        assert (answer.status_code, answer["Location"]) == (302, "/account")
    assert (server.asked, ExternalLogin.objects.count()) == ([], 0)


def test_a_closed_account_stays_closed(oidc: Any, project: Project) -> None:
    log_in()
    User.objects.update(is_active=False)
    answer = log_in()
    assert (answer.status_code, "This account is closed." in said(answer)) == (409, True)


# ---- what providers do wrong -------------------------------------------------------------------------


def test_keys_are_changed_and_a_strange_one_is_refused(
    oidc: Any, server: OidcServer, project: Project
) -> None:
    assert log_in().status_code == 302
    server.keys.append(make_key("second"))  # both are told, the new one signs
    assert log_in().status_code == 302
    server.keys.pop(0)
    assert log_in().status_code == 302
    server.signing_key = make_key("strange")
    answer = log_in()
    assert (answer.status_code, "signed with a key that is none of its keys" in said(answer)) == (401, True)
    server.signing_key = make_key("second")  # the name of one, and another key
    answer = log_in()
    assert (answer.status_code, "not signed as it must be" in said(answer)) == (401, True)


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"iss": "https://evil.example"}, "iss"),
        ({"iss": None}, "iss"),
        ({"aud": "another"}, "aud"),
        ({"aud": ["another", "third"]}, "aud"),
        ({"aud": None}, "aud"),
        ({"azp": "another"}, "azp"),
        ({"exp": 1}, "expired"),
        ({"iat": None}, "iat"),
        ({"sub": None}, "sub"),
        ({"sub": 7}, "sub"),
        ({"sub": "2"}, "another person"),  # than userinfo
    ],
)
def test_a_token_that_is_not_for_this_login(
    oidc: Any, server: OidcServer, project: Project, claims: dict[str, Any], words: str
) -> None:
    server.token = claims
    answer = log_in()
    assert (answer.status_code, words in said(answer)) == (401, True), said(answer)
    assert User.objects.count() == 0
    assert words in ServerEntry.objects.get(action="login.failed").detail["reason"]


def test_tokens_without_a_signature_and_with_a_secret(
    oidc: Any, server: OidcServer, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for header in ({"alg": "none"}, {"alg": "HS256", "kid": "first"}, {"alg": "ES256"}):
        forged = ".".join(encode(part) for part in (header, {"sub": "1"})) + "." + "AAAA"
        monkeypatch.setattr(server, "sign", lambda nonce, forged=forged: forged)
        assert log_in().status_code == 401, header
    monkeypatch.setattr(server, "sign", lambda nonce: "no token")
    assert log_in().status_code == 401


def encode(part: Any) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


@pytest.mark.parametrize(("hours", "words"), [(1, "60 minutes behind"), (-1, "60 minutes ahead")])
def test_a_clock_that_is_wrong_by_an_hour(
    oidc: Any, server: OidcServer, project: Project, hours: int, words: str
) -> None:
    import time

    now = int(time.time()) + hours * 3600  # by the provider's clock
    server.token = {"iat": now, "exp": now + 300}
    answer = log_in()
    assert answer.status_code == 401
    assert f"This server's clock is {words}" in said(answer)


def test_answers_that_belong_to_no_login_of_this_browser(
    oidc: Any, server: OidcServer, project: Project
) -> None:
    client = Client()
    back = go_to_provider(client)
    for address in (
        back.replace("state=", "state=x"),
        "/login/oidc/callback",
        "/login/oidc/callback?state=é",
    ):
        assert client.get(address).status_code == 401
        assert Client().get(back).status_code == 401  # of another browser
    with time_machine.travel("2030-01-01"):
        assert client.get(back).status_code == 401  # too late
    back = go_to_provider(client)
    assert client.get(back).status_code == 302
    client.logout()
    assert client.get(back).status_code == 401  # again
    assert User.objects.count() == 1


def test_an_answer_of_another_provider(oidc: Any, server: OidcServer, project: Project) -> None:
    for answer, document in (
        ({"iss": "https://evil.example"}, {}),
        ({}, {"authorization_response_iss_parameter_supported": True}),
    ):
        server.answer, server.document = answer, document
        oidc(name=str(document))  # which is read anew
        page = log_in()
        assert (page.status_code, "another login provider" in said(page)) == (401, True)
    server.answer = {"iss": server.issuer}
    assert log_in().status_code == 302


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"issuer": "https://evil.example"}, "describes itself as 'https://evil.example'"),
        ({"token_endpoint": "ftp://x"}, "token_endpoint is no address"),
        ({"jwks_uri": None}, "jwks_uri is no address"),
    ],
)
def test_a_description_of_another_provider(
    oidc: Any, server: OidcServer, document: dict[str, Any], words: str
) -> None:
    server.document = document
    answer = Client().get("/login/oidc")
    assert (answer.status_code, words in said(answer)) == (401, True), said(answer)


def test_a_provider_that_is_down(oidc: Any, server: OidcServer, project: Project, settings: Any) -> None:
    client = Client()
    back = go_to_provider(client)
    server.is_away = True
    for address in (back, "/login/oidc"):
        oidc(name=address)
        answer = client.get(address)
        assert (answer.status_code, "cannot be reached (HTTP 503)" in said(answer)) == (503, True)
    oidc(issuer="http://127.0.0.1:9")
    assert "the connection is refused" in said(Client().get("/login/oidc"))
    assert "Log in with a password" in said(Client().get("/login/oidc"))  # the other way is there still


def test_a_provider_that_is_down_is_left_alone_for_seconds(
    oidc: Any, server: OidcServer, project: Project, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    server.is_away = True
    server.requests.clear()
    answers = [Client().get("/login/oidc").status_code for _ in range(3)]
    assert (answers, len(server.requests)) == ([503, 503, 503], 1)
    assert f"(DAY1_OIDC_ISSUER): {server.issuer}/.well-known/openid-configuration" in caplog.text
    server.is_away = False
    monkeypatch.setattr("day1site.oidc.provider.AWAY_SECONDS", 0.0)
    oidc(name="again")
    assert Client().get("/login/oidc").status_code == 302


def test_an_issuer_that_is_mistyped(oidc: Any, server: OidcServer, caplog: Any) -> None:
    oidc(issuer="https://idp.invalid")
    assert "cannot be reached (its name leads to no server)" in said(Client().get("/login/oidc"))
    oidc(issuer=f"{server.issuer}/realm")
    assert "answer cannot be used: HTTP 404." in said(Client().get("/login/oidc"))
    assert f"{server.issuer}/realm/.well-known/openid-configuration: " in caplog.text


def test_who_says_no_at_the_provider(oidc: Any, server: OidcServer) -> None:
    for answer, status, words in (
        ({"error": "access_denied"}, 409, "was cancelled"),
        ({"error": "<script>"}, 401, "refuses: &lt;script&gt;."),
        ({"code": ""}, 401, "refuses: no code."),
        ({"code": "stolen"}, 401, "HTTP 400 invalid_grant"),
    ):
        server.answer = answer
        page = log_in()
        assert (page.status_code, words in said(page)) == (status, True), said(page)


# ---- passwords and settings ----------------------------------------------------------------------------


def test_passwords_are_switched_off(oidc: Any, project: Project, settings: Any) -> None:
    settings.PASSWORD_LOGIN = False
    person("max", project)
    client = Client()
    assert 'name="password"' not in client.get("/login").content.decode()
    answer = client.post("/login", {"username": "max", "password": "a long password"})
    assert (answer.status_code, "Nobody logs in with a password here" in said(answer)) == (409, True)
    _, secret = InvitationEngine().create_invitation(actor=local_actor(project.pk))
    assert 'name="password"' not in client.get(f"/join/{secret}").content.decode()
    account = {"username": "eve", "password": "a long password", "again": "a long password"}
    assert client.post(f"/join/{secret}", account).status_code == 409
    assert list(User.objects.values_list("username", flat=True)) == ["max"]
    assert log_in().status_code == 302


def test_settings_are_read_and_wrong_ones_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_oidc(Env()) is None
    right = {
        "ISSUER": "https://login.example/acme/.well-known/openid-configuration",
        "CLIENT_ID": "day1",
        "GROUP_ROLES": '{"a, b": ["x:viewer", "y:owner"], "c": "x:curator"}',
        "SCOPES": "email groups",
        "LINK_EXISTING": "true",
    }

    def read(**changes: str) -> Oidc | None:
        for name, value in {**right, **changes}.items():
            monkeypatch.setenv(f"DAY1_OIDC_{name}", value)
        return read_oidc(Env())

    assert read() == Oidc(
        issuer="https://login.example/acme",
        client_id="day1",
        name="login.example",
        scopes=("openid", "email", "groups"),
        group_roles={"a, b": (("x", "viewer"), ("y", "owner")), "c": (("x", "curator"),)},
        link_existing=True,
    )
    for name, value in (
        ("ISSUER", "http://login.example"),
        ("CLIENT_ID", ""),
        ("GROUP_ROLES", "[]"),
        ("GROUP_ROLES", "a:b"),
        ("GROUP_ROLES", '{"a": "viewer"}'),
        ("CREATE_USERS", "maybe"),
    ):
        with pytest.raises(ImproperlyConfigured, match=f"DAY1_OIDC_{name}"):
            read(**{name: value})
    with pytest.raises(ImproperlyConfigured, match="viewer, curator, maintainer, owner"):
        check_roles(Oidc("https://x", "day1", group_roles={"a": (("x", "king"),)}))
    monkeypatch.setenv("DAY1_PASSWORD_LOGIN", "false")
    with pytest.raises(ImproperlyConfigured, match="DAY1_OIDC_ISSUER"):
        read_password_login(Env(), None)
