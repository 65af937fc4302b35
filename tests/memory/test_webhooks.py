"""Webhooks: signed, in the order of the seal, at least once, whatever the receiver does."""

import base64
import hmac
import html
import json
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone
from werkzeug import Request, Response

from memory import tasks
from memory.actors import Actor, local_actor
from memory.answers.events import event_shape, webhook_message
from memory.engines.access import webhook_deliveries
from memory.engines.access.members import MemberEngine, build_member_actor
from memory.engines.access.webhook_deliveries import (
    CLAIM_SECONDS,
    DELAYS,
    OTHER_KEY,
    Outcome,
    deliver_due,
    list_due,
    prepare_delivery,
    settle_delivery,
)
from memory.engines.access.webhooks import MAKER_LEFT, MAX_WEBHOOKS, WebhookEngine
from memory.engines.activity.events import EventEngine
from memory.engines.audit.trail import AuditEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import BranchForbidden, Invalid, NotFound, ScopeMissing, TooLarge
from memory.models import AuditEntry, Membership
from memory.models.webhooks import Webhook, WebhookFailure
from tests.command_line import build_day1
from tests.http_doubles import DoubleServer
from tests.memory.views.conftest import browser, person
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE = WebhookEngine()


class Receiver:
    """A program that gets events over HTTP; ``statuses`` are those of its next answers, 204 after them."""

    def __init__(self) -> None:
        self.server = DoubleServer()
        self.statuses: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.lets_go = threading.Event()
        self.lets_go.set()
        self.server.expect_request("/day1").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        self.got.append((dict(request.headers), request.get_data()))
        status = self.statuses.pop(0) if self.statuses else 204
        self.lets_go.wait(TIMEOUT_SECONDS)
        return Response(status=status, headers={"Location": self.url})

    @property
    def url(self) -> str:
        return self.server.url_for("/day1")

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(body)["data"] for _headers, body in self.got]

    @property
    def positions(self) -> list[int]:
        return [event["id"] for event in self.events]


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.DAY1 = {**settings.DAY1, "webhooks_allow_private": True}
    receiver = Receiver()
    receiver.server.start()
    yield receiver
    receiver.lets_go.set()
    receiver.server.clear()
    receiver.server.stop()


def write(actor: Actor, *texts: str, **fields: Any) -> None:
    for text in texts:
        FactEngine().write_fact(fact_text=text, actor=actor, **fields)


def deliver() -> int:
    return deliver_due(webhook_message)


def read_told(actor: Actor, after: int) -> list[dict[str, Any]]:
    """Return what GET /events tells after a position."""
    events, _last = EventEngine().read_events(project_id=actor.project_id, after=after)
    return [json.loads(json.dumps(event_shape(event), default=str)) for event in events]


def later(seconds: float) -> time_machine.travel:
    return time_machine.travel(timezone.now() + timedelta(seconds=seconds), tick=True)


