"""Webhooks of a project: made, changed and deleted by its admins; what was not taken can be sent again.

Secrets are as Standard Webhooks has them; the store keeps them sealed. See docs/decisions/0097.
"""

import base64
import hmac
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address
from secrets import token_bytes
from typing import Annotated, Any, TypedDict, Unpack
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.makers import Identity, require_maker
from memory.engines.activity.events import EventEngine
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.keys import MAX_GRACE_SECONDS
from memory.engines.fields.orders import WEBHOOKS
from memory.engines.fields.webhooks import DAY_SECONDS, EVENT, SECRET_GRACE, WEBHOOK
from memory.engines.support import validation as c
from memory.engines.support.ciphers import build_cipher
from memory.engines.support.pagination import Page, Paging, Sorting, paginate
from memory.engines.support.public_servers import is_of_network, is_public, split_address
from memory.exceptions import Invalid, NotFound, TooLarge
from memory.models import Project
from memory.models.webhooks import Webhook, WebhookFailure
from memory.queue.producer import enqueue

MAX_WEBHOOKS = 20  # of a project
SECRET_PREFIX, SECRET_BYTES = "whsec_", 32
PURPOSE = b"day1 secrets of webhooks"
CHECKS = WEBHOOK.field_checks(Use.CREATE) | WEBHOOK.field_checks(Use.UPDATE)
FRESH_START: dict[str, Any] = {"tries": 0, "next_try_at": None, "last_error": ""}
DELIVER = "memory.deliver_webhooks"
MAKER_LEFT = _("Who made it has left the project: let it go on if it shall.")


class WebhookFields(TypedDict, total=False):
    """The fields of a webhook, in Python."""

    url: str
    kinds: list[str]
    branches: list[str]
    state: str


@retry_methods
class WebhookEngine:
    def list_webhooks(self, *, actor: Actor, **paging: Unpack[Sorting]) -> Page[Webhook]:
        """List the project's webhooks, newest first."""
        return paginate(_list_own(actor), WEBHOOKS, **paging)

    def get_webhook(self, *, webhook_id: UUID, actor: Actor) -> Webhook:
        """Return a webhook. Raises NotFound."""
        if (webhook := _list_own(actor).filter(pk=webhook_id).first()) is None:
            raise NotFound()
        return webhook

    def create_webhook(self, *, actor: Actor, **fields: Unpack[WebhookFields]) -> tuple[Webhook, str]:
        """Make a webhook that gets the events from now on; return it with its secret, which is shown once.

        Raises Invalid, TooLarge for too many, ScopeMissing, BranchForbidden, AgentForbidden, UserForbidden.
        """
        _list_own(actor)
        values, secret = check_fields(fields), make_secret()
        newest = EventEngine().latest_position(project_id=actor.project_id)
        with write_transaction():
            require_maker(actor)
            # Of two at once each counts the other.
            Project.objects.select_for_update().get(pk=actor.project_id)
            if Webhook.objects.filter(project=actor.project_id).count() >= MAX_WEBHOOKS:
                raise TooLarge(what="The list of webhooks", limit=f"{MAX_WEBHOOKS} entries")
            webhook = Webhook.objects.create(
                project_id=actor.project_id,
                position=newest,
                secret=seal_secret(secret),
                **values,
                **actor.identity_fields("created_by"),
            )
            record_entry(actor, "webhook.create", str(webhook.pk), describe_webhook(webhook))
        return webhook, secret

    def update_webhook(self, *, webhook_id: UUID, actor: Actor, **fields: Unpack[WebhookFields]) -> Webhook:
        """Change a webhook, pause it, or let it go on where it stopped: then the next event is tried at
        once. Raises NotFound, Invalid.
        """
        values = check_fields(fields)
        with write_transaction():
            webhook = self.get_webhook(webhook_id=webhook_id, actor=actor)
            if {name: getattr(webhook, name) for name in values} != values:
                Webhook.objects.filter(pk=webhook.pk).update(**values, **FRESH_START)
                webhook.refresh_from_db()
                record_entry(actor, "webhook.update", str(webhook.pk), describe_webhook(webhook))
                enqueue(DELIVER)
        return webhook

    def delete_webhook(self, *, webhook_id: UUID, actor: Actor) -> None:
        """Delete a webhook, with what it did not take. Raises NotFound."""
        with write_transaction():
            webhook = self.get_webhook(webhook_id=webhook_id, actor=actor)
            record_entry(actor, "webhook.delete", str(webhook.pk), describe_webhook(webhook))
            webhook.delete()

    def rotate_secret(
        self, *, webhook_id: UUID, actor: Actor, grace_seconds: Annotated[int, SECRET_GRACE] = DAY_SECONDS
    ) -> tuple[Webhook, str]:
        """Give a webhook a new secret; the old one signs, too, for ``grace_seconds``. Raises NotFound,
        Invalid.
        """
        grace = c.integer_check(0, MAX_GRACE_SECONDS)("grace_seconds", grace_seconds)
        secret = make_secret()
        with write_transaction():
            webhook = self.get_webhook(webhook_id=webhook_id, actor=actor)
            webhook.old_secret = webhook.secret if grace else ""
            webhook.old_secret_until = timezone.now() + timedelta(seconds=grace) if grace else None
            webhook.secret = seal_secret(secret)
            webhook.save(update_fields=["secret", "old_secret", "old_secret_until"])
            record_entry(actor, "webhook.rotate", str(webhook.pk), describe_webhook(webhook))
        return webhook, secret

    def list_failures(
        self, *, webhook_id: UUID, actor: Actor, **paging: Unpack[Paging]
    ) -> Page[WebhookFailure]:
        """List the events that a webhook did not take, in their order. Raises NotFound."""
        webhook = self.get_webhook(webhook_id=webhook_id, actor=actor)
        return paginate(webhook.failures.all(), "position", **paging)

    def replay_failures(self, *, webhook_id: UUID, actor: Actor, event: Annotated[int, EVENT] = 0) -> Webhook:
        """Send events again that a webhook did not take, before those that wait; each is tried once.

        Raises NotFound, also for an event that is not among them.
        """
        with write_transaction():
            webhook = self.get_webhook(webhook_id=webhook_id, actor=actor)
            chosen = webhook.failures.filter(**({"position": event} if event else {}))
            if not chosen.update(is_due=True):
                raise NotFound("There is no such event that was not taken.")
            Webhook.objects.filter(pk=webhook.pk).update(next_try_at=None)
            record_entry(actor, "webhook.replay", str(webhook.pk), {"event": event} if event else {})
            enqueue(DELIVER)
        webhook.refresh_from_db()
        return webhook


