"""The rules of facts without a database: essence, transitions, field checks."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engines.facts import rules
from memory.engines.support import validation as c
from memory.exceptions import IllegalTransition, Invalid, TooLarge, UnknownField
from memory.models import Fact

UTC_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "essence"),
    [
        ("Short.", "Short."),
        ("  Two   spaces \n second line", "Two spaces"),
        ("\n\n \t\nFirst that says something\r\nSecond", "First that says something"),
        ("東京は日本の首都です。", "東京は日本の首都です。"),
        ("السلام عليكم\nسطر", "السلام عليكم"),
        ("a\u2028b", "a"),
        ("\u200b", "\u200b"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("word " * 60, "word " * 38 + "word…"),
        (
            "A sentence " + "that is " * 15 + "long. " + "And then " * 20,
            "A sentence " + "that is " * 15 + "long.",
        ),
        ("漢" * 120 + "。" + "字" * 200, "漢" * 120 + "。"),
        ("한" * 300, "한" * 199 + "…"),
        ("😀" * 300, "😀" * 199 + "…"),
        ("Dot. " + "y" * 300, "Dot. " + "y" * 194 + "…"),
    ],
)
def test_the_essence_of_a_text(text, essence):
    assert rules.compute_essence(text) == essence


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=900))
def test_an_essence_is_one_line_of_1_to_200_characters(text):
    if not text.strip():
        return
    essence = rules.compute_essence(text)
    assert 1 <= len(essence) <= 200
    assert essence.strip()
    assert len(essence.splitlines()) == 1
    assert rules.compute_essence(essence) == essence


def test_a_new_fact_has_text_essence_and_cycle():
    found = rules.clean_new({"fact_text": "x", "created_cycle": 3})
    assert found == {"fact_text": "x", "essence": "x", "created_cycle": 3, "updated_cycle": 3}


def test_what_an_update_may_set():
    assert set(rules.UPDATE_CHECKS) == {
        "fact_text",
        "essence",
        "category",
        "kind",
        "priority",
        "confidence",
        "source_id",
        "source",
        "repository",
        "visibility",
        "created_cycle",
        "updated_cycle",
        "valid_from",
        "valid_until",
        "expires_at",
        "pinned",
        "tags",
        "metadata",
        "status",
    } - {"created_cycle"}


@pytest.mark.parametrize("held", ["", "active", "created", "done", "superseded"])
def test_an_archived_fact_goes_back_to_what_it_held(held):
    fact = Fact(rid=1, status="archived", held_status=held, kind="TASK")
    for status in ("created", "active", "done", "superseded", "archived"):
        if status == (held or "active"):
            assert rules.change_status(fact, status) == {"status": status, "held_status": ""}
        else:
            with pytest.raises(IllegalTransition) as caught:
                rules.change_status(fact, status)
            assert str(caught.value) == f"A fact that is archived cannot become {status}."


def test_archiving_remembers():
    done = Fact(rid=1, status="done", kind="TASK")
    assert rules.change_status(done, "archived") == {"status": "archived", "held_status": "done"}


class TestChecks:
    @pytest.mark.parametrize(
        ("value", "moment"),
        [
            (None, None),
            ("2026-05-01T12:00:00Z", UTC_NOON),
            ("2026-05-01 12:00", UTC_NOON),
            ("2026-05-01T14:00:00+02:00", UTC_NOON),
            ("20260501T120000Z", UTC_NOON),
            ("2026-05-01", UTC_NOON.replace(hour=0)),
            ("2026-05-01T12:00:00.000001Z", UTC_NOON + timedelta(microseconds=1)),
            (datetime(2026, 5, 1, 12), UTC_NOON),
            (datetime(2026, 5, 1, 7, tzinfo=timezone(timedelta(hours=-5))), UTC_NOON),
            ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
            ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ],
    )
    def test_moments(self, value, moment):
        found = c.parse_time("at", value)
        assert found == moment
        assert found is None or found.utcoffset() == timedelta(0)

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "now",
            "2026-02-30",
            "2026-05-01T25:00:00Z",
            "2026-13-01",
            5,
            1.5,
            True,
            [],
            {},
            b"2026-05-01",
            "٢٠٢٦-٠٥-٠١x",
            "10000-01-01",
            "2026-05-01T12:00:00+99:99",
            "\x00",
            "\ud800",
        ],
    )
    def test_no_moments(self, value):
        with pytest.raises(Invalid) as caught:
            c.parse_time("at", value)
        assert str(caught.value) == "at must be a time in ISO 8601, such as 2026-05-01T12:00:00Z."

    @pytest.mark.parametrize(
        "value",
        [
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        ],
    )
    def test_moments_outside_of_the_calendar(self, value):
        with pytest.raises(Invalid) as caught:
            c.parse_time("at", value)
        assert str(caught.value) == "at is a time outside of the years 1 to 9999 in UTC."

    @pytest.mark.parametrize("value", ["0" * 32, UUID(int=0), "{00000000-0000-0000-0000-000000000000}"])
    def test_identifiers(self, value):
        assert c.parse_uuid("id", value) == UUID(int=0)

    @pytest.mark.parametrize("value", ["", "x", 0, None, [], b"0" * 32, "0" * 31, "0" * 33])
    def test_no_identifiers(self, value):
        with pytest.raises(Invalid) as caught:
            c.parse_uuid("id", value)
        assert str(caught.value) == "id must be a UUID."

    def test_unknown_fields_before_anything_else(self):
        with pytest.raises(UnknownField) as caught:
            c.validate({"{x}": 1}, {})
        assert str(caught.value) == "There is no field named {x}."

    @pytest.mark.parametrize(
        "value",
        [{}, {"a": [1, 2.5, None, True, "é"]}, {"": {"": {}}}, {"a": "\\u0000"}, {"\\u0000": "\\\\u0000"}],
    )
    def test_objects(self, value):
        assert c.json_object(100)("metadata", value) == value

    def test_an_object_is_answered_as_it_will_be_read(self):
        assert c.json_object(100)("metadata", {"a": (1,), "b": {5: None}}) == {"a": [1], "b": {"5": None}}

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ({"a": "\x00"}, "metadata holds a NUL character, which no text may."),
            ({"\x00": 1}, "metadata holds a NUL character, which no text may."),
            ({"a": "\\\x00"}, "metadata holds a NUL character, which no text may."),
            ({"a": float("inf")}, "metadata must be plain JSON."),
            ({"a": object()}, "metadata must be plain JSON."),
            ({1: 1, "a": 2}, "metadata must be plain JSON."),
            ([], "metadata must be an object."),
            (None, "metadata must be an object."),
        ],
    )
    def test_no_objects(self, value, message):
        with pytest.raises(Invalid) as caught:
            c.json_object(100)("metadata", value)
        assert str(caught.value) == message

    def test_an_object_without_a_bottom(self):
        deep: dict = {}
        for _ in range(100_000):
            deep = {"a": deep}
        with pytest.raises(Invalid):
            c.json_object(10**9)("metadata", deep)
        ring: dict = {}
        ring["a"] = ring
        with pytest.raises(Invalid):
            c.json_object(100)("metadata", ring)

    def test_an_object_at_its_limit_counts_bytes(self):
        check = c.json_object(1024)
        assert check("metadata", {"a": "é" * 508}) == {"a": "é" * 508}
        with pytest.raises(TooLarge):
            check("metadata", {"a": "é" * 509})

    @pytest.mark.parametrize(
        "value", [True, False, "1", None, float("nan"), float("-inf"), 2, -1, 10**400, 1j, []]
    )
    def test_no_numbers(self, value):
        with pytest.raises(Invalid) as caught:
            c.number_check(0, 1)("n", value)
        assert str(caught.value) == "n must be a number from 0 to 1."

    def test_tags_are_told_once_in_order(self):
        assert c.parse_tags("tags", ["b", "a", "b"]) == ["b", "a"]
