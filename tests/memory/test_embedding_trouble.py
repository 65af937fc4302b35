"""A provider that is down, slow, rate-limited or answers nonsense: nothing is lost, and other projects go
on.
"""

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from memory.engines.embedding.engine import EmbeddingEngine, enqueue_texts
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Vector
from memory.models.hashes import content_hash
from tests.memory.fake_provider import DIMENSIONS, KEY, FakeProvider, nonsense, ready, row, states
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

START = datetime(2030, 1, 1, tzinfo=UTC)
DOWN = "The provider is not available: the server failed (HTTP 503)"


@pytest.fixture
def provider(settings):
    with FakeProvider() as fake:
        settings.DAY1 = fake.settings()
        yield fake


@pytest.fixture
def clock():
    """Freeze the clock."""
    with time_machine.travel(START, tick=False) as traveller:
        yield traveller


@pytest.fixture
def engine():
    return EmbeddingEngine()


@pytest.fixture
def write(actor):
    def write(*texts, branch="main", **more):
        facts = [{"fact_text": text} for text in texts]
        written = FactEngine().write_facts(facts=facts, actor=actor, branch_name=branch, **more)
        return [one.fact for one in written.results]

    return write


class TestTrouble:
    @pytest.mark.slow
    def test_down_leaves_the_write_alone_and_the_text_pending(self, provider, project, main, write, engine):
        provider.always = nonsense({})
        provider.always.status_code = 503
        write("one")
        main.refresh_from_db()
        assert engine.embed_pending(project.pk) == 0
        waits = row("one")
        assert (waits.state, waits.text, waits.attempts, waits.error) == ("pending", "one", 1, DOWN)
        assert len(Fact.objects.on(main).searchable().match_words(["one"], 5)[0]) == 1
        expected = {
            "pending": 1,
            "failed": 0,
            "model": "openai:fake",
            "error": DOWN,
            "failed_error": "",
            "change": None,
        }
        assert engine.count_backlog(project.pk) == expected

    def test_each_wait_is_longer_up_to_an_hour_and_it_never_gives_up(
        self, clock, provider, project, write, engine
    ):
        write("one")
        waits = []
        for attempts in range(1, 13):
            provider.fail(503)
            assert engine.embed_pending(project.pk) == 0
            waits.append((row("one").next_try - timezone.now()).total_seconds())
            assert row("one").attempts == attempts
            clock.shift(timedelta(seconds=waits[-1] - 0.001))
            assert engine.embed_pending(project.pk) == 0  # too early: not called
            assert len(provider.calls) == attempts
            clock.shift(timedelta(seconds=0.001))
        for place, wait in enumerate(waits):
            least = min(10 * 2**place, 3600)
            assert least <= wait <= min(1.25 * least, 3600)
        assert waits[:9] == sorted(set(waits[:9]))
        assert row("one").state == "pending"
        assert engine.embed_pending(project.pk) == 1
        assert states() == ready("one")

    def test_retry_after_is_respected_for_all_that_wait(self, clock, provider, project, write, engine):
        write("a", "b", "c", "d", "e", "f")
        provider.fail(429, Retry_After="120")
        assert engine.embed_pending(project.pk) == 0
        assert [len(call) for call in provider.calls] == [4]  # no second batch while it fails
        times = set(Vector.objects.values_list("next_try", flat=True))
        assert times == {START + timedelta(seconds=120)}
        assert sorted(Vector.objects.values_list("attempts", flat=True)) == [0, 0, 1, 1, 1, 1]
        clock.shift(119)
        assert engine.embed_due() == 0
        clock.shift(1)
        assert engine.embed_due() == 6

    def test_a_retry_after_beyond_a_day_is_not_believed(self, clock, provider, project, write, engine):
        write("a")
        provider.fail(429, Retry_After="99999999999")
        engine.embed_pending(project.pk)
        assert row("a").next_try == START + timedelta(days=1)

    def test_slow_is_down(self, settings, provider, project, write, engine):
        settings.DAY1 = provider.settings(embedding_timeout=0.2)
        answered = threading.Event()
        provider.before = lambda texts: answered.wait(TIMEOUT_SECONDS)
        write("one")
        assert engine.embed_pending(project.pk) == 0
        answered.set()
        assert row("one").error == "The provider is not available: no answer within 0.2 s"
        settings.DAY1 = provider.settings()
        Vector.objects.update(next_try=timezone.now())
        assert engine.embed_pending(project.pk) == 1

    def test_after_an_outage_all_that_rests_is_tried_at_once(self, clock, provider, project, write, engine):
        write("a", "b")
        provider.fail(503)
        engine.embed_pending(project.pk)
        write("c")
        assert engine.embed_pending(project.pk) == 1  # a new text finds the provider working again
        assert engine.embed_pending(project.pk) == 2
        assert states() == ready("a", "b", "c")

    @pytest.mark.parametrize(
        "body",
        [
            {"data": []},
            {"data": [{"index": 0, "embedding": [float("nan")] * DIMENSIONS}]},
            {"data": [{"index": 0, "embedding": "no"}]},
            ["what"],
        ],
        ids=["wrong count", "NaN", "no numbers", "another shape"],
    )
    def test_nonsense_is_tried_again(self, clock, provider, project, write, engine, body):
        provider.always = nonsense(body)
        write("one")
        assert engine.embed_pending(project.pk) == 0
        waits = row("one")
        assert (waits.state, waits.attempts, waits.data, waits.text) == ("pending", 1, None, "one")
        assert waits.error.startswith("The provider's answer cannot be used: ")
        provider.always = None
        clock.shift(13)
        assert engine.embed_pending(project.pk) == 1
        assert states() == ready("one")

    def test_no_error_tells_the_key(self, provider, project, write, engine):
        write("one")
        provider.next.append(nonsense({"error": {"message": f"bad key {KEY}"}}))
        provider.next[0].status_code = 400
        engine.embed_pending(project.pk)
        assert KEY not in row("one").error
        assert "HTTP 400" in row("one").error