def _list_own(actor: Actor) -> QuerySet[Webhook]:
    """Return the project's webhooks: whoever sees what all of its branches send may make one."""
    actor.require_admin_of_all()
    actor.require_every_user()
    return Webhook.objects.filter(project=actor.project_id)


def describe_webhook(webhook: Webhook) -> dict[str, Any]:
    """Return what the trail says of a webhook: of the address the server alone, as the rest may be secret."""
    host = urlsplit(webhook.url).netloc
    return {"host": host, "kinds": webhook.kinds, "branches": webhook.branches, "state": webhook.state}


def pause_made_by(makers: Collection[Identity], actor: Actor, cause: Mapping[str, str]) -> None:
    """Pause the webhooks that somebody made who leaves, within the caller's transaction."""
    for webhook in Webhook.objects.filter(project=actor.project_id, state=Webhook.State.ACTIVE):
        if (webhook.created_by_kind, webhook.created_by_id) in makers:
            webhook.state, webhook.last_error = Webhook.State.PAUSED, MAKER_LEFT
            webhook.save(update_fields=["state", "last_error"])
            record_entry(actor, "webhook.update", str(webhook.pk), {**describe_webhook(webhook), **cause})


# ---- addresses -------------------------------------------------------------------------------------


def check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid fields, each kind and branch once. Raises UnknownField, Invalid."""
    values = c.validate(fields, CHECKS)
    if "url" in values:
        check_url(values["url"])
    for name in ("kinds", "branches"):
        if name in values:
            values[name] = list(dict.fromkeys(values[name]))
    return values


def check_url(url: str) -> None:
    """Check the address of a receiver; where its name leads is seen when it is sent to. Raises Invalid."""
    parts = split_address(url)
    if parts is None or not parts.hostname or parts.scheme not in list_schemes():
        raise Invalid("{field} must be an address of https, without a name and password in it.", field="url")
    if not is_reachable(str(parts.hostname)):
        raise Invalid("{field} must be on a public server.", field="url")


def is_reachable(name: str) -> bool:
    """Return whether a name may be one of a public server: an address must be, others are resolved later."""
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return True
    return is_allowed(name)


def list_schemes() -> tuple[str, ...]:
    return ("https", "http") if conf().webhooks_allow_private else ("https",)


def is_allowed(address: str) -> bool:
    """Return whether events may be sent to an IP address."""
    return is_of_network(address) if conf().webhooks_allow_private else is_public(address)


# ---- secrets ---------------------------------------------------------------------------------------


def make_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(token_bytes(SECRET_BYTES)).decode()


def seal_secret(secret: str) -> str:
    return build_cipher(PURPOSE).encrypt(secret.encode()).decode()


def sign_message(webhook: Webhook, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a message, signed as Standard Webhooks says. Raises cryptography's InvalidToken
    where the server has another secret key than the one that sealed the secret.
    """
    seconds = str(int(at.timestamp()))
    signed = f"{message_id}.{seconds}.".encode() + body
    sealed = [webhook.secret]
    if webhook.old_secret_until and webhook.old_secret_until > at:
        sealed.append(webhook.old_secret)
    keys = [build_cipher(PURPOSE).decrypt(one.encode()).decode() for one in sealed]
    raw = [base64.b64decode(key.removeprefix(SECRET_PREFIX)) for key in keys]
    signatures = (base64.b64encode(hmac.digest(key, signed, sha256)).decode() for key in raw)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }
