"""The kombu transport over QueueMessage.

At least once: a message stays until it is acknowledged, and goes to another worker when the lease of
its holder ends. A holder that lives renews in time, whatever its tasks take.
"""

import logging
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from queue import Empty
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, InterfaceError, transaction
from django.db import connection as db  # kombu calls its own things connection
from django.utils import timezone
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

from memory.broker.wake import bell, ring
from memory.models import QueueMessage

logger = logging.getLogger(__name__)

KEY = "day1-key"  # the header that names what a message is for, see QueueMessage.key


def short_write() -> AbstractContextManager[Any]:
    """The caller's transaction, or one of its own that waits its turn among the writers."""
    return nullcontext() if db.in_atomic_block else transaction.atomic()


class QoS(virtual.QoS):
    channel: "Channel"
    _delivered: Any
    _dirty: Any

    def ack(self, delivery_tag: str) -> None:
        try:
            self.channel.remove(delivery_tag)
        finally:
            self._leave(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        try:
            self.channel.give_back(delivery_tag) if requeue else self.channel.remove(delivery_tag)
        finally:
            self._leave(delivery_tag)

    def held(self) -> list[str]:
        """The tags that are delivered and neither acknowledged nor rejected."""
        return [tag for tag in list(self._delivered) if tag not in self._dirty]

    def _leave(self, delivery_tag: str) -> None:
        super().ack(delivery_tag)
        ring()  # there is room again in a prefetch window that was full


class Channel(virtual.Channel):
    QoS = QoS
    lease = 60.0
    from_transport_options = (*virtual.Channel.from_transport_options, "lease")

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self.holder = uuid4()
        self._renewed = monotonic()
        self._without_ack: set[str] = set()

    # ---- sending -------------------------------------------------------------------------------

    def _put(self, queue: str, message: dict[str, Any], **kwargs: Any) -> None:
        headers = message.get("headers") or {}
        with short_write():
            QueueMessage.objects.create(
                queue=queue,
                priority=self._get_message_priority(message),
                visible_at=_time(headers.get("eta")),
                key=headers.get(KEY, ""),
                payload=dumps(message),
            )
            transaction.on_commit(ring)

    # ---- taking --------------------------------------------------------------------------------

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        if no_ack:
            self._without_ack.add(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        for row in iter(QueueMessage.objects.due(queue).first, None):
            if self._claim(row) and (message := self._readable(row)):
                if queue in self._without_ack:
                    self.remove(str(row.pk))
                return message
        raise Empty

    def _claim(self, row: QueueMessage) -> bool:
        # Several workers may have seen this row; the one whose update comes first has it.
        now = timezone.now()
        seen = QueueMessage.objects.filter(pk=row.pk, claim=row.claim, visible_at__lte=now)
        with short_write():
            return bool(seen.update(claim=self.holder, visible_at=now + timedelta(seconds=self.lease)))

    def _readable(self, row: QueueMessage) -> dict[str, Any] | None:
        """The message in the row; a row that holds none is dropped, or it would come again for ever."""
        try:
            message = loads(row.payload)
            message["properties"]["delivery_tag"] = str(row.pk)
            message["headers"]["eta"] = None  # the table kept it until it was due
            self.Message(message, channel=self)
        except Exception:
            logger.exception("The queue message %s cannot be read and is dropped", row.pk)
            self.remove(str(row.pk))
            return None
        return message

    # ---- giving back ---------------------------------------------------------------------------

    def _held(self, *tags: str) -> Any:
        # Who lost its lease must not touch what another holds now.
        return QueueMessage.objects.held_by(self.holder).filter(pk__in=[UUID(tag) for tag in tags])

    def remove(self, tag: str) -> None:
        with short_write():
            self._held(tag).delete()

    def give_back(self, tag: str) -> None:
        with short_write():
            self._held(tag).free()

    def _restore(self, message: virtual.Message) -> None:
        self.give_back(str(message.delivery_tag))

    def renew(self) -> None:
        """Prolong the leases of what is being worked on, when a third of them is over."""
        if monotonic() - self._renewed < self.lease / 3:
            return
        self._renewed = monotonic()
        qos: Any = self.qos
        if tags := qos.held():
            with short_write():
                self._held(*tags).update(visible_at=timezone.now() + timedelta(seconds=self.lease))

    # ---- whole queues --------------------------------------------------------------------------

    def _size(self, queue: str) -> int:
        return QueueMessage.objects.filter(queue=queue, claim=None).count()

    def _purge(self, queue: str) -> int:
        with short_write():
            return QueueMessage.objects.filter(queue=queue, claim=None).delete()[0]


class Transport(virtual.Transport):
    Channel = Channel
    channels: list[Any]
    cycle: Any
    driver_type = driver_name = "djangodb"
    connection_errors = (*virtual.Transport.connection_errors, DatabaseError, InterfaceError)
    # Only for what other processes send: a message of this process wakes the consumer.
    polling_interval = 1.0
    default_connection_params: dict[str, Any] = {}  # no host, no port

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        lease = client.transport_options.get("lease", Channel.lease)
        self.polling_interval = min(self.polling_interval, lease / 3)
        self._bell = bell()

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver one message, or raise socket.timeout: at the end of it, or after a ring for nothing.

        The second lets a worker that is told to stop do so at once.
        """
        end = None if timeout is None else monotonic() + timeout
        rang = False
        while not self._deliver_one():
            left = self.polling_interval if end is None else min(self.polling_interval, end - monotonic())
            if end is not None and (rang or left <= 0):
                raise TimeoutError  # what socket.timeout is
            rang = self._bell.wait(left)

    def _deliver(self, message: dict[str, Any], queue: str | None) -> None:
        try:
            super()._deliver(message, queue)
        except (OSError, DatabaseError, InterfaceError):
            raise
        except Exception:
            # Celery ends its worker for a content that it does not expect, and again at the next delivery.
            tag = message["properties"]["delivery_tag"]
            logger.exception("The queue message %s cannot be worked on and is dropped", tag)
            for channel in self.channels:
                channel.qos.reject(tag)

    def _deliver_one(self) -> bool:
        self._bell.clear()  # before the look, so that what comes after it rings again
        try:
            for channel in self.channels:
                channel.renew()
            self.cycle.get(self._deliver)
        except Empty:
            return False
        except (DatabaseError, InterfaceError) as error:
            # Not passed on: Celery would drop the claims of running tasks and connect anew.
            logger.warning("The queue cannot be read, trying again: %s", error)
            db.close_if_unusable_or_obsolete()
            return False
        return True


def _time(eta: str | None) -> datetime:
    if not eta:
        return timezone.now()
    when = datetime.fromisoformat(eta)
    return when if when.tzinfo else when.replace(tzinfo=UTC)
