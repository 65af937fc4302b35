"""Facts are written, proposed, corrected, replaced, judged; what is refused leaves nothing behind."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import time_machine
from django.apps import apps
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.engines.branches import BranchManager, find_branch
from memory.engines.facts import FactEngine
from memory.engines.links import LinkEngine
from memory.engines.pages import OTHER_LIST
from memory.engines.search import SearchEngine
from memory.exceptions import (
    AgentForbidden,
    BranchArchived,
    BranchNotFound,
    Day1Error,
    IllegalTransition,
    Invalid,
    NotFound,
    ReservedValue,
    StaleVersion,
    TooLarge,
    UnknownField,
)
from memory.models import OPEN, AuditEntry, Branch, Commit, Confirmation, Fact, FactAssessment, Session

ENGINE, SEARCH, BRANCHES = FactEngine(), SearchEngine(), BranchManager()
SOON = timedelta(hours=1)
KIB = 1024

lasting = pytest.mark.django_db(transaction=True)  # commits and rolls back as in production


@contextmanager
def refused(error: type[Day1Error]) -> Iterator[Any]:
    """A refusal ends the transaction that it happens in; here, a savepoint of the test's own."""
    with pytest.raises(error) as caught, transaction.atomic():
        yield caught


def everything() -> dict[str, Any]:
    """How much there is of all that a write can leave, and every branch as it stands."""
    models = [model for model in apps.get_app_config("memory").get_models() if model.__name__ != "Node"]
    found: dict[str, Any] = {model.__name__: model._base_manager.count() for model in models}
    found["branches"] = list(
        Branch.objects.order_by("pk").values_list("name", "head", "head_at", "archived_at")
    )
    found["open"] = list(Fact._base_manager.order_by("rid").values_list("rid", "seq_to", "status", "slot"))
    with connection.cursor() as cursor:
        cursor.execute('SELECT count(*) FROM "memory_fact_fts"')
        return {**found, "indexed": cursor.fetchone()[0]}


def texts(found: Any) -> list[str]:
    return [hit.fact.fact_text for hit in found.hits]


@pytest.fixture
def write(actor):
    def write(text="The cache is cleared every night.", branch="main", **more):
        return ENGINE.write_fact(fact_text=text, branch_name=branch, actor=actor, **more)

    return write


@pytest.fixture
def search(actor):
    def search(query, branch="main", **more):
        return texts(SEARCH.search(query=query, branch_name=branch, actor=actor, **more))

    return search


@pytest.fixture
def child(actor, project):
    def child(name="task/a", parent="main", at=None):
        return BRANCHES.create_branch(name=name, parent=parent, at=at, actor=actor)

    return child


@pytest.mark.django_db
class TestWrite:
    def test_what_is_not_given_has_a_default(self, write, main):
        written = write()
        fact = written.fact
        assert written.created is True
        assert (fact.essence, fact.category, fact.kind) == (
            "The cache is cleared every night.",
            "general",
            "OBSERVATION",
        )
        assert (fact.priority, fact.status, fact.held_status) == ("P3", "active", "")
        assert (fact.confidence, fact.confirmation_count, fact.access_count) == (0.7, 0, 0)
        assert (fact.parent_id, fact.last_accessed_at) == (None, None)
        assert (fact.source_type, fact.source_id, fact.source) == ("manual", "", "local")
        assert (fact.origin, fact.visibility, fact.pinned) == ("EXPERIENCE", "selective", False)
        assert (fact.created_cycle, fact.updated_cycle) == (0, 0)
        assert (fact.valid_from, fact.valid_until, fact.expires_at) == (None, None, None)
        assert (fact.tags, fact.metadata) == ([], {})
        assert (fact.session_id, fact.task_id, fact.agent_id) == ("", "", "")
        assert (fact.verification_status, fact.verified_at, fact.verified_by) == ("unverified", None, "")
        assert (fact.embedding_state, fact.embedding_model) == ("off", "")
        assert (fact.branch_id, fact.version, fact.seq_from, fact.seq_to) == (main.pk, 1, 1, OPEN)
        assert fact.uid.version == 7
        assert fact.created_at == fact.updated_at == Commit.objects.get().at

    def test_every_field_is_kept(self, write, actor):
        parent = write("What was before.").fact
        given = {
            "essence": "Nightly",
            "category": "decision, or not",
            "kind": "TASK",
            "priority": "P1",
            "confidence": 0.123456789,
            "parent_id": str(parent.uid),
            "source_type": "import",
            "source_id": "row 7",
            "source": "a file",
            "origin": "SEEDED_LLM",
            "visibility": "private",
            "created_cycle": 3,
            "updated_cycle": 5,
            "valid_from": "2026-01-01T02:00:00+02:00",
            "valid_until": datetime(2026, 2, 1),
            "expires_at": "2099-01-01",
            "pinned": True,
            "tags": ["a", 'b"c', "50 %", "d\\e", "a"],
            "metadata": {"n": [1, None, {"x": "é"}]},
            "session_id": "s",
            "task_id": "t",
            "agent_id": "g",
        }
        uid = write("Everything is given.", **given).fact.uid
        fact = ENGINE.get_fact(fact_id=uid, actor=actor)
        expected = {
            **given,
            "parent_id": parent.uid,
            "valid_from": datetime(2026, 1, 1, tzinfo=UTC),
            "valid_until": datetime(2026, 2, 1, tzinfo=UTC),
            "expires_at": datetime(2099, 1, 1, tzinfo=UTC),
            "tags": ["a", 'b"c', "50 %", "d\\e"],
        }
        assert {name: getattr(fact, name) for name in expected} == expected

    def test_what_is_answered_is_what_is_read_again(self, write, actor):
        written = write("Same.", metadata={"a": (1, 2)}, tags=("x",), confidence=1).fact
        read = ENGINE.get_fact(fact_id=written.uid, actor=actor)
        names = [*Fact.content_fields(), "version", "confirmation_count", "verification_status"]
        assert {n: getattr(written, n) for n in names} == {n: getattr(read, n) for n in names}
        assert read.metadata == {"a": [1, 2]}

    def test_a_bulk_is_one_commit_in_the_order_given(self, actor, main):
        done = ENGINE.write_facts(facts=[{"fact_text": f"Fact {i}."} for i in range(1000)], actor=actor)
        assert [row.fact.fact_text for row in done.results] == [f"Fact {i}." for i in range(1000)]
        assert {row.fact.seq_from for row in done.results} == {1}
        commit = Commit.objects.get()
        assert done.commit == commit
        assert (commit.seq, commit.kind, commit.added, commit.changed, commit.removed) == (
            1,
            "fact.bulk",
            1000,
            0,
            0,
        )
        assert AuditEntry.objects.get().target == "main@1"

    def test_a_bulk_of_what_is_there_is_no_commit(self, write, actor, main):
        write()
        before = everything()
        done = ENGINE.write_facts(facts=[{"fact_text": "The cache is cleared every night."}], actor=actor)
        assert (done.commit, done.results[0].created) == (None, False)
        assert everything() == before

    def test_a_write_has_its_commit_and_audit_entry(self, actor, main):
        actor = replace(actor, id="7", surface="rest")
        fact = ENGINE.write_fact(fact_text="x", actor=actor, session_id="s", task_id="t", agent_id="g").fact
        commit, entry = Commit.objects.get(), AuditEntry.objects.get()
        who = ("local", "7", "local", "rest")
        assert (commit.actor_kind, commit.actor_id, commit.actor_label, commit.surface) == who
        assert (entry.actor_kind, entry.actor_id, entry.actor_label, entry.surface) == who
        assert (commit.session_id, commit.task_id, commit.agent_id) == ("s", "t", "g")
        assert (commit.branch_id, commit.seq, commit.added, commit.changed, commit.removed) == (
            main.pk,
            1,
            1,
            0,
            0,
        )
        assert (entry.action, entry.target) == ("fact.write", str(fact.uid))
        assert entry.detail == {"branch": "main", "seq": 1, "added": 1, "changed": 0, "removed": 0}
        assert entry.at == commit.at

    def test_the_number_of_queries_does_not_grow_with_the_batch(self, actor, main):
        def queries(count, name):
            facts = [{"fact_text": f"{name} {i}", "session_id": f"{name} {i}"} for i in range(count)]
            with CaptureQueriesContext(connection) as caught:
                ENGINE.write_facts(facts=facts, actor=actor)
            again = [{**fact, "session_id": "one more"} for fact in facts]
            with CaptureQueriesContext(connection) as repeated:
                ENGINE.write_facts(facts=again, actor=actor)
            return len(caught), len(repeated)

        queries(1, "first")  # takes a lease for its ids, too
        assert queries(5, "few") == queries(50, "many")


