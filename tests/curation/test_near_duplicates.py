"""Near duplicates: one question each, no silent merge, no lost comparison."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.models import ReviewItem
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.support.similarity import compare_claims, get_thresholds, is_near, is_same, same_claim
from memory.engines.versions.lookup import find_branch
from memory.exceptions import NotFound, ScopeMissing
from memory.models import Fact, NearCheck, Vector
from memory.models.nodes import uuid7
from tests.memory.fake_provider import FakeProvider, beside, failing

A, B = "The cache is cleared every night.", "Every night the cache gets cleared."


@pytest.fixture
def provider(settings):
    with FakeProvider() as fake:
        settings.DAY1 = fake.settings(batch=64)
        fake.vectors[B] = beside(A, 0.9)
        yield fake


@pytest.fixture
def near():
    return NearDuplicateEngine()


@pytest.fixture
def write(actor):
    def write(text, branch="main", **more):
        return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write


@pytest.fixture
def check(project, near):
    """Return a function that embeds and compares all pending texts, and counts the comparisons."""

    def check():
        EmbeddingEngine().embed_pending(project.pk)
        return near.check_pending(project.pk)

    return check


def pairs():
    return set(ReviewItem.objects.values_list("fact_id", "other_id"))


@pytest.mark.django_db(transaction=True)
class TestAsked:
    def test_a_pair_is_asked_about_once(self, provider, project, main, write, check):
        a, b = write(A), write(B)
        assert check() == 2
        item = ReviewItem.objects.get()
        assert (item.project_id, item.branch_id) == (project.pk, main.pk)
        assert (item.kind, item.status, item.fact_id, item.other_id) == (
            "near_duplicate",
            "open",
            b.uid,
            a.uid,
        )
        low, high = sorted((a.uid.hex, b.uid.hex))
        assert item.pair == f"{main.pk}:{low}:{high}"
        assert round(item.score, 4) == 0.9
        versions = {str(fact.uid): 1 for fact in (a, b)}
        assert item.details == {"model": "openai:fake", "same": False, "versions": versions}
        assert NearCheck.objects.count() == 0
        assert check() == 0

    def test_never_again_not_even_when_it_was_settled(self, provider, project, main, write, check):
        a, b = write(A), write(B)
        check()
        ReviewItem.objects.update(status="resolved", resolution="both")
        for fact in (a, b):
            NearCheck.objects.create(
                project=project, branch_id=main.pk, uid=fact.uid, content_hash=fact.content_hash
            )
        assert check() == 2
        assert [(item.status, item.resolution) for item in ReviewItem.objects.all()] == [("resolved", "both")]

    def test_a_fact_that_comes_later_is_the_one_in_question(self, provider, write, check):
        a = write(A)
        check()
        b = write(B)
        assert check() == 1
        assert pairs() == {(b.uid, a.uid)}

    def test_below_the_threshold_nobody_is_asked(self, provider, write, check):
        provider.vectors[B] = beside(A, 0.849)
        write(A), write(B)
        assert check() == 2
        assert pairs() == set()

    def test_so_alike_that_it_could_be_acted_on_is_told(self, provider, write, check):
        provider.vectors[B] = beside(A, 0.93)
        write(A), write(B)
        check()
        assert ReviewItem.objects.get().details["same"] is True

    def test_other_numbers_are_not_the_same_claim(self, provider, write, check):
        one, two = "Tokens last 15 minutes.", "Tokens last 30 minutes."
        provider.vectors[two] = beside(one, 0.99)
        write(one), write(two)
        check()
        assert ReviewItem.objects.get().details["same"] is False

    def test_a_proposal_is_compared_with_what_is_there(self, provider, write, check):
        a, b = write(A), write(B, propose=True)
        assert check() == 2
        assert pairs() == {(b.uid, a.uid)}

    def test_an_edit_is_compared_with_its_new_text(self, provider, actor, write, check):
        a, c = write(A), write("Something else.")
        FactEngine().update_fact(fact_id=c.uid, updates={"fact_text": B}, actor=actor)
        assert check() == 3
        assert pairs() == {(c.uid, a.uid)}

    def test_many_at_once(self, provider, write, check):
        texts = [f"Note number {at}." for at in range(40)]
        twins = [text + " Again." for text in texts]
        provider.vectors.update({twin: beside(text, 0.9) for text, twin in zip(texts, twins, strict=True)})
        first = [write(text) for text in texts]
        second = [write(twin) for twin in twins]
        assert check() == 80
        assert pairs() == {(b.uid, a.uid) for a, b in zip(first, second, strict=True)}


@pytest.mark.django_db(transaction=True)
class TestNotAsked:
    def test_facts_of_two_repositories(self, provider, write, check):
        write(A, repository="github.com/acme/shop")
        write(B, repository="github.com/acme/till")
        assert check() == 2
        assert pairs() == set()
        write(B, repository="github.com/acme/shop")
        check()
        assert len(pairs()) == 1

    def test_about_a_fact_and_its_replacement(self, provider, actor, write, check):
        a = write(A)
        FactEngine().supersede_fact(old_fact_id=a.uid, new_fact_text=B, actor=actor)
        check()
        assert (pairs(), NearCheck.objects.count()) == (set(), 0)

    def test_about_a_fact_and_its_parent_that_is_still_current(self, provider, write, check):
        a = write(A)
        b = write(B, parent_id=str(a.uid))
        assert check() == 2
        assert b.parent_id == a.uid
        assert pairs() == set()

    def test_about_what_is_gone(self, provider, actor, write, check):
        write(A)
        b = write(B)
        FactEngine().delete_fact(fact_id=b.uid, actor=actor)
        check()
        assert (pairs(), NearCheck.objects.count()) == (set(), 0)

    @pytest.mark.parametrize("field", ["expires_at", "valid_until"])
    def test_about_what_no_search_finds_today(self, provider, write, check, field):
        a = write(A)
        Fact._base_manager.filter(pk=a.pk).update(**{field: timezone.now() - timedelta(seconds=1)})
        write(B)
        check()
        assert (pairs(), NearCheck.objects.count()) == (set(), 0)

    def test_on_another_branch(self, provider, actor, write, check):
        for name in ("task/one", "task/two"):
            BranchManager().create_branch(name=name, actor=actor)
        write(A, "task/one"), write(B, "task/two")
        assert check() == 2
        assert pairs() == set()

    def test_but_on_a_child_about_what_it_inherits(self, provider, actor, write, check):
        a = write(A)
        BranchManager().create_branch(name="task/one", actor=actor)
        b = write(B, "task/one")
        check()
        assert pairs() == {(b.uid, a.uid)}
        assert ReviewItem.objects.get().branch == find_branch(actor, "task/one")

    def test_on_an_archived_branch(self, provider, actor, write, check):
        BranchManager().create_branch(name="task/one", actor=actor)
        write(A, "task/one"), write(B, "task/one")
        BranchManager().archive_branch(name="task/one", actor=actor)
        assert check() == 2
        assert (pairs(), NearCheck.objects.count()) == (set(), 0)

    def test_when_the_embedder_is_off(self, settings, provider, write, check, near):
        write(A), write(B)
        settings.DAY1 = {"embedder": "off"}
        assert check() == 0
        assert NearCheck.objects.count() == 0


@pytest.mark.django_db(transaction=True)
class TestNothingIsLost:
    def test_a_text_without_a_vector_waits(self, provider, project, write, check, near):
        write(A), write(B)
        assert near.check_pending(project.pk) == 0
        assert NearCheck.objects.count() == 2
        assert check() == 2
        assert ReviewItem.objects.count() == 1

    @pytest.mark.parametrize("step", ["memory_reviewitem", "DELETE FROM"])
    def test_a_crash_between_the_steps_is_made_good(self, provider, project, write, check, near, step):
        write(A), write(B)
        with pytest.raises(KeyboardInterrupt), failing(step):
            check()
        assert (ReviewItem.objects.count(), NearCheck.objects.count()) == (0, 2)
        assert near.compare_due() == 2
        assert (ReviewItem.objects.count(), NearCheck.objects.count()) == (1, 0)

    def test_under_another_model_it_is_compared_there(self, settings, provider, project, write, check, near):
        write(A), write(B)
        settings.DAY1 = provider.settings(model="other", batch=64)
        assert near.check_pending(project.pk) == 0  # the texts are queued now
        assert check() == 2
        assert ReviewItem.objects.get().details["model"] == "openai:other"

    def test_what_was_written_under_broken_settings_is_embedded_later(
        self, settings, provider, project, write, check, near
    ):
        settings.DAY1 = {"embedder": "openai"}
        write(A), write(B)
        assert near.check_pending(project.pk) == 0
        assert (Vector.objects.count(), NearCheck.objects.count()) == (0, 2)
        settings.DAY1 = provider.settings(batch=64)
        assert near.compare_due() == 0
        assert check() == 2
        assert ReviewItem.objects.count() == 1


class TestThresholds:
    def test_both_by_model(self):
        assert (get_thresholds("minilm-l6-int8").near, get_thresholds("minilm-l6-int8").same) == (0.85, 0.92)
        assert (get_thresholds("openai:unheard").near, get_thresholds("openai:unheard").same) == (0.85, 0.92)
        assert [is_near("m", cosine) for cosine in (0.849, 0.85)] == [False, True]
        assert [is_same("m", cosine, A, B) for cosine in (0.919, 0.92)] == [False, True]
        assert not is_same("m", 0.99, "It works.", "It does not work.")

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            (A, B),
            ("Tokens last 15 minutes.", "Tokens last for 15 minutes."),
            ("It costs 1,000 euros.", "It costs 1000.00 euros."),
            ("Two replicas run.", "2 replicas run."),
            ("Alice doesn't eat meat.", "Alice does not eat meat."),
            ("Alice’s cat is ill.", "The cat of Alice is ill."),
            ("Deploys run on Friday.", "On Friday we run deploys."),
            ("I think GitHub is down.", "Github is down, I think."),
        ],
    )
    def test_the_same_claim(self, a, b):
        assert same_claim(a, b)
        assert same_claim(b, a)

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("Tokens last 15 minutes.", "Tokens last 30 minutes."),
            ("The limit is 1.5 GB.", "The limit is 15 GB."),
            ("It went from 5 to 6.", "It went from 6 to 5."),
            ("It takes 30s.", "It takes 30m."),
            ("The core is written in C.", "The core is written in C++."),
            ("The core is written in C++.", "The core is written in C#."),
            ("It was -5 degrees.", "It was 5 degrees."),
            ("Two replicas run.", "Three replicas run."),
            ("It works.", "It does not work."),
            ("It works.", "It never works."),
            ("The door can be opened.", "The door can't be opened."),
            ("Alice moved out.", "Bob moved out."),
            ("Alice reports to Bob.", "Bob reports to Alice."),
            ("The meeting is in Paris.", "The meeting is in Rome."),
            ("We use PostgreSQL.", "We use MySQL."),
            ("Released on 2024-05-01.", "Released on 2024-06-01."),
        ],
    )
    def test_another_claim(self, a, b):
        assert not same_claim(a, b)
        assert not same_claim(b, a)

    @pytest.mark.parametrize(
        ("a", "b", "expected"),
        [
            (A, B, "same_claim"),
            ("Tokens last 15 minutes.", "Tokens last 30 minutes.", "contradiction"),
            ("It works.", "It never works.", "contradiction"),
            ("Alice reports to Bob.", "Bob reports to Alice.", "contradiction"),
            ("We deploy on Friday.", "We deploy.", "contradiction"),
            ("Alice has 2 cats.", "Bob has 3 cats.", "contradiction"),
            ("Alice moved out.", "Bob moved out.", "other_names"),
            ("We use PostgreSQL.", "We use MySQL.", "other_names"),
        ],
    )
    def test_contradictions_and_other_names(self, a, b, expected):
        assert compare_claims(a, b) == compare_claims(b, a) == expected


@pytest.mark.django_db(transaction=True)
def test_a_pair_that_was_compared_elsewhere_is_asked_about_once(write, near, actor):
    one, two = write("Deploys run on Tuesday."), write("Deploys run on Tuesdays.")
    for pair in ((one, two), (two, one)):
        near.ask_about(fact_id=pair[0].uid, other_id=pair[1].uid, score=0.97, model="m", actor=actor)
    item = ReviewItem.objects.get()
    assert (item.fact_id, item.other_id, item.score, item.branch.name) == (two.uid, one.uid, 0.97, "main")
    with pytest.raises(NotFound):
        near.ask_about(fact_id=one.uid, other_id=uuid7(), score=0.97, model="m", actor=actor)
    assert ReviewItem.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_who_may_only_read_asks_about_no_pair(write, near, actor):
    one, two = write("Deploys run on Tuesday."), write("Deploys run on Tuesdays.")
    reader = replace(actor, kind="key", scopes=frozenset({"read"}))
    with pytest.raises(ScopeMissing):
        near.ask_about(fact_id=one.uid, other_id=two.uid, score=0.97, model="m", actor=reader)
    assert ReviewItem.objects.count() == 0