class TestPoison:
    @pytest.mark.parametrize("kind", ["poison", "refused"])
    def test_one_text_does_not_hold_the_others(self, provider, project, write, engine, kind):
        getattr(provider, kind).add("b")
        write("a", "b", "c", "d", "e")
        assert engine.embed_pending(project.pk) == 4
        assert [len(call) for call in provider.calls] == [4, 1, 1, 1, 1, 1]
        assert Vector.objects.filter(state="ready").count() == 4
        # A model that takes the others will not take this one later: it is set aside at once.
        state = "failed" if kind == "refused" else "pending"
        assert (row("b").state, row("b").attempts, row("b").text) == (state, 1, "b")
        backlog = engine.count_backlog(project.pk)
        assert (backlog["pending"], backlog["failed"]) == ((0, 1) if kind == "refused" else (1, 0))
        if kind == "refused":
            assert "the text is refused, also when it is cut short" in backlog["failed_error"]
            assert backlog["error"] == ""
            write("c2", "b2")
            provider.refused.add("b2")
            engine.embed_pending(project.pk)
            assert (row("b2").state, row("c2").state) == ("failed", "ready")

    def test_a_text_that_is_too_long_gets_the_vector_of_its_beginning(self, provider, project, write, engine):
        provider.max_length = 6000
        long = "b" * 7000
        write("a", long, "c")
        assert engine.embed_pending(project.pk) == 3
        assert states() == ready("a", long, "c")
        together, *alone = provider.calls
        assert sorted(together) == ["a", long, "c"]
        assert sorted(alone) == [["a"], [long[:6000]], [long], ["c"]]
        assert alone.index([long[:6000]]) == alone.index([long]) + 1
        backlog = engine.count_backlog(project.pk)
        assert (backlog["pending"], backlog["failed"], backlog["error"]) == (0, 0, "")

    def test_it_is_given_up_after_eight_tries_and_kept(self, clock, provider, project, write, engine):
        provider.poison.add("b")
        write("b")
        for attempts in range(1, 9):
            assert row("b").state == "pending"
            engine.embed_pending(project.pk)
            assert row("b").attempts == attempts
            clock.shift(3601)
        assert (row("b").state, row("b").text) == ("failed", "b")
        assert engine.embed_pending(project.pk) == 0
        assert len(provider.calls) == 8
        backlog = engine.count_backlog(project.pk)
        assert (backlog["pending"], backlog["failed"]) == (0, 1)

    def failed(self, clock, provider, project, write, engine):
        self.test_it_is_given_up_after_eight_tries_and_kept(clock, provider, project, write, engine)

    def test_a_sweep_tries_it_once_a_day(self, clock, provider, project, write, engine):
        self.failed(clock, provider, project, write, engine)
        clock.shift(timedelta(days=1))
        assert engine.embed_due() == 0
        assert (len(provider.calls), row("b").state) == (9, "failed")
        assert engine.embed_due() == 0
        assert len(provider.calls) == 9
        provider.poison.clear()
        clock.shift(timedelta(days=1))
        assert engine.embed_due() == 1
        assert states() == ready("b")

    def test_wanted_again_it_waits_again(self, clock, provider, project, write, engine):
        self.failed(clock, provider, project, write, engine)
        assert enqueue_texts(project.pk, {content_hash("b"): "b"}, timezone.now()) == 0
        assert (row("b").state, row("b").attempts, row("b").error) == ("pending", 0, "")
        provider.poison.clear()
        assert engine.embed_pending(project.pk) == 1

    def test_reembed_tries_it_again(self, clock, provider, project, write, engine):
        self.failed(clock, provider, project, write, engine)
        provider.poison.clear()
        assert engine.reembed_all(project.pk) == 1
        assert states() == ready("b")

    def test_an_outage_does_not_use_up_its_tries(self, clock, provider, project, write, engine):
        write("one")
        for _ in range(9):
            provider.fail(503)
            engine.embed_pending(project.pk)
            clock.shift(3601)
        provider.next.append(nonsense({"data": []}))
        engine.embed_pending(project.pk)
        assert (row("one").state, row("one").attempts) == ("pending", 1)

    def test_a_provider_that_breaks_down_among_single_texts(self, provider, project, write, engine):
        provider.poison.add("c")
        write("a", "b", "c", "d")
        first = provider.calls

        def then_down(texts):
            if len(first) == 3:
                provider.fail(503)

        provider.before = then_down
        assert engine.embed_pending(project.pk) == 1
        assert Vector.objects.filter(state="ready").count() == 1
        assert set(Vector.objects.filter(state="pending").values_list("error", flat=True)) == {DOWN}