FULL = "a" * 64 * KIB
NO_REFLECTION = "kind may not be set to REFLECTION: it is reserved for Day1 itself."
WHOLE = f"must be a whole number from 0 to {2**53}."
BAD_FIELDS: list[tuple[dict[str, Any], type[Day1Error], str, str]] = [
    ({}, Invalid, "fact_text", "fact_text is needed."),
    ({"fact_text": ""}, Invalid, "fact_text", "fact_text may not be empty."),
    ({"fact_text": " \n\t\u2003"}, Invalid, "fact_text", "fact_text may not be empty."),
    ({"fact_text": None}, Invalid, "fact_text", "fact_text must be a text."),
    ({"fact_text": 5}, Invalid, "fact_text", "fact_text must be a text."),
    ({"fact_text": b"x"}, Invalid, "fact_text", "fact_text must be a text."),
    ({"fact_text": "a\x00b"}, Invalid, "fact_text", "fact_text holds a NUL character, which no text may."),
    (
        {"fact_text": "a\ud800b"},
        Invalid,
        "fact_text",
        "fact_text is not valid Unicode: it holds half a surrogate pair.",
    ),
    ({"fact_text": FULL + "a"}, TooLarge, "fact_text", "fact_text is over the limit of 64 KiB."),
    ({"fact_text": "é" * (32 * KIB) + "a"}, TooLarge, "fact_text", "fact_text is over the limit of 64 KiB."),
    ({"essence": "e" * 201}, Invalid, "essence", "essence has at most 200 characters."),
    ({"essence": ""}, Invalid, "essence", "essence may not be empty."),
    ({"essence": "a\x00"}, Invalid, "essence", "essence holds a NUL character, which no text may."),
    ({"category": "c" * 101}, Invalid, "category", "category has at most 100 characters."),
    ({"category": " "}, Invalid, "category", "category may not be empty."),
    ({"priority": "P5"}, Invalid, "priority", "priority must be one of P1, P2, P3, P4."),
    ({"priority": ["P1"]}, Invalid, "priority", "priority must be one of P1, P2, P3, P4."),
    ({"confidence": 1.2}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": -0.001}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": float("nan")}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": float("inf")}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": True}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": "0.5"}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"confidence": None}, Invalid, "confidence", "confidence must be a number from 0 to 1."),
    ({"kind": "REFLECTION"}, ReservedValue, "kind", NO_REFLECTION),
    (
        {"origin": "DREAMING"},
        ReservedValue,
        "origin",
        "origin may not be set to DREAMING: it is reserved for Day1 itself.",
    ),
    ({"created_cycle": True}, Invalid, "created_cycle", f"created_cycle {WHOLE}"),
    ({"created_cycle": 1.0}, Invalid, "created_cycle", f"created_cycle {WHOLE}"),
    ({"updated_cycle": -1}, Invalid, "updated_cycle", f"updated_cycle {WHOLE}"),
    ({"updated_cycle": 2**53 + 1}, Invalid, "updated_cycle", f"updated_cycle {WHOLE}"),
    (
        {"created_cycle": 2, "updated_cycle": 1},
        Invalid,
        "updated_cycle",
        "updated_cycle may not be before created_cycle.",
    ),
    ({"pinned": 1}, Invalid, "pinned", "pinned must be true or false."),
    ({"pinned": "true"}, Invalid, "pinned", "pinned must be true or false."),
    ({"tags": "a"}, Invalid, "tags", "tags must be a list of at most 50 texts."),
    ({"tags": [str(i) for i in range(51)]}, Invalid, "tags", "tags must be a list of at most 50 texts."),
    ({"tags": ["t" * 101]}, Invalid, "tags", "tags has at most 100 characters."),
    ({"tags": [""]}, Invalid, "tags", "tags may not be empty."),
    ({"tags": [1]}, Invalid, "tags", "tags must be a text."),
    ({"metadata": []}, Invalid, "metadata", "metadata must be an object."),
    ({"metadata": {"a": float("nan")}}, Invalid, "metadata", "metadata must be plain JSON."),
    ({"metadata": {"a": {1, 2}}}, Invalid, "metadata", "metadata must be plain JSON."),
    ({"metadata": {"a": "\x00"}}, Invalid, "metadata", "metadata holds a NUL character, which no text may."),
    (
        {"metadata": {"a": "\udfff"}},
        Invalid,
        "metadata",
        "metadata is not valid Unicode: it holds half a surrogate pair.",
    ),
    (
        {"metadata": {"a": "x" * (64 * KIB - 7)}},
        TooLarge,
        "metadata",
        "metadata is over the limit of 64 KiB.",
    ),
    ({"parent_id": "nonsense"}, Invalid, "parent_id", "parent_id must be a UUID."),
    ({"parent_id": 5}, Invalid, "parent_id", "parent_id must be a UUID."),
    (
        {"parent_id": str(UUID(int=1))},
        Invalid,
        "parent_id",
        f"There is no fact {UUID(int=1)} on this branch.",
    ),
    (
        {"valid_from": "yesterday"},
        Invalid,
        "valid_from",
        "valid_from must be a time in ISO 8601, such as 2026-05-01T12:00:00Z.",
    ),
    (
        {"expires_at": 1700000000},
        Invalid,
        "expires_at",
        "expires_at must be a time in ISO 8601, such as 2026-05-01T12:00:00Z.",
    ),
    (
        {"expires_at": "0001-01-01T00:00:00+14:00"},
        Invalid,
        "expires_at",
        "expires_at is a time outside of the years 1 to 9999 in UTC.",
    ),
    (
        {"expires_at": "9999-12-31T23:00:00-02:00"},
        Invalid,
        "expires_at",
        "expires_at is a time outside of the years 1 to 9999 in UTC.",
    ),
    (
        {"valid_from": "2026-01-02", "valid_until": "2026-01-02"},
        Invalid,
        "valid_until",
        "valid_until must be later than valid_from.",
    ),
    ({"session_id": "s" * 201}, Invalid, "session_id", "session_id has at most 200 characters."),
    ({"agent_id": "\x00"}, Invalid, "agent_id", "agent_id holds a NUL character, which no text may."),
    ({"task_id": 3}, Invalid, "task_id", "task_id must be a text."),
    ({"status": "archived"}, UnknownField, "status", "There is no field named status."),
    ({"project_id": "x"}, UnknownField, "project_id", "There is no field named project_id."),
    (
        {"confirmation_count": 9},
        UnknownField,
        "confirmation_count",
        "There is no field named confirmation_count.",
    ),
    ({"uid": str(UUID(int=1))}, UnknownField, "uid", "There is no field named uid."),
]


