"""One merge as it was played: what both sides had, what the plan said, what was decided, what came of it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from tests.memory.merging.field_model import Outcome, decide_for, find_outcome, is_same_content
from tests.memory.merging.near_texts import are_near, find_reason
from tests.memory.merging.oracle import BLANK, Fields, Key, Line, Shown, Version
from tests.memory.merging.transports import Choice, Item

OWNED = ("link", "message")  # what may be rejected because its owner does not come along
DECIDED = {"ours": "target", "theirs": "source"}
EDGES = ("link", "relation")
EDGE = ("from_id", "to_id", "to_type", "link_type")
TRIPLE = ("source_key", "type_key", "target_key")
CURRENT = ("active", "done")
HELD = ""


@dataclass
class PlayedMerge:
    """One merge: the source and the target before it, and what the plan says of each memory."""

    source: Line
    target: Line
    strategy: str = "auto"
    picked: frozenset[str] = frozenset()  # ids of a cherry-pick
    erased: frozenset[str] = frozenset()  # ids of facts
    plan: dict[Key, Item] = field(default_factory=dict)
    choices: dict[Key, Choice] = field(default_factory=dict)
    after: Shown = field(default_factory=dict)
    _outcomes: dict[Key, Outcome | None] = field(default_factory=dict)

    @property
    def before(self) -> Shown:
        return self.target.shown[-1]

    @property
    def offered(self) -> Shown:
        return self.source.shown[-1]

    @cached_property
    def touched(self) -> set[Key]:
        return self.source.touched_since(self.target)

    def get_outcome(self, key: Key) -> Outcome | None:
        """Return what the version graph says of a memory; None where there is nothing to do."""
        if key not in self._outcomes:
            pair = self.target.versions.get(key), self.source.versions.get(key)
            self._outcomes[key] = find_outcome(key[0], *pair) if key in self.touched else None
        return self._outcomes[key]

    # ---- what belongs together ----------------------------------------------------------------

    def find_twins(self, key: Key) -> list[Key]:
        """Return the target's own memories with the text or edge of a memory that is new on the source."""
        fields = self.offered[key].fields
        return [
            other
            for other, row in self.before.items()
            if other[0] == key[0] and other != key and says_same(key[0], fields, row.fields)
            if not has_expired(row.fields)
        ]

    def find_near(self, key: Key) -> list[tuple[Key, str]]:
        """Return the target's facts that a new fact of the source nearly repeats, and why it is asked."""
        text = self.offered[key].fields.get("fact_text", "") if key in self.offered else ""
        others = {one: row.fields["fact_text"] for one, row in self.before.items() if one[0] == "fact"}
        return [(one, find_reason(text, other)) for one, other in others.items() if are_near(text, other)]

    def find_stand_ins(self, key: Key) -> list[Key]:
        """Return what may stand for a fact that an earlier merge absorbed, and that did not change since."""
        closed = self.target.versions.get(key)
        if closed is None or key in self.plan or key not in self.offered:
            return []
        if self.erased & {key[1], *(uid for _, uid in closed.twins)}:
            return []
        offered = self.offered[key].fields
        rows = {one: (self.before.get(one), self.after.get(one)) for one in closed.twins}
        shown = {one: pair for one, pair in rows.items() if all(pair)}
        if len(shown) < len(closed.twins):
            return []  # which of them it was is not known
        return [
            one for one, pair in shown.items() if all(says_same("fact", offered, row.fields) for row in pair)
        ]

    def _follows_owner(self, key: Key) -> bool:
        """Return whether a revert took a part with its owner: it is settled as that is."""
        outcome = self.get_outcome(key) if key[0] in OWNED else None
        return outcome is not None and outcome.reason == "reverted"

    def _is_ownerless(self, key: Key) -> bool:
        """Return whether an end of a link, or the conversation of a message, is missing on the target."""
        return any(owner not in self.after for owner in self._owners(key))

    def _owners(self, key: Key) -> list[Key]:
        known = self.source.versions[key].ancestors()
        fields = next((one.fields for one in known if one.fields is not None), {})
        kinds = {"from_id": "fact", "to_id": fields.get("to_type", ""), "conversation_id": "conversation"}
        return [(kind, str(fields[name])) for name, kind in kinds.items() if name in fields]

    def _waits(self, key: Key) -> bool:
        """Return whether a new edge of the source has the place of one about which there is a conflict."""
        if key in self.before or key not in self.offered:
            return False
        conflicts = [one.key for one in self.plan.values() if one.name == "conflict" and one.kind == key[0]]
        rows = [side[one].fields for one in conflicts for side in (self.before, self.offered) if one in side]
        return any(says_same(key[0], row, self.offered[key].fields) for row in rows if key[0] in EDGES)

    def _is_last_copy(self, key: Key) -> bool:
        """Return whether the source removed a memory for a copy of it that the target does not show."""
        if key in self.offered or key not in self.before:
            return False
        fields, kind = self.before[key].fields, key[0]
        theirs, ours = (
            {one for one, row in side.items() if one[0] == kind and says_same(kind, row.fields, fields)}
            for side in (list_current(self.offered), list_current(self.before))
        )
        return bool(theirs - ours)

    def _is_erased(self, key: Key) -> bool:
        return key[1] in self.erased and key[0] in BLANK

    def _was_shown(self, key: Key) -> bool:
        """Return whether the target has ever shown something that it does not show now."""
        return any(key in shown for line, limit in self.target.lineage() for shown in line.shown[: limit + 1])

    # ---- what was decided ----------------------------------------------------------------------

    def get_choice(self, item: Item) -> str:
        """Return what was decided of a conflict; HELD where it was not."""
        choice = self.choices[item.key].choice if item.key in self.choices else ""
        choice = choice or DECIDED.get(self.strategy, HELD)
        return HELD if choice == "skip" or self._is_place_kept(item.key, choice) else choice

    def _is_place_kept(self, key: Key, choice: str) -> bool:
        """Return whether another edge keeps the place that a decision on a shown one needs."""
        before, after = self.before.get(key), self.after.get(key)
        if key[0] not in EDGES or choice == HELD or after is None or before != after:
            return False
        decided = self._decide(key, choice)
        others = [row.fields for one, row in self.after.items() if one[0] == key[0] and one != key]
        return decided is not None and any(says_same(key[0], decided, other) for other in others)

    def is_taken(self, item: Item) -> bool:
        """Return whether the change arrives, be it by a decision against it."""
        if item.name == "rejected":  # unless a decision brought its owner
            changed = self.before.get(item.key) != self.after.get(item.key)
            return changed or self._is_settled_with_owner(item.key)
        if self.strategy == "cherry_pick" and not self._is_picked(item):
            return False
        choice = self.get_choice(item)
        if item.name in ("conflict", "applied") and self._is_left_out(item.key):
            is_held = item.name == "conflict" and choice == HELD
            return not is_held and self._decide(item.key, choice or "source") is None  # that needs no owner
        return item.name != "conflict" or choice != HELD

    def _is_left_out(self, key: Key) -> bool:
        """Return whether nothing came of a part, since the target does not show what it belongs to."""
        is_decided = (
            self.plan[key].name == "conflict" and key in self.before
        )  # the target shows it all the same
        unchanged = self.before.get(key) == self.after.get(key)
        return key[0] in OWNED and not is_decided and unchanged and self._is_ownerless(key)

    def _is_picked(self, item: Item) -> bool:
        """Return whether an item was picked; of what belongs to others, whether it came along."""
        return item.uid in self.picked or (
            item.kind in OWNED and self.before.get(item.key) != self.after.get(item.key)
        )

    def _is_settled_with_owner(self, key: Key) -> bool:
        """Return whether a part that a revert took with its owner was settled as that was decided."""
        owners = [self.plan[one] for one in self._owners(key) if one in self.plan]
        decided = [self.get_choice(one) != HELD for one in owners if one.name == "conflict"]
        return self._follows_owner(key) and bool(decided) and all(decided)

    def _decide(self, key: Key, choice: str) -> Fields | None:
        """Return what a decision writes: the fields in conflict as decided, all others as merged."""
        outcome, ours, theirs = (
            self.get_outcome(key),
            self.target.versions.get(key),
            self.source.versions[key],
        )
        side = (theirs if choice == "source" else ours) or Version(None)
        if side.fields is None or outcome is None or outcome.merged is None:
            return side.fields
        text = self.choices[key].text if choice == "edited" else ""
        edited = dict.fromkeys(("fact_text", "essence"), text) if text else {}
        return {**decide_for(key[0], outcome, side), **edited}


