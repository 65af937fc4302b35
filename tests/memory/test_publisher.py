"""A broker that accepts connections and never answers blocks no request, and health reports it."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from celery import Celery
from django.db import transaction

from memory.engines.store import health
from memory.queue import producer
from memory.queue.publisher import Publisher
from tests.memory.api.client import Api, api_for
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


class Broker:
    """TCP server on a free port; ``answer`` returns the reply to each piece received."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self.answer, self.received = answer, threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}/0"
        self.links: list[socket.socket] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.links.append(link)
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link: socket.socket) -> None:
        try:
            while piece := link.recv(65536):
                self.received.set()
                if reply := self.answer(piece):
                    link.sendall(reply)
        except OSError:
            pass

    def close(self) -> None:
        for one in (self.listener, *self.links):
            with suppress(OSError):  # wakes the threads that read from it, and the client
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def silent(piece: bytes) -> bytes:
    return b""


def only_greets(piece: bytes) -> bytes:
    """Reply as a Redis that hangs: it greets, and takes no message."""
    if b"LPUSH" in piece:
        return b""
    replies = {b"PING": b"+PONG\r\n", b"HELLO": b"-ERR unknown command\r\n", b"SMEMBERS": b"*0\r\n"}
    many = piece.count(b"\r\n*") + 1
    return next((reply for word, reply in replies.items() if word in piece), b"+OK\r\n") * many


@pytest.fixture(params=[silent, only_greets])
def broker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    running = Broker(request.param)
    distant = Celery("distant", set_as_current=False)
    distant.config_from_object("django.conf:settings", namespace="CELERY")
    distant.conf.broker_url = running.url
    distant.conf.broker_transport_options = {**distant.conf.broker_transport_options, "socket_timeout": 0.5}
    publisher = Publisher()
    for module in (producer, health):
        monkeypatch.setattr(module, "app_or_default", lambda: distant)
        monkeypatch.setattr(module, "publisher", publisher)
    yield running
    publisher.flush(TIMEOUT_SECONDS)
    running.close()


def test_a_hung_broker_holds_no_write(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    # The broker does not give up while this test runs.
    producer.app_or_default().conf.broker_transport_options["socket_timeout"] = float(TIMEOUT_SECONDS)

    def write() -> None:
        for _ in range(20):
            with transaction.atomic():
                producer.enqueue("memory.embed", "one")

    writing = threading.Thread(target=write, daemon=True)
    writing.start()
    assert broker.received.wait(TIMEOUT_SECONDS)
    writing.join(TIMEOUT_SECONDS / 3)
    assert not writing.is_alive()
    broker.close()


def test_health_says_that_the_broker_is_silent(broker: Broker, project, caplog) -> None:
    api: Api = api_for(project)
    producer.enqueue("memory.embed", "one")
    producer.publisher.flush(TIMEOUT_SECONDS)
    report = api.get("/health").json()
    assert (report["status"], report["broker"], report["worker"]) == ("degraded", "silent", "stopped")
    producer.enqueue("memory.embed", "two")  # during the pause it is not even tried
    producer.publisher.flush(TIMEOUT_SECONDS)
    warned = [record.message for record in caplog.records if record.name == "memory.queue.publisher"]
    assert [message[:26] for message in warned] == ["The broker does not answer"]
    assert Api("").get("/health").json() == {"status": "degraded"}


def test_more_messages_than_wait_are_left_to_the_sweeps(broker: Broker) -> None:
    producer.app_or_default().conf.broker_transport_options["socket_timeout"] = float(TIMEOUT_SECONDS)
    for _ in range(1100):
        producer.enqueue("memory.embed", "one")
    assert producer.publisher._waiting.qsize() <= 1000
    assert broker.received.wait(TIMEOUT_SECONDS)  # a connection that is being made would outlive the broker
    broker.close()