class TestLimits:
    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, actor, main):
        ENGINE.write_fact(fact_text="Something is there.", actor=actor, session_id="before")
        before = everything()
        for fields, error, field, message in BAD_FIELDS:
            one = {"fact_text": "x", "session_id": "never"} | fields if fields else {}
            with pytest.raises(error) as caught:
                ENGINE.write_fact(actor=actor, **one)
            assert type(caught.value) is error, fields
            assert (str(caught.value), caught.value.data["field"]) == (message, field)
            assert everything() == before, fields

    @lasting
    def test_a_bulk_is_all_or_nothing_and_says_which(self, actor, main):
        before = everything()
        good = {"fact_text": "Good.", "session_id": "new"}
        for bad, error, field, message in [
            ({"fact_text": ""}, Invalid, "facts[1].fact_text", "Fact 1: fact_text may not be empty."),
            (
                {"fact_text": FULL + "a"},
                TooLarge,
                "facts[1].fact_text",
                "Fact 1: fact_text is over the limit of 64 KiB.",
            ),
            (
                {"fact_text": "x", "kind": "REFLECTION"},
                ReservedValue,
                "facts[1].kind",
                f"Fact 1: {NO_REFLECTION}",
            ),
            ({"fact_text": "x", "no": 1}, UnknownField, "facts[1].no", "Fact 1: There is no field named no."),
            ("text", Invalid, "facts[1]", "Fact 1: A fact must be an object."),
        ]:
            with pytest.raises(error) as caught:
                ENGINE.write_facts(facts=[good, bad, good], actor=actor)
            assert (str(caught.value), caught.value.data["field"]) == (message, field)
            assert everything() == before
        for facts, error, message in [
            ([], Invalid, "facts must be a list with at least one fact."),
            (None, Invalid, "facts must be a list with at least one fact."),
            ({}, Invalid, "facts must be a list with at least one fact."),
            ([good] * 1001, TooLarge, "The list of facts is over the limit of 1000 facts."),
        ]:
            with pytest.raises(error) as caught:
                ENGINE.write_facts(facts=facts, actor=actor)
            assert str(caught.value) == message
            assert everything() == before
        missing = uuid4()
        with pytest.raises(Invalid) as caught:
            ENGINE.write_facts(facts=[good, {"fact_text": "x", "parent_id": missing}], actor=actor)
        assert str(caught.value) == f"There is no fact {missing} on this branch."
        assert everything() == before

    @lasting
    def test_a_branch_that_takes_no_writes_keeps_what_it_has(self, actor, main, child, write):
        fact = write().fact
        child()
        BRANCHES.archive_branch(name="task/a", actor=actor)
        before = everything()
        one = {"fact_id": fact.uid, "actor": actor}
        for branch, error in (("task/a", BranchArchived), ("task/none", BranchNotFound)):
            for change in (
                lambda **w: ENGINE.write_fact(fact_text="x", actor=actor, session_id="new", **w),
                lambda **w: ENGINE.update_fact(updates={"priority": "P1"}, **one, **w),
                lambda **w: ENGINE.supersede_fact(old_fact_id=fact.uid, new_fact_text="x", actor=actor, **w),
                lambda **w: ENGINE.archive_fact(**one, **w),
                lambda **w: ENGINE.delete_fact(**one, **w),
                lambda **w: ENGINE.set_verification(verdict="verified", **one, **w),
            ):
                with pytest.raises(error):
                    change(branch_name=branch)
                assert everything() == before

    @pytest.mark.django_db
    @pytest.mark.parametrize(
        "fields",
        [
            {"fact_text": FULL},
            {"fact_text": "é" * (32 * KIB)},
            {"fact_text": "😀" * (16 * KIB)},
            {"essence": "😀" * 200},
            {"category": "c" * 100},
            {"confidence": 0},
            {"confidence": 1},
            {"created_cycle": 2**53, "updated_cycle": 2**53},
            {"tags": ["t" * 99 + str(i) for i in range(10)]},
            {"tags": [str(i) for i in range(50)]},
            {"metadata": {"a": "x" * (64 * KIB - 8)}},
            {"metadata": {"pattern": "[\\u0000-\\u001f]", "more": "\\\\u0000"}},
            {"session_id": "s" * 200},
            {"valid_from": "0001-01-01T00:00:00Z", "valid_until": "9999-12-31T23:59:59.999999Z"},
            {"fact_text": "\ufffe\U0010ffff\u202e\u200d"},
        ],
        ids=lambda fields: "-".join(fields),
    )
    def test_just_at_the_limit(self, actor, main, fields):
        one = {"fact_text": "x", **fields}
        fact = ENGINE.get_fact(fact_id=ENGINE.write_fact(actor=actor, **one).fact.uid, actor=actor)
        for name, value in one.items():
            found = getattr(fact, name)
            assert found == value or found.isoformat().replace("+00:00", "Z") == value

    @pytest.mark.django_db
    def test_an_agent_cannot_speak_for_another(self, actor, main):
        bound = replace(actor, bound_agent="one")
        with refused(AgentForbidden):
            ENGINE.write_fact(fact_text="x", actor=bound, agent_id="two")
        with refused(AgentForbidden):
            ENGINE.write_facts(facts=[{"fact_text": "x"}, {"fact_text": "y", "agent_id": "two"}], actor=bound)
        assert ENGINE.write_fact(fact_text="x", actor=bound).fact.agent_id == "one"
        assert ENGINE.write_fact(fact_text="y", actor=bound, agent_id="one").fact.agent_id == "one"


@pytest.mark.django_db
class TestSameText:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Straße gesperrt", "STRASSE  gesperrt"),
            ("caf\u00e9 closed", "cafe\u0301 CLOSED"),
            (" two\n\nlines ", "two lines"),
            ("ﬁle № 5", "file No 5"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
            ("ｆｕｌｌ", "full"),
            ("a\u00a0b", "a b"),
        ],
    )
    def test_spelling_that_carries_no_meaning(self, write, one, other, main):
        first = write(one)
        again = write(other)
        assert (again.created, again.fact.uid, again.fact.fact_text) == (False, first.fact.uid, one)
        assert (again.fact.version, main.pk, Branch.objects.get(pk=main.pk).head) == (1, main.pk, 1)

    def test_other_texts_are_other_facts(self, write, main):
        assert write("a.").created
        assert write("a").created
        assert write("ä").created

    def test_each_other_source_confirms_once(self, write, actor, main):
        uid = write(session_id="s1", agent_id="a1").fact.uid
        said = [
            ({"session_id": "s1", "agent_id": "a1"}, 0),
            ({}, 0),
            ({"session_id": "s2"}, 1),
            ({"session_id": "s2"}, 1),
            ({"session_id": "s2", "agent_id": "a2"}, 1),
            ({"agent_id": "a3"}, 2),
            ({"agent_id": "a3"}, 2),
            ({"session_id": "s3"}, 3),
        ]
        for source, count in said:
            again = write("THE cache is cleared every night.", **source)
            assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, uid, count)
            assert again.fact.version == 1
        assert ENGINE.get_fact(fact_id=uid, actor=actor).confirmation_count == 3
        found = Confirmation.objects.order_by("id").values_list("source", flat=True)
        assert list(found) == ["session:s2", "agent:a3", "session:s3"]
        commits = Commit.objects.order_by("seq").values_list("seq", "added", "changed", "removed")
        assert list(commits) == [(1, 1, 0, 0), (2, 0, 0, 0), (3, 0, 0, 0), (4, 0, 0, 0)]
        assert AuditEntry.objects.count() == 4

    def test_what_comes_again_changes_nothing_else(self, write, main):
        write(category="decision", confidence=0.5, tags=["a"], session_id="s1")
        again = write(category="error", confidence=0.9, tags=["b"], session_id="s2").fact
        assert (again.category, again.confidence, again.tags, again.session_id) == (
            "decision",
            0.5,
            ["a"],
            "s1",
        )

    def test_what_is_not_current_does_not_match(self, write, actor, main):
        expired = write("Expired.", expires_at=timezone.now() - SOON).fact
        archived, wrong, replaced = (write(text).fact for text in ("Archived.", "Wrong.", "Replaced."))
        deleted = write("Deleted.").fact
        ENGINE.archive_fact(fact_id=archived.uid, actor=actor)
        ENGINE.set_verification(fact_id=wrong.uid, verdict="invalidated", actor=actor)
        ENGINE.supersede_fact(old_fact_id=replaced.uid, new_fact_text="The new one.", actor=actor)
        ENGINE.delete_fact(fact_id=deleted.uid, actor=actor)
        for old in (expired, archived, wrong, replaced, deleted):
            again = write(old.fact_text)
            assert again.created is True
            assert again.fact.uid != old.uid
            assert write(old.fact_text).fact.uid == again.fact.uid

    def test_what_expires_later_and_what_is_verified_matches(self, write, actor, main):
        later = write("Later.", expires_at=timezone.now() + SOON).fact
        ENGINE.set_verification(fact_id=later.uid, verdict="verified", actor=actor)
        assert write("Later.").fact.uid == later.uid

    def test_what_is_done_matches(self, write, actor, main):
        task = write("Do it.", kind="TASK").fact
        ENGINE.update_fact(fact_id=task.uid, updates={"status": "done"}, actor=actor)
        assert write("Do it.").created is False

    def test_it_can_be_turned_off(self, write, main):
        first, second = write(), write(deduplicate=False)
        assert second.created is True
        assert write().fact.uid == min(first.fact.uid, second.fact.uid)

    def test_inside_one_bulk(self, actor, main):
        rows = [("Once.", "s1"), ("ONCE.", "s1"), ("once. ", "s2"), ("Twice.", "s1"), ("once.", "s2")]
        facts = [{"fact_text": text, "session_id": session} for text, session in rows]
        done = ENGINE.write_facts(facts=facts, actor=actor)
        assert [row.created for row in done.results] == [True, False, False, True, False]
        first = done.results[0].fact
        assert [row.fact.uid for row in done.results[1:3]] == [first.uid, first.uid]
        assert (first.confirmation_count, done.results[3].fact.confirmation_count) == (1, 0)
        assert (done.commit.added, Confirmation.objects.count(), Session.objects.count()) == (2, 1, 2)

    def test_inside_one_bulk_when_turned_off(self, actor, main):
        done = ENGINE.write_facts(facts=[{"fact_text": "x"}] * 3, actor=actor, deduplicate=False)
        assert [row.created for row in done.results] == [True, True, True]
        assert len({row.fact.uid for row in done.results}) == 3

    def test_on_a_child_branch(self, write, child, actor, main):
        uid = write(session_id="s1").fact.uid
        child()
        again = write(branch="task/a", session_id="s2")
        assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, uid, 1)
        assert ENGINE.get_fact(fact_id=uid, actor=actor).confirmation_count == 0
        assert ENGINE.get_fact(fact_id=uid, actor=actor, branch_name="task/a").branch_id == main.pk
        assert write("Only there.", branch="task/a").created
        assert write("Only there.").created  # main does not see it

    def test_what_the_parent_learned_after_the_fork_does_not_match(self, write, child, main):
        child()
        first = write().fact
        again = write(branch="task/a")
        assert again.created is True
        assert again.fact.uid != first.uid

    def test_a_verdict_on_a_branch_decides_there_alone(self, write, child, actor, main):
        uid = write().fact.uid
        child()
        ENGINE.set_verification(fact_id=uid, verdict="invalidated", actor=actor, branch_name="task/a")
        assert write(branch="task/a").created is True
        assert write().created is False

    def test_what_was_written_is_found_although_it_was_proposed(self, write, search, main):
        write("Alpha beta.", propose=True)
        write("Alpha beta.")
        assert search("alpha") == ["Alpha beta."]

    def test_what_is_true_again_is_found(self, write, search, main):
        write("Alpha beta.", valid_until=timezone.now() - SOON)
        write("Alpha beta.")
        assert search("alpha") == ["Alpha beta."]