def list_current(shown: Shown) -> Shown:
    """Return what is in use: a fact that was archived or replaced is no copy of another one."""
    return {key: row for key, row in shown.items() if row.fields.get("status", "active") in CURRENT}


def owners_of(fields: Fields) -> list[str]:
    return [str(fields[name]) for name in ("from_id", "to_id", "conversation_id") if name in fields]


def says_same(kind: str, one: Fields, other: Fields) -> bool:
    """Return whether two memories state the same text or edge."""
    if kind == "fact":
        elsewhere = len({one["repository"], other["repository"]} - {""}) > 1
        return bool(one["norm_hash"] == other["norm_hash"]) and not elsewhere
    if kind == "link":
        return [one[name] for name in EDGE] == [other[name] for name in EDGE]
    if kind == "relation":
        still_open = one["valid_until"] is None and other["valid_until"] is None
        return still_open and [one[name] for name in TRIPLE] == [other[name] for name in TRIPLE]
    return False


def takes_over(
    kind: str, after: Fields, before: Fields, is_twin: bool, free: frozenset[str] = frozenset()
) -> bool:
    """Return whether a memory stayed as it was but for some fields, and for what a twin brings: tags, a
    greater confidence.
    """
    if kind == "relation" and is_twin:  # it counts for both, with the keys that it lacked
        more = before["properties"].items() <= after["properties"].items()
        return more and is_like(kind, after, before, free | {"properties", "strength"})
    if kind != "fact" or not is_twin:
        return is_like(kind, after, before, free)
    more = set(before["tags"]) <= set(after["tags"]) and before["confidence"] <= after["confidence"]
    return more and is_like(kind, after, before, free | {"tags", "confidence"})


def has_expired(fields: Fields) -> bool:
    end = fields.get("expires_at")
    return end is not None and end <= datetime.now(UTC)


def is_like(kind: str, one: Fields | None, two: Fields | None, free: frozenset[str] = frozenset()) -> bool:
    """Return whether two contents are the same but for provenance and some free fields."""
    if one is None or two is None:
        return one is two
    return is_same_content(
        kind, *({name: side[name] for name in side if name not in free} for side in (one, two))
    )
