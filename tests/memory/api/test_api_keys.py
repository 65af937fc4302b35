"""Keys over REST: required everywhere; created, shown once, rotated, revoked."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory.models import ApiKey
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_without_a_good_key_nothing_opens(api: Api, project) -> None:
    row = api.fact("a")
    expired = api_for(project)
    ApiKey.objects.filter(prefix=expired.token.split("_")[1]).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    revoked = api_for(project)
    ApiKey.objects.filter(prefix=revoked.token.split("_")[1]).update(revoked_at=timezone.now())
    with nothing_left():
        for client, text in (
            (expired, "This API key has expired."),
            (revoked, "This API key was revoked."),
            (Api(""), "A valid API key is needed."),
            (Api("day1_nonsense"), "A valid API key is needed."),
            (Api(api.token[:-1] + ("y" if api.token[-1] == "x" else "x")), "A valid API key is needed."),
        ):
            for answer in (
                client.get(f"/facts/{row['id']}"),
                client.post("/facts", {"fact_text": "b"}),
                client.post("/facts", b"not json"),
                client.get("/facts/search?q=a"),
                client.get("/keys"),
            ):
                assert refused(answer, 401, "unauthenticated")["detail"] == text
                assert answer["WWW-Authenticate"].startswith("Bearer ")


def test_other_schemes_and_sessions_open_nothing(api: Api, django_user_model) -> None:
    refused(Api("").get("/facts", Authorization=f"Basic {api.token}"), 401, "unauthenticated")
    refused(Api("").get("/facts", Authorization=api.token), 401, "unauthenticated")
    refused(Api("").get("/facts", Authorization="Bearer"), 401, "unauthenticated")
    browser = Client()
    browser.force_login(django_user_model.objects.create_superuser("root", password="x"))
    refused(Api("", browser).get("/facts"), 401, "unauthenticated")
    assert (
        Api(api.token, Client(enforce_csrf_checks=True)).post("/facts", {"fact_text": "a"}).status_code == 201
    )


# ---- keys over REST ----------------------------------------------------------------------------------


def test_a_key_is_told_once_and_works_until_it_is_revoked(api: Api) -> None:
    made = api.post(
        "/keys", {"label": "agent", "scopes": ["write", "read"], "branch_patterns": ["main"]}
    ).json()
    client = Api(made.pop("token"))
    assert client.fact("a")["source"] == "agent"
    assert (made["scopes"], made["branch_patterns"], made["revoked_at"]) == (
        ["read", "write"],
        ["main"],
        None,
    )
    listed = api.get("/keys").json()["results"]
    assert made in [{**row, "last_used_at": None} for row in listed]
    assert "token" not in listed[0]
    assert "secret_hash" not in listed[0]
    assert api.post(f"/keys/{made['id']}/revoke").json()["revoked_at"]
    refused(client.get("/facts"), 401, "unauthenticated")
