"""Judgement of one merge by the causal model: each change is where it belongs, nothing was lost silently."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import product

from memory.models.hashes import content_hash, judged_hash, norm_hash
from tests.memory.merging.field_model import Outcome, decide_for, find_outcome, find_rejected, is_same_content
from tests.memory.merging.near_texts import are_near, find_reason
from tests.memory.merging.oracle import (
    BLANK,
    Fields,
    Key,
    Line,
    Row,
    Shown,
    Version,
    Versions,
)
from tests.memory.merging.transports import Choice, Item

OWNED = ("link", "message")  # what may be rejected because its owner does not come along
DECIDED = {"ours": "target", "theirs": "source"}
EDGES = ("link", "relation")
EDGE = ("from_id", "to_id", "to_type", "link_type")
TRIPLE = ("source_key", "type_key", "target_key")
CHANGED_BY = {
    "source": frozenset({"status", "held_status"}),
    "edited": frozenset({"fact_text", "essence", "content_hash", "norm_hash", "judged_hash"}),
}
PLACE = frozenset({"conversation_id", "sequence_num"})
MOVED = {"message": PLACE, "link": frozenset({"from_id", "to_id"})}  # by what the target has beside it
SQUASHED = frozenset({"status", "held_status"})
BESIDE = ("verdict", "confirmation")  # statements on facts, judged by what is shown
SIMILAR = ("near_duplicate", "contested")  # conflicts of two facts
HELD = ""


@dataclass
class Judgement:
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

    # ---- the plan ------------------------------------------------------------------------------

    def check_plan(self, items: Sequence[Item]) -> None:
        """Check that each change of the source is in exactly one class, one that the model allows."""
        self.plan = {item.key: item for item in items}
        assert len(self.plan) == len(items), "a memory is in the plan twice"
        for key in sorted({*self.source.versions, *self.plan}):
            if key[0] not in BESIDE:
                self._check_item(key, self.plan.get(key))

    def _check_item(self, key: Key, item: Item | None) -> None:
        if self._is_erased(key):
            assert item is None or (item.name, item.reason) == ("rejected", "erased"), f"{key} was erased"
            return
        known = self.source.versions.get(key)
        if known is None:  # the fork that takes the source's messages
            assert key[0] == "conversation", f"{item}: the source never had it"
            return
        allowed = self._allowed_classes(key)
        found = (item.name, item.reason if item.name == "conflict" else "") if item else None
        never_there = known.fields is None and key not in self.target.versions
        if found is None and (not allowed or never_there or self._follows_owner(key)):
            return
        if found == ("conflict", "reverted") and self._lost_confirmations(key):
            return
        assert found in allowed, f"{key}: in the plan as {found}, the model allows {allowed}"
        if item and item.reason in SIMILAR:
            found_reasons = {reason for other, reason in self.find_near(key) if other[1] == item.other}
            assert found_reasons == {item.reason}, f"{item}: these are {found_reasons}"

    def _is_erased(self, key: Key) -> bool:
        return key[1] in self.erased and key[0] in BLANK

    def _lost_confirmations(self, key: Key) -> bool:
        """Return whether the target lost a confirmation that it once showed and the source still has."""
        of_fact = [one for one in self.offered if one[0] == "confirmation" and one[1].startswith(key[1])]
        return key[0] == "fact" and any(one not in self.before and self._was_shown(one) for one in of_fact)

    def _allowed_classes(self, key: Key) -> list[tuple[str, str]]:
        outcome = self.get_outcome(key)
        if outcome is None:
            return []
        allowed = [(outcome.name, outcome.reason)]
        if outcome.name == "identical" and key in self.before and key in self.offered:
            allowed.append(("applied", ""))  # its provenance may differ, which the model leaves out
        is_new = key not in self.target.versions and key in self.offered
        if is_new and (near := self.find_near(key)):
            must_ask = any(self._must_compare(key, other) for other, _reason in near)
            allowed = [("conflict", reason) for _other, reason in near] + ([] if must_ask else allowed)
        if is_new and (twins := self.find_twins(key)):
            clear = self.offered[key].fields.get("status") == "active" and all(map(self._is_settled, twins))
            allowed = [("identical", "")] + ([] if clear else allowed)
        if key[0] in OWNED or self._waits(key):
            allowed.append(("rejected", ""))
        if self._is_last_copy(key):
            allowed.append(("identical", ""))
        if self._becomes_known(key):
            allowed.append(("identical", ""))
        if key not in self.offered and self._has_own_parts(key[1]):
            allowed.append(("conflict", "deleted"))
        return allowed

    def _waits(self, key: Key) -> bool:
        """Return whether a new edge of the source has the place of one about which there is a conflict."""
        if key in self.before or key not in self.offered:
            return False
        conflicts = [one.key for one in self.plan.values() if one.name == "conflict" and one.kind == key[0]]
        rows = [side[one].fields for one in conflicts for side in (self.before, self.offered) if one in side]
        return any(says_same(key[0], row, self.offered[key].fields) for row in rows if key[0] in EDGES)

    def _becomes_known(self, key: Key) -> bool:
        """Return whether a link at facts that the target has as others joins one of these to itself, or is in
        the place of another link then.
        """
        links = {one: row.fields for side in (self.offered, self.before) for one, row in side.items()}
        places = {one: self._list_places(fields) for one, fields in links.items() if one[0] == "link"}
        own = places.pop(key, set())
        return any(place[0] == place[1] for place in own) or any(own & other for other in places.values())

    def _list_places(self, link: Fields) -> set[tuple[str, ...]]:
        ends = (self._list_others(str(link[name])) for name in ("from_id", "to_id"))
        return {(*pair, link["to_type"], link["link_type"]) for pair in product(*ends)}

    def _list_others(self, uid: str) -> set[str]:
        """Return the facts of the target for which a fact may stand, and itself."""
        found, waiting = set[str](), {uid}
        while waiting:
            key = ("fact", waiting.pop())
            found.add(key[1])
            version = self.target.versions.get(key)
            twins = set(version.twins) if version else set()
            twins |= set(self.find_twins(key)) if key in self.offered else set()
            waiting |= {one for _, one in twins} - found
        return found

    def _is_last_copy(self, key: Key) -> bool:
        """Return whether the source removed a memory for a copy of it that the target does not show."""
        if key in self.offered or key not in self.before:
            return False
        fields, kind = self.before[key].fields, key[0]
        theirs, ours = (
            {one for one, row in side.items() if one[0] == kind and says_same(kind, row.fields, fields)}
            for side in (self.offered, self.before)
        )
        return bool(theirs - ours)

    def _has_own_parts(self, uid: str) -> bool:
        """Return whether the target has added to a memory: a message, a link, a verdict, a confirmation."""
        own = self.target.touched_since(self.source)
        added = {key: row for key, row in self.before.items() if key in own or key not in self.offered}
        return any(uid in (key[1][: len(uid)], *owners_of(row.fields)) for key, row in added.items())

    def _follows_owner(self, key: Key) -> bool:
        """Return whether a revert took a part with its owner: it is settled as that is."""
        outcome = self.get_outcome(key) if key[0] in OWNED else None
        return outcome is not None and outcome.reason == "reverted"

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

    def _must_compare(self, key: Key, other: Key) -> bool:
        """Return whether two near facts are in use and unjudged, and the source left the other alone."""
        pair = self.offered[key].fields, self.before[other].fields
        in_use = all(one["status"] == "active" and not has_expired(one) for one in pair)
        judged = ("verdict", key[1]) in self.offered or ("verdict", other[1]) in self.before
        replaces = str(pair[0]["parent_id"]) == other[1] or str(pair[1]["parent_id"]) == key[1]
        return in_use and not judged and not replaces and other not in self.touched

    def _is_settled(self, twin: Key) -> bool:
        """Return whether a fact is the target's alone: active, without a verdict, unknown to the source."""
        judged = ("verdict", twin[1])
        is_own = twin not in self.source.versions and judged not in self.before
        return is_own and self.before[twin].fields.get("status") == "active"

    # ---- the result ----------------------------------------------------------------------------

    def settle(self, choices: Sequence[Choice], after: Shown) -> Versions:
        """Check what the target shows after the merge; return its versions."""
        self.choices, self.after = {one.item.key: one for one in choices}, after
        versions = dict(self.target.versions)
        for key, item in self.plan.items():
            if key[0] not in BESIDE and key in self.source.versions:
                self._settle_item(key, item, versions)
        self._check_others(versions)
        self._settle_verdicts(versions)
        self._check_confirmations()
        self._check_hashes()
        return versions

    def get_choice(self, item: Item) -> str:
        """Return what was decided of a conflict; HELD where it was not."""
        choice = self.choices[item.key].choice if item.key in self.choices else ""
        choice = choice or DECIDED.get(self.strategy, HELD)
        return HELD if choice == "skip" else choice

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

    def _settle_item(self, key: Key, item: Item, versions: Versions) -> None:
        before, after = self.before.get(key), self.after.get(key)
        if self._is_erased(key):
            assert after == before, f"{key} was erased, and yet it changed"
            return
        if not self.is_taken(item):
            assert after == before, f"{item} changed though it was not merged"
            if item.name in ("rejected", "applied") and not (self._follows_owner(key) or self._waits(key)):
                assert item.name == "applied" or self._is_ownerless(key), (
                    f"{key} rejected, its owners are there"
                )
                assert not self._is_stood_for(key), f"{key} rejected, what stands for its owners is there"
            return
        ours, theirs = self.target.versions.get(key), self.source.versions[key]
        fields = after.fields if after else None
        if item.name == "rejected" and self._follows_owner(key):
            assert any(is_like(key[0], fields, one.fields if one else None) for one in (ours, theirs)), key
        elif item.name in ("applied", "rejected"):
            self._check_applied(key, fields)
        elif item.name == "identical":
            self._check_identical(key, fields)
        else:
            self._check_decided(key, item, fields)
        copied = (
            item.name != "conflict" and (ours is None or theirs.includes(ours)) and fields == theirs.fields
        )
        parents = tuple(one for one in (ours, theirs) if one is not None)
        absorbed = key[0] == "fact" and item.name == "identical" and fields is None and key in self.offered
        twins = frozenset(self.find_twins(key)) if absorbed else frozenset()
        versions[key] = theirs if copied else Version(fields, parents, twins=twins)

    def _is_ownerless(self, key: Key) -> bool:
        """Return whether an end of a link, or the conversation of a message, is missing on the target."""
        return any(owner not in self.after for owner in self._owners(key))

    def _owners(self, key: Key) -> list[Key]:
        known = self.source.versions[key].ancestors()
        fields = next((one.fields for one in known if one.fields is not None), {})
        kinds = {"from_id": "fact", "to_id": fields.get("to_type", ""), "conversation_id": "conversation"}
        return [(kind, str(fields[name])) for name, kind in kinds.items() if name in fields]

    def _is_stood_for(self, key: Key) -> bool:
        """Return whether the target shows, of each owner, itself or what absorbed it; nothing was picked."""
        found = all(owner in self.after or self.find_stand_ins(owner) for owner in self._owners(key))
        return found and self.strategy != "cherry_pick"

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

    def _check_applied(self, key: Key, fields: Fields | None) -> None:
        outcome = self.get_outcome(key)
        merged = outcome.merged if outcome else None
        free = MOVED.get(key[0], frozenset())
        if self.strategy == "squash" and key not in self.target.versions:
            free |= SQUASHED
        assert is_like(key[0], fields, merged, free), f"{key}: {fields}, not {merged}"
        if key[0] == "message" and fields is not None:
            self._check_place(key, fields)

    def _check_place(self, key: Key, fields: Fields) -> None:
        """Check that a message is in its conversation, or in a fork of that."""
        original = self.offered[key].fields["conversation_id"]
        found = self.after["conversation", str(fields["conversation_id"])].fields
        assert original in (fields["conversation_id"], found["parent_conversation_id"]), key

    def _check_identical(self, key: Key, fields: Fields | None) -> None:
        kept, outcome = self.target.versions.get(key), self.get_outcome(key)
        known_better = outcome is not None and outcome.name == "identical" and outcome.merged is not None
        stays = self.source.versions[key].fields is not None or known_better or self._is_last_copy(key)
        if kept is not None and kept.fields is not None and stays:
            assert is_like(key[0], fields, kept.fields), f"{key}: {fields}, not {kept.fields}"
            return
        assert fields is None, f"{key} is identical to another memory, and yet there"
        if key in self.offered and (outcome is None or outcome.name != "identical"):
            self._check_twin(key)  # else the target deleted it, and the source changed nothing since

    def _check_twin(self, key: Key) -> None:
        """Check that the target still shows the text or edge of a memory that it has as another one."""
        offered = self.offered[key].fields
        rows = [row.fields for other, row in self.after.items() if other[0] == key[0]]
        if key[0] == "link":
            return
        assert any(says_same(key[0], offered, row) for row in rows), f"{key} is lost: its twin is gone"

    def _check_decided(self, key: Key, item: Item, fields: Fields | None) -> None:
        if item.reason in SIMILAR:
            self._check_similar(key, item, fields)
            return
        choice, theirs = self.get_choice(item), self.source.versions[key]
        decided = self._decide(key, choice)
        comes_whole = decided is not None and decided is theirs.fields
        free = MOVED.get(key[0], frozenset()) if comes_whole else frozenset()
        assert is_like(key[0], fields, decided, free), f"{key} {choice}: {fields}, not {decided}"
        if comes_whole and key[0] == "message" and fields is not None:
            self._check_place(key, fields)
        if choice == "both" and theirs.fields:
            texts = {row.fields["fact_text"] for (other, _), row in self.after.items() if other == "fact"}
            assert theirs.fields["fact_text"] in texts, f"{key}: both were to stay"

    def _check_similar(self, key: Key, item: Item, fields: Fields | None) -> None:
        """Check what was decided of two facts that are nearly equal."""
        choice, theirs = self.get_choice(item), self.source.versions[key]
        other = self.after["fact", item.other].fields
        comes = theirs.fields if choice in ("source", "both") else None
        free = frozenset({"parent_id"} if choice == "source" else ())
        assert is_like("fact", fields, comes, free), f"{key} {choice}: {fields}, not {comes}"
        if choice == "source":
            assert fields is not None
            assert other["status"] == "superseded", f"{item.other} is {other['status']}, not superseded"
            parents = {str(self.offered[key].fields["parent_id"])} - {"None"} or {item.other}
            assert str(fields["parent_id"]) in parents, f"{key} follows {fields['parent_id']}, not {parents}"
        if choice == "edited":
            text = self.choices[key].text
            assert other["fact_text"] == text, f"{item.other}: {other['fact_text']}, not {text}"

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

    # ---- what the plan does not name -----------------------------------------------------------

    def _check_others(self, versions: Versions) -> None:
        """Check that the merge changed nothing else, but for what decisions and squashing add."""
        for key in {*self.before, *self.after} - self.plan.keys():
            before, after = self.before.get(key), self.after.get(key)
            if before == after or key[0] in BESIDE:
                continue
            assert self._may_change(key, before, after), f"{key} changed: {before} -> {after}"
            old = versions.get(key)
            versions[key] = Version(after.fields if after else None, (old,) if old else ())
        for key in self.plan.keys() - self.source.versions.keys():
            if key in self.after:
                versions[key] = Version(self.after[key].fields)

    def _may_change(self, key: Key, before: Row | None, after: Row | None) -> bool:
        if before is None:  # new: a second fact by a decision, or what squashing makes
            added = "both" in {one.choice for one in self.choices.values()} or self.strategy == "squash"
            return key not in self.source.versions and (added or key[0] == "conversation")
        if after is None:
            return False
        free = self._list_changing(key)
        is_twin = key in self._all_twins()
        return (is_twin or bool(free)) and takes_over(key[0], after.fields, before.fields, is_twin, free)

    def _list_changing(self, key: Key) -> frozenset[str]:
        """Return the fields that decisions on facts which nearly equal this one change of it."""
        items = [one for one in self.plan.values() if one.reason in SIMILAR and ("fact", one.other) == key]
        changed = [CHANGED_BY.get(self.get_choice(one), frozenset()) for one in items]
        return frozenset().union(*changed)

    def _all_twins(self) -> set[Key]:
        same = [item.key for item in self.plan.values() if item.name == "identical"]
        return {twin for key in same if key in self.offered for twin in self.find_twins(key)}

    # ---- verdicts, confirmations, hashes -------------------------------------------------------

    def _settle_verdicts(self, versions: Versions) -> None:
        for key in [key for key in self.source.versions if key[0] == "verdict" and key[1] not in self.erased]:
            ours, theirs = self.target.versions.get(key), self.source.versions[key]
            if key not in self.touched or (ours is not None and ours.includes(theirs)):
                continue
            item = self.plan.get(key)
            if item is not None and item.name == "conflict":
                self._check_decided_verdict(key, ours, theirs)
            elif self._is_settled_fact(key[1]):
                self._check_verdict(key, ours, theirs)
            if theirs.fields and (twins := self.find_stand_ins(("fact", key[1]))) and self._brings(key[1]):
                found = [self._weigh_verdict(one, theirs.fields) for one in twins]
                assert any(found), f"{key}: no verdict of those that stand for it is as weighty"
            if self.after.get(key) != self.before.get(key) or (item is not None and self.is_taken(item)):
                fields = self.after[key].fields if key in self.after else None
                copied = (ours is None or theirs.includes(ours)) and fields == theirs.fields
                parents = tuple(one for one in (ours, theirs) if one)
                versions[key] = theirs if copied else Version(fields, parents)
        self._record_moved_verdicts(versions)

    def _check_decided_verdict(self, key: Key, ours: Version | None, theirs: Version) -> None:
        """Check what became of a verdict that a revert took back, and that the source brings again."""
        assert ours is not None
        assert find_rejected(ours, theirs), f"{key}: nobody took it back"
        choice = self.get_choice(self.plan[key])
        kept = theirs if choice == "source" else ours
        row = self.after.get(key)
        assert (row.fields if row else None) == kept.fields, f"{key}: not as decided ({choice})"

    def _record_moved_verdicts(self, versions: Versions) -> None:
        """Record the verdicts that facts got of others, which the source has under another id."""
        for key in {*self.before, *self.after} - self.source.versions.keys():
            if key[0] == "verdict" and self.after.get(key) != self.before.get(key):
                row, old = self.after.get(key), versions.get(key)
                versions[key] = Version(row.fields if row else None, (old,) if old else ())

    def _brings(self, uid: str) -> bool:
        return self.strategy != "cherry_pick" or uid in self.picked

    def _weigh_verdict(self, twin: Key, verdict: Fields) -> bool:
        """Return whether a fact has a verdict as weighty as another one, if that fits it at all."""
        fact, own = self.after[twin].fields, self.after.get(("verdict", twin[1]))
        one, two = fitting_status(own.fields if own else None, fact), fitting_status(verdict, fact)
        return STRENGTH.index(one) >= STRENGTH.index(two)

    def _is_settled_fact(self, uid: str) -> bool:
        """Return whether the target shows a fact, and has all that the source says of it."""
        key = ("fact", uid)
        item = self.plan.get(key)
        unpicked = self.strategy == "cherry_pick" and uid not in self.picked
        return key in self.after and not unpicked and (item is None or self.is_taken(item))

    def _check_verdict(self, key: Key, ours: Version | None, theirs: Version) -> None:
        fact = self.after["fact", key[1]].fields
        one, two = fitting_status(ours and ours.fields, fact), fitting_status(theirs.fields, fact)
        newer = ours is None or theirs.includes(ours)
        if newer and (two or not one or theirs.fields is None):
            allowed = {two}
        else:
            allowed = {one, two} if ours and ours.taken else {max(one, two, key=STRENGTH.index)}
        found = fitting_status(self.after[key].fields if key in self.after else None, fact)
        shown = {status or "unverified" for status in allowed | self._list_moved(key[1], fact)}
        assert (found or "unverified") in shown, f"{key}: {found}, not {shown}"

    def _list_moved(self, uid: str, fact: Fields) -> set[str]:
        """Return the statuses of verdicts on facts that a fact of the target stands for."""
        moved = [one for one in self.plan.values() if one.kind == "verdict" and one.name == "identical"]
        stood_for = [one for one in moved if ("fact", uid) in self.find_stand_ins(("fact", one.uid))]
        return {fitting_status(self.source.versions[one.key].fields, fact) for one in stood_for}

    def _check_confirmations(self) -> None:
        """Check that confirmations of both sides are there, as far as their fact is."""
        for kind, name in self.before.keys() | self.offered.keys():
            uid, _, source = name.partition(" ")
            if kind != "confirmation":
                continue
            if (kind, name) in self.offered and self._brings(uid):
                twins = self.find_stand_ins(("fact", uid))
                here = [self._shows_confirmation(one, source) for one in twins]
                assert not twins or any(here), f"{uid}: the confirmation by {source} is lost with its fact"
            if not self._is_settled_fact(uid):
                continue
            withdrawn = (kind, name) not in self.before and self._was_shown((kind, name))
            if not withdrawn and ("fact", uid) in self.offered:
                assert (kind, name) in self.after, f"{uid}: the confirmation by {source} is lost"

    def _shows_confirmation(self, fact: Key, source: str) -> bool:
        key = ("confirmation", f"{fact[1]} {source}")
        origin = f"session:{self.after[fact].fields['session_id']}"
        return key in self.after or self._was_shown(key) or source == origin

    def _was_shown(self, key: Key) -> bool:
        """Return whether the target has ever shown something that it does not show now."""
        return any(key in shown for line, limit in self.target.lineage() for shown in line.shown[: limit + 1])

    def _check_hashes(self) -> None:
        for (kind, uid), row in self.after.items():
            if kind == "fact" and uid not in self.erased:
                text, judged = row.fields["fact_text"], ("fact_text", "essence", "category")
                hashes = (
                    content_hash(text),
                    norm_hash(text),
                    judged_hash(*(row.fields[name] for name in judged)),
                )
                found = tuple(row.fields[name] for name in ("content_hash", "norm_hash", "judged_hash"))
                assert found == hashes, f"the hashes of {uid} are of another content"


STRENGTH = ("", "unverified", "verified", "invalidated")


def owners_of(fields: Fields) -> list[str]:
    return [str(fields[name]) for name in ("from_id", "to_id", "conversation_id") if name in fields]


def fitting_status(verdict: Fields | None, fact: Fields) -> str:
    """Return the status of a verdict on the fact's present content; empty for a verdict on another one."""
    return str(verdict["status"]) if verdict and verdict["judged_hash"] == fact["judged_hash"] else ""


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


def compare_sides(one: Shown, two: Shown) -> Mapping[Key, tuple[Fields | None, Fields | None]]:
    """Return the memories that two branches show differently."""
    found = {}
    for key in {*one, *two}:
        if key[0] in BESIDE:
            continue
        pair = tuple(side[key].fields if key in side else None for side in (one, two))
        if not is_like(key[0], *pair):
            found[key] = pair
    return found
