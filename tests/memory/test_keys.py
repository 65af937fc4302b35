import hashlib
import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from memory.engines.access.key_actors import get_actor
from memory.engines.access.key_tokens import compute_checksum
from memory.engines.access.key_use import USED
from memory.engines.access.keys import KeyEngine, is_pattern_covered
from memory.engines.support.write_buffer import buffer
from memory.exceptions import (
    AgentForbidden,
    BranchForbidden,
    Conflict,
    Invalid,
    NotFound,
    ScopeMissing,
    Unauthenticated,
)
from memory.models import ApiKey, AuditEntry

pytestmark = pytest.mark.django_db
key_engine = KeyEngine()
ANY_ID = UUID("01890000-0000-7000-8000-000000000000")


def make(actor, **changes):
    return key_engine.create_key(**{"label": "ci", "scopes": ["write"], "actor": actor} | changes)


def refused(token: str) -> str:
    with pytest.raises(Unauthenticated) as error:
        get_actor(key_engine.verify_token(token), "rest")
    assert error.value.code == "unauthenticated"
    return error.value.text


# ---- the token -------------------------------------------------------------------------------------


def test_a_token_has_a_fixed_form_and_only_its_hash_is_stored(actor) -> None:
    key, token = make(actor)
    assert re.fullmatch(r"day1_[a-z0-9]{8}_[A-Za-z0-9]{49}", token)
    assert token.startswith(f"day1_{key.prefix}_")
    stored = ApiKey.objects.values().get()
    assert stored["secret_hash"] == hashlib.sha256(token.encode()).hexdigest()
    assert token[14:] not in str(stored)


def test_a_token_says_who_comes(actor) -> None:
    key, token = make(actor, scopes=["write", "read"], branch_patterns=["task/*"], agent_id="bot")
    who = get_actor(key_engine.verify_token(token), "mcp")
    assert (who.kind, who.id, who.label, who.surface) == ("key", str(key.pk), "ci", "mcp")
    assert (who.project_id, who.scopes) == (actor.project_id, {"read", "write"})
    assert (who.branch_patterns, who.agent_id, who.bound_agent) == (("task/*",), "bot", "bot")


def test_malformed_unknown_and_wrong_tokens_are_refused_with_one_message(actor) -> None:
    key, token = make(actor)
    wrong = f"day1_{key.prefix}_{'0' * 43}"
    unknown = f"day1_{'x' * 8}_{'0' * 43}"
    tokens = ["", "day1_", "Bearer x", token[:-1], token + "\n", token[:-1] + "é", "day1_\0"]
    tokens += [wrong + compute_checksum(wrong), unknown + compute_checksum(unknown), wrong + "000000"]
    assert {refused(one) for one in tokens} == {"A valid API key is needed."}


def test_a_revoked_and_an_expired_key_say_so_only_to_who_has_the_secret(actor) -> None:
    revoked, its_token = make(actor)
    key_engine.revoke_key(key_id=revoked.pk, actor=actor)
    expired, other_token = make(actor)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(its_token) == "This API key was revoked."
    assert refused(other_token) == "This API key has expired."
    guess = f"day1_{revoked.prefix}_{'0' * 43}"
    assert refused(guess + compute_checksum(guess)) == "A valid API key is needed."


def test_use_is_noted_in_memory_and_written_later(actor, django_assert_num_queries) -> None:
    key, token = make(actor)
    with django_assert_num_queries(1):
        get_actor(key_engine.verify_token(token), "rest")
    assert list(buffer.pending_values(USED)) == [key.pk]
    buffer.flush()
    used = ApiKey.objects.get().last_used_at
    assert timezone.now() - used < timedelta(seconds=5)


def test_an_earlier_use_never_replaces_a_later_one(actor) -> None:
    key, _ = make(actor)
    later, earlier = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    for at in (later, earlier):
        buffer.add_value(USED, key.pk, at)
        buffer.flush()
    assert ApiKey.objects.get().last_used_at == later