@lasting
class TestAtTheSameTime:
    def test_one_text_from_many_writers_is_one_fact(self, actor, main):
        def one(i):
            try:
                return ENGINE.write_fact(fact_text="Same.", actor=actor, session_id=f"s{i % 2}").created
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            created = list(pool.map(one, range(8)))
        assert sorted(created) == [False] * 7 + [True]
        assert (Fact._base_manager.count(), Session.objects.count(), Confirmation.objects.count()) == (
            1,
            2,
            1,
        )

    def test_one_session_begins_once_although_branches_race(self, actor, main, child):
        names = [child(f"task/{i}").name for i in range(4)]

        def one(i):
            try:
                ENGINE.write_fact(fact_text=f"{i}", actor=actor, session_id="s", branch_name=names[i % 4])
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(one, range(8)))
        session = Session.objects.get()
        assert (session.key, session.project_id, session.status) == ("s", actor.project_id, "active")
        assert Fact._base_manager.count() == 8

    def test_of_updates_of_one_version_one_wins(self, actor, main, write):
        uid = write().fact.uid

        def one(i):
            try:
                ENGINE.update_fact(
                    fact_id=uid, updates={"confidence": i / 10}, actor=actor, expected_version=1
                )
                return "won"
            except StaleVersion as error:
                return error.data["current"]
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(one, range(1, 7)))
        assert sorted(map(str, results)) == ["2"] * 5 + ["won"]
        assert [v.version for v in ENGINE.history(fact_id=uid, actor=actor)] == [2, 1]
        assert Branch.objects.get(pk=main.pk).head == 2


@pytest.mark.django_db
class TestSessions:
    def test_begins_with_the_first_write_that_names_it(self, write, main):
        fact = write("a", session_id="s", task_id="t", agent_id="g").fact
        write("b", session_id="s", agent_id="h")
        session = Session.objects.get()
        assert (session.key, session.branch, session.task_id, session.agent_id) == ("s", main, "t", "g")
        assert (session.status, session.started_at, session.ended_at) == ("active", fact.created_at, None)

    def test_a_confirmation_begins_one_too(self, write, main):
        write()
        write(session_id="s")
        assert Session.objects.get().key == "s"

    def test_is_of_one_project(self, write, other_project, main):
        from memory.actors import local_actor

        write(session_id="s")
        ENGINE.write_fact(fact_text="x", session_id="s", actor=local_actor(other_project.pk))
        assert Session.objects.filter(key="s").values("project").distinct().count() == 2

    def test_none_without_a_name(self, write, main):
        write()
        assert Session.objects.count() == 0

    def test_begins_with_any_write(self, write, actor, main):
        uid = write().fact.uid
        ENGINE.update_fact(fact_id=uid, updates={"priority": "P1"}, actor=replace(actor, session_id="s"))
        assert [session.key for session in Session.objects.all()] == ["s"]


@pytest.mark.django_db
class TestPropose:
    def test_is_kept_and_not_searched_until_activated(self, write, actor, search, main):
        fact = write("Alpha beta.", propose=True).fact
        assert fact.status == "created"
        assert search("alpha") == []
        assert search("alpha", include=["created"]) == ["Alpha beta."]
        assert ENGINE.get_fact(fact_id=fact.uid, actor=actor).status == "created"
        active = ENGINE.update_fact(fact_id=fact.uid, updates={"status": "active"}, actor=actor)
        assert (active.status, active.version) == ("active", 2)
        assert search("alpha") == ["Alpha beta."]

    def test_the_same_proposal_again(self, write, main):
        first = write(propose=True, session_id="s1")
        again = write(propose=True, session_id="s2")
        assert (again.created, again.fact.uid, again.fact.confirmation_count) == (False, first.fact.uid, 0)

    def test_of_what_is_known_answers_what_is_known(self, write, main):
        first = write()
        again = write(propose=True)
        assert (again.created, again.fact.status) == (False, "active")
        assert again.fact.uid == first.fact.uid

    def test_declined(self, write, actor, search, main):
        fact = write("Alpha beta.", propose=True).fact
        assert ENGINE.archive_fact(fact_id=fact.uid, actor=actor).held_status == "created"
        assert search("alpha", include=["created"]) == []
        assert ENGINE.restore_fact(fact_id=fact.uid, actor=actor).status == "created"