def verify(secret: str, headers: dict[str, str], body: bytes) -> list[bool]:
    """Return of each signature whether it is by the secret, as the specification says."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    signed = f"{headers['Webhook-Id']}.{headers['Webhook-Timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, sha256)).decode()
    return [one == expected for one in headers["Webhook-Signature"].split(" ")]


# ---- what arrives ----------------------------------------------------------------------------------


def test_events_arrive_in_the_order_of_the_seal_and_as_the_stream_tells_them(actor, main, receiver):
    write(actor, "Before it.")
    webhook, secret = ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.", "Two.")
    BranchManager().create_branch(name="task/a", actor=actor)
    write(actor, "Three.", branch_name="task/a")
    assert deliver() == 4
    told = read_told(actor, webhook.position)
    assert [event["id"] for event in receiver.events] == [event["id"] for event in told]
    assert [event["kind"] for event in receiver.events] == [
        *("fact.write", "fact.write", "branch.create", "fact.write")
    ]
    assert [event["changes"][0]["line"] for event in receiver.events if event["changes"]] == [
        *("One.", "Two.", "Three.")
    ]
    assert [event.keys() for event in receiver.events] == [event.keys() for event in told]
    headers, body = receiver.got[0]
    assert (json.loads(body)["type"], headers["Content-Type"]) == ("fact.write", "application/json")
    assert json.loads(body)["timestamp"] == receiver.events[0]["at"]
    assert verify(secret, headers, body) == [True]
    assert abs(int(headers["Webhook-Timestamp"]) - timezone.now().timestamp()) < 60
    assert len({headers["Webhook-Id"] for headers, _body in receiver.got}) == 4
    assert (deliver(), list_due()) == (0, [])


def test_branches_and_kinds_choose_and_what_is_not_wanted_is_passed_by(actor, main, receiver):
    BranchManager().create_branch(name="task/a", actor=actor)
    ENGINE.create_webhook(url=receiver.url, kinds=["fact.*"], branches=["task/*"], actor=actor)
    BranchManager().create_branch(name="task/b", actor=actor)
    write(actor, "On main.")
    write(actor, "On a.", branch_name="task/a")
    assert deliver() == 1
    assert [(one["kind"], one["branch"]) for one in receiver.events] == [("fact.write", "task/a")]
    write(actor, *(f"More on main {n}." for n in range(25)))
    assert (deliver(), list_due()) == (0, [])
    newest = EventEngine().latest_position(project_id=actor.project_id)
    assert Webhook.objects.get().position == newest


def test_events_of_another_project_never_arrive(actor, main, receiver, other_project):
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(local_actor(other_project.pk), "Theirs.")
    assert (deliver(), receiver.got) == (0, [])


def test_what_was_erased_before_it_is_sent_is_not_in_it(actor, main, receiver, project):
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    fact = FactEngine().write_fact(fact_text="The door code is 4711.", actor=actor).fact
    receiver.statuses = [500]
    deliver()
    done = ErasureEngine().erase(
        scope="fact", target=str(fact.uid), confirm=project.slug, drop_copies=True, actor=actor
    )
    assert done.done_at
    with later(DELAYS[0] + 1):
        deliver()
    assert b"4711" in receiver.got[0][1]
    assert all(b"4711" not in body for _headers, body in receiver.got[1:])


# ---- receivers that fail ---------------------------------------------------------------------------


def test_a_refused_event_holds_its_place_and_is_sent_again_under_its_id(actor, main, receiver):
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.", "Two.")
    receiver.statuses = [500, 404]
    assert deliver() == 1
    webhook = Webhook.objects.get()
    assert (webhook.tries, webhook.last_error) == (1, "the answer is HTTP 500")
    assert (deliver(), len(receiver.got)) == (0, 1)
    with later(DELAYS[0] + 1):
        assert deliver() == 1
    with later(DELAYS[0] + DELAYS[1] + 2):
        assert deliver() == 2
    first, second = sorted(set(receiver.positions))
    assert receiver.positions == [first, first, first, second]
    assert len({headers["Webhook-Id"] for headers, _body in receiver.got[:3]}) == 1
    webhook.refresh_from_db()
    assert (webhook.position, webhook.tries, webhook.last_error) == (second, 0, "")


@pytest.mark.parametrize("answer", [b"nonsense\r\n\r\n", b""])
def test_an_answer_that_is_none_is_a_failure(actor, main, receiver, answer):
    listener = socket.create_server(("127.0.0.1", 0))

    def answer_once() -> None:
        connection, _address = listener.accept()
        connection.recv(65536)
        connection.sendall(answer)
        connection.close()

    thread = threading.Thread(target=answer_once)
    thread.start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    ENGINE.create_webhook(url=address, actor=actor)
    write(actor, "One.")
    assert deliver() == 1
    thread.join()
    listener.close()
    assert Webhook.objects.get().last_error == "it does not answer as it should"
    with later(DELAYS[0] + 1):
        assert deliver() == 1  # nobody listens any more
    assert Webhook.objects.get().last_error == "the connection is refused"
    ENGINE.update_webhook(webhook_id=Webhook.objects.get().pk, url=receiver.url, actor=actor)
    assert deliver() == 1
    assert [event["changes"][0]["line"] for event in receiver.events] == ["One."]


def test_a_slow_receiver_holds_nobody_up_and_loses_nothing(actor, main, receiver, monkeypatch):
    monkeypatch.setattr(webhook_deliveries, "TIMEOUT_SECONDS", 2.5)
    slow = Receiver()
    slow.server.start()
    slow.lets_go.clear()
    ENGINE.create_webhook(url=slow.url, actor=actor)
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.", "Two.", "Three.")
    assert deliver() == 4
    assert (len(slow.got), len(receiver.got)) == (1, 3)
    assert Webhook.objects.get(url=slow.url).last_error == "no answer in 2.5 seconds"
    slow.lets_go.set()
    monkeypatch.setattr(webhook_deliveries, "TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    with later(DELAYS[0] + 1):
        assert deliver() == 3
    assert slow.positions == [receiver.positions[0], *receiver.positions]
    slow.server.stop()


def test_a_crash_after_the_answer_sends_the_event_again_and_no_other(actor, main, receiver):
    webhook, _secret = ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.", "Two.")
    list_due()
    delivery = prepare_delivery(webhook.pk, webhook_message)
    assert delivery
    assert prepare_delivery(webhook.pk, webhook_message) is None  # by another process
    webhook_deliveries.send_request(delivery.request, is_allowed=lambda address: True)  # and it dies
    assert (deliver(), len(receiver.got)) == (0, 1)
    with later(CLAIM_SECONDS + 1):
        assert deliver() == 2
        assert settle_delivery(delivery, Outcome(500)) is False  # it did not die, but was late
    first, second = sorted(set(receiver.positions))
    assert receiver.positions == [first, first, second]
    webhook.refresh_from_db()
    assert (webhook.position, webhook.tries) == (second, 0)


def test_an_event_that_is_never_taken_is_kept_apart_and_can_be_sent_again(actor, main, receiver):
    webhook, _secret = ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "Poison.", "Good.")
    receiver.statuses = [500] * (len(DELAYS) + 1)
    passed = 0.0
    for delay in (0, *DELAYS):
        passed += delay + 1
        with later(passed):
            deliver()
    poison, good = sorted(set(receiver.positions))
    assert receiver.positions == [*[poison] * (len(DELAYS) + 1), good]
    (failure,) = ENGINE.list_failures(webhook_id=webhook.pk, actor=actor).results
    assert (failure.position, failure.kind, failure.reason) == (
        *(poison, "fact.write"),
        "the answer is HTTP 500",
    )
    with pytest.raises(NotFound):
        ENGINE.replay_failures(webhook_id=webhook.pk, event=good, actor=actor)
    receiver.statuses = [503]
    ENGINE.replay_failures(webhook_id=webhook.pk, event=poison, actor=actor)
    assert deliver() == 1
    failure.refresh_from_db()
    assert (failure.reason, failure.is_due, deliver()) == ("the answer is HTTP 503", False, 0)
    ENGINE.replay_failures(webhook_id=webhook.pk, actor=actor)
    assert deliver() == 1
    assert (receiver.positions[-1], WebhookFailure.objects.count()) == (poison, 0)
    assert list_due() == []


def test_410_turns_it_off_and_says_so_and_it_goes_on_where_it_stopped(actor, main, receiver):
    webhook, _secret = ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.", "Two.")
    receiver.statuses = [410]
    assert (deliver(), deliver()) == (1, 0)
    webhook.refresh_from_db()
    assert (webhook.state, webhook.last_error) == (
        *("gone",),
        "The receiver answered 410: it wants no more events.",
    )
    entry = AuditEngine().list_entries(actor=actor, action="webhook.gone").results[0]
    assert (entry.target, entry.actor_kind, entry.actor_label) == (str(webhook.pk), "system", "webhooks")
    ENGINE.update_webhook(webhook_id=webhook.pk, state="active", actor=actor)
    assert deliver() == 2
    assert [event["changes"][0]["line"] for event in receiver.events] == ["One.", "One.", "Two."]


def test_a_redirect_is_not_followed(actor, main, receiver):
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.")
    receiver.statuses = [302]
    assert (deliver(), len(receiver.got)) == (1, 1)
    assert Webhook.objects.get().last_error == "the answer is HTTP 302: redirects are not followed"


# ---- addresses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "https://", "example.com", "https://a.example/ b"),
        *("https://user:word@example.com/", "https://example.com/#a", "https://127.0.0.1/"),
        *("https://[::1]/", "https://169.254.169.254/latest", "https://10.0.0.1/", "https://[::1"),
    ],
)
def test_an_address_is_public_and_of_https(actor, main, url):
    with pytest.raises(Invalid):
        ENGINE.create_webhook(url=url, actor=actor)
    assert Webhook.objects.count() == 0


def test_a_name_that_leads_to_this_machine_is_not_sent_to(actor, main, receiver, settings):
    settings.DAY1 = {**settings.DAY1, "webhooks_allow_private": False}
    port = receiver.server.port
    for name in ("localhost", "2130706433", "0x7f.1"):
        ENGINE.create_webhook(url=f"https://{name}:{port}/day1", actor=actor)
    write(actor, "One.")
    assert (deliver(), receiver.got) == (3, [])
    assert {one.last_error for one in Webhook.objects.all()} == {"it is not on a public server"}


def test_on_a_private_network_clouds_keep_their_secrets(actor, main, receiver):
    with pytest.raises(Invalid):
        ENGINE.create_webhook(url="http://169.254.169.254/latest", actor=actor)


# ---- who may, and what is told ---------------------------------------------------------------------


def test_only_who_sees_every_branch_may_and_there_is_a_bound(actor, main):
    url = "https://example.com/day1"
    with pytest.raises(ScopeMissing):
        ENGINE.create_webhook(url=url, actor=replace(actor, scopes=frozenset({"merge"})))
    with pytest.raises(BranchForbidden):
        ENGINE.create_webhook(url=url, actor=replace(actor, branch_patterns=("task/*",)))
    for _ in range(MAX_WEBHOOKS):
        ENGINE.create_webhook(url=url, actor=actor)
    with pytest.raises(TooLarge):
        ENGINE.create_webhook(url=url, actor=actor)
    assert Webhook.objects.count() == MAX_WEBHOOKS


def test_another_projects_webhook_is_not_found(actor, main, other_project):
    webhook, _secret = ENGINE.create_webhook(url="https://example.com/", actor=actor)
    stranger = local_actor(other_project.pk)
    for call in (ENGINE.get_webhook, ENGINE.update_webhook, ENGINE.delete_webhook, ENGINE.rotate_secret):
        with pytest.raises(NotFound):
            call(webhook_id=webhook.pk, actor=stranger)
    assert Webhook.objects.get().state == "active"


def test_each_act_is_in_the_trail_without_secrets_and_is_no_event(actor, main, receiver):
    url = "https://example.com/secret-path"
    webhook, secret = ENGINE.create_webhook(url=url, actor=actor)
    ENGINE.update_webhook(webhook_id=webhook.pk, state="paused", actor=actor)
    ENGINE.update_webhook(webhook_id=webhook.pk, state="paused", actor=actor)  # changes nothing
    _same, fresh = ENGINE.rotate_secret(webhook_id=webhook.pk, actor=actor)
    ENGINE.delete_webhook(webhook_id=webhook.pk, actor=actor)
    entries = AuditEntry.objects.filter(action__startswith="webhook.").order_by("id")
    assert [entry.action for entry in entries] == [
        *("webhook.create", "webhook.update", "webhook.rotate", "webhook.delete")
    ]
    told = json.dumps([entry.detail for entry in entries])
    assert not any(one in told for one in (secret, fresh, "secret-path"))
    assert entries[0].detail == {"host": "example.com", "kinds": [], "branches": [], "state": "active"}
    assert read_told(actor, webhook.position) == []


def test_after_a_rotation_both_secrets_sign_until_the_grace_is_over(actor, main, receiver):
    webhook, old = ENGINE.create_webhook(url=receiver.url, actor=actor)
    _same, new = ENGINE.rotate_secret(webhook_id=webhook.pk, grace_seconds=3600, actor=actor)
    write(actor, "One.")
    deliver()
    assert verify(new, *receiver.got[0]) == [True, False]
    assert verify(old, *receiver.got[0]) == [False, True]
    with later(3601):
        write(actor, "Two.")
        deliver()
    assert (verify(new, *receiver.got[1]), verify(old, *receiver.got[1])) == ([True], [False])
    assert all(one not in str(vars(Webhook.objects.get())) for one in (old, new))


def test_with_another_key_of_the_server_it_stops_and_says_why(actor, main, receiver, settings):
    webhook, _secret = ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.")
    settings.SECRET_KEY = "another key of the server, as long as it must be for this"
    assert (deliver(), receiver.got) == (0, [])
    webhook.refresh_from_db()
    assert (webhook.state, webhook.last_error) == ("paused", OTHER_KEY)
    _same, new = ENGINE.rotate_secret(webhook_id=webhook.pk, grace_seconds=0, actor=actor)
    ENGINE.update_webhook(webhook_id=webhook.pk, state="active", actor=actor)
    assert (deliver(), verify(new, *receiver.got[0])) == (1, [True])


def test_the_task_delivers_beside_the_worker(actor, main, receiver):
    tasks.deliver_webhooks()  # nothing is due
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    write(actor, "One.")
    tasks.deliver_webhooks()
    for thread in threading.enumerate():
        if thread.name == "webhooks":
            thread.join(TIMEOUT_SECONDS)
    assert [event["changes"][0]["line"] for event in receiver.events] == ["One."]


# ---- surfaces --------------------------------------------------------------------------------------


def test_the_pages_show_a_secret_once_and_send_again_what_was_not_taken(project, actor, main, receiver):
    maintainer = browser(person("max", project, Membership.Role.MAINTAINER))
    pages = reverse("webhooks", args=["test"])
    fields = {"url": receiver.url, "kinds": "fact.*", "branches": "main"}
    made = maintainer.post(pages, fields)
    webhook = Webhook.objects.get()
    assert (made.status_code, made["Cache-Control"]) == (*(201, "no-store, private, no-cache"),)
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]{44}", html.unescape(made.content.decode()))
    assert (webhook.kinds, webhook.branches, webhook.created_by_kind) == (["fact.*"], ["main"], "user")
    write(actor, "One.")
    deliver()
    assert verify(secret, *receiver.got[0]) == [True]
    webhook.failures.create(
        position=receiver.positions[0], kind="fact.write", reason="it was late", failed_at=timezone.now()
    )
    page = f"{pages}/{webhook.pk}"
    shown = maintainer.get(page).content.decode()
    assert "it was late" in shown
    assert '<option value="86400" selected>' in shown
    assert "whsec_" not in shown + maintainer.get(pages).content.decode()
    assert maintainer.post(page, {"do": f"again:{receiver.positions[0]}"}).status_code == 302
    deliver()
    assert (receiver.positions, WebhookFailure.objects.count()) == ([receiver.positions[0]] * 2, 0)
    assert maintainer.post(f"{page}/delete").status_code == 302
    assert Webhook.objects.count() == 0


def test_the_command_line_makes_one_and_tells_its_secret_once(project, main, capsys, monkeypatch):
    monkeypatch.delenv("DAY1_URL", raising=False)
    day1 = build_day1(project, capsys)
    status, made, _errors = day1(
        "webhooks", "create", "--url", "https://example.com/day1", "--kind", "fact.*"
    )
    assert (status, made.count("whsec_")) == (0, 1)
    _status, listed, _errors = day1("webhooks", "list")
    assert "https://example.com/day1" in listed
    assert "whsec_" not in listed


def test_the_webhooks_of_who_leaves_are_paused(project, actor, main, receiver):
    leaver = person("max", project, Membership.Role.MAINTAINER)
    person("mira", project, Membership.Role.MAINTAINER)
    member = Membership.objects.get(user=leaver)
    ENGINE.create_webhook(url=receiver.url, actor=build_member_actor(member, leaver, "web"))
    ENGINE.create_webhook(url=receiver.url, actor=actor)
    MemberEngine().remove_member(member_id=member.pk, actor=actor)
    write(actor, "After it.")
    assert deliver() == 1
    assert [(one.state, one.last_error) for one in Webhook.objects.order_by("pk")] == [
        *(("paused", MAKER_LEFT), ("active", ""))
    ]
