import operator

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from memory.db.transactions import write_transaction
from memory.engines.support import write_buffer
from memory.engines.support.write_buffer import WriteBehind
from memory.models import Project
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = pytest.mark.django_db


class Sink:
    """Sink that collects writes; the first so many fail."""

    def __init__(self, *failures: Exception) -> None:
        self.failures, self.written = list(failures), []

    def __call__(self, values: dict) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.written.append(dict(values))


def behind(sink: Sink, merge=None, interval: float = 60) -> WriteBehind:
    buffer = WriteBehind(interval)
    buffer.register_kind("use", sink, **({"merge": merge} if merge else {}))
    return buffer


def test_values_of_one_key_are_merged_and_written_once() -> None:
    sink = Sink()
    buffer = behind(sink, operator.add)
    for key in ("a", "b", "a"):
        buffer.add_value("use", key, 1)
    assert (sink.written, buffer.pending_values("use")) == ([], {"a": 2, "b": 1})
    buffer.flush()
    buffer.flush()
    assert (sink.written, buffer.pending_values("use")) == ([{"a": 2, "b": 1}], {})


def test_without_a_merge_the_newer_value_stays() -> None:
    sink = Sink()
    buffer = behind(sink)
    buffer.add_value("use", "a", 1)
    buffer.add_value("use", "a", 0)
    buffer.flush()
    assert sink.written == [{"a": 0}]


def test_what_the_database_cannot_take_now_is_kept_and_merged_with_what_comes() -> None:
    sink = Sink(OperationalError("database is locked"))
    buffer = behind(sink, operator.add)
    buffer.add_value("use", "a", 1)
    buffer.flush()
    buffer.add_value("use", "a", 2)
    buffer.flush()
    assert sink.written == [{"a": 3}]


def test_a_value_that_can_never_be_written_is_dropped_with_a_log_line(caplog) -> None:
    sink = Sink(IntegrityError("no such row"))
    buffer = behind(sink)
    buffer.add_value("use", "a", 1)
    buffer.flush()
    assert buffer.pending_values("use") == {}
    # Threads that earlier tests of this process have left may log too.
    logged = [record.getMessage() for record in caplog.records if record.name == write_buffer.__name__]
    assert logged == ["1 values of use are dropped"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("failures", "commits"), [([], 1), ([IntegrityError("no such row")] * 2, 1)])
def test_kinds_share_a_transaction_unless_one_of_them_fails(
    project: Project, failures: list[Exception], commits: int
) -> None:
    buffer, sink = WriteBehind(60), Sink(*failures)
    counted = Project.objects.filter(pk=project.pk)
    buffer.register_kind("count", lambda values: counted.update(dream_min_size=F("dream_min_size") + 1))
    buffer.register_kind("use", sink)
    with write_transaction():  # which has the process lease its numbers, in another one
        before = counted.get().dream_min_size
    buffer.add_value("count", "a", 1)
    buffer.add_value("use", "a", 1)
    with CaptureQueriesContext(connection) as queries:
        buffer.flush()
    assert counted.get().dream_min_size == before + 1  # counted once, though it was tried twice
    assert sink.written == ([] if failures else [{"a": 1}])
    assert [one["sql"] for one in queries].count("COMMIT") == commits


def test_nothing_is_written_inside_a_caller_transaction() -> None:
    sink = Sink()
    buffer = behind(sink, interval=0)
    with transaction.atomic():
        buffer.add_value("use", "a", 1)
        assert sink.written == []


@pytest.mark.django_db(transaction=True)
def test_without_a_thread_the_next_use_after_the_interval_writes() -> None:
    sink = Sink()
    buffer = behind(sink, interval=TIMEOUT_SECONDS)
    buffer.add_value("use", "a", 1)
    assert sink.written == []
    buffer.interval = 0
    buffer.add_value("use", "b", 1)
    assert sink.written == [{"a": 1, "b": 1}]


@pytest.mark.django_db(transaction=True)
def test_a_started_buffer_writes_by_itself_and_writes_the_rest_when_it_stops() -> None:
    sink = Sink()
    buffer = behind(sink, interval=0.05)
    buffer.start()
    buffer.add_value("use", "a", 1)
    wait_until(lambda: sink.written == [{"a": 1}])
    buffer.interval = 60
    buffer.add_value("use", "b", 1)
    buffer.stop()
    assert [key for values in sink.written for key in values] == ["a", "b"]