@pytest.mark.django_db
class TestUpdate:
    def test_without_a_change_it_is_the_same_version(self, write, actor, main):
        fact = write(tags=["a"], metadata={"b": [1]}, valid_from="2026-01-01").fact
        before = everything()
        same = {
            "fact_text": fact.fact_text,
            "essence": fact.essence,
            "category": "general",
            "confidence": 0.7,
            "status": "active",
            "tags": ["a"],
            "metadata": {"b": [1]},
            "valid_from": "2026-01-01T01:00:00+01:00",
        }
        for updates in ({}, same):
            again = ENGINE.update_fact(fact_id=fact.uid, updates=updates, actor=actor)
            assert (again.version, again.rid) == (1, fact.rid)
        assert everything() == before

    def test_a_change_is_a_new_version(self, write, actor, main):
        fact = write(session_id="s1").fact
        new = ENGINE.update_fact(
            fact_id=fact.uid, updates={"fact_text": "It is never cleared.", "confidence": 1}, actor=actor
        )
        assert (new.uid, new.version, new.fact_text, new.confidence) == (
            fact.uid,
            2,
            "It is never cleared.",
            1.0,
        )
        assert (new.created_at, new.session_id, new.prev_vid) == (fact.created_at, "s1", fact.vid)
        assert new.updated_at > fact.updated_at
        commit, entry = Commit.objects.get(seq=2), AuditEntry.objects.get(action="fact.update")
        assert (commit.kind, commit.added, commit.changed, commit.removed) == ("fact.update", 0, 1, 0)
        assert entry.target == str(fact.uid)

    def test_numbers_and_truth_values_differ(self, write, actor, main):
        fact = write(metadata={"n": 1}).fact
        new = ENGINE.update_fact(fact_id=fact.uid, updates={"metadata": {"n": True}}, actor=actor)
        assert (new.version, new.metadata) == (2, {"n": True})
        assert ENGINE.get_fact(fact_id=fact.uid, actor=actor).metadata["n"] is True

    def test_times_can_be_taken_away(self, write, actor, main):
        fact = write(valid_from="2026-01-01", valid_until="2026-02-01", expires_at="2027-01-01").fact
        updates = {"valid_from": None, "valid_until": None, "expires_at": None}
        new = ENGINE.update_fact(fact_id=fact.uid, updates=updates, actor=actor)
        assert (new.valid_from, new.valid_until, new.expires_at) == (None, None, None)

    def test_the_essence_follows_the_text_unless_it_was_given(self, write, actor, main):
        made, given = write("First text.").fact, write("Second text.", essence="Mine").fact
        for fact, essence in ((made, "Other text."), (given, "Mine")):
            new = ENGINE.update_fact(fact_id=fact.uid, updates={"fact_text": "Other text."}, actor=actor)
            assert new.essence == essence
        both = ENGINE.update_fact(fact_id=made.uid, updates={"fact_text": "x", "essence": "y"}, actor=actor)
        assert (both.fact_text, both.essence) == ("x", "y")

    def test_the_search_follows(self, write, actor, search, main):
        fact = write("Alpha beta.").fact
        ENGINE.update_fact(fact_id=fact.uid, updates={"fact_text": "Gamma delta."}, actor=actor)
        assert (search("alpha"), search("gamma")) == ([], ["Gamma delta."])

    def test_the_version_that_is_expected(self, write, actor, main):
        fact = write().fact
        ENGINE.update_fact(fact_id=fact.uid, updates={"priority": "P1"}, actor=actor, expected_version=1)
        assert ENGINE.get_fact(fact_id=fact.uid, actor=actor).version == 2

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, main):
        fact = write(valid_from="2026-01-01", created_cycle=4, kind="TASK").fact
        before = everything()
        one = {"fact_id": fact.uid, "actor": actor}
        for updates, error, message in [
            ({"fact_text": " "}, Invalid, "fact_text may not be empty."),
            ({"fact_text": FULL + "a"}, TooLarge, "fact_text is over the limit of 64 KiB."),
            ({"confidence": 1.2}, Invalid, "confidence must be a number from 0 to 1."),
            ({"valid_until": "2025-01-01"}, Invalid, "valid_until must be later than valid_from."),
            ({"updated_cycle": 3}, Invalid, "updated_cycle may not be before created_cycle."),
            (
                {"kind": "REFLECTION"},
                ReservedValue,
                NO_REFLECTION,
            ),
            ({"parent_id": None}, UnknownField, "There is no field named parent_id."),
            ({"origin": "EXPERIENCE"}, UnknownField, "There is no field named origin."),
            ({"source_type": "import"}, UnknownField, "There is no field named source_type."),
            ({"session_id": "s"}, UnknownField, "There is no field named session_id."),
            (
                {"verification_status": "verified"},
                UnknownField,
                "There is no field named verification_status.",
            ),
            (
                {"status": "superseded"},
                IllegalTransition,
                "A fact is superseded by writing the one that replaces it.",
            ),
            ({"status": "created"}, IllegalTransition, "A fact that is active cannot become created."),
            (
                {"status": "gone"},
                Invalid,
                "status must be one of active, archived, created, done, superseded.",
            ),
            (
                {"status": "done", "kind": "NOTE"},
                IllegalTransition,
                "Only a fact of the kind TASK can be done.",
            ),
        ]:
            with pytest.raises(error) as caught:
                ENGINE.update_fact(updates={"priority": "P1", **updates}, **one)
            assert str(caught.value) == message
            assert everything() == before
        changes = [
            lambda **w: ENGINE.update_fact(updates={"priority": "P1"}, **w),
            ENGINE.archive_fact,
            ENGINE.delete_fact,
            lambda fact_id, **w: ENGINE.supersede_fact(old_fact_id=fact_id, new_fact_text="x", **w),
        ]
        for change in changes:
            with pytest.raises(StaleVersion) as stale:
                change(**one, expected_version=2)
            assert str(stale.value) == "The fact is at version 1, not 2: read it again."
            with pytest.raises(NotFound) as absent:
                change(fact_id=uuid4(), actor=actor)
            assert str(absent.value) == "Nothing with this id is visible here."
            assert everything() == before

    def test_on_a_branch_the_parent_keeps_its_own(self, write, actor, child, main):
        fact = write("Alpha.").fact
        branch = child()
        new = ENGINE.update_fact(
            fact_id=fact.uid,
            updates={"fact_text": "Beta."},
            actor=actor,
            branch_name="task/a",
            expected_version=1,
        )
        assert (new.branch_id, new.version, new.seq_from) == (branch.pk, 2, 1)
        assert ENGINE.get_fact(fact_id=fact.uid, actor=actor).fact_text == "Alpha."
        ENGINE.update_fact(fact_id=fact.uid, updates={"fact_text": "Gamma."}, actor=actor)
        assert ENGINE.get_fact(fact_id=fact.uid, actor=actor, branch_name="task/a").fact_text == "Beta."


@pytest.mark.django_db
class TestSupersede:
    def test_the_old_stays_and_the_new_takes_over(self, write, actor, search, main):
        old = write(
            "Alpha is fifteen.",
            category="security",
            kind="BELIEF",
            priority="P1",
            tags=["x"],
            visibility="private",
            session_id="s1",
        ).fact
        new = ENGINE.supersede_fact(
            old_fact_id=old.uid,
            new_fact_text="Alpha is thirty.",
            actor=actor,
            confidence=0.9,
            session_id="s2",
        )
        assert (new.parent_id, new.status, new.version, new.confidence) == (old.uid, "active", 1, 0.9)
        assert (new.category, new.kind, new.priority, new.tags, new.visibility) == (
            "security",
            "BELIEF",
            "P1",
            ["x"],
            "private",
        )
        assert (new.essence, new.session_id) == ("Alpha is thirty.", "s2")
        held = ENGINE.get_fact(fact_id=old.uid, actor=actor)
        assert (held.status, held.version, held.fact_text) == ("superseded", 2, "Alpha is fifteen.")
        assert search("alpha") == ["Alpha is thirty."]
        assert sorted(search("alpha", include=["superseded"])) == ["Alpha is fifteen.", "Alpha is thirty."]
        commit = Commit.objects.get(seq=2)
        assert (commit.kind, commit.added, commit.changed, commit.session_id) == (
            "fact.supersede",
            1,
            1,
            "s2",
        )
        assert AuditEntry.objects.get(action="fact.supersede").target == str(new.uid)

    def test_what_is_given_is_not_taken_over(self, write, actor, main):
        old = write(category="security", tags=["x"]).fact
        new = ENGINE.supersede_fact(
            old_fact_id=old.uid, new_fact_text="x", actor=actor, category="error", tags=[], essence="y"
        )
        assert (new.category, new.tags, new.essence) == ("error", [], "y")

    def test_with_the_text_of_another_fact(self, write, actor, main):
        other, old = write("Alpha.").fact, write("Beta.").fact
        new = ENGINE.supersede_fact(old_fact_id=old.uid, new_fact_text="Alpha.", actor=actor)
        assert new.uid not in (other.uid, old.uid)

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, main):
        old = write().fact
        done, proposed = write("Task.", kind="TASK").fact, write("Proposed.", propose=True).fact
        ENGINE.update_fact(fact_id=done.uid, updates={"status": "done"}, actor=actor)
        before = everything()
        for uid, fields, error, message in [
            (old.uid, {"parent_id": old.uid}, Invalid, "parent_id is set by superseding."),
            (old.uid, {"new_fact_text": ""}, Invalid, "fact_text may not be empty."),
            (old.uid, {"kind": "REFLECTION"}, ReservedValue, NO_REFLECTION),
            (
                old.uid,
                {"session_id": "\x00"},
                Invalid,
                "session_id holds a NUL character, which no text may.",
            ),
            (done.uid, {}, IllegalTransition, "A fact that is done cannot become superseded."),
            (proposed.uid, {}, IllegalTransition, "A fact that is created cannot become superseded."),
        ]:
            with pytest.raises(error) as caught:
                ENGINE.supersede_fact(
                    old_fact_id=uid, actor=actor, **{"new_fact_text": "x", "session_id": "new", **fields}
                )
            assert str(caught.value) == message
            assert everything() == before


