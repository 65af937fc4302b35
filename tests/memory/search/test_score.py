"""A score is the sum of its signals."""

from datetime import timedelta

import numpy as np
import pytest
import time_machine
from django.utils import timezone

from memory.exceptions import Invalid
from memory.models import Project
from tests.memory.facts.helpers import texts
from tests.memory.search.helpers import MONTH, X, branch_manager, embed, fact_engine, recomputed

pytestmark = pytest.mark.django_db(transaction=True)  # the index covers committed rows only


class TestScore:
    def test_every_part_is_told(self, write, look, actor):
        for i in range(7):
            fact = write("Alpha beta.", priority="P1", confidence=0.5, session_id=f"s{i}")
        fact_engine.set_verification(fact_id=fact.uid, verdict="verified", actor=actor)
        with time_machine.travel(fact.created_at + MONTH, tick=False):
            (hit,) = look("alpha").hits
        assert hit.signals.pop("recency") == pytest.approx(0.75, abs=1e-6)
        assert hit.signals == pytest.approx(
            {
                "keyword": 1.0,
                "vector": 0.0,
                "verification": 1.05,
                "priority": 1.05,
                "confidence": 0.95,
                "confirmations": 1.1,
            }
        )
        assert hit.score == pytest.approx(0.75 * 1.05 * 1.05 * 0.95 * 1.1, abs=1e-6)
        assert hit.branches == ("main",)
        assert (hit.fact.confirmation_count, hit.fact.verification_status) == (6, "verified")

    def test_the_score_follows_from_the_signals(self, many, look):
        many(
            "Alpha beta gamma.", "Alpha alpha delta.", "Beta and much more than that, of beta.", priority="P2"
        )
        many("Alpha.", confidence=0.1)
        found = look("alpha beta")
        assert len(found.hits) == 4
        assert found.signals_used == ["keyword"]
        assert (found.recipe, found.branches) == ("default", ("main",))
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"keyword": 1.0}))
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
        assert max(hit.signals["keyword"] for hit in found.hits) == 1.0

    def test_equal_scores_by_id(self, many, look):
        with time_machine.travel(timezone.now() + MONTH, tick=False):
            made = many(*["Alpha beta."] * 8)
            found = look("alpha")
        assert len({hit.score for hit in found.hits}) == 1
        assert [hit.fact.uid for hit in found.hits] == sorted(fact.uid for fact in made)

    def test_recency_by_age(self, write, look):
        now = timezone.now() + 10 * MONTH
        for days in (60, 30, 0):
            with time_machine.travel(now - timedelta(days=days), tick=False):
                write(f"Alpha {days}.")
        with time_machine.travel(now, tick=False):
            told = {hit.fact.fact_text: hit.signals["recency"] for hit in look("alpha").hits}
            timeless = [hit.signals["recency"] for hit in look("alpha", recipe="timeless").hits]
        assert told == pytest.approx({"Alpha 0.": 1.0, "Alpha 30.": 0.75, "Alpha 60.": 0.625}, abs=1e-5)
        assert timeless == [1.0, 1.0, 1.0]

    def test_recency_by_cycle(self, write, look):
        for cycle in (0, 60, 99):
            write(f"Alpha {cycle}.", created_cycle=cycle)
        told = {hit.fact.fact_text: hit.signals["recency"] for hit in look("alpha", current_cycle=90).hits}
        assert told == pytest.approx({"Alpha 0.": 0.5 + 0.5 / 8, "Alpha 60.": 0.75, "Alpha 99.": 1.0})

    def test_an_answer_shares_the_score_of_its_question(self, write, look):
        write("Which car did you buy?", session_id="s")
        write("The red one.", session_id="s")
        write("Nothing more.", session_id="s")
        write("An answer to nobody.", session_id="t")
        found = look("which car was bought?")
        assert texts(found) == ["Which car did you buy?", "The red one."]
        question, answer = found.hits[:2]
        assert answer.score == answer.signals["reply"] == pytest.approx(0.95 * question.score)
        assert answer.signals["keyword"] == 0.0
        question, answer = look("which car was bought?", recipe="answers").hits
        assert answer.score == question.score == answer.signals["reply"]
        assert texts(look("which car was bought?", recipe="hybrid")) == ["Which car did you buy?"]

    def test_who_asked_and_goes_on_does_not_answer(self, write, look):
        write("Ann: Which car did you buy?", session_id="s")
        write("Ann: I need to know.", session_id="s")
        assert texts(look("which car was bought?")) == ["Ann: Which car did you buy?"]
        assert len(look("which car was bought?", recipe="answers").hits) == 2


