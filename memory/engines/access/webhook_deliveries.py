"""Deliveries of webhooks: each gets its events at least once, in the order of the seal.

What is sent is no row: a webhook's position goes on after an event was taken, or was tried for hours. A
message is made of the trail when it is sent, so that it has nothing that was erased since. Requests run in
threads of their own and touch no database; a receiver that is slow holds up nobody else.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from queue import SimpleQueue
from time import monotonic
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.db import connections
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.transactions import write_transaction
from memory.engines.access.webhooks import describe_webhook, is_allowed, sign_message
from memory.engines.activity.events import Event, EventEngine, matches_any
from memory.engines.audit.trail import record_entry
from memory.engines.support.public_servers import Request, Unanswered, send_request
from memory.models.webhooks import Webhook, WebhookFailure

logger = logging.getLogger(__name__)
Render = Callable[[Event], bytes]

MAX_AT_ONCE = 8  # requests of this process
TIMEOUT_SECONDS = 10.0
ROUND_SECONDS = 20.0  # after which others that are due are looked for
CLAIM_SECONDS = 60  # after which a delivery is another process's: its own has died
# Before each further try of an event, in seconds: about eight hours in all.
DELAYS = (15, 60, 300, 900, 1800, 3600, 7200, 14400)
BATCH_SIZES = (20, 500)  # entries that are read for the next event, and where none of them is one
HEADERS = {"Content-Type": "application/json", "User-Agent": "Day1", "Connection": "close"}
OTHER_KEY = _(
    "Its secret was sealed with another secret key of the server: make a new one, then let it go on."
)
GONE, TURNED_OFF = 410, _("The receiver answered 410: it wants no more events.")
_courier = threading.Lock()


@dataclass(frozen=True)
class Delivery:
    """An event on its way to a webhook, again where it is of a failure; ``webhook`` is as it was claimed."""

    webhook: Webhook
    event: Event
    failure: WebhookFailure | None
    request: Request


@dataclass(frozen=True)
class Outcome:
    """What became of a request: a status, or why there is none."""

    status: int = 0
    reason: str = ""

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def error(self) -> str:
        """Return why the event was not taken."""
        if not self.status:
            return self.reason[:200]
        hint = ": redirects are not followed" if 300 <= self.status < 400 else ""
        return f"the answer is HTTP {self.status}{hint}"


def start_courier(render: Render) -> None:
    """Deliver what is due, in a thread of this process, unless one does so already.

    It holds no worker; with the process it ends at once, and what was on its way is sent again.
    """
    if list_due() and _courier.acquire(blocking=False):
        threading.Thread(target=_run_courier, args=(render,), name="webhooks", daemon=True).start()


def _run_courier(render: Render) -> None:
    try:
        while deliver_due(render):
            pass
    except Exception:  # the schedule starts the next
        logger.exception("The deliveries of webhooks ended.")
    finally:
        connections.close_all()
        _courier.release()


def deliver_due(render: Render) -> int:
    """Deliver for about twenty seconds, or until nothing is due; return how many requests were made.

    Webhooks take turns, event by event.
    """
    ends, made, running = monotonic() + ROUND_SECONDS, 0, 0
    due, done = deque(list_due()), SimpleQueue[tuple[Delivery, Outcome]]()
    while running or (due and monotonic() < ends):
        while due and running < MAX_AT_ONCE and monotonic() < ends:
            if delivery := prepare_delivery(due.popleft(), render):
                threading.Thread(target=_send, args=(delivery, done), daemon=True).start()
                running, made = running + 1, made + 1
        if running:
            delivery, outcome = done.get()
            running -= 1
            if settle_delivery(delivery, outcome):
                due.append(delivery.webhook.pk)
    return made


def _send(delivery: Delivery, done: SimpleQueue[tuple[Delivery, Outcome]]) -> None:
    outcome = Outcome(reason="it cannot be sent")
    try:
        outcome = Outcome(send_request(delivery.request, is_allowed=is_allowed)[0])
    except Unanswered as error:
        outcome = Outcome(reason=str(error))
    finally:
        done.put((delivery, outcome))


# ---- what is due -----------------------------------------------------------------------------------


def list_due() -> list[UUID]:
    """Return the webhooks that have something to send now, those first whose last try is the longest ago."""
    newest: dict[UUID, int] = {}
    rows = Webhook.objects.filter(state=Webhook.State.ACTIVE).order_by(F("tried_at").asc(nulls_first=True))
    found = []
    for webhook in rows.filter(_is_past("claimed_until"), _is_past("next_try_at")):
        if webhook.project_id not in newest:
            newest[webhook.project_id] = EventEngine().latest_position(project_id=webhook.project_id)
        if newest[webhook.project_id] > webhook.position or webhook.failures.filter(is_due=True).exists():
            found.append(webhook.pk)
    return found


def _is_past(name: str) -> Q:
    return Q(**{name: None}) | Q(**{f"{name}__lte": timezone.now()})


def prepare_delivery(webhook_id: UUID, render: Render) -> Delivery | None:
    """Claim a webhook and return what it gets next; None where that is nothing, or another process does."""
    if (webhook := _claim(webhook_id)) is None:
        return None
    try:
        failure, event = _find_next(webhook)
        if event:
            return Delivery(webhook, event, failure, _build_request(webhook, event, render(event)))
        _change_claimed(webhook, position=webhook.position)
    except InvalidToken:
        _change_claimed(webhook, state=Webhook.State.PAUSED, last_error=OTHER_KEY)
    return None


def _claim(webhook_id: UUID) -> Webhook | None:
    now = timezone.now()
    free = Webhook.objects.filter(_is_past("claimed_until"), _is_past("next_try_at"), pk=webhook_id)
    until = now + timedelta(seconds=CLAIM_SECONDS)
    with write_transaction():
        claimed = free.filter(state=Webhook.State.ACTIVE).update(claimed_until=until, tried_at=now)
    return Webhook.objects.filter(pk=webhook_id, claimed_until=until).first() if claimed else None


def _change_claimed(webhook: Webhook, **values: object) -> bool:
    """Change a webhook and give it free, unless its claim was over and it is another's."""
    with write_transaction():
        own = Webhook.objects.filter(pk=webhook.pk, claimed_until=webhook.claimed_until)
        return bool(own.update(claimed_until=None, **values))