def brought_to(status: str, write: Any, actor: Any) -> Fact:
    """A TASK that has this status."""
    fact = write("A task.", kind="TASK", propose=status == "created", deduplicate=False).fact
    if status == "superseded":
        ENGINE.supersede_fact(old_fact_id=fact.uid, new_fact_text="Another.", actor=actor)
    elif status in ("done", "archived"):
        ENGINE.update_fact(fact_id=fact.uid, updates={"status": status}, actor=actor)
    return ENGINE.get_fact(fact_id=fact.uid, actor=actor)


STATUSES = ("created", "active", "done", "superseded", "archived")
LEGAL = {
    ("created", "active"),
    ("created", "archived"),
    ("active", "done"),
    ("active", "archived"),
    ("done", "archived"),
    ("superseded", "archived"),
    ("archived", "active"),
}


@pytest.mark.django_db
class TestLifeCycle:
    @pytest.mark.parametrize("old", STATUSES)
    @pytest.mark.parametrize("new", STATUSES)
    def test_each_move(self, write, actor, main, old, new):
        fact = brought_to(old, write, actor)
        assert fact.status == old
        change = {"fact_id": fact.uid, "updates": {"status": new}, "actor": actor}
        if (old, new) in LEGAL or old == new:
            assert ENGINE.update_fact(**change).status == new
            return
        before = everything()
        with refused(IllegalTransition):
            ENGINE.update_fact(**change)
        assert everything() == before

    @pytest.mark.parametrize("held", ["created", "active", "done", "superseded"])
    def test_an_archived_fact_goes_back_to_what_it_was(self, write, actor, main, held):
        fact = brought_to(held, write, actor)
        archived = ENGINE.archive_fact(fact_id=fact.uid, actor=actor)
        assert (archived.status, archived.held_status) == ("archived", held)
        for other in {"created", "active", "done", "superseded"} - {held}:
            with refused(IllegalTransition):
                ENGINE.update_fact(fact_id=fact.uid, updates={"status": other}, actor=actor)
        restored = ENGINE.restore_fact(fact_id=fact.uid, actor=actor)
        assert (restored.status, restored.held_status) == (held, "")
        assert Commit.objects.filter(kind__in=["fact.archive", "fact.restore"], changed=1).count() == 2

    def test_archived_and_restored_only_once(self, write, actor, main):
        uid = write().fact.uid
        with refused(IllegalTransition) as caught:
            ENGINE.restore_fact(fact_id=uid, actor=actor)
        assert str(caught.value) == "Only an archived fact can be restored; this one is active."
        ENGINE.archive_fact(fact_id=uid, actor=actor)
        with refused(IllegalTransition) as caught:
            ENGINE.archive_fact(fact_id=uid, actor=actor)
        assert str(caught.value) == "A fact that is archived cannot become archived."

    @pytest.mark.parametrize("kind", ["OBSERVATION", "BELIEF", "OUTPUT_DRAFT", "NOTE"])
    def test_only_a_task_is_done(self, write, actor, main, kind):
        uid = write(kind=kind).fact.uid
        with refused(IllegalTransition) as caught:
            ENGINE.update_fact(fact_id=uid, updates={"status": "done"}, actor=actor)
        assert str(caught.value) == "A fact that is active cannot become done."

    def test_what_is_done_stays_a_task(self, write, actor, main):
        fact = brought_to("done", write, actor)
        with refused(IllegalTransition) as caught:
            ENGINE.update_fact(fact_id=fact.uid, updates={"kind": "NOTE"}, actor=actor)
        assert str(caught.value) == "Only a fact of the kind TASK can be done."

    def test_searched_are_active_and_done(self, write, actor, search, main):
        for status in STATUSES:
            brought_to(status, write, actor)
        assert search("task") == ["A task."] * 2
        assert search("task", include=["created", "archived", "superseded"]) == ["A task."] * 5

    def test_on_a_branch_alone(self, write, actor, child, main):
        uid = write().fact.uid
        child()
        ENGINE.archive_fact(fact_id=uid, actor=actor, branch_name="task/a")
        assert ENGINE.get_fact(fact_id=uid, actor=actor).status == "active"
        assert ENGINE.restore_fact(fact_id=uid, actor=actor, branch_name="task/a").status == "active"

    def test_on_an_archived_branch_facts_read_as_archived(self, write, actor, child, main):
        child()
        uid = write("Alpha.", branch="task/a").fact.uid
        BRANCHES.archive_branch(name="task/a", actor=actor)
        assert ENGINE.get_fact(fact_id=uid, actor=actor, branch_name="task/a").status == "archived"


@pytest.mark.django_db
class TestDelete:
    def test_hides_and_keeps_the_history(self, write, actor, search, main):
        fact = write("Alpha.").fact
        ENGINE.update_fact(fact_id=fact.uid, updates={"fact_text": "Alpha beta."}, actor=actor)
        assert ENGINE.delete_fact(fact_id=fact.uid, actor=actor, expected_version=2) is None
        with refused(NotFound):
            ENGINE.get_fact(fact_id=fact.uid, actor=actor)
        with refused(NotFound):
            ENGINE.delete_fact(fact_id=fact.uid, actor=actor)
        assert search("alpha") == []
        assert ENGINE.list_facts(actor=actor).results == []
        versions = ENGINE.history(fact_id=fact.uid, actor=actor)
        assert [(v.version, v.deleted, v.fact_text) for v in versions] == [
            (3, True, "Alpha beta."),
            (2, False, "Alpha beta."),
            (1, False, "Alpha."),
        ]
        assert [v.commit.kind for v in versions] == ["fact.delete", "fact.update", "fact.write"]
        commit, entry = Commit.objects.get(seq=3), AuditEntry.objects.get(action="fact.delete")
        assert (commit.added, commit.changed, commit.removed) == (0, 0, 1)
        assert entry.target == str(fact.uid)

    def test_written_again_it_is_another(self, write, actor, main):
        first = write().fact
        ENGINE.delete_fact(fact_id=first.uid, actor=actor)
        again = write()
        assert again.created is True
        assert again.fact.uid != first.uid
        assert again.fact.version == 1

    def test_on_a_branch_alone(self, write, actor, child, search, main):
        uid = write("Alpha.").fact.uid
        child()
        ENGINE.delete_fact(fact_id=uid, actor=actor, branch_name="task/a")
        assert (search("alpha"), search("alpha", branch="task/a")) == (["Alpha."], [])
        assert ENGINE.get_fact(fact_id=uid, actor=actor).version == 1
        versions = ENGINE.history(fact_id=uid, actor=actor, branch_name="task/a")
        assert [v.deleted for v in versions] == [True, False]

    def test_in_the_parent_alone(self, write, actor, child, search, main):
        uid = write("Alpha.").fact.uid
        child()
        ENGINE.delete_fact(fact_id=uid, actor=actor)
        assert (search("alpha"), search("alpha", branch="task/a")) == ([], ["Alpha."])
        assert ENGINE.get_fact(fact_id=uid, actor=actor, branch_name="task/a").version == 1

    def test_before_it_was_deleted_it_is_there(self, write, actor, search, main):
        uid = write("Alpha.").fact.uid
        ENGINE.delete_fact(fact_id=uid, actor=actor)
        assert ENGINE.get_fact(fact_id=uid, actor=actor, at=1).fact_text == "Alpha."
        assert search("alpha", at=1) == ["Alpha."]


