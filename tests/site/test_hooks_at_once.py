"""An event that arrives twice concurrently is stored once, and answered twice."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction

from conversations.capture.engine import IngestEngine
from conversations.models import Message
from memory.engines.deletion.sessions import SessionDeletion
from memory.engines.facts.engine import FactEngine
from memory.engines.support.idempotency import MAX_TRIES, Answer, IdempotencyEngine
from memory.models import IdempotencyRecord, IngestedEvent, Session
from tests.databases import ON_SQLITE
from tests.site.hook_events import event
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
SAID = event("UserPromptSubmit", prompt="Why do logins fail?", prompt_id="p1")
LONG = 0.5  # seconds, for the second request to reach its wait


@pytest.fixture
def ingest(actor):
    def ingest(one):
        return IngestEngine().ingest(events=[one], actor=actor, client="claude-code", answered=True)

    return ingest


def closing(work):
    try:
        return work()
    finally:
        connection.close()


def at_once(work, twin):
    """Return both responses; the second request runs before the first is committed."""
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            first = work()
            other = pool.submit(closing, twin)
            time.sleep(LONG)
            assert not other.done()
        return first, other.result(TIMEOUT_SECONDS)


def test_a_message_is_stored_once(ingest):
    assert at_once(lambda: ingest(SAID), lambda: ingest(SAID)) == (None, None)
    assert Message.objects.all_versions().count() == 1
    assert IngestedEvent.objects.count() == 1


def test_both_starts_of_a_session_are_told_the_same(actor, ingest):
    FactEngine().write_fact(actor=actor, fact_text="Logins are checked in auth/hashing.py.")
    start = event("SessionStart", source="startup")
    first, twin = at_once(lambda: ingest(start), lambda: ingest(start))
    assert first == twin
    assert "auth/hashing.py" in str(first)
    assert Session.objects.count() == 1


def test_a_request_with_a_key_is_run_again_as_a_whole(actor, ingest):
    def keyed():
        asked = {"key": "k", "route": "hook", "request": "r"}
        return IdempotencyEngine().run_once(
            actor=actor, **asked, work=lambda: Answer(200, f"said {ingest(SAID)}")
        )

    assert at_once(lambda: ingest(SAID), keyed) == (None, Answer(200, "said None"))
    assert Message.objects.all_versions().count() == 1
    assert IdempotencyRecord.objects.get().status == 200


# ---- permanent refusals ----------------------------------------------------------------------------------


@pytest.fixture
def refusing():
    """Refuse any further row of a model."""
    names = []

    def refuse(model):
        table = model._meta.db_table
        names.append(f"refusing_{table}")
        with connection.cursor() as cursor:
            cursor.execute(
                f"CREATE TRIGGER {names[-1]} BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'never'); END"
            )

    yield refuse
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(f"DROP TRIGGER {name}")


@pytest.mark.skipif(not ON_SQLITE, reason="a trigger of SQLite refuses the rows")
def test_an_event_that_can_never_be_stored_is_refused(ingest, refusing):
    refusing(IngestedEvent)
    with pytest.raises(IntegrityError, match="never"):
        ingest(SAID)
    assert Message.objects.all_versions().count() == IngestedEvent.objects.count() == 0


@pytest.mark.skipif(not ON_SQLITE, reason="a trigger of SQLite refuses the rows")
@pytest.mark.parametrize(
    ("model", "long", "runs"),
    [
        (IngestedEvent, False, MAX_TRIES),
        (IdempotencyRecord, False, 0),
        (IdempotencyRecord, True, MAX_TRIES),
    ],
)
def test_a_request_whose_key_or_work_can_never_be_stored_is_refused(
    actor, ingest, refusing, model, long, runs
):
    refusing(model)
    begun = []

    def work(*store):
        begun.append(model)
        return Answer(200, f"said {'' if long else ingest(SAID)}")

    asked = {"key": "k", "route": "hook", "request": "r"}
    engine = IdempotencyEngine()
    with pytest.raises(IntegrityError, match="never"):
        (engine.run_long if long else engine.run_once)(actor=actor, **asked, work=work)
    assert len(begun) == runs
    assert IdempotencyRecord.objects.count() == IngestedEvent.objects.count() == 0


def test_the_end_of_a_session_that_is_deleted_meanwhile_is_left_out(ingest, actor):
    ingest(SAID)
    deletion = partial(SessionDeletion().delete_session, session_id=SAID["session_id"], actor=actor)
    _, answer = at_once(deletion, lambda: ingest(event("SessionEnd", reason="exit")))
    assert answer is None
    session = Session.objects.get()
    assert (session.status, session.deleted_at is None) == ("active", False)