def _find_next(webhook: Webhook) -> tuple[WebhookFailure | None, Event | None]:
    """Return the event that is to be sent, and the failure that it is sent again for."""
    for failure in webhook.failures.filter(is_due=True).order_by("position"):
        after = failure.position - 1
        events, _last = EventEngine().read_events(project_id=webhook.project_id, after=after, limit=1)
        if events:
            return failure, events[0]
        failure.delete()  # what is no event any more can be sent to nobody
    return None, _find_after(webhook)


def _find_after(webhook: Webhook) -> Event | None:
    """Return the next event that the webhook wants; its position goes past those that it does not."""
    sizes = iter(BATCH_SIZES)
    size = next(sizes)
    while True:
        after = webhook.position
        events, last = EventEngine().read_events(project_id=webhook.project_id, after=after, limit=size)
        for event in events:
            if matches_any(event.kind, webhook.kinds) and matches_any(event.branch, webhook.branches):
                return event
        if last == after:
            return None
        webhook.position, size = last, next(sizes, size)


def _build_request(webhook: Webhook, event: Event, body: bytes) -> Request:
    message_id = f"evt_{webhook.project_id.hex}_{event.position}"  # the same in each try
    signed = sign_message(webhook, message_id, timezone.now(), body)
    return Request("POST", webhook.url, {**HEADERS, **signed}, TIMEOUT_SECONDS, body)


# ---- what became of it -----------------------------------------------------------------------------


def settle_delivery(delivery: Delivery, outcome: Outcome) -> bool:
    """Keep what became of a delivery; return whether the webhook may go on at once."""
    if outcome.status == GONE:
        _turn_off(delivery.webhook)
        return False
    if delivery.failure:
        return _settle_again(delivery, delivery.failure, outcome)
    if outcome.is_taken:
        done = {"position": delivery.event.position, "tries": 0, "next_try_at": None, "last_error": ""}
        return _change_claimed(delivery.webhook, **done)
    return _settle_refused(delivery, outcome.error)


def _settle_refused(delivery: Delivery, reason: str) -> bool:
    webhook, tries = delivery.webhook, delivery.webhook.tries
    if tries < len(DELAYS):
        next_try = timezone.now() + timedelta(seconds=DELAYS[tries])
        _change_claimed(webhook, tries=tries + 1, next_try_at=next_try, last_error=reason)
        return False
    with write_transaction():
        given_up = {"position": delivery.event.position, "tries": 0, "next_try_at": None}
        if not _change_claimed(webhook, **given_up, last_error=reason):
            return False
        values = {"kind": delivery.event.kind, "reason": reason, "failed_at": timezone.now()}
        WebhookFailure.objects.get_or_create(
            webhook=webhook, position=delivery.event.position, defaults=values
        )
    return True


def _settle_again(delivery: Delivery, failure: WebhookFailure, outcome: Outcome) -> bool:
    """Keep what became of an event that was sent again; those that wait have their own tries."""
    with write_transaction():
        if not _change_claimed(delivery.webhook):
            return False
        row = WebhookFailure.objects.filter(pk=failure.pk)
        if outcome.is_taken:
            row.delete()
        else:
            row.update(is_due=False, reason=outcome.error, failed_at=timezone.now())
    return True


def _turn_off(webhook: Webhook) -> None:
    with write_transaction():
        if _change_claimed(webhook, state=Webhook.State.GONE, last_error=TURNED_OFF):
            webhook.state = Webhook.State.GONE
            actor = Actor(webhook.project_id, "system", label="webhooks")
            record_entry(actor, "webhook.gone", str(webhook.pk), describe_webhook(webhook))