@pytest.mark.django_db
class TestHistory:
    def test_of_what_never_was(self, actor, main):
        with refused(NotFound):
            ENGINE.history(fact_id=uuid4(), actor=actor)

    def test_leads_to_what_the_branch_shows(self, write, actor, child, main):
        uid = write("Zero.").fact.uid
        child()
        ENGINE.update_fact(fact_id=uid, updates={"fact_text": "On main."}, actor=actor)
        ENGINE.update_fact(fact_id=uid, updates={"fact_text": "On a."}, actor=actor, branch_name="task/a")
        shown = {
            name: ENGINE.history(fact_id=uid, actor=actor, branch_name=name) for name in ("main", "task/a")
        }
        assert [v.fact_text for v in shown["main"]] == ["On main.", "Zero."]
        assert [v.fact_text for v in shown["task/a"]] == ["On a.", "Zero."]
        assert [(v.commit.branch.name, v.commit.seq) for v in shown["task/a"]] == [("task/a", 1), ("main", 1)]

    def test_of_very_many_versions(self, write, actor, main):
        first = write().fact
        content = {
            **first.content_values(),
            "uid": first.uid,
            "branch_id": main.pk,
            "updated_at": first.updated_at,
        }
        Fact._base_manager.bulk_create(
            (Fact(**content, seq_from=i, seq_to=i + 1, vid=i, version=i) for i in range(2, 10_001)),
            batch_size=500,
        )
        Branch.objects.filter(pk=main.pk).update(head=10_000)
        page = ENGINE.history(fact_id=first.uid, actor=actor, limit=100)
        versions = [version.version for version in page]
        while page.next:
            page = ENGINE.history(fact_id=first.uid, actor=actor, limit=100, cursor=page.next)
            assert len(page) == 100
            versions += [version.version for version in page]
        assert versions == list(range(10_000, 0, -1))

    def test_in_pages_as_the_first_one_saw_it(self, write, actor, child, main):
        uid = write("Text 1.").fact.uid
        for i in range(2, 6):
            ENGINE.update_fact(fact_id=uid, updates={"fact_text": f"Text {i}."}, actor=actor)
        first = ENGINE.history(fact_id=uid, actor=actor, limit=2)
        ENGINE.update_fact(fact_id=uid, updates={"fact_text": "Text 6."}, actor=actor)
        second = ENGINE.history(fact_id=uid, actor=actor, limit=2, cursor=first.next)
        third = ENGINE.history(fact_id=uid, actor=actor, limit=2, cursor=second.next)
        assert [[v.version for v in page] for page in (first, second, third)] == [[5, 4], [3, 2], [1]]
        assert [v.commit.kind for page in (first, third) for v in page] == ["fact.update"] * 2 + [
            "fact.write"
        ]
        assert (first.previous, third.next) == (None, None)
        back = ENGINE.history(fact_id=uid, actor=actor, limit=2, cursor=third.previous)
        assert back == second
        child()
        for where in ({"branch_name": "task/a"}, {"fact_id": write("Another.").fact.uid}):
            with refused(Invalid) as caught:
                ENGINE.history(**{"fact_id": uid, "actor": actor, "cursor": first.next, **where})
            assert str(caught.value) == OTHER_LIST

    @pytest.mark.parametrize("key", ["-1", "x", "1.5", "", "9" * 30, "\u0665"])
    def test_a_cursor_that_was_made_up(self, write, actor, main, key):
        from memory.engines.pages import mark_of, write_cursor

        uid = write().fact.uid
        mark = mark_of(Fact.objects.history(main.lineage(1), uid))
        with refused(Invalid):
            ENGINE.history(
                fact_id=uid, actor=actor, cursor=write_cursor({"key": key, "list": mark, "seq": 1})
            )


@pytest.mark.django_db
class TestVerdict:
    @pytest.fixture
    def judge(self, actor):
        def judge(uid, verdict="verified", reason="", branch="main", by=actor):
            return ENGINE.set_verification(
                fact_id=uid, verdict=verdict, actor=by, reason=reason, branch_name=branch
            )

        return judge

    def test_is_told_with_the_fact(self, write, actor, judge, main):
        uid = write().fact.uid
        fact = judge(uid, reason="I have seen it.", by=replace(actor, label="Ada"))
        assert (fact.verification_status, fact.verified_by, fact.verification_method) == (
            "verified",
            "Ada",
            "human",
        )
        assert (fact.verification_reason, fact.version) == ("I have seen it.", 1)
        commit, entry = Commit.objects.get(seq=2), AuditEntry.objects.get(action="fact.verify")
        assert (fact.verified_at, commit.kind, entry.target) == (commit.at, "fact.verify", str(uid))

    def test_the_same_again_adds_nothing(self, write, judge, main):
        uid = write().fact.uid
        judge(uid, "invalidated", "No.")
        before = everything()
        assert judge(uid, "invalidated", "No.").verification_status == "invalidated"
        assert everything() == before

    def test_another_replaces_it(self, write, judge, main):
        uid = write().fact.uid
        assert [judge(uid, v).verification_status for v in ("verified", "invalidated", "unverified")] == [
            "verified",
            "invalidated",
            "unverified",
        ]
        assert FactAssessment._base_manager.filter(seq_to=OPEN).count() == 1

    @pytest.mark.parametrize(
        ("edit", "back"),
        [
            ({"fact_text": "Other."}, {"fact_text": "Text."}),
            ({"essence": "Other"}, {"essence": "Text."}),
            ({"category": "error"}, {"category": "general"}),
        ],
    )
    def test_is_on_what_the_fact_says(self, write, actor, judge, main, edit, back):
        uid = write("Text.").fact.uid
        judge(uid)
        edited = ENGINE.update_fact(fact_id=uid, updates=edit, actor=actor)
        assert (edited.verification_status, edited.verified_at, edited.verified_by) == (
            "unverified",
            None,
            "",
        )
        again = ENGINE.update_fact(fact_id=uid, updates=back, actor=actor)
        assert (again.verification_status, again.verified_by) == ("verified", "local")

    @pytest.mark.parametrize(
        "edit", [{"priority": "P1"}, {"confidence": 0.1}, {"tags": ["x"]}, {"status": "archived"}]
    )
    def test_other_edits_leave_it(self, write, actor, judge, main, edit):
        uid = write().fact.uid
        judge(uid)
        assert ENGINE.update_fact(fact_id=uid, updates=edit, actor=actor).verification_status == "verified"

    def test_a_new_verdict_on_an_edited_text(self, write, actor, judge, main):
        uid = write().fact.uid
        judge(uid)
        ENGINE.update_fact(fact_id=uid, updates={"category": "error"}, actor=actor)
        assert judge(uid).verification_status == "verified"
        assert FactAssessment._base_manager.count() == 2

    def test_branches_judge_independently(self, write, actor, child, judge, main):
        uid = write().fact.uid
        judge(uid, "verified")
        child()
        judge(uid, "invalidated", branch="task/a")
        judge(uid, "unverified")
        told = [
            ENGINE.get_fact(fact_id=uid, actor=actor, branch_name=n).verification_status
            for n in ("main", "task/a")
        ]
        assert told == ["unverified", "invalidated"]
        assert ENGINE.get_fact(fact_id=uid, actor=actor, at=2).verification_status == "verified"

    @lasting
    def test_what_is_refused_leaves_nothing_behind(self, write, actor, judge, main):
        uid = write().fact.uid
        before = everything()
        for fields, error, message in [
            ({"verdict": "right"}, Invalid, "verdict must be one of invalidated, unverified, verified."),
            ({"verdict": None}, Invalid, "verdict must be one of invalidated, unverified, verified."),
            ({"reason": "r" * 2001}, Invalid, "reason has at most 2000 characters."),
            ({"reason": "\x00"}, Invalid, "reason holds a NUL character, which no text may."),
            ({"uid": uuid4()}, NotFound, "Nothing with this id is visible here."),
        ]:
            with pytest.raises(error) as caught:
                judge(**{"uid": uid, **fields})
            assert str(caught.value) == message
            assert everything() == before


