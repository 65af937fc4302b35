"""Limits of facts: invalid values are refused, and leave nothing behind."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from memory.exceptions import (
    AgentForbidden,
    BranchArchived,
    BranchNotFound,
    Day1Error,
    Invalid,
    ReservedValue,
    TooLarge,
    UnknownField,
)
from tests.memory.facts.helpers import (
    FULL,
    KIB,
    NO_REFLECTION,
    WHOLE,
    branch_manager,
    everything,
    fact_engine,
    lasting,
    refused,
)

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
    ({"created_cycle": 1.5}, Invalid, "created_cycle", f"created_cycle {WHOLE}"),
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
        fact_engine.write_fact(fact_text="Something is there.", actor=actor, session_id="before")
        before = everything()
        for fields, error, field, message in BAD_FIELDS:
            one = {"fact_text": "x", "session_id": "never"} | fields if fields else {}
            with pytest.raises(error) as caught:
                fact_engine.write_fact(actor=actor, **one)
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
                fact_engine.write_facts(facts=[good, bad, good], actor=actor)
            assert (str(caught.value), caught.value.data["field"]) == (message, field)
            assert everything() == before
        for facts, error, message in [
            ([], Invalid, "facts must be a list with at least one fact."),
            (None, Invalid, "facts must be a list with at least one fact."),
            ({}, Invalid, "facts must be a list with at least one fact."),
            ([good] * 1001, TooLarge, "The list of facts is over the limit of 1000 facts."),
        ]:
            with pytest.raises(error) as caught:
                fact_engine.write_facts(facts=facts, actor=actor)
            assert str(caught.value) == message
            assert everything() == before
        missing = uuid4()
        with pytest.raises(Invalid) as caught:
            fact_engine.write_facts(facts=[good, {"fact_text": "x", "parent_id": missing}], actor=actor)
        assert str(caught.value) == f"There is no fact {missing} on this branch."
        assert everything() == before

    @lasting
    def test_a_branch_that_takes_no_writes_keeps_what_it_has(self, actor, main, child, write):
        fact = write().fact
        child()
        branch_manager.archive_branch(name="task/a", actor=actor)
        before = everything()
        one = {"fact_id": fact.uid, "actor": actor}
        for branch, error in (("task/a", BranchArchived), ("task/none", BranchNotFound)):
            for change in (
                lambda **w: fact_engine.write_fact(fact_text="x", actor=actor, session_id="new", **w),
                lambda **w: fact_engine.update_fact(updates={"priority": "P1"}, **one, **w),
                lambda **w: fact_engine.supersede_fact(
                    old_fact_id=fact.uid, new_fact_text="x", actor=actor, **w
                ),
                lambda **w: fact_engine.archive_fact(**one, **w),
                lambda **w: fact_engine.delete_fact(**one, **w),
                lambda **w: fact_engine.set_verification(verdict="verified", **one, **w),
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
        fact = fact_engine.get_fact(fact_id=fact_engine.write_fact(actor=actor, **one).fact.uid, actor=actor)
        for name, value in one.items():
            found = getattr(fact, name)
            assert found == value or found.isoformat().replace("+00:00", "Z") == value

    @pytest.mark.django_db
    def test_an_agent_cannot_speak_for_another(self, actor, main):
        bound = replace(actor, bound_agent="one")
        with refused(AgentForbidden):
            fact_engine.write_fact(fact_text="x", actor=bound, agent_id="two")
        with refused(AgentForbidden):
            fact_engine.write_facts(
                facts=[{"fact_text": "x"}, {"fact_text": "y", "agent_id": "two"}], actor=bound
            )
        assert fact_engine.write_fact(fact_text="x", actor=bound).fact.agent_id == "one"
        assert fact_engine.write_fact(fact_text="y", actor=bound, agent_id="one").fact.agent_id == "one"
