"""Background embedding: it never makes a write fail, and no text is lost."""

import threading
import time
from datetime import UTC, datetime

import numpy as np
import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from memory.db.backend import get_backend
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.embedding.engine import (
    EmbeddingEngine,
    enqueue_texts,
    get_embedding_states,
    versions_in_use,
)
from memory.engines.embedding.models import embedder_is_on
from memory.engines.embedding.worker import ProjectLocks
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.support.foreground import FOREGROUND
from memory.exceptions import ProviderUnavailable
from memory.models import Fact, Project, Vector, VectorClock
from memory.models.hashes import content_hash
from tests.memory.fake_provider import DIMENSIONS, FakeProvider, direction, failing, ready, row, states
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

START = datetime(2030, 1, 1, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
STORING = connection.ops.quote_name("data") + " = CASE"


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


class TestWant:
    def test_a_write_asks_nobody_and_leaves_the_text_pending(self, provider, write):
        write("one")
        waits = row("one")
        assert (waits.state, waits.text, waits.n, waits.attempts) == ("pending", "one", 0, 0)
        assert waits.data is None
        assert provider.calls == []

    def test_returns_how_many_are_new(self, provider, project):
        texts = {content_hash(text): text for text in ("a", "b")}
        now = timezone.now()
        assert enqueue_texts(project.pk, {content_hash("a"): "a"}, now) == 1
        assert enqueue_texts(project.pk, texts, now) == 1
        assert enqueue_texts(project.pk, texts, now) == 0
        assert enqueue_texts(project.pk, {}, now) == 0
        assert Vector.objects.count() == 2

    def test_one_more_text_costs_two_statements(self, provider, project, django_assert_num_queries):
        with transaction.atomic(), django_assert_num_queries(2):
            enqueue_texts(project.pk, {content_hash("a"): "a"}, timezone.now())

    def test_a_thousand_texts_cost_few_statements(self, provider, project, django_assert_max_num_queries):
        texts = {content_hash(str(at)): str(at) for at in range(1000)}
        with transaction.atomic(), django_assert_max_num_queries(20):
            assert enqueue_texts(project.pk, texts, timezone.now()) == 1000

    def test_off_leaves_nothing(self, project, write, engine):
        write("one")
        assert Vector.objects.count() == 0
        assert not embedder_is_on()
        assert get_embedding_states(project.pk, [content_hash("one")]) == {content_hash("one"): ("off", "")}
        assert engine.embed_pending(project.pk) == 0
        assert engine.embed_due() == 0
        assert engine.reembed_all(project.pk) == 0
        none = {"pending": 0, "failed": 0, "model": None, "error": "", "failed_error": "", "change": None}
        assert engine.count_backlog(project.pk) == none

    def test_settings_that_cannot_be_followed_do_not_stop_a_write(self, settings, project, write, engine):
        settings.DAY1 = {"embedder": "openai", "embedding_api_key": ""}
        assert [fact.fact_text for fact in write("one")] == ["one"]
        assert engine.embed_pending(project.pk) == 0
        backlog = engine.count_backlog(project.pk)
        assert (backlog["pending"], backlog["model"]) == (0, None)
        assert "embedding_api_key" in backlog["error"]
        with pytest.raises(ProviderUnavailable, match="embedding_api_key"):
            engine.reembed_all(project.pk)

    def test_state_of_every_text_in_two_queries(
        self, provider, project, write, engine, django_assert_max_num_queries
    ):
        write("one", "two")
        provider.poison.add("two")
        engine.embed_pending(project.pk)
        Vector.objects.filter(state="pending").update(state="failed")
        write("three")
        hashes = [content_hash(text) for text in ("one", "two", "three", "never")]
        with django_assert_max_num_queries(2):
            found = get_embedding_states(project.pk, hashes)
        name = "openai:fake"
        expected = [("ready", name), ("failed", name), ("pending", name), ("pending", name)]
        assert found == dict(zip(hashes, expected, strict=True))


class TestEmbed:
    def test_vectors_become_ready_and_the_texts_are_let_go(self, provider, project, write, engine):
        write("one", "two", "three", "four", "five")
        assert engine.embed_pending(project.pk) == 5
        assert [len(call) for call in provider.calls] == [4, 1]
        done = row("one")
        np.testing.assert_allclose(done.data, direction("one"), atol=1e-6)
        assert (done.state, done.text, done.error, done.n) == ("ready", "", "", 1)
        assert VectorClock.objects.get(project=project).n == 2  # one for each batch
        assert engine.embed_pending(project.pk) == 0
        assert len(provider.calls) == 2

    def test_one_text_is_embedded_once(self, provider, project, write, engine):
        write("one")
        write("one", deduplicate=False)
        engine.embed_pending(project.pk)
        write("one", deduplicate=False)
        assert engine.embed_pending(project.pk) == 0
        assert Fact.objects.all_versions().count() == 3
        assert provider.calls == [["one"]]

    def test_no_more_than_the_limit(self, provider, project, write, engine):
        write(*"abcdefg")
        assert engine.embed_pending(project.pk, limit=5) == 5
        assert engine.count_backlog(project.pk)["pending"] == 2

    def test_search_finds_a_vector_as_soon_as_it_is_ready(self, provider, project, main, write, engine):
        one, _two = write("one", "two")

        def nearest():
            main.refresh_from_db()
            rows = Fact.objects.on(main).searchable()
            return rows.search_vectors(direction("one").astype("f4"), 1, "openai:fake", project.pk)

        assert nearest() == []
        engine.embed_pending(project.pk)
        assert [(rid, round(score, 5)) for rid, score in nearest()] == [(one.rid, 1.0)]

    def test_others_can_write_while_the_provider_thinks(self, provider, project, write, engine):
        def meanwhile(texts):
            try:
                Project.objects.create(name="n", slug="written-meanwhile")
            finally:
                connection.close()

        provider.before = meanwhile
        write("one")
        assert engine.embed_pending(project.pk) == 1
        assert Project.objects.filter(slug="written-meanwhile").exists()

    def test_a_process_that_dies_before_it_stores_loses_nothing(self, provider, project, write, engine):
        write("one", "two")
        with pytest.raises(KeyboardInterrupt), failing(STORING):
            engine.embed_pending(project.pk)
        assert engine.count_backlog(project.pk)["pending"] == 2
        assert not VectorClock.objects.exists()
        assert engine.embed_pending(project.pk) == 2
        assert states() == ready("one", "two")

    def test_sweep_reaches_every_project(self, provider, project, other_project, write, engine):
        write("one", "two", "three", "four", "five")
        enqueue_texts(other_project.pk, {content_hash("six"): "six"}, timezone.now())
        assert engine.embed_due() == 6
        assert states() == ready("one", "two", "three", "four", "five", "six")

    def test_the_built_in_model_keeps_the_words_too(self, settings, project, write, engine):
        settings.DAY1 = {"embedder": "minilm"}
        write("The build fails on Windows.")
        assert engine.embed_pending(project.pk) == 1
        done = Vector.objects.get()
        assert (done.model, done.data.shape) == ("minilm-l6-int8", (384,))
        assert len(done.words) == 5 * 384 // 8


class TestRivals:
    def run(self, *work):
        results, errors = [], []

        def one(call):
            try:
                results.append(call())
            except BaseException as error:
                errors.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=one, args=(call,)) for call in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT_SECONDS)
        assert errors == []
        return results

    def test_threads_of_one_process_share_the_work(self, provider, project, write):
        texts = [f"text {at}" for at in range(30)]
        write(*texts)
        calls = [lambda: EmbeddingEngine().embed_pending(project.pk)] * 4
        assert sum(self.run(*calls)) == 30
        assert sorted(text for call in provider.calls for text in call) == sorted(texts)
        assert states() == ready(*texts)

    def test_processes_that_do_the_same_batch_do_no_harm(self, provider, project, write):
        write("a", "b", "c")
        both = threading.Barrier(2, timeout=TIMEOUT_SECONDS)
        provider.before = lambda texts: both.wait()
        calls = [lambda: EmbeddingEngine(ProjectLocks()).embed_pending(project.pk)] * 2
        assert sorted(self.run(*calls)) == [0, 3]
        assert [sorted(call) for call in provider.calls] == [["a", "b", "c"]] * 2
        assert states() == ready("a", "b", "c")
        assert set(Vector.objects.values_list("n", flat=True)) == {1}
        assert VectorClock.objects.get(project=project).n == 2

    def test_a_slow_failure_does_not_undo_a_success(self, provider, project, write):
        write("a")
        both = threading.Barrier(2, timeout=TIMEOUT_SECONDS)
        provider.before = lambda texts: both.wait()
        provider.fail(503)
        calls = [lambda: EmbeddingEngine(ProjectLocks()).embed_pending(project.pk)] * 2
        assert sorted(self.run(*calls)) == [0, 1]
        assert states() == ready("a")

    def test_a_prompt_that_a_person_waits_for_goes_first(self, provider, project, write):
        write("a")
        asked = []

        def answer():
            with FOREGROUND:
                time.sleep(0.1)
                asked.extend(provider.calls)
            return 0

        def embed():
            time.sleep(0.02)
            return EmbeddingEngine().embed_pending(project.pk)

        assert sorted(self.run(answer, embed)) == [0, 1]
        assert asked == []
        assert states() == ready("a")

    def test_prompts_without_end_do_not_keep_it_from_its_work(self, provider, project, write):
        write("a")
        with FOREGROUND:
            assert EmbeddingEngine().embed_pending(project.pk) == 1


