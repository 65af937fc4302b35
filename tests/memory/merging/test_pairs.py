"""Pairs of arriving facts and facts of the target: near duplicates and contradictions."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.engines.review.review_queue import ReviewEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.pairs import Kind, Pair, Pairs, Reason, find_pairs
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.models import Fact
from tests.memory.fake_provider import FakeProvider, beside

pytestmark = pytest.mark.django_db(transaction=True)

A, B, C = (
    "The cache is cleared every night.",
    "Every night the cache gets cleared.",
    "Each night somebody clears the cache.",
)
TASK = "task/one"


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        settings.DAY1 = fake.settings(batch=64)
        fake.vectors[B] = beside(A, 0.9)
        yield fake


@pytest.fixture(autouse=True)
def task(actor: Actor) -> None:
    BranchManager().create_branch(name=TASK, actor=actor)


@pytest.fixture
def write(actor: Actor) -> Callable[..., Fact]:
    def write(text: str, branch: str = "main", **more: Any) -> Fact:
        return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write


@pytest.fixture
def find(actor: Actor, provider: FakeProvider) -> Callable[..., Pairs]:
    """Return a function that embeds everything and finds the pairs of some facts of the branch on main."""

    def find(*facts: Fact, exclude: Any = (), target: Any = None, embed: bool = True) -> Pairs:
        if embed:
            EmbeddingEngine().embed_pending(actor.project_id)
        source, main = find_branch(actor, TASK).lineage(), find_branch(actor, "main").lineage()
        uids = [fact.uid for fact in facts]
        arriving = Fact.objects.in_lineage(source).filter(uid__in=uids).fetch_all()
        assert len(arriving) == len(uids)
        return find_pairs(
            arriving, source=source, target=target or main, project_id=actor.project_id, exclude=exclude
        )

    return find


def near(pairs: Pairs) -> list[tuple[Any, Any, str]]:
    return [(pair.uid, pair.other_uid, str(pair.kind)) for pair in pairs.found.values()]


class TestFound:
    def test_another_wording_of_the_same_claim(self, write, find):
        a, b = write(A), write(B, TASK)
        result = find(b)
        assert result == Pairs({b.uid: Pair(b.uid, a.uid, pytest.approx(0.9, abs=1e-5), Kind.NEAR_DUPLICATE)})
        assert (result.unchecked, result.reason) == ([], Reason.NONE)

    @pytest.mark.parametrize(
        ("there", "arriving"),
        [
            ("Tokens last 15 minutes.", "Tokens last 30 minutes."),
            ("The door can be opened.", "The door can't be opened."),
            ("Alice reports to Bob.", "Bob reports to Alice."),
            ("We waited for Alice 5 minutes.", "We waited for Bob 6 minutes."),
        ],
    )
    def test_a_contradiction(self, provider, write, find, there, arriving):
        provider.vectors[arriving] = beside(there, 0.97)
        a, b = write(there), write(arriving, TASK)
        assert near(find(b)) == [(b.uid, a.uid, "contested")]

    def test_the_nearest_of_several(self, provider, write, find):
        provider.vectors[C] = beside(A, 0.99)
        _, c, b = write(A), write(C), write(B, TASK)
        provider.vectors[B] = provider.vectors[C]
        assert near(find(b)) == [(b.uid, c.uid, "near_duplicate")]

    def test_the_next_one_where_the_nearest_is_about_another_thing(self, provider, write, find):
        """Twenty facts about others are nearer: the number looked at grows."""
        names = "Ann Ben Cem Dan Eva Fay Gil Hal Ian Jon Kim Lea Max Ned Oda Pam Quy Ron Sam Tim".split()
        text, twin = "Zoe likes tea.", "Tea is what Zoe likes."
        for name in names:
            provider.vectors[f"{name} likes tea."] = beside(text, 0.97)
            write(f"{name} likes tea.")
        provider.vectors[twin] = beside(text, 0.9)
        a, b = write(twin), write(text, TASK)
        assert near(find(b)) == [(b.uid, a.uid, "near_duplicate")]

    def test_each_of_many_gets_its_own(self, provider, write, find):
        texts = [f"Note number {at}." for at in range(30)]
        twins = [f"It is note number {at}." for at in range(30)]
        provider.vectors.update({twin: beside(text, 0.9) for text, twin in zip(texts, twins, strict=True)})
        there = [write(text) for text in texts]
        arriving = [write(twin, TASK) for twin in twins]
        expected = {(b.uid, a.uid, "near_duplicate") for a, b in zip(there, arriving, strict=True)}
        assert set(near(find(*arriving))) == expected

    def test_a_proposal_that_arrives(self, write, find):
        a, b = write(A), write(B, TASK, propose=True)
        assert near(find(b)) == [(b.uid, a.uid, "near_duplicate")]

    def test_in_a_transaction_too(self, write, find, actor):
        a, b = write(A), write(B, TASK)
        EmbeddingEngine().embed_pending(actor.project_id)
        with open_commit(actor, "main", "write"):
            assert near(find(b, embed=False)) == [(b.uid, a.uid, "near_duplicate")]

    def test_what_the_target_showed_when_it_was_read(self, actor, write, find):
        a, b = write(A), write(B, TASK)
        target = find_branch(actor, "main").lineage()
        FactEngine().delete_fact(fact_id=a.uid, actor=actor)
        assert near(find(b, target=target)) == [(b.uid, a.uid, "near_duplicate")]
        assert near(find(b)) == []


class TestNotFound:
    def test_below_the_threshold(self, provider, write, find):
        provider.vectors[B] = beside(A, 0.849)
        _, b = write(A), write(B, TASK)
        assert find(b) == Pairs()

    def test_names_that_differ_alone(self, provider, write, find):
        provider.vectors["We use MySQL."] = beside("We use PostgreSQL.", 0.97)
        _, b = write("We use PostgreSQL."), write("We use MySQL.", TASK)
        assert find(b) == Pairs()

    def test_an_equal_text(self, provider, write, find):
        same = A.upper()
        provider.vectors[same] = beside(A, 0.99)
        _, b, c = write(A), write(same, TASK), write(B, TASK)
        assert [uid for uid, *_ in near(find(b, c))] == [c.uid]

    def test_the_fact_itself_and_what_is_excluded(self, actor, write, find):
        a = write(A)
        BranchManager().create_branch(name="task/two", actor=actor)
        b = write(B, TASK)
        assert near(find(b, exclude=[a.uid])) == []
        c = write(C)
        source = find_branch(actor, "task/two").lineage()
        (same,) = Fact.objects.in_lineage(source).filter(uid=a.uid).fetch_all()
        main = find_branch(actor, "main").lineage()
        found = find_pairs([same], source=source, target=main, project_id=actor.project_id, exclude=[c.uid])
        assert found == Pairs()

    def test_a_replacement_of_the_targets_fact(self, write, find):
        old = write(A, TASK)
        b = write(B, TASK, parent_id=str(old.uid))
        a = write(A)
        Fact._base_manager.filter(pk=b.pk).update(parent_id=a.uid)  # as if both sides had had it
        assert find(b) == Pairs()
        Fact._base_manager.filter(pk=b.pk).update(parent_id=old.uid)
        assert near(find(b)) == [(b.uid, a.uid, "near_duplicate")]

    def test_facts_of_two_repositories(self, write, find):
        write(A, repository="github.com/acme/shop")
        b = write(B, TASK, repository="github.com/acme/till")
        assert find(b) == Pairs()

    @pytest.mark.parametrize("field", ["expires_at", "valid_until"])
    @pytest.mark.parametrize("side", [0, 1])
    def test_what_no_search_finds_today(self, write, find, field, side):
        facts = [write(A), write(B, TASK)]
        late = timezone.now() - timedelta(seconds=1)
        Fact._base_manager.filter(pk=facts[side].pk).update(**{field: late})
        assert find(facts[1]) == Pairs()

    @pytest.mark.parametrize("side", ["main", TASK])
    @pytest.mark.parametrize("action", ["archive", "invalidate"])
    def test_what_is_out_of_use(self, actor, write, find, side, action):
        facts = {"main": write(A), TASK: write(B, TASK)}
        ActionEngine().apply_action(
            action=action, fact_ids=[facts[side].uid], actor=actor, branch_name=side, reason="wrong"
        )
        assert find(facts[TASK]) == Pairs()

    def test_a_proposal_of_the_target(self, write, find):
        _, b = write(A, propose=True), write(B, TASK)
        assert find(b) == Pairs()

    def test_the_facts_are_left_as_they_were(self, actor, write, find):
        """Their repository is that of their session for a comparison, and not written by a merge."""
        _, b = write(A), write(B, TASK)
        EmbeddingEngine().embed_pending(actor.project_id)
        source, main = find_branch(actor, TASK).lineage(), find_branch(actor, "main").lineage()
        (arriving,) = Fact.objects.in_lineage(source).filter(uid=b.uid).fetch_all()
        before = dict(vars(arriving), _state=None)
        find_pairs([arriving], source=source, target=main, project_id=actor.project_id, exclude=[])
        assert dict(vars(arriving), _state=None) == before


class TestKept:
    """A curator answered that both facts stay."""

    @pytest.fixture
    def answer(self, actor: Actor) -> Callable[..., Any]:
        """Return a function that answers the question about two facts of a branch."""

        def answer(one: Fact, other: Fact, branch: str, decision: str) -> Any:
            NearDuplicateEngine().ask_about(
                fact_id=one.uid, other_id=other.uid, score=0.9, model="m", actor=actor, branch_name=branch
            )
            item = ReviewItem.objects.get()
            return ReviewEngine().resolve_item(item_id=item.pk, decision=decision, actor=actor).commit

        return answer

    @pytest.fixture
    def both(self, actor: Actor, provider: FakeProvider, write: Any) -> tuple[Fact, Fact]:
        """Return two facts that every branch has."""
        facts = write(A), write(B)
        BranchManager().archive_branch(name=TASK, actor=actor)
        for name in ("task/source", "task/other"):
            BranchManager().create_branch(name=name, actor=actor)
        return facts

    @pytest.fixture
    def count(self, actor: Actor, both: Any) -> Callable[..., int]:
        def count(seq: int | None = None) -> int:
            source, main = (
                find_branch(actor, "task/source").lineage(),
                find_branch(actor, "main").lineage(seq),
            )
            EmbeddingEngine().embed_pending(actor.project_id)
            arriving = Fact.objects.in_lineage(source).filter(uid=both[1].uid).fetch_all()
            found = find_pairs(arriving, source=source, target=main, project_id=actor.project_id, exclude=[])
            return len(found.found)

        return count

    @pytest.mark.parametrize(
        ("branch", "decision", "left"),
        [
            ("task/source", "keep_both", 0),
            ("main", "keep_both", 0),
            ("task/other", "keep_both", 1),
            ("main", "dismiss", 1),
        ],
    )
    def test_only_on_source_or_target(self, count, both, answer, branch, decision, left):
        assert count() == 1
        answer(*both, branch, decision)
        assert count() == left

    def test_since_the_answer_and_until_it_is_undone(self, actor, count, both, answer):
        commit = answer(*both, "main", "keep_both")
        assert (count(), count(commit.seq - 1)) == (0, 1)
        RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
        assert count() == 1


class TestUnchecked:
    def test_a_text_without_a_vector(self, actor, write, find):
        a, b = write(A), write(B, TASK)
        EmbeddingEngine().embed_pending(actor.project_id)
        c = write(C, TASK)
        result = find(b, c, embed=False)
        assert near(result) == [(b.uid, a.uid, "near_duplicate")]
        assert (result.unchecked, result.reason) == ([c.uid], Reason.VECTORS_PENDING)

    @pytest.mark.parametrize(
        ("embedder", "reason"), [("off", Reason.EMBEDDER_OFF), ("openai", Reason.EMBEDDER_UNAVAILABLE)]
    )
    def test_all_without_an_embedder(self, settings, write, find, embedder, reason):
        _, b = write(A), write(B, TASK)
        settings.DAY1 = {"embedder": embedder}
        assert find(b, embed=False) == Pairs({}, [b.uid], reason)
        assert find(embed=False) == Pairs()
