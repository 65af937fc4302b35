"""The page of the API keys: for maintainers; a key is shown once."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, AuditEntry
from tests.memory.views.test_page_frame import text

NEW = {
    "label": "my agent",
    "scopes": "write",
    "branch_patterns": "main, task/*",
    "agent_id": "",
    "days": "30",
}


def made(client: Client, **changes: str) -> str:
    """Create a key; return its token."""
    answer = client.post("/p/test/keys", {**NEW, **changes})
    assert answer.status_code == 201
    return re.search(r'value="(day1_\w+)"', text(answer)).group(1)


def test_a_key_is_made_and_shown_once(maintainer: Client) -> None:
    answer = maintainer.post("/p/test/keys", NEW)
    assert (answer.status_code, "no-store" in answer.headers["Cache-Control"]) == (201, True)
    token = re.search(r'value="(day1_\w+)"', text(answer)).group(1)
    key = ApiKey.objects.get()
    assert (key.label, key.scopes, key.branch_patterns) == ("my agent", ["write"], ["main", "task/*"])
    assert timedelta(days=29) < key.expires_at - timezone.now() <= timedelta(days=30)
    assert key.created_by == "max"
    assert get_actor(KeyEngine().verify_token(token), "rest").has_scope("write")
    page = text(maintainer.get("/p/test/keys"))
    assert (token in page, f"day1_{key.prefix}_…" in page) == (False, True)
    assert list(AuditEntry.objects.values_list("action", "actor_kind", "surface")) == [
        ("key.create", "user", "web")
    ]


def test_a_key_has_the_branch_on_which_it_works_when_none_is_named(maintainer: Client) -> None:
    assert "Default branch" in text(maintainer.get("/p/test/keys"))
    made(maintainer, default_branch="task/tea")
    assert ApiKey.objects.get().default_branch == "task/tea"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"label": " "}, "Name may not be empty."),
        ({"scopes": "all"}, "Rights must be one of admin"),
        ({"branch_patterns": "Main"}, "Main is no branch pattern"),
        ({"days": "3"}, "Expiry must be one of"),
        ({"default_branch": "Main"}, "A branch name is made of"),
        ({"default_branch": "other"}, "do not allow its default branch other"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(
    maintainer: Client, changes: dict[str, str], words: str
) -> None:
    answer = maintainer.post("/p/test/keys", {**NEW, "agent_id": "agent-7", **changes})
    assert (answer.status_code, words in text(answer), 'value="agent-7"' in text(answer)) == (400, True, True)
    assert ApiKey.objects.count() == 0


def test_a_key_is_rotated(maintainer: Client) -> None:
    old = made(maintainer)
    key = ApiKey.objects.get()
    assert "gets a new key with the same rights" in text(maintainer.get(f"/p/test/keys/{key.pk}/rotate"))
    answer = maintainer.post(f"/p/test/keys/{key.pk}/rotate", {"grace_seconds": "3600"})
    new = re.search(r'value="(day1_\w+)"', text(answer)).group(1)
    assert {KeyEngine().verify_token(token).label for token in (old, new)} == {"my agent"}
    key.refresh_from_db()
    assert key.expires_at - timezone.now() <= timedelta(hours=1)


def test_a_key_is_revoked_after_a_question(maintainer: Client) -> None:
    token = made(maintainer)
    key = ApiKey.objects.get()
    assert "This cannot be undone" in text(maintainer.get(f"/p/test/keys/{key.pk}/revoke"))
    answer = maintainer.post(f"/p/test/keys/{key.pk}/revoke", follow=True)
    assert "The key my agent no longer works." in text(answer)
    assert f"/p/test/keys/{key.pk}/revoke" not in text(answer)
    with pytest.raises(Unauthenticated):
        KeyEngine().verify_token(token)


def test_markup_in_a_name_is_text(maintainer: Client) -> None:
    made(maintainer, label="<script>alert(1)</script>")
    page = text(maintainer.get("/p/test/keys"))
    assert ("<script>alert" in page, "&lt;script&gt;alert" in page) == (False, True)


def test_many_keys_come_in_pages(maintainer: Client, actor) -> None:
    for number in range(4):
        KeyEngine().create_key(label=f"key {number}", scopes=["read"], actor=actor)
    first = text(maintainer.get("/p/test/keys?limit=3"))
    assert ("key 3" in first, "key 0" in first) == (True, False)
    older = re.search(r'rel="next" href="([^"]+)"', " ".join(first.split())).group(1).replace("&amp;", "&")
    second = text(maintainer.get(older))
    assert ("key 3" in second, "key 0" in second) == (False, True)


def test_the_settings_count_keys_beyond_a_page_and_say_when_one_was_used(maintainer: Client) -> None:
    made(maintainer)
    ApiKey.objects.update(last_used_at=timezone.now() - timedelta(minutes=5))
    assert "1 valid, last used: 5 min ago" in text(maintainer.get("/p/test/settings"))
    project = ApiKey.objects.get().project_id
    names = [f"newer-{number}" for number in range(100)]
    ApiKey.objects.bulk_create(
        [ApiKey(project_id=project, label=n, prefix=n[-10:], secret_hash=n) for n in names]
    )
    assert "100+ valid, last used: 5 min ago" in text(maintainer.get("/p/test/settings"))
