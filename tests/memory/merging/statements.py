"""What a merge made of statements on facts: verdicts, confirmations, hashes of what they are about."""

from memory.models.hashes import content_hash, judged_hash, norm_hash
from tests.memory.merging.field_model import find_rejected
from tests.memory.merging.oracle import Fields, Key, Version, Versions
from tests.memory.merging.played_merge import PlayedMerge

STRENGTH = ("", "unverified", "plausible", "verified", "invalidated")


class JudgedStatements(PlayedMerge):
    """The checks of what a merge made of verdicts and confirmations."""

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

    def _brings(self, uid: str) -> bool:
        return self.strategy != "cherry_pick" or uid in self.picked

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


def fitting_status(verdict: Fields | None, fact: Fields) -> str:
    """Return the status of a verdict on the fact's present content; empty for a verdict on another one."""
    return str(verdict["status"]) if verdict and verdict["judged_hash"] == fact["judged_hash"] else ""
