"""Judgement of one merge by the causal model: each change is where it belongs, nothing was lost silently."""

from collections.abc import Mapping, Sequence
from itertools import product

from tests.memory.merging.oracle import Fields, Key, Row, Shown, Version, Versions
from tests.memory.merging.played_merge import (
    EDGES,
    OWNED,
    has_expired,
    is_like,
    owners_of,
    says_same,
    takes_over,
)
from tests.memory.merging.statements import JudgedStatements
from tests.memory.merging.transports import Choice, Item

CHANGED_BY = {
    "source": frozenset({"status", "held_status"}),
    "edited": frozenset({"fact_text", "essence", "content_hash", "norm_hash", "judged_hash"}),
}
PLACE = frozenset({"conversation_id", "sequence_num"})
MOVED = {"message": PLACE, "link": frozenset({"from_id", "to_id"})}  # by what the target has beside it
SQUASHED = frozenset({"status", "held_status"})
BESIDE = ("verdict", "confirmation")  # statements on facts, judged by what is shown
SIMILAR = ("near_duplicate", "contested")  # conflicts of two facts


class Judgement(JudgedStatements):
    """The checks of a plan and of what came of it."""

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
        if key[0] in EDGES and key in self.offered and key not in self.before and self.find_twins(key):
            allowed.append(("identical", ""))
        if key[0] in OWNED or self._waits(key):
            allowed.append(("rejected", ""))
        if self._is_last_copy(key):
            allowed.append(("identical", ""))
        if self._becomes_known(key):
            allowed.append(("identical", ""))
        if key not in self.offered and self._has_own_parts(key[1]):
            allowed.append(("conflict", "deleted"))
        return allowed

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

    def _has_own_parts(self, uid: str) -> bool:
        """Return whether the target has added to a memory: a message, a link, a verdict, a confirmation."""
        own = self.target.touched_since(self.source)
        added = {key: row for key, row in self.before.items() if key in own or key not in self.offered}
        return any(uid in (key[1][: len(uid)], *owners_of(row.fields)) for key, row in added.items())

    def _must_compare(self, key: Key, other: Key) -> bool:
        """Return whether two near facts are in use and unjudged, and the source left the other alone."""
        pair = self.offered[key].fields, self.before[other].fields
        in_use = all(one["status"] == "active" and not has_expired(one) for one in pair)
        verdicts = ("verdict", key[1]), ("verdict", other[1])
        judged = verdicts[0] in self.offered or verdicts[1] in self.before or verdicts[1] in self.touched
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

    def _is_stood_for(self, key: Key) -> bool:
        """Return whether the target shows, of each owner, itself or what absorbed it; nothing was picked."""
        found = all(owner in self.after or self.find_stand_ins(owner) for owner in self._owners(key))
        return found and self.strategy != "cherry_pick"

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