@pytest.mark.django_db
class TestLists:
    def test_newest_first_in_pages(self, write, actor, main):
        made = [write(f"Fact {i}.").fact.uid for i in range(5)]
        first = ENGINE.list_facts(actor=actor, limit=2)
        write("Written meanwhile.")
        second = ENGINE.list_facts(actor=actor, limit=2, cursor=first.next)
        third = ENGINE.list_facts(actor=actor, limit=2, cursor=second.next)
        pages = [[fact.uid for fact in page.results] for page in (first, second, third)]
        assert pages == [made[4:2:-1], made[2:0:-1], made[:1]]
        assert (first.previous, third.next) == (None, None)
        back = ENGINE.list_facts(actor=actor, limit=2, cursor=third.previous)
        assert [fact.uid for fact in back.results] == made[2:0:-1]

    def test_a_bulk_is_listed_in_the_order_of_its_facts(self, actor, main):
        done = ENGINE.write_facts(facts=[{"fact_text": f"Turn {i}."} for i in range(100)], actor=actor)
        made = [row.fact.uid for row in done.results]
        listed = [fact.uid for fact in ENGINE.list_facts(actor=actor, limit=100).results]
        assert listed == made[::-1]

    @pytest.mark.parametrize(
        "place",
        [
            {"seq": 99, "key": "0" * 32},
            {"seq": -1, "key": "0" * 32},
            {"seq": "1", "key": "0" * 32},
            {"seq": 1.5, "key": "0" * 32},
            {"seq": True, "key": "0" * 32},
            {"seq": [1], "key": "0" * 32},
            {"seq": None, "key": "0" * 32},
            {"seq": {}, "key": "0" * 32},
            {"seq": 2**70, "key": "0" * 32},
            {"seq": 1, "key": "nonsense"},
            {"seq": 1, "key": 5},
            {"seq": 1},
            [],
            5,
            None,
        ],
    )
    def test_a_cursor_that_was_made_up(self, write, actor, main, place):
        from memory.engines.pages import write_cursor

        uid = write().fact.uid
        for reading in (
            lambda cursor: ENGINE.list_facts(actor=actor, cursor=cursor),
            lambda cursor: LinkEngine().list_links(fact_id=uid, actor=actor, cursor=cursor),
        ):
            with refused(Invalid):
                reading(write_cursor(place))

    @pytest.mark.parametrize("cursor", ["?", "abc", "====", "\ud800", "é", "e30", "a" * 5000])
    def test_a_cursor_that_is_none(self, actor, main, cursor):
        with refused(Invalid) as caught:
            ENGINE.list_facts(actor=actor, cursor=cursor)
        assert str(caught.value) == "This cursor is not one that Day1 gave."

    def test_a_cursor_without_a_bottom(self, actor, main):
        import base64

        with refused(Invalid):
            ENGINE.list_facts(actor=actor, cursor=base64.urlsafe_b64encode(b"[" * 6000).decode())

    def test_a_cursor_of_another_branch_shows_only_this_one(self, write, actor, child, main):
        write("On main.")
        child()
        write("On a.", branch="task/a")
        write("On a too.", branch="task/a")
        cursor = ENGINE.list_facts(actor=actor, branch_name="task/a", limit=1).next
        with refused(Invalid) as caught:
            ENGINE.list_facts(actor=actor, cursor=cursor)
        assert str(caught.value) == OTHER_LIST

    @pytest.mark.parametrize("limit", [0, -1, 101])
    def test_a_page_has_1_to_100(self, actor, main, limit):
        with refused(Invalid) as caught:
            ENGINE.list_facts(actor=actor, limit=limit)
        assert str(caught.value) == f"A page has 1 to 100 results, not {limit}."

    def test_at_a_seq_a_commit_and_a_time(self, actor, main, project):
        with time_machine.travel(datetime(2036, 1, 1, tzinfo=UTC), tick=False):
            one = ENGINE.write_facts(facts=[{"fact_text": "One."}], actor=actor)
        with time_machine.travel(datetime(2036, 1, 2, tzinfo=UTC), tick=False):
            ENGINE.update_fact(fact_id=one.results[0].fact.uid, updates={"fact_text": "Two."}, actor=actor)

        def at(point):
            return [fact.fact_text for fact in ENGINE.list_facts(actor=actor, at=point).results]

        assert [at(p) for p in (None, 0, 1, 2)] == [["Two."], [], ["One."], ["Two."]]
        assert at(one.commit.pk) == ["One."]
        noon = datetime(2036, 1, 1, 12, tzinfo=UTC)
        assert [at(noon + timedelta(days=d)) for d in (-1, 0, 1)] == [[], ["One."], ["Two."]]
        assert at(one.commit.at) == ["One."]
        with refused(Invalid):
            at(3)
        with refused(NotFound):
            at(uuid4())

    def test_the_number_of_queries_does_not_grow_with_the_page(self, write, actor, main):
        ENGINE.write_facts(facts=[{"fact_text": f"Fact {i}."} for i in range(60)], actor=actor)

        def queries(limit):
            with CaptureQueriesContext(connection) as caught:
                assert len(ENGINE.list_facts(actor=actor, limit=limit).results) == limit
            return len(caught)

        assert queries(5) == queries(50)

    def test_on_a_deep_branch(self, write, actor, child, search, main):
        names = ["main"]
        for depth in range(6):
            write(f"Alpha {depth}.", branch=names[-1])
            names.append(child(f"d{depth}", parent=names[-1]).name)
        first = ENGINE.list_facts(actor=actor).results[0]
        ENGINE.delete_fact(fact_id=first.uid, actor=actor, branch_name="d3")
        found = ENGINE.list_facts(actor=actor, branch_name="d5", limit=100).results
        assert [fact.fact_text for fact in found] == [f"Alpha {i}." for i in range(5, -1, -1)]
        assert len(search("alpha", branch="d5")) == 6
        assert len(search("alpha", branch="d3")) == 4  # what it deleted is gone, the later ones it never saw
        judge = {"fact_id": first.uid, "verdict": "verified", "actor": actor}
        assert ENGINE.set_verification(**judge, branch_name="d5").verification_status == "verified"
        assert find_branch(actor, "d5").depth == 6

    def test_a_condition_grows_in_step_with_the_depth(self):
        rows = Fact.objects.along([(branch, 1) for branch in range(17)]).rows()
        assert str(rows.query).count("EXISTS") <= 17


class TestParents:
    def test_a_fact_over_an_active_one_takes_its_place(self, write, actor, search, main):
        old = write("Alpha old.").fact
        new = write("Alpha new.", parent_id=old.uid).fact
        assert ENGINE.get_fact(fact_id=old.uid, actor=actor).status == "superseded"
        assert (new.status, new.parent_id) == ("active", old.uid)
        assert search("alpha") == ["Alpha new."]

    def test_a_proposal_waits_until_it_is_active(self, write, actor, search, main):
        old = write("Alpha old.").fact
        new = write("Alpha new.", parent_id=old.uid, propose=True).fact
        assert search("alpha") == ["Alpha old."]
        ENGINE.update_fact(fact_id=new.uid, updates={"status": "active"}, actor=actor)
        assert search("alpha") == ["Alpha new."]
        assert ENGINE.get_fact(fact_id=old.uid, actor=actor).status == "superseded"

    def test_a_second_one_leaves_the_first_successor_alone(self, write, actor, main):
        old = write("Alpha old.").fact
        first = write("Alpha new.", parent_id=old.uid).fact
        write("Alpha newer.", parent_id=old.uid)
        assert ENGINE.get_fact(fact_id=first.uid, actor=actor).status == "active"

    def test_a_proposal_and_a_new_fact_over_the_same_one_in_one_bulk(self, write, actor, main):
        old = write("Alpha old.").fact
        write("Alpha one.", parent_id=old.uid, propose=True)
        both = [{"fact_text": "Alpha one."}, {"fact_text": "Alpha two.", "parent_id": str(old.uid)}]
        done = ENGINE.write_facts(facts=both, actor=actor)
        assert [(row.created, row.fact.status) for row in done.results] == [
            (False, "active"),
            (True, "active"),
        ]
        assert ENGINE.get_fact(fact_id=old.uid, actor=actor).status == "superseded"