class TestWeights:
    @pytest.fixture
    def both(self, many, project):
        many("alpha", "beta", "gamma", "unread")
        embed(project, alpha=(0.6, 0.8, 0), beta=(1, 0, 0), gamma=(-1, 0, 0))

    @pytest.mark.parametrize(
        ("recipe", "shares"), [("seed", (0.3, 0.7)), ("hybrid", (0.4, 0.6)), ("default", (0.4, 0.6))]
    )
    def test_both_arms(self, both, look, recipe, shares):
        found = look("alpha", query_vector=X, recipe=recipe)
        assert found.signals_used == ["keyword", "vector"]
        assert found.recipe == recipe
        parts = {hit.fact.fact_text: (hit.signals["keyword"], hit.signals["vector"]) for hit in found.hits}
        assert parts == {
            "alpha": (1.0, pytest.approx(0.6)),
            "beta": (0.0, pytest.approx(1.0)),
            "gamma": (0.0, 0.0),
        }
        for hit in found.hits:
            assert hit.score == pytest.approx(
                recomputed(hit, dict(zip(("keyword", "vector"), shares, strict=True)))
            )

    def test_no_keyword_hit_leaves_it_to_the_vectors(self, both, look):
        found = look("nothing like it", query_vector=X)
        assert found.signals_used == ["vector"]
        assert texts(found)[0] == "beta"
        for hit in found.hits:
            assert hit.score == pytest.approx(recomputed(hit, {"vector": 1.0}))

    def test_no_vector_leaves_it_to_the_keywords(self, both, look):
        found = look("alpha")
        assert (found.signals_used, texts(found)) == (["keyword"], ["alpha"])
        assert found.hits[0].score == pytest.approx(recomputed(found.hits[0], {"keyword": 1.0}))

    @pytest.mark.parametrize(
        ("recipe", "shares", "vector"), [("hybrid", (0.4, 0.6), 0.0), ("default", (0.4, 0.6), 1.0)]
    )
    def test_a_row_without_a_vector_has_that_of_its_words_with_the_mix(
        self, both, look, recipe, shares, vector
    ):
        hits = look("unread", query_vector=X, recipe=recipe).hits
        (hit,) = [hit for hit in hits if hit.fact.fact_text == "unread"]
        assert (hit.signals["keyword"], hit.signals["vector"]) == (1.0, vector)
        assert hit.score == pytest.approx(
            recomputed(hit, dict(zip(("keyword", "vector"), shares, strict=True)))
        )

    def test_types(self, both, look):
        assert texts(look("gamma", query_vector=X, search_type="keyword")) == ["gamma"]
        assert texts(look("gamma", query_vector=X, search_type="vector")) == ["beta", "alpha", "gamma"]
        assert look("gamma", query_vector=X, search_type="vector").signals_used == ["vector"]
        without = look("gamma", search_type="vector")
        assert (texts(without), list(without.signals_used)) == (["gamma"], ["keyword"])

    def test_a_vector_of_another_length_compares_with_nothing(self, both, look):
        assert texts(look("alpha", query_vector=np.ones(7, dtype="f4"))) == ["alpha"]

    def test_a_damaged_vector_is_found_by_words_alone(self, both, look, project, write):
        for number in ("nan", "inf"):
            write(f"damaged {number}")
            with np.errstate(invalid="ignore"):
                embed(project, **{f"damaged {number}": [float(number), 0, 0]})
        assert texts(look("q", query_vector=X, search_type="vector")) == ["beta", "alpha", "gamma"]
        assert set(texts(look("damaged", search_type="keyword"))) == {"damaged nan", "damaged inf"}

    def test_vectors_follow_what_the_branch_shows(self, both, look, actor):
        uid = look("beta").hits[0].fact.uid
        branch_manager.create_branch(name="a", actor=actor)
        fact_engine.delete_fact(fact_id=uid, actor=actor, branch_name="a")
        shown = [texts(look("q", branch=b, query_vector=X, search_type="vector")) for b in ("main", "a")]
        assert shown == [["beta", "alpha", "gamma"], ["alpha", "gamma"]]


class TestRecipes:
    def test_by_call_then_by_project_then_by_server(self, write, look, project, settings):
        write("Alpha.")
        assert look("alpha").recipe == "default"
        settings.DAY1 = {"embedder": "off", "recipe": "words"}
        assert look("alpha").recipe == "words"
        Project.objects.filter(pk=project.pk).update(recipe="seed")
        assert look("alpha").recipe == "seed"
        assert look("alpha", recipe="timeless").recipe == "timeless"

    def test_an_unknown_one(self, look):
        with pytest.raises(Invalid) as caught:
            look("alpha", recipe="{x}")
        known = "answers, default, hybrid, seed, timeless, words"
        assert str(caught.value) == f"There is no recipe {{x}}; there are {known}."