# ---- making keys -----------------------------------------------------------------------------------


def test_making_a_key_is_audited_without_its_secret(actor) -> None:
    key, token = make(actor)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.detail["scopes"]) == ("key.create", key.prefix, ["write"])
    assert token[14:] not in str(entry.detail)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("scopes", {"scopes": ["root"]}),
        ("scopes", {"scopes": []}),
        ("label", {"label": " "}),
        ("label", {"label": "x" * 201}),
        ("label", {"label": "a\0b"}),
        ("agent_id", {"agent_id": "x" * 201}),
        ("branch_patterns", {"branch_patterns": ["task/[ab]"]}),
        ("branch_patterns", {"branch_patterns": [""]}),
        ("rate_per_minute", {"rate_per_minute": 0}),
        ("expires_at", {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}),
        ("expires_at", {"expires_at": datetime(2090, 1, 1)}),
    ],
)
def test_a_key_that_cannot_be_is_refused_and_nothing_is_left_behind(actor, field, changes) -> None:
    with pytest.raises(Invalid) as error:
        make(actor, **changes)
    assert error.value.data["field"] == field
    assert (ApiKey.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_only_an_admin_makes_lists_revokes_and_rotates(actor) -> None:
    key, _ = make(actor)
    merger = replace(actor, scopes=frozenset({"merge"}))
    for act in (
        lambda: make(merger),
        lambda: key_engine.list_keys(actor=merger),
        lambda: key_engine.revoke_key(key_id=key.pk, actor=merger),
        lambda: key_engine.rotate_key(key_id=key.pk, actor=merger),
    ):
        with pytest.raises(ScopeMissing):
            act()
    assert ApiKey.objects.get().revoked_at is None


def test_nobody_grants_more_branches_than_they_hold(actor) -> None:
    narrow = replace(actor, branch_patterns=("task/*",))
    make(narrow, branch_patterns=["task/auth/*", "task/*"])
    for patterns in ([], ["main"], ["task/a", "*"]):
        with pytest.raises(BranchForbidden):
            make(narrow, branch_patterns=patterns)
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize(
    ("pattern", "held", "answer"),
    [
        ("*", (), True),
        ("task/?", ("task/*",), True),
        ("task/*", ("task/?",), False),  # a star is no single character
        ("task/?", ("task/?",), True),
        ("*", ("task/*", "main"), False),
        ("a*b", ("a*",), True),
    ],
)
def test_covered(pattern, held, answer) -> None:
    assert is_pattern_covered(pattern, held) is answer


def test_who_is_bound_to_an_agent_makes_keys_for_that_agent_only(actor) -> None:
    bound = replace(actor, bound_agent="bot")
    make(bound, agent_id="bot")
    with pytest.raises(AgentForbidden):
        make(bound)


# ---- list, revoke, rotate --------------------------------------------------------------------------


def test_keys_are_listed_newest_first_and_only_those_of_the_project(actor, other_project) -> None:
    labels = ["one", "two", "three"]
    for label in labels:
        make(actor, label=label)
        time.sleep(0.002)  # ids of one millisecond have no order
    make(replace(actor, project_id=other_project.pk), label="foreign")
    page = key_engine.list_keys(actor=actor, limit=2)
    rest = key_engine.list_keys(actor=actor, limit=2, cursor=page.next)
    assert [key.label for key in page.results] == ["three", "two"]
    assert ([key.label for key in rest.results], rest.next) == (["one"], None)


def test_revoking_again_changes_nothing(actor) -> None:
    key, _ = make(actor)
    first = key_engine.revoke_key(key_id=key.pk, actor=actor).revoked_at
    assert key_engine.revoke_key(key_id=key.pk, actor=actor).revoked_at == first
    assert AuditEntry.objects.filter(action="key.revoke").count() == 1


def test_an_admin_makes_rotates_and_ends_no_key_beyond_its_own_rights(actor) -> None:
    soon = timezone.now() + timedelta(days=1)
    for narrow in (
        replace(actor, expires_at=soon),
        replace(actor, branch_patterns=("task/*",)),
        replace(actor, bound_agent="bot"),
    ):
        victim, token = make(actor)
        for act in (
            lambda who: make(who),
            lambda who, key=victim: key_engine.rotate_key(key_id=key.pk, actor=who),
        ):
            with pytest.raises((Invalid, BranchForbidden, AgentForbidden)):
                act(narrow)
        assert key_engine.verify_token(token).pk == victim.pk
        if not narrow.expires_at:  # how long the actor's own key lasts does not bound whom it ends
            with pytest.raises((BranchForbidden, AgentForbidden)):
                key_engine.revoke_key(key_id=victim.pk, actor=narrow)
            assert key_engine.verify_token(token).pk == victim.pk


def test_a_foreign_key_is_not_found(actor, other_project) -> None:
    key, token = make(replace(actor, project_id=other_project.pk))
    for act in (key_engine.revoke_key, key_engine.rotate_key):
        for key_id in (key.pk, ANY_ID):
            with pytest.raises(NotFound):
                act(key_id=key_id, actor=actor)
    assert get_actor(key_engine.verify_token(token), "rest").project_id == other_project.pk


def test_rotation_gives_a_new_secret_with_the_same_rights(actor) -> None:
    old, old_token = make(actor, branch_patterns=["task/*"], agent_id="bot", rate_per_minute=7)
    new, new_token = key_engine.rotate_key(key_id=old.pk, actor=actor)
    assert refused(old_token) == "This API key was revoked."
    who = get_actor(key_engine.verify_token(new_token), "rest")
    assert (who.scopes, who.branch_patterns, who.bound_agent) == ({"write"}, ("task/*",), "bot")
    assert (new.label, new.rate_per_minute) == ("ci", 7)
    assert AuditEntry.objects.first().detail["rotated_from"] == old.prefix


def test_within_the_grace_both_secrets_work(actor, time_travel) -> None:
    old, old_token = make(actor)
    _, new_token = key_engine.rotate_key(key_id=old.pk, actor=actor, grace_seconds=60)
    assert key_engine.verify_token(old_token).pk == old.pk
    time_travel(61)
    assert refused(old_token) == "This API key has expired."
    assert key_engine.verify_token(new_token).expires_at is None


def test_grace_never_lengthens_a_key(actor) -> None:
    soon = timezone.now() + timedelta(seconds=30)
    key, _ = make(actor, expires_at=soon)
    key_engine.rotate_key(key_id=key.pk, actor=actor, grace_seconds=600)
    key.refresh_from_db()
    assert key.expires_at == soon


def test_a_key_that_has_ended_cannot_be_rotated(actor) -> None:
    revoked, _ = make(actor)
    key_engine.revoke_key(key_id=revoked.pk, actor=actor)
    expired, _ = make(actor)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    for key in (revoked, expired):
        with pytest.raises(Conflict):
            key_engine.rotate_key(key_id=key.pk, actor=actor)
    assert ApiKey.objects.count() == 2


def test_a_grace_that_is_too_long_is_refused(actor) -> None:
    key, _ = make(actor)
    for seconds in (-1, 8 * 24 * 3600):
        with pytest.raises(Invalid):
            key_engine.rotate_key(key_id=key.pk, actor=actor, grace_seconds=seconds)


def test_rotation_is_no_way_to_more_rights(actor) -> None:
    key, _ = make(actor)
    with pytest.raises(BranchForbidden):
        key_engine.rotate_key(key_id=key.pk, actor=replace(actor, branch_patterns=("task/*",)))


@pytest.fixture
def time_travel():
    import time_machine

    travellers = []

    def go(seconds: float) -> None:
        traveller = time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=True)
        traveller.start()
        travellers.append(traveller)

    yield go
    for traveller in travellers:
        traveller.stop()