class TestAnotherModel:
    def test_vectors_of_another_length_under_one_name_are_refused(
        self, settings, clock, provider, project, write, engine
    ):
        write("a", "b")
        engine.embed_pending(project.pk)
        provider.dimensions = 8
        # A new client, as after a restart.
        settings.DAY1 = provider.settings(embedding_timeout=TIMEOUT_SECONDS + 1)
        write("c", "d", "e", "f", "g")
        assert engine.embed_pending(project.pk) == 0
        assert [len(call) for call in provider.calls] == [2, 4]
        waiting = row(text := provider.calls[1][0])  # which texts come first is up to the database
        reason = "vectors of 8 dimensions came, and those stored under the name openai:fake have 16"
        assert reason in waiting.error
        assert (waiting.state, waiting.text, waiting.data) == ("pending", text, None)
        provider.dimensions = DIMENSIONS
        settings.DAY1 = provider.settings(embedding_timeout=TIMEOUT_SECONDS + 2)
        clock.shift(13)
        assert engine.embed_pending(project.pk) == 5

    def test_another_project_may_have_another_length(
        self, settings, provider, project, other_project, engine
    ):
        now = timezone.now()
        enqueue_texts(project.pk, {content_hash("a"): "a"}, now)
        engine.embed_pending(project.pk)
        provider.dimensions = 8
        settings.DAY1 = provider.settings(embedding_timeout=TIMEOUT_SECONDS + 1)
        enqueue_texts(other_project.pk, {content_hash("a"): "a"}, now)
        assert engine.embed_pending(other_project.pk) == 1

    def test_old_vectors_are_never_compared_with_new_ones(
        self, settings, provider, project, main, write, engine
    ):
        old, new = write("old")[0], None
        engine.embed_pending(project.pk)
        settings.DAY1 = provider.settings(model="other")
        new = write("new")[0]
        engine.embed_pending(project.pk)
        main.refresh_from_db()
        rows, query = Fact.objects.on(main).searchable(), direction("old").astype("f4")
        assert [rid for rid, _ in rows.search_vectors(query, 5, "openai:other", project.pk)] == [new.rid]
        found = {rid for rid, _ in rows.search_vectors(query, 5, "openai:fake", project.pk)}
        assert found == {old.rid, new.rid}  # searches use these until the end, so new texts have both
        both = [old.content_hash, new.content_hash]
        assert get_embedding_states(project.pk, both) == dict.fromkeys(both, ("ready", "openai:fake"))

    def changed(self, settings, provider, project, write, engine, actor):
        """Write seven texts in use under the old model and one unused text; switch to a new model."""
        facts = write("a", "b", "c", "d", "e", "kept by a child", "forgotten")
        BranchManager().create_branch(name="task/child", actor=actor)
        FactEngine().update_fact(fact_id=facts[5].uid, updates={"fact_text": "edited"}, actor=actor)
        engine.embed_pending(project.pk)
        Fact._base_manager.filter(uid=facts[6].uid).update(seq_to=1, seq_from=1)  # closed before the fork
        settings.DAY1 = provider.settings(model="other")
        provider.calls.clear()

    def test_reembed_gives_every_text_in_use_a_vector(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        told = []
        assert engine.reembed_all(project.pk, lambda done, total: told.append((done, total))) == 7
        assert told == [(0, 7), (7, 7)]
        texts = sorted(text for call in provider.calls for text in call)
        assert texts == ["a", "b", "c", "d", "e", "edited", "kept by a child"]
        assert engine.reembed_all(project.pk) == 0
        assert sum(len(call) for call in provider.calls) == 7

    def test_reembed_goes_on_where_it_was_stopped(self, settings, provider, project, write, engine, actor):
        self.changed(settings, provider, project, write, engine, actor)
        with pytest.raises(KeyboardInterrupt), failing(STORING):
            engine.reembed_all(project.pk)
        told = []
        assert engine.embed_pending(project.pk, limit=4) == 4
        assert engine.reembed_all(project.pk, lambda done, total: told.append((done, total))) == 3
        assert told == [(0, 3), (3, 3)]

    def test_reembed_ends_when_the_provider_is_down(self, settings, provider, project, write, engine, actor):
        self.changed(settings, provider, project, write, engine, actor)
        provider.fail(503)
        assert engine.reembed_all(project.pk) == 0
        assert engine.count_backlog(project.pk)["pending"] == 7
        assert engine.reembed_all(project.pk) == 7  # requested by a person: no delay

    def test_searches_use_the_old_vectors_until_the_end(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        provider.vectors |= {"first": direction("a"), "last": direction("later")}

        def find(query):
            found = SearchEngine().search(query=query, actor=actor, search_type="vector")
            return found.hits[0].fact.fact_text, len(found.hits)

        assert find("first") == ("a", 6)  # before anything was queued
        with pytest.raises(KeyboardInterrupt), failing(STORING):
            engine.reembed_all(project.pk)
        assert engine.embed_pending(project.pk, limit=4) == 4
        assert find("first") == ("a", 6)
        write("later")
        assert find("last")[1] == 6  # its vectors wait, as on any day
        Vector.objects.filter(model="openai:other", state="pending").update(next_try=LATER)
        assert engine.embed_pending(project.pk) == 1
        assert find("last") == ("later", 7)
        change = {"previous": "openai:fake", "in_use": True, "done": 4, "total": 8}
        assert engine.count_backlog(project.pk)["change"] == change
        assert set(Vector.objects.values_list("model", flat=True)) == {"openai:fake", "openai:other"}

        assert engine.reembed_all(project.pk) == 4
        assert find("last") == ("later", 7)
        assert engine.count_backlog(project.pk)["change"] is None
        assert set(Vector.objects.values_list("model", flat=True)) == {"openai:other"}

    def test_a_change_ends_only_when_every_text_was_queued(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        write("later")  # all that is queued for the new model
        assert engine.embed_pending(project.pk) == 2
        assert VectorClock.objects.get().read_by == "openai:fake"
        assert engine.count_backlog(project.pk)["change"]["total"] == 8  # the rest was queued just now
        assert engine.embed_pending(project.pk) == 7
        assert (VectorClock.objects.get().read_by, engine.embed_pending(project.pk)) == ("openai:other", 0)

    def test_a_kill_between_the_last_vector_and_the_end_is_made_good(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        with pytest.raises(KeyboardInterrupt), failing("DELETE FROM"):
            engine.reembed_all(project.pk)
        assert (VectorClock.objects.get().read_by, Vector.objects.count()) == ("openai:other", 15)
        engine.want_missing(project.pk)  # as the next start does
        assert (engine.embed_pending(project.pk), Vector.objects.count()) == (0, 7)

    def test_a_model_set_back_goes_on_with_what_it_has(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        engine.want_missing(project.pk)
        engine.embed_pending(project.pk, limit=4)
        write("later")
        engine.embed_pending(project.pk, limit=1)
        settings.DAY1 = provider.settings()
        provider.calls.clear()
        engine.want_missing(project.pk)
        assert set(Vector.objects.values_list("model", "state")) == {("openai:fake", "ready")}
        assert (engine.embed_pending(project.pk), provider.calls) == (0, [])

    def test_a_server_that_the_settings_no_longer_name_is_not_asked(
        self, settings, provider, project, write, engine, actor
    ):
        self.changed(settings, provider, project, write, engine, actor)
        settings.DAY1 = {"embedder": "minilm"}
        found = SearchEngine().search(query="a", actor=actor)
        assert (found.hits[0].fact.fact_text, found.signals_used, provider.calls) == ("a", ["keyword"], [])
        assert engine.count_backlog(project.pk)["change"] == {
            "previous": "openai:fake",
            "in_use": False,
            "done": 0,
            "total": 0,
        }

    def test_versions_of_other_projects_are_not_looked_at(self, provider, project, other_project, write):
        write("a")
        assert [hash for rows in versions_in_use(Fact, other_project.pk) for _, hash in rows] == []

    def test_the_other_models_can_be_dropped(self, settings, provider, project, write, engine, actor):
        self.changed(settings, provider, project, write, engine, actor)
        enqueue_texts(project.pk, {content_hash("a"): "a"}, timezone.now())
        epoch = VectorClock.objects.get(project=project).epoch
        assert engine.forget_other_models(project.pk) == 8
        assert list(Vector.objects.values_list("model", flat=True)) == ["openai:other"]
        assert VectorClock.objects.get(project=project).epoch == epoch + 1


def test_create_main_is_all_a_project_needs(provider, engine):
    fresh = Project.objects.create(name="Fresh", slug="fresh")
    create_main(fresh)
    enqueue_texts(fresh.pk, {content_hash("a"): "a"}, timezone.now())
    assert engine.embed_pending(fresh.pk) == 1  # the clock is created with the first vector
    assert VectorClock.objects.get(project=fresh).n == 1


@pytest.mark.parametrize(
    ("state", "n", "left"),
    [("failed", 0, ("pending", 0)), ("ready", 7, ("ready", 4)), (None, 0, ("pending", 0))],
)
def test_a_text_is_queued_beside_other_writes(provider, project, state, n, left):
    (value,) = texts = {content_hash("a text"): "a text"}
    if state:
        enqueue_texts(project.pk, texts, timezone.now())
        Vector.objects.update(state=state, n=n, attempts=4, error="no answer" if state == "failed" else "")
    with transaction.atomic(), get_backend().join_writes():
        enqueue_texts(project.pk, texts, timezone.now())
    (found,) = Vector.objects.filter(content_hash=value)
    assert ((found.state, found.attempts), found.n, found.error) == (left, n, "")
