"""Programs that people connect by OAuth: what they get, and what an attacker does not."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from memory.actors import local_actor
from memory.engines.access.key_use import buffer
from memory.engines.access.members import MemberEngine
from memory.engines.access.oauth_clients import MAX_CLIENTS
from memory.engines.store.retention import RetentionEngine
from memory.models import ApiKey, AuditEntry, Connection, Membership, OAuthClient, Project, ProjectUsage
from memory.models.usage import forget_known
from tests.access.oauth_program import BACK, BASE, CHALLENGE, Program, read_back, register
from tests.mcp.conftest import threads_closed
from tests.memory.api.client import Api, nothing_left, refused
from tests.memory.views.conftest import browser, person
from tests.site.test_sub_path import PREFIX, THROUGH, visit

__all__ = ["threads_closed"]

pytestmark = pytest.mark.django_db(transaction=True)
REST = f"{BASE}/api/v1"
EVIL = "https://evil.example/back"


@pytest.fixture(autouse=True)
def oauth_on(settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "oauth": True}
    cache.clear()


@pytest.fixture
def ann(project: Project) -> Any:
    return person("ann", project, Membership.Role.CURATOR)


@pytest.fixture
def program(ann: Any) -> Program:
    return Program(browser(ann))


def list_actions() -> list[str]:
    return list(
        AuditEntry.objects.filter(action__startswith="connection")
        .order_by("id")
        .values_list("action", flat=True)
    )


def is_error(answer: Any, code: str, status: int = 400) -> None:
    assert (answer.status_code, answer.json()["error"]) == (status, code), answer.content


# ---- what is found ---------------------------------------------------------------------------------


def test_a_401_leads_to_the_metadata_and_these_to_the_server() -> None:
    http = Client()
    challenge = Api().get("/facts")["WWW-Authenticate"]
    address = re.search('resource_metadata="([^"]+)"', challenge)
    assert address
    assert 'scope="write"' in challenge
    resource = http.get(address[1].removeprefix(BASE)).json()
    assert resource["resource"] == REST
    assert resource["authorization_servers"] == [BASE]
    assert resource["scopes_supported"] == ["read", "propose", "write"]
    server = http.get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == BASE
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server == http.get("/.well-known/openid-configuration").json()
    assert http.get("/.well-known/oauth-protected-resource/mcp/shop").json()["resource"] == f"{BASE}/mcp/shop"
    assert http.get("/.well-known/oauth-protected-resource/else").status_code == 404


@pytest.mark.parametrize("takes_off", [True, False])
def test_behind_a_proxy_and_below_a_path_all_addresses_are_those_outside(
    settings: Any, takes_off: bool, threads_closed: None
) -> None:
    settings.TRUSTED_PROXIES = 1
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    base = f"https://localhost{PREFIX}"

    async def read(http: Any) -> list[Any]:
        paths = (
            "oauth-authorization-server",
            f"oauth-authorization-server{PREFIX}",
            "oauth-protected-resource/mcp",
        )
        # the second is where the standard puts it, and what a proxy passes on from there
        found = [
            await http.get(f"{'' if path.endswith(PREFIX) else PREFIX}/.well-known/{path}") for path in paths
        ]
        asked = await http.post(f"{PREFIX}/mcp", json={})
        followed = await http.get(f"{PREFIX}/api/v1/events")
        return [*(one.json() for one in (*found, followed)), asked.headers, followed.headers]

    server, same, resource, problem, *headers = visit(
        read, takes_off, {**THROUGH, "X-Forwarded-Proto": "https"}
    )
    assert (server["issuer"], server["token_endpoint"]) == (base, f"{base}/oauth/token")
    assert (same, resource["authorization_servers"]) == (server, [base])
    assert resource["resource"] == f"{base}/mcp"
    assert problem["code"] == "unauthenticated"
    for path, one in zip(("/mcp", "/api/v1"), headers, strict=True):
        named = f'resource_metadata="{base}/.well-known/oauth-protected-resource{path}"'
        assert named in one["www-authenticate"]


def test_nothing_of_it_is_there_while_it_is_off(settings: Any, ann: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "oauth": False}
    http = browser(ann)
    for path in (
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/oauth/authorize",
    ):
        assert http.get(path).status_code == 404
    assert http.post("/oauth/register", {}, content_type="application/json").status_code == 404
    assert Api().get("/facts")["WWW-Authenticate"] == 'Bearer realm="day1", error="invalid_token"'


def test_programs_in_a_browser_may_read_all_but_the_page_of_consent(ann: Any) -> None:
    http, page = browser(ann), {"HTTP_ORIGIN": "https://inspector.example"}
    for path in ("/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"):
        assert http.get(path, **page)["Access-Control-Allow-Origin"] == "*"
    for path in ("/oauth/register", "/oauth/token", "/oauth/revoke"):
        before = http.options(path, **page, HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST")
        assert (before.status_code, before["Access-Control-Allow-Methods"]) == (204, "GET, POST")
        answer = http.post(path, **page)
        assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (400, "*")
        assert not {"Access-Control-Allow-Credentials", "Set-Cookie"} & set(answer.headers)
    assert "Access-Control-Allow-Origin" not in http.get("/oauth/authorize", **page)


def test_refusals_are_json_whatever_was_sent(program: Program) -> None:
    answer = program.http.get("/oauth/token")
    is_error(answer, "invalid_request", 405)
    assert answer["Allow"] == "POST"
    is_error(program.http.post("/oauth/token", b"x", content_type="multipart/form-data"), "invalid_request")
    is_error(program.send(**{f"field{n}": "x" for n in range(1001)}), "invalid_request")


def test_a_full_project_takes_no_new_program_and_lets_go_of_one(program: Program, project: Project) -> None:
    program.connect(resource=REST)
    new = Program(program.browser, "New")
    code = new.allow()["code"]
    fill(project, times=2)
    is_error(new.redeem(code), "temporarily_unavailable", 503)
    program.tokens = program.renew(program.tokens["refresh_token"]).json()
    fill(project, times=3)
    is_error(program.renew(program.tokens["refresh_token"]), "temporarily_unavailable", 503)
    program.http.post(
        "/oauth/revoke", {"client_id": program.client_id, "token": program.tokens["access_token"]}
    )
    refused(program.api.get("/facts"), 401, "unauthenticated")


def fill(project: Project, times: int) -> None:
    """Bring a project to so many times its quota."""
    ProjectUsage.objects.update_or_create(project=project, defaults={"rows": 100 * times, "max_rows": 100})
    forget_known()


# ---- what is given ---------------------------------------------------------------------------------


def test_a_person_connects_a_program_and_it_works_with_their_rights(
    program: Program, project: Project
) -> None:
    back = program.allow(resource=REST)
    assert (back["state"], back["iss"]) == ("st", BASE)
    tokens = program.redeem(back["code"]).json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == (
        "Bearer",
        3600,
        "read propose write",
    )
    api = Api(tokens["access_token"])
    api.fact("Tokens live for an hour.")
    key = ApiKey.objects.get(connection__isnull=False)
    assert (key.label, key.created_by, key.project) == ("Claude · ann", "ann", project)
    entry = AuditEntry.objects.get(action="fact.write")
    assert (entry.actor_kind, entry.actor_label) == ("key", "Claude · ann")
    grants = AuditEntry.objects.filter(action__startswith="connection")
    assert {entry.target for entry in grants} == {str(key.connection_id)}
    refused(api.post("/keys", {"label": "more", "scopes": ["read"]}), 403, "scope_missing")
    assert list_actions() == ["connection.grant", "connection.open"]


def test_only_hashes_are_stored(program: Program) -> None:
    code = program.allow()["code"]
    tokens = program.redeem(code).json()
    rows = [
        str(vars(row))
        for model in (Connection, ApiKey, OAuthClient, AuditEntry)
        for row in model.objects.all()
    ]
    for secret in (
        code,
        tokens["access_token"],
        tokens["refresh_token"],
        tokens["refresh_token"].split("_", 1)[1],
    ):
        assert secret not in "".join(rows)


def test_the_page_says_who_asks_for_what_and_a_refusal_is_told(program: Program, ann: Any) -> None:
    page = program.browser.get(program.build_url())
    text = page.content.decode()
    assert page.status_code == 200
    for part in ("“Claude”", "Nobody has verified this name", "127.0.0.1:8123", "Test", "every branch"):
        assert part in text, part
    assert "form-action http://127.0.0.1:8123 'self'" in page["Content-Security-Policy"] or (
        "form-action 'self' http://127.0.0.1:8123" in page["Content-Security-Policy"]
    )
    assert page["Cache-Control"] == "private, no-store"
    answer = program.browser.post(program.build_url(), {"refuse": "1"})
    back = read_back(answer, BACK)
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "st", BASE)
    assert Connection.objects.count() == 0
    anybody = Client().get(program.build_url())
    assert anybody.status_code == 302
    assert anybody["Location"].startswith("/login?next=/oauth/authorize%3F")
    unsigned = Client(enforce_csrf_checks=True)
    unsigned.force_login(ann)
    assert unsigned.post(program.build_url(), {"project": "test", "rights": "read"}).status_code == 403


@pytest.mark.parametrize(
    ("role", "asked", "most"),
    [("viewer", "write", "read"), ("curator", "read merge", "curate"), ("maintainer", "admin", "write")],
)
def test_no_more_is_offered_than_asked_for_and_than_the_role_has(
    project: Project, role: str, asked: str, most: str
) -> None:
    program = Program(browser(person("bob", project, role)))
    page = program.browser.get(program.build_url(scope=asked)).content.decode()
    assert re.findall('<option value="(read|propose|write|curate|merge|admin)"', page)[-1] == most
    beyond = program.browser.post(program.build_url(scope=asked), {"project": "test", "rights": "admin"})
    assert (beyond.status_code, Connection.objects.count()) == (400, 0)


def test_branches_bound_a_program_as_they_bound_a_key(program: Program) -> None:
    api = program.connect({"branches": "task/*"}, resource=REST).api
    refused(api.get("/facts"), 403, "branch_forbidden")
    assert (
        program.browser.post(
            program.build_url(), {"project": "test", "rights": "read", "branches": "A B"}
        ).status_code
        == 400
    )


def test_a_role_that_is_lowered_lowers_the_program_at_once(
    program: Program, project: Project, ann: Any
) -> None:
    api = program.connect(resource=REST).api
    api.fact("One.")
    Membership.objects.filter(user=ann).update(role="viewer")
    assert api.get("/facts").status_code == 200
    refused(api.post("/facts", {"fact_text": "Two."}), 403, "scope_missing")


def test_who_leaves_takes_the_program_along(program: Program, project: Project, ann: Any) -> None:
    program.connect(resource=REST)
    member = Membership.objects.get(user=ann)
    MemberEngine().remove_member(member_id=member.pk, actor=local_actor(project.pk))
    refused(program.api.get("/facts"), 401, "unauthenticated")
    is_error(program.renew(program.tokens["refresh_token"]), "invalid_grant")
    assert Connection.objects.get().revoked_at


@pytest.mark.parametrize("is_redeemed", [True, False])
def test_who_comes_back_finds_no_program_connected(
    program: Program, project: Project, ann: Any, is_redeemed: bool
) -> None:
    """Also where its token has ended by itself, or its code was not used yet."""
    code = program.allow(resource=REST)["code"]
    refresh = program.redeem(code).json()["refresh_token"] if is_redeemed else ""
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    member, admin = Membership.objects.get(user=ann), local_actor(project.pk)
    assert len(MemberEngine().remove_member(member_id=member.pk, actor=admin).keys) == int(is_redeemed)
    MemberEngine().add_member(username="ann", role="curator", actor=admin)
    is_error(program.renew(refresh) if is_redeemed else program.redeem(code), "invalid_grant")
    assert list_actions() == ["connection.grant", "connection.open"][: 1 + is_redeemed]


# ---- codes -----------------------------------------------------------------------------------------


def test_a_code_that_comes_again_ends_what_it_gave(program: Program) -> None:
    code = program.allow(resource=REST)["code"]
    program.tokens = program.redeem(code).json()
    assert program.api.get("/facts").status_code == 200
    is_error(program.redeem(code), "invalid_grant")
    refused(program.api.get("/facts"), 401, "unauthenticated")
    is_error(program.renew(program.tokens["refresh_token"]), "invalid_grant")
    assert list_actions() == ["connection.grant", "connection.open", "connection.replay"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": "w" * 50}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": CHALLENGE}, "invalid_grant"),
        ({"redirect_uri": BACK + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"resource": f"{BASE}/api/v1"}, "invalid_target"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"client_secret": "x"}, "invalid_client"),
    ],
)
def test_a_code_is_refused_to_who_did_not_ask_for_it(program: Program, changed: Any, error: str) -> None:
    answer = program.redeem(program.allow()["code"], **changed)
    assert (answer.status_code in (400, 401), answer.json()["error"]) == (True, error)
    assert ApiKey.objects.filter(connection__isnull=False).count() == 0


def test_a_code_is_of_one_program_and_one_minute(program: Program, ann: Any) -> None:
    other = Program(program.browser, "Other")
    code = program.allow()["code"]
    is_error(other.redeem(code), "invalid_grant")
    is_error(program.redeem(code, client_id="nobody"), "invalid_client", 400)
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        is_error(program.redeem(code), "invalid_grant")
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        is_error(program.redeem(code), "invalid_grant")
    assert program.redeem(code).status_code == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge": None},
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge": "short"},
    ],
)
def test_pkce_is_needed_and_is_s256(program: Program, changed: Any) -> None:
    with nothing_left():
        back = read_back(program.browser.get(program.build_url(**changed)), BACK)
        assert (back["error"], back["state"], back["iss"]) == ("invalid_request", "st", BASE)
        posted = program.browser.post(program.build_url(**changed), {"project": "test", "rights": "read"})
        assert read_back(posted, BACK)["error"] == "invalid_request"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}.evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}/p/default"}, "invalid_target"),
    ],
)
def test_what_is_wrong_is_told_the_program(program: Program, changed: Any, error: str) -> None:
    back = read_back(program.browser.get(program.build_url(**changed)), BACK)
    assert (back["error"], back["iss"]) == (error, BASE)


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": EVIL},
        {"redirect_uri": BACK + "/more"},
        {"redirect_uri": BACK + "?a=b"},
        {"redirect_uri": BACK.replace("127.0.0.1", "127.0.0.1.evil.example")},
        {"redirect_uri": BACK.replace("127.0.0.1", "evil@127.0.0.1")},
        {"redirect_uri": BACK.replace("http:", "https:")},
        {"redirect_uri": 'http://127.0.0.1:8123/back"<script>'},
        {"redirect_uri": None},
        {"client_id": "nobody"},
        {"client_id": None},
        {"client_id": '"><script>'},
    ],
)
def test_nothing_is_sent_to_an_address_that_is_not_the_programs(program: Program, changed: Any) -> None:
    for answer in (
        program.browser.get(program.build_url(**changed)),
        program.browser.post(program.build_url(**changed)),
    ):
        assert (answer.status_code, "Location" in answer) == (400, False)
        assert "<script>" not in answer.content.decode().split("</head>")[1]


def test_a_policy_of_the_page_names_no_address_of_ipv6(program: Program) -> None:
    """Browsers leave such a source out, and would not send the answer."""
    local = Program(program.browser, back="http://[::1]/back")
    page = local.browser.get(local.build_url(redirect_uri="http://[::1]:8123/back"))
    sources = re.findall("form-action ([^;]*)", page["Content-Security-Policy"])[0].split()
    assert set(sources) == {"'self'", "http:"}


def test_who_has_no_project_is_told_so(program: Program, ann: Any) -> None:
    Membership.objects.all().delete()
    page = program.browser.get(program.build_url(resource=REST))
    assert (page.status_code, "You are no member of any project." in page.content.decode()) == (400, True)


def test_of_the_same_machine_any_port_is_taken(program: Program) -> None:
    answer = program.browser.get(program.build_url(redirect_uri=BACK.replace("8123", "9999")))
    assert answer.status_code == 200


# ---- tokens ----------------------------------------------------------------------------------------


def test_a_refresh_token_is_used_once_and_its_reuse_ends_all(program: Program) -> None:
    program.connect(resource=REST)
    first = program.tokens
    second = program.renew(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    refused(Api(first["access_token"]).get("/facts"), 401, "unauthenticated")
    assert Api(second["access_token"]).get("/facts").status_code == 200
    buffer.flush()
    with time_machine.travel(timezone.now() + timedelta(seconds=31)):
        is_error(program.renew(first["refresh_token"]), "invalid_grant")
        refused(Api(second["access_token"]).get("/facts"), 401, "unauthenticated")
        is_error(program.renew(second["refresh_token"]), "invalid_grant")
    assert list_actions() == ["connection.grant", "connection.open", "connection.renew", "connection.reuse"]
    assert ApiKey.objects.filter(connection__isnull=False).count() == 1


def test_a_renewal_whose_answer_was_lost_is_answered_again(program: Program) -> None:
    program.connect(resource=REST)
    first = program.tokens["refresh_token"]
    second = program.renew(first).json()
    # two windows that renew at once, and one that hears of it late
    assert program.renew(first).json() == second
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        late = program.renew(first).json()
        assert late == second
        assert Api(late["access_token"]).get("/facts").status_code == 200
        buffer.flush()
        assert program.renew(first).status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1)):
        third = program.renew(second["refresh_token"]).json()
        is_error(program.renew(first), "invalid_grant")  # one that is older never
        is_error(program.renew(third["refresh_token"]), "invalid_grant")
    assert list_actions().count("connection.renew") == 5


def test_a_refresh_token_is_of_its_program_and_its_scope(program: Program) -> None:
    program.connect(resource=REST)
    refresh = program.tokens["refresh_token"]
    other = Program(program.browser, "Other")
    is_error(other.renew(refresh), "invalid_grant")
    is_error(program.renew(refresh, scope="merge"), "invalid_scope")
    is_error(program.renew(refresh, resource=f"{BASE}/mcp"), "invalid_target")
    is_error(program.renew("day1r_guess"), "invalid_grant")
    assert program.renew(refresh).status_code == 200


def test_tokens_end_by_the_servers_clock(program: Program) -> None:
    program.connect(resource=REST)
    with time_machine.travel(timezone.now() + timedelta(hours=1, seconds=5)):
        refused(program.api.get("/facts"), 401, "unauthenticated")
        program.tokens = program.renew(program.tokens["refresh_token"]).json()
        assert program.api.get("/facts").status_code == 200
    with time_machine.travel(timezone.now() + timedelta(days=61)):
        is_error(program.renew(program.tokens["refresh_token"]), "invalid_grant")


def test_a_token_opens_the_resource_that_it_is_for(program: Program) -> None:
    for_mcp = program.connect().api
    refused(for_mcp.get("/facts"), 401, "unauthenticated")
    anything = Program(program.browser, "Both").connect(resource=None).api
    assert anything.get("/facts").status_code == 200


def test_a_program_ends_its_own_connection_and_no_other(program: Program) -> None:
    program.connect(resource=REST)
    other = Program(program.browser, "Other")
    token = program.tokens["access_token"]

    def revoke(by: Program, token: str) -> int:
        return by.http.post("/oauth/revoke", {"client_id": by.client_id, "token": token}).status_code

    assert [revoke(other, token), revoke(program, "unknown")] == [200, 200]
    assert program.api.get("/facts").status_code == 200
    assert revoke(program, token) == 200
    refused(program.api.get("/facts"), 401, "unauthenticated")
    is_error(program.renew(program.tokens["refresh_token"]), "invalid_grant")


def test_tokens_are_no_keys_that_others_rotate(program: Program, project: Project) -> None:
    program.connect(resource=REST)
    admin = browser(person("max", project, Membership.Role.MAINTAINER))
    key = ApiKey.objects.get(connection__isnull=False)
    assert "Claude · ann" not in admin.get("/p/test/keys").content.decode()
    assert admin.post(f"/p/test/keys/{key.pk}/rotate").status_code == 404


# ---- programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri",
    [
        "javascript://x/%0aalert(1)",
        "data:text/html,x",
        "http://example.com/back",
        "https://user@example.com/",
        "https://example.com/#part",
        "https://",
        "/back",
        "https://exa mple.com/",
        "https://a.example;sandbox/",
        "https://a.example,b/",
        "https://*/",
        "https://example.com/\\evil",
        "",
        7,
    ],
)
def test_a_redirect_that_leads_elsewhere_is_not_registered(uri: Any) -> None:
    is_error(register(Client(), redirect_uris=["https://example.com/back", uri]), "invalid_redirect_uri")
    assert OAuthClient.objects.count() == 0


def test_what_is_registered_is_answered_without_a_secret() -> None:
    uris = ["https://claude.ai/api/mcp/auth_callback", "cursor://anysphere.cursor-mcp/oauth/callback"]
    uris += ["com.example.app:/back", "http://[::1]/back"]
    answer = register(
        Client(), client_name="Claude", redirect_uris=uris, token_endpoint_auth_method="client_secret_post"
    )
    document = answer.json()
    assert (answer.status_code, document["redirect_uris"]) == (201, uris)
    assert (document["token_endpoint_auth_method"], "client_secret" in document) == ("none", False)
    is_error(
        register(Client(), redirect_uris=uris, grant_types=["client_credentials"]), "invalid_client_metadata"
    )
    is_error(register(Client(), redirect_uris=uris, grant_types=7), "invalid_client_metadata")
    is_error(register(Client(), redirect_uris=uris, padding="x" * 70_000), "invalid_client_metadata")
    is_error(
        Client().post("/oauth/register", b"{", content_type="application/json"), "invalid_client_metadata"
    )


def test_registration_is_bounded_in_rate_and_number() -> None:
    http = Client()
    for _ in range(10):
        assert register(http, redirect_uris=["https://a.example/b"]).status_code == 201
    answer = register(http, redirect_uris=["https://a.example/b"])
    is_error(answer, "temporarily_unavailable", 429)
    assert answer["Retry-After"]
    cache.clear()
    row, now = OAuthClient.objects.all()[0], timezone.now()
    OAuthClient.objects.bulk_create(
        OAuthClient(id=str(n), client_id=str(n), name="x", redirect_uris=row.redirect_uris, read_at=now)
        for n in range(MAX_CLIENTS - 10)
    )
    OAuthClient.objects.filter(pk="7").update(read_at=now - timedelta(hours=1))
    assert register(http, redirect_uris=["https://a.example/b"]).status_code == 201
    assert (OAuthClient.objects.count(), OAuthClient.objects.filter(pk="7").exists()) == (MAX_CLIENTS, False)


def test_what_led_to_nothing_goes_after_a_day(program: Program) -> None:
    idle = Program(program.browser, "Idle")
    code = Program(program.browser, "Code")
    code.allow()
    program.connect(resource=REST)
    assert RetentionEngine().forget_grants() == 0
    OAuthClient.objects.update(read_at=timezone.now() - timedelta(days=2))
    assert (RetentionEngine().forget_grants(), OAuthClient.objects.count()) == (1, 2)
    Connection.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert RetentionEngine().forget_grants() == 2
    is_error(idle.redeem("x"), "invalid_client")
    assert program.api.get("/facts").status_code == 200
    assert [one.name for one in OAuthClient.objects.all()] == ["Claude"]


def test_a_hostile_name_stands_there_as_plain_text(ann: Any) -> None:
    program = Program(browser(ann), "Day1 admin</strong><script>x</script>\u202eevil\nline")
    page = program.browser.get(program.build_url()).content.decode()
    assert "“Day1 admin&lt;/strong&gt;&lt;script&gt;x&lt;/script&gt; evil line”" in page
    assert "\u202e" not in page
    for name, shown in (("Z" + "\u0301" * 50, "Z\u0301\u0301"), ("\u3164\u2800", "127.0.0.1:8123")):
        assert register(Client(), client_name=name, redirect_uris=[BACK]).json()["client_name"] == shown
    long = Program(browser(ann), "N" * 5000).connect()
    assert len(ApiKey.objects.get(connection__client__client_id=long.client_id).label) == 200


# ---- what people see -------------------------------------------------------------------------------


def test_people_see_and_end_their_own_and_maintainers_all(program: Program, project: Project) -> None:
    program.connect(resource=REST)
    row = Connection.objects.get()
    bob, admin = (
        browser(person(name, project, role)) for name, role in (("bob", "viewer"), ("max", "maintainer"))
    )
    url = f"/p/test/connections/{row.pk}/revoke"
    assert [
        "Claude" in one.get("/p/test/connections").content.decode() for one in (program.browser, bob, admin)
    ] == [True, False, True]
    assert (bob.get(url).status_code, bob.post(url).status_code) == (403, 403)
    assert program.api.get("/facts").status_code == 200
    assert program.browser.post(url).status_code == 302
    refused(program.api.get("/facts"), 401, "unauthenticated")
    again = Program(program.browser).connect(resource=REST)
    assert (
        admin.post(f"/p/test/connections/{Connection.objects.latest('created_at').pk}/revoke").status_code
        == 302
    )
    refused(again.api.get("/facts"), 401, "unauthenticated")
    entries = AuditEntry.objects.filter(action="connection.revoke").order_by("id")
    assert [one.actor_label for one in entries] == ["ann", "max"]


def test_of_two_projects_the_role_in_the_chosen_one_counts(
    program: Program, ann: Any, other_project: Project
) -> None:
    Membership.objects.create(user=ann, project=other_project, role="viewer")
    page = program.browser.post(program.build_url(), {"project": other_project.slug, "rights": "write"})
    assert (page.status_code, "Only curators and maintainers may do this." in page.content.decode()) == (
        400,
        True,
    )
    named = program.build_url(resource=f"{BASE}/mcp/{other_project.slug}")
    offered = re.findall('<option value="([a-z-]+)"', program.browser.get(named).content.decode())
    assert offered == [other_project.slug, "read"]
    nowhere = program.browser.get(program.build_url(resource=f"{BASE}/mcp/none"))
    assert (nowhere.status_code, Connection.objects.count()) == (400, 0)
