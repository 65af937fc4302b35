"""Limits of one session: after so many bytes of long texts only the ends of each are kept."""

import pytest

from conversations.capture import rows
from conversations.models import Message
from memory.models import Observation, Project, Session
from tests.memory.api.client import api_for
from tests.site.hook_events import bash, event, send

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def room_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_SESSION_BYTES", 10_000)


def output(call: str, session: str = "s1") -> dict:
    return bash(call, f"cat {call}", f"head of {call} " + "ä" * 3000 + f" tail of {call}", session)


def lengths(session: str = "s1") -> list[int]:
    said = Message.objects.all_versions().filter(session_id=session).order_by("uid")
    return [len(row.content.encode()) for row in said]


@pytest.mark.parametrize("together", [True, False])
def test_after_the_limit_only_head_and_tail_are_kept(project: Project, together: bool) -> None:
    api = api_for(project)
    some = [output(f"t{n}") for n in range(4)]
    for events in [some] if together else [[one] for one in some]:
        send(api, *events)
    whole, _, third, fourth = lengths()
    assert whole > 6000
    assert (third <= 4096, fourth <= 4096) == (True, True)
    last = Message.objects.all_versions().order_by("uid").last()
    assert last.content.startswith("head of t3 ä")
    assert last.content.endswith("ä tail of t3")
    assert f"[{whole} bytes, cut]" in last.content
    assert Session.objects.get(key="s1").captured == 2 * whole
    assert Observation.objects.all_versions().count() == 4


def test_short_texts_always_come_whole_and_words_are_counted_too(project: Project) -> None:
    api = api_for(project)
    send(api, event("UserPromptSubmit", prompt="x" * 12_000, prompt_id="p1"))
    send(api, event("UserPromptSubmit", prompt="y" * 4096, prompt_id="p2"))
    send(api, event("UserPromptSubmit", prompt="z" * 4097, prompt_id="p3"))
    assert lengths()[:2] == [12_000, 4096]
    assert lengths()[2] <= 4096


def test_each_session_has_its_own_limit(project: Project) -> None:
    api = api_for(project)
    send(api, output("t1"), output("t2"), output("t3", "s2"))
    send(api, output("t4"), output("t5", "s2"))
    assert [size > 6000 for size in lengths()] == [True, True, False]
    assert [size > 6000 for size in lengths("s2")] == [True, True]
