"""The scope of a search: a past point, several branches, one project; and its log."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
import time_machine
from django.db import connection

from memory.actors import local_actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchNotFound, Invalid
from memory.models import Branch, FactUse, Project, RecallLog
from memory.ranking_mix import SIGNALS, load_mix
from tests.memory.facts.helpers import refused, texts
from tests.memory.search.helpers import (
    X,
    Y,
    branch_manager,
    embed,
    fact_engine,
    only,
    recomputed,
    search_engine,
)

pytestmark = pytest.mark.django_db(transaction=True)  # the index covers committed rows only


class TestAt:
    def test_a_seq_a_commit_a_time(self, actor, main, look):
        with time_machine.travel(datetime(2036, 1, 1, tzinfo=UTC), tick=False):
            one = fact_engine.write_facts(facts=[{"fact_text": "Alpha one."}], actor=actor)
        uid = one.results[0].fact.uid
        with time_machine.travel(datetime(2036, 1, 2, tzinfo=UTC), tick=False):
            fact_engine.update_fact(fact_id=uid, updates={"fact_text": "Alpha two."}, actor=actor)
        fact_engine.delete_fact(fact_id=uid, actor=actor)
        points = [
            0,
            1,
            2,
            3,
            None,
            one.commit.pk,
            datetime(2036, 1, 1, 12, tzinfo=UTC),
            datetime(2035, 1, 1, tzinfo=UTC),
        ]
        shown = [texts(look("alpha", at=at)) for at in points]
        assert shown == [[], ["Alpha one."], ["Alpha two."], [], [], ["Alpha one."], ["Alpha one."], []]

    def test_with_filters_and_vectors(self, many, look, project, actor):
        first = many("alpha", category="a")[0]
        many("beta", category="b")
        embed(project, alpha=(1, 0, 0), beta=(0, 1, 0))
        fact_engine.update_fact(fact_id=first.uid, updates={"category": "b"}, actor=actor)
        wish = {"query": "nothing", "query_vector": Y}
        assert texts(look(**wish, at=1)) == ["alpha"]
        assert texts(look(**wish, at=2)) == ["beta", "alpha"]
        assert texts(look(**wish, at=2, filters=only(category="a"))) == ["alpha"]
        assert texts(look("alpha", at=2, filters=only(category="b"))) == []

    def test_a_branch_from_a_past_point(self, many, look, actor):
        fact = many("Alpha one.")[0]
        fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "Alpha two."}, actor=actor)
        branch_manager.create_branch(name="past", at=1, actor=actor)
        assert texts(look("alpha", branch="past")) == ["Alpha one."]
        assert texts(look("two", branch="past")) == []


class TestAcross:
    @pytest.fixture
    def across(self, actor, main):
        def across(query, *names, **more):
            return search_engine.search_cross_branch(query=query, branch_names=names, actor=actor, **more)

        return across

    @pytest.fixture
    def branches(self, actor, write):
        write("Alpha shared.")
        for name in ("task/a", "task/b", "other"):
            branch_manager.create_branch(name=name, actor=actor)
            write(f"Alpha of {name}.", branch=name)
        write("Alpha twice.", branch="task/a")
        write("ALPHA  twice.", branch="task/b")

    def test_one_text_is_one_hit_with_its_branches(self, branches, across):
        found = across("alpha", "main", "task/*")
        told = {hit.fact.fact_text: hit.branches for hit in found.hits}
        assert set(told) - {"Alpha twice.", "ALPHA  twice."} == {
            "Alpha shared.",
            "Alpha of task/a.",
            "Alpha of task/b.",
        }
        assert told["Alpha shared."] == ("main", "task/a", "task/b")
        assert told["Alpha of task/a."] == ("task/a",)
        (twice,) = [branches for text, branches in told.items() if "twice" in text]
        assert set(twice) == {"task/a", "task/b"}
        assert len(found.hits) == 4
        assert found.branches == ("main", "task/a", "task/b")

    def test_what_is_edited_on_one_is_found_as_each_has_it(self, branches, across, look, actor):
        uid = look("shared").hits[0].fact.uid
        fact_engine.update_fact(
            fact_id=uid, updates={"fact_text": "Alpha edited."}, actor=actor, branch_name="task/a"
        )
        told = {hit.fact.fact_text: hit.branches for hit in across("shared edited", "main", "task/a").hits}
        assert told == {"Alpha shared.": ("main",), "Alpha edited.": ("task/a",)}

    def test_names_and_patterns(self, branches, across):
        assert across("alpha", "*").branches == ("main", "other", "task/a", "task/b")
        assert across("alpha", "other", "*a", "m*", "other").branches == ("other", "task/a", "main")
        assert across("alpha", "none*").hits == []
        for names, error, message in [
            ((), Invalid, "branch_names needs at least one name or pattern."),
            (("main", "none"), BranchNotFound, "There is no branch named none."),
        ]:
            with refused(error) as caught:
                across("alpha", *names)
            assert str(caught.value) == message

    def test_archived_branches_are_not_among_them(self, branches, across, actor):
        branch_manager.archive_branch(name="task/a", actor=actor)
        assert across("alpha", "task/*").branches == ("task/b",)
        with refused(BranchNotFound):
            across("alpha", "task/a")

    def test_at_most_fifty(self, across, actor):
        for i in range(50):
            branch_manager.create_branch(name=f"n{i}", actor=actor)
        assert len(across("alpha", "n*").branches) == 50
        with refused(Invalid) as caught:
            across("alpha", "*")
        assert str(caught.value) == "A search covers at most 50 branches."

    def test_a_whole_page(self, across, many, actor):
        branch_manager.create_branch(name="a", actor=actor)
        many(*[f"Alpha {i}." for i in range(60)])
        many(*[f"Alpha {i + 30}." for i in range(60)], branch="a")
        assert len(across("alpha", "main", "a", limit=90).hits) == 90


class TestProjects:
    def test_nothing_crosses(self, write, look, other_project, actor):
        other = local_actor(other_project.pk)
        fact_engine.write_fact(fact_text="Alpha secret.", actor=other)
        write("Alpha ours.")
        assert texts(look("alpha secret")) == ["Alpha ours."]
        assert texts(search_engine.search(query="alpha", actor=other)) == ["Alpha secret."]
        found = search_engine.search_cross_branch(query="alpha", branch_names=["*"], actor=actor)
        assert texts(found) == ["Alpha ours."]

    def test_vectors_of_the_same_text_are_not_shared(self, write, look, other_project, project):
        fact_engine.write_fact(fact_text="alpha", actor=local_actor(other_project.pk))
        write("alpha")
        embed(other_project, alpha=(1, 0, 0))
        assert texts(look("q", query_vector=X, search_type="vector")) == []
        embed(project, alpha=(1, 0, 0))
        assert texts(look("q", query_vector=X, search_type="vector")) == ["alpha"]


class TestRecalls:
    def test_is_logged_and_counted_after_a_while(self, write, look, actor, monkeypatch):
        monkeypatch.setattr(buffer, "interval", 3600.0)  # nothing is written before the flush
        uid = write("Alpha beta.").uid
        write("Gamma.")
        speaking = replace(actor, session_id="s", agent_id="g", surface="mcp")
        search_engine.search(query="alpha", actor=speaking)
        look("beta alpha")
        look("nothing")
        assert (RecallLog.objects.count(), FactUse.objects.count()) == (0, 0)
        buffer.flush()
        logs = list(RecallLog.objects.order_by("id"))
        assert [(log.query, log.fact_ids) for log in logs] == [
            ("alpha", [str(uid)]),
            ("beta alpha", [str(uid)]),
            ("nothing", []),
        ]
        assert (logs[0].session_id, logs[0].agent_id, logs[0].surface, logs[0].branch) == (
            "s",
            "g",
            "mcp",
            "main",
        )
        use = FactUse.objects.get()
        assert (use.uid, use.access_count, use.project_id) == (uid, 2, actor.project_id)
        fact = fact_engine.get_fact(fact_id=uid, actor=actor)
        assert (fact.access_count, fact.last_accessed_at, fact.version) == (2, use.last_accessed_at, 1)
        look("alpha")
        buffer.flush()
        assert FactUse.objects.get().access_count == 3

    def test_only_what_was_answered_counts(self, many, look):
        many("Alpha a.", "Alpha b.", "Alpha c.")
        look("alpha", limit=2)
        look("alpha", max_tokens=1)
        buffer.flush()
        assert FactUse.objects.count() == 2

    def test_a_query_that_no_database_holds_loses_no_other(self, write, look):
        write("Alpha.")
        for query in ("alpha \ud800", "alpha\x00", "alpha"):
            look(query)
        buffer.flush()
        assert sorted(RecallLog.objects.values_list("query", flat=True)) == ["alpha", "alpha ", "alpha "]
        assert FactUse.objects.get().access_count == 3

    def test_the_ids_are_plain_json(self, write, look):
        uid = write("Alpha.").uid
        look("alpha")
        buffer.flush()
        with connection.cursor() as cursor:
            cursor.execute("SELECT fact_ids FROM memory_recalllog")
            assert json.loads(cursor.fetchone()[0]) == [str(uid)]


class TestWithTheModel:
    @pytest.fixture(autouse=True)
    def embedder(self, settings):
        settings.DAY1 = {"embedder": "minilm"}

    def test_finds_by_meaning(self, project, many, look):
        many(
            "Authentication tokens are valid for a quarter of an hour.",
            "The cat sleeps on the sofa all day.",
            "PostgreSQL needs a vacuum after mass deletions.",
        )
        assert look("kitten nap").signals_used == []
        assert EmbeddingEngine().embed_pending(project.pk) == 3
        found = look("when does my login expire?")
        assert found.signals_used == ["vector", "words"]
        assert texts(found)[0] == "Authentication tokens are valid for a quarter of an hour."
        assert texts(look("kitten nap"))[0] == "The cat sleeps on the sofa all day."
        assert found.hits[0].fact.embedding_state == "ready"
        for hit in found.hits:
            assert set(hit.signals) >= {*SIGNALS}
            assert hit.signals["mix"] == pytest.approx(
                load_mix().score(
                    {name: np.array([hit.signals[name]]) for name in (*SIGNALS, "window", "brevity")}
                )[0]
            )
            assert hit.score == pytest.approx(recomputed(hit, {"mix": 1.0}))
            assert hit.signals["base"] == pytest.approx(
                0.375 * hit.signals["vector"] + 0.625 * hit.signals["words"]
            )
        for hit in look("when does my login expire?", recipe="words").hits:
            assert hit.score == pytest.approx(recomputed(hit, {"vector": 0.375, "words": 0.625}))

    def test_a_named_speaker_counts_where_it_tells_one_from_another(self, project, many, look):
        many("Anna: I keep bees on the roof.", "Ben: Bees frighten me.")
        EmbeddingEngine().embed_pending(project.pk)
        for query, named in (
            ("Does Anna keep bees?", [1.0, 0.0]),
            ("Do Anna and Ben keep bees?", [0.0, 0.0]),
        ):
            hits = look(query, recipe="timeless").hits
            assert texts(look(query, recipe="timeless"))[0].startswith("Anna")
            assert [hit.signals["speaker"] for hit in hits] == named

    def test_what_stands_around_in_a_session_lends_its_words(self, project, actor, many, look):
        bought, price = "We bought a telescope in Lisbon.", "It was far too expensive."
        one, _ = many(bought, price, session_id="s")
        many("The telescope from Lisbon was expensive.", price + " Really.", session_id="t")
        EmbeddingEngine().embed_pending(project.pk)

        def window(branch="main", **more):
            hits = look("Was the telescope from Lisbon expensive?", branch=branch, **more).hits
            (found,) = [hit.signals["window"] for hit in hits if hit.fact.fact_text == price]
            return found

        lent, before = window(), Branch.objects.get(name="main").head
        branch_manager.create_branch(name="side", actor=actor)
        fact_engine.delete_fact(fact_id=one.uid, actor=actor, branch_name="side")
        alone = window("side")
        assert alone < 0.8 * lent
        assert window() == pytest.approx(lent)
        fact_engine.delete_fact(fact_id=one.uid, actor=actor)
        assert window() == pytest.approx(alone)
        assert window(at=before) == pytest.approx(lent)

    def test_what_has_nothing_to_do_with_a_memory_is_unknown(self, project, many, look):
        many("Authentication tokens are valid for a quarter of an hour.", "Good morning, the cat sleeps.")
        assert look("What is the capital of Mongolia?").known is False  # nothing is found
        assert look("Which valid capital has Mongolia?").known is True  # its vector waits: nothing measured
        EmbeddingEngine().embed_pending(project.pk)
        for query, known in (
            ("When does my login expire?", True),
            ("kitten nap", True),
            ("What is the capital of Mongolia?", False),
            ("Good morning!", False),
            ("How are you?", False),
        ):
            found = look(query)
            assert (len(found.hits), found.known) == (2, known)
        assert look("What is the capital of Mongolia?").evidence < 0.05
        Project.objects.filter(pk=project.pk).update(least_evidence=0)
        assert look("What is the capital of Mongolia?").known is True
        assert look("Good morning!").known is True

    def test_another_speaker_than_the_named_has_less_evidence(self, project, many, look):
        many("Anna: I keep bees on the roof.", "Ben: Bees frighten me.")
        EmbeddingEngine().embed_pending(project.pk)
        own, other = (look(f"Does {name} keep bees on the roof?").hits for name in ("Anna", "Ben"))
        evidence = [{hit.fact.fact_text[:3]: hit.evidence for hit in hits} for hits in (own, other)]
        assert evidence[0]["Ann"] > evidence[1]["Ann"]

    def test_what_fits_best_being_anothers_takes_evidence_away(self, project, many, look):
        def measure_odds():
            EmbeddingEngine().embed_pending(project.pk)
            best = look("What do Ben's bees make?").evidence
            return best / (1 - best)

        many("Ben: My bees make honey.", "Ben: I work in a bank.", "Ben: It rains.", "Anna: So what?")
        before = measure_odds()
        many("Anna: I know Ben's bees make honey.", "Anna: Ben's and my bees make wax.", "Anna: Ben, I rest.")
        assert measure_odds() < before / 3

    def test_who_tells_of_themselves_counts_and_who_answers_them_does_not(self, project, many, look):
        many(
            "Anna: I went camping by the lake.", "Ben: Your camping by the lake sounds great.", "Ben: I rest."
        )
        EmbeddingEngine().embed_pending(project.pk)
        anna, ben = (look(f"Did {name} go camping by the lake?").evidence for name in ("Anna", "Ben"))
        assert anna / (1 - anna) > 20 * ben / (1 - ben)

    def test_a_name_that_stands_nowhere_takes_evidence_away(self, project, many, look):
        many("Anna moved to Lisbon in March.")
        EmbeddingEngine().embed_pending(project.pk)
        known, unknown = (look(f"When did Anna move to {name}?") for name in ("Lisbon", "Helsinki"))
        assert 1 - unknown.evidence > 4 * (1 - known.evidence)

    def test_in_another_language_the_words_decide_what_is_known(self, project, many, look):
        many("Der Vertrag mit dem Vermieter endet im März.", "Faktur dikirim setiap hari Jumat.")
        EmbeddingEngine().embed_pending(project.pk)
        for query, known in (
            ("Wann endet der Vertrag mit dem Vermieter?", True),
            ("Kapan faktur dikirim?", True),
            ("Vielen lieben Dank, du bist der Beste!", False),
            ("Selamat pagi, tidurnya nyenyak?", False),
            ("Apa kabar hari ini?", False),  # shares a short word alone
        ):
            found = look(query)
            assert (len(found.hits), found.known) == (2, known), query
        many("娘のミアは九月から小学校に通います。")
        for query, known in (
            ("娘はいつから小学校に通いますか？", True),
            ("娘の", True),
            ("こんにちは、お元気ですか？", False),
        ):
            assert look(query).known is known, query

    def test_a_word_asked_for_alone_brings_the_text_that_has_it(self, project, many, look):
        many("He was mentored by Ada.", *(f"Mentoring helps mentor number {n} to mentor." for n in range(8)))
        EmbeddingEngine().embed_pending(project.pk)
        for found in (look("mentored"), look(" Mentored?")):
            assert texts(found)[0] == "He was mentored by Ada."
            assert [hit.signals["exact"] for hit in found.hits] == [1.0, *[0.0] * 8]
        assert "exact" not in look("mentored by whom").hits[0].signals
        assert "exact" not in look("mentored", recipe="words").hits[0].signals

    def test_what_waits_for_its_vector_is_found_by_its_words(self, project, many, look):
        many(*(f"The database number {number} runs PostgreSQL." for number in range(30)))
        EmbeddingEngine().embed_pending(project.pk)
        many("The database of invoices runs MariaDB.")
        first = look("database of invoices MariaDB").hits[0]
        assert first.fact.embedding_state == "pending"
        assert first.fact.fact_text == "The database of invoices runs MariaDB."
        assert {first.signals[name] for name in ("keyword", "vector", "words", "least_word")} == {1.0}
        assert look("database", recipe="seed").hits[0].fact.embedding_state == "ready"

    def test_three_parts_and_none_for_what_waits(self, project, many, look):
        many("The database runs PostgreSQL.", "A cat.")
        EmbeddingEngine().embed_pending(project.pk)
        many("PostgreSQL is new here.")
        found = look("PostgreSQL database", recipe="answers")
        assert found.signals_used == ["keyword", "vector", "words"]
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"keyword": 0.2, "vector": 0.3, "words": 0.5}))
        (waiting,) = [hit for hit in found.hits if "new" in hit.fact.fact_text]
        assert (waiting.signals["vector"], waiting.signals["words"]) == (0.0, 0.0)
        assert waiting.fact.embedding_state == "pending"
        assert look("PostgreSQL", recipe="hybrid").signals_used == ["keyword", "vector"]
        for query in ("", "!?", "😀", "the", "\ud800", "京" * 100):
            look(query)
