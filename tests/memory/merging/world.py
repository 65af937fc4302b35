"""A store and its causal model, changed in step by random operations."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from tests.memory.merging.judgement import SIMILAR, Judgement, compare_sides
from tests.memory.merging.near_texts import TEXTS as NEAR_TEXTS
from tests.memory.merging.oracle import BLANK, Key, Line, Row, Shown, read_erased
from tests.memory.merging.transports import Choice, EngineTransport, Item, Refused

MAX_BRANCHES = 4
TEXTS = 6  # so few that two branches often state the same
EVE = "rumour"
EXPIRED = "2020-01-01T00:00:00Z"
STRATEGIES = (
    "auto",
    "auto",
    "decide",
    "decide",
    "decide",
    "ours",
    "theirs",
    "cherry_pick",
    "squash",
    "fast_forward",
)
FACT_CHOICES = {
    "edited": ("source", "target", "both", "edited", "skip"),
    "deleted": ("source", "target", "skip"),
    "reverted": ("source", "target", "skip"),
    **dict.fromkeys(SIMILAR, ("source", "target", "both", "edited", "skip")),
}
CHOICES = ("source", "target", "skip")


class World:
    def __init__(self, transport: Any) -> None:
        self.transport: EngineTransport = transport
        self.lines = {"main": Line()}
        self.merges: dict[str, list[int]] = {"main": []}
        self.merge_reverts: set[tuple[str, int]] = set()  # commits that took a merge back
        self.texts = count(1)
        self.places: dict[str, int] = {}  # of each memory in the history, by its id: ids differ in every run
        self.erased: set[str] = set()
        self.has_whispered = False
        self.hidden: Any = None  # the quarantine, while it holds
        self.log: list[tuple] = []  # what was done, for a failure

    def play(self, step: tuple[str, int, int]) -> None:
        name, branch, number = step
        self.log.append(step)
        branches = list(self.lines)
        getattr(self, name)(branches[branch % len(branches)], number)

    # ---- helpers -------------------------------------------------------------------------------

    def pick(self, branch: str, kind: str, number: int, **fields: Any) -> str | None:
        """Return the id of a memory that the branch shows, with these values."""
        shown = self.lines[branch].shown[-1]
        found = [uid for (k, uid), row in shown.items() if k == kind and fields.items() <= row.fields.items()]
        return sorted(found, key=self.get_place)[number % len(found)] if found else None

    def look(self, branch: str, seq: int | None = None) -> Shown:
        """Return what a branch shows, of erased facts what their erasure leaves."""
        shown: Shown = self.transport.observe(branch, seq)
        erased = {key for key in shown if key[1] in self.erased and key[0] in BLANK}
        return {
            **shown,
            **{key: Row(shown[key].number, read_erased(key[0], shown[key].fields)) for key in erased},
        }

    def get_place(self, uid: str) -> int:
        return self.places.get(uid, len(self.places))

    def number_memories(self, shown: Shown) -> None:
        """Give new memories their places, those of one commit by their contents."""
        new = [key for key in shown if key[1] not in self.places]
        for _, uid in sorted(new, key=lambda key: (key[0], self.describe(shown[key]))):
            self.places.setdefault(uid, len(self.places))

    def describe(self, row: Row) -> list[str]:
        """Return a content without what differs in every run: times, and ids but for their places."""
        values = [value for _, value in sorted(row.fields.items()) if not isinstance(value, datetime)]
        return [str(self.get_place(str(one))) if isinstance(one, UUID) else str(one) for one in values]

    def write(self, branch: str, work: Callable[..., Any], *args: Any, **options: Any) -> None:
        """Make one change, refused or not, and record what it changed."""
        try:
            work(branch, *args, **options)
        except Refused:
            assert self.look(branch) == self.lines[branch].shown[-1]
            return
        self.record(branch, self.lines[branch].record_write)

    def record(self, branch: str, record: Callable[..., Any], *args: Any) -> None:
        shown, line = self.look(branch), self.lines[branch]
        self.number_memories(shown)
        head = self.transport.read_head(branch)
        if head == line.head:
            assert shown == line.shown[-1], "a change without a commit"
            return
        assert head == line.head + 1
        record(*args, shown)

    def new_text(self) -> str:
        return f"text {next(self.texts)}"

    # ---- facts ---------------------------------------------------------------------------------

    def add(self, branch: str, number: int) -> None:
        self.write(branch, self.transport.write_fact, f"fact {number % TEXTS}")

    def place(self, branch: str, number: int) -> None:
        """Add a fact of a repository: of another one the same text says something else."""
        repository = f"github.com/acme/r{number % 2}"
        self.write(branch, self.transport.write_fact, f"fact {number % TEXTS}", repository=repository)

    def expire(self, branch: str, number: int) -> None:
        """Let a fact end: its text may be learned anew, and does not meet the old one."""
        self.update(branch, number, {"expires_at": EXPIRED})

    def confirm(self, branch: str, number: int) -> None:
        self.write(branch, self.transport.write_fact, f"fact {number % TEXTS}", session_id=f"s{number}")

    def edit(self, branch: str, number: int) -> None:
        self.update(branch, number, {"fact_text": self.new_text()})

    def retell(self, branch: str, number: int) -> None:
        """Edit a fact into a text that others may have too."""
        self.update(branch, number, {"fact_text": f"fact {number % TEXTS}"})

    def adjust(self, branch: str, number: int) -> None:
        """Change a field beside the text."""
        updates = [
            {"priority": f"P{number % 4 + 1}"},
            {"tags": [f"t{number % 3}"]},
            {"metadata": {f"m{number % 2}": number}},
            {"confidence": 0.1 * (number % 10)},
            {"pinned": bool(number % 2)},
            {"category": ("security", "decision")[number % 2]},
        ]
        self.update(branch, number // 6, updates[number % 6])

    def tag(self, branch: str, number: int) -> None:
        """Add a tag to those of a fact."""
        if uid := self.pick(branch, "fact", number):
            tags = self.lines[branch].shown[-1]["fact", uid].fields["tags"]
            self.write(branch, self.transport.update_fact, uid, {"tags": [*tags, f"n{next(self.texts)}"]})

    def update(self, branch: str, number: int, updates: dict) -> None:
        if uid := self.pick(branch, "fact", number):
            self.write(branch, self.transport.update_fact, uid, updates)

    def archive(self, branch: str, number: int) -> None:
        self.update(branch, number, {"status": "archived"})

    def unarchive(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "fact", number, status="archived"):
            former = self.lines[branch].shown[-1]["fact", uid].fields["held_status"]
            self.write(branch, self.transport.update_fact, uid, {"status": former})

    def delete(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "fact", number):
            self.write(branch, self.transport.delete_fact, uid)

    def delete_twice(self, branch: str, number: int) -> None:
        """Delete a fact on two branches, which know nothing of each other's deletion."""
        if uid := self.pick(branch, "fact", number):
            showing = [name for name, line in self.lines.items() if ("fact", uid) in line.shown[-1]]
            for name in {branch, showing[number % len(showing)]}:
                self.write(name, self.transport.delete_fact, uid)

    def put_back(self, branch: str, number: int) -> None:
        """Give a field of a fact a value that it had before."""
        if uid := self.pick(branch, "fact", number):
            line, names = self.lines[branch], ("fact_text", "category", "tags", "priority", "confidence")
            now, past = line.shown[-1]["fact", uid].fields, line.versions["fact", uid].ancestors()
            found = [
                {name: one.fields[name]}
                for one in past
                for name in names
                if one.fields is not None and uid not in self.erased and one.fields[name] != now[name]
            ]
            if found:
                self.update(branch, number, found[number % len(found)])

    def replace(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "fact", number, status="active"):
            self.write(branch, self.transport.replace_fact, uid, self.new_text())

    def judge(self, branch: str, number: int) -> None:
        verdict = ("verified", "invalidated", "unverified")[number % 3]
        if uid := self.pick(branch, "fact", number // 3):
            self.write(branch, self.transport.judge_fact, uid, verdict)

    def approach(self, branch: str, number: int) -> None:
        """Add a fact that nearly says what another one says, or contradicts it."""
        self.write(branch, self.transport.write_fact, NEAR_TEXTS[number % len(NEAR_TEXTS)])

    def reword(self, branch: str, number: int) -> None:
        self.update(branch, number, {"fact_text": NEAR_TEXTS[number % len(NEAR_TEXTS)]})

    def erase(self, branch: str, number: int) -> None:
        """Erase a fact: its content is gone on every branch and from all of their pasts."""
        uid = self.pick(branch, "fact", number)
        if uid is None or uid in self.erased:
            return
        self.transport.erase_fact(uid)
        self.erased.add(uid)
        for name, line in self.lines.items():
            line.erase(uid)
            assert self.look(name) == line.shown[-1], name

    def whisper(self, branch: str, number: int) -> None:
        """Let somebody write who may come into quarantine."""
        self.write(branch, self.transport.write_fact, f"{EVE} {number % TEXTS}", session_id=EVE)
        self.has_whispered = True

    def quarantine(self, branch: str, number: int) -> None:
        """Hide what that one wrote, or show it again: both change nothing of what is there."""
        if self.hidden is not None:
            self.transport.release_quarantine(self.hidden)
            self.hidden = None
        elif self.has_whispered:
            self.hidden = self.transport.begin_quarantine(EVE)
        for name, line in self.lines.items():
            assert self.look(name) == line.shown[-1], name
            self.check_hidden(name)

    def check_hidden(self, branch: str) -> None:
        """Check that readers find none of what is in quarantine, and all where nothing is."""
        texts, shown = self.transport.read_texts(branch), self.lines[branch].shown[-1]
        if self.hidden is not None:
            assert not [text for text in texts if text.startswith(EVE)]
        elif not self.erased:
            assert sorted(texts) == sorted(
                row.fields["fact_text"] for key, row in shown.items() if key[0] == "fact"
            )

    # ---- links, relations, observations, conversations -----------------------------------------

    def link(self, branch: str, number: int) -> None:
        kind = ("fact", "fact", "observation", "message")[number % 4]
        start, end = self.pick(branch, "fact", number // 4), self.pick(branch, kind, number // 4 + 1)
        if start and end:
            self.write(branch, self.transport.write_link, start, end, kind)

    def absorb(self, branch: str, number: int) -> None:
        """Learn one text here and on another branch, and merge that one: it has the text under another id."""
        others = [name for name in self.lines if name != branch]
        if others:
            other, text = others[number % len(others)], self.new_text()
            for name in (branch, other):
                self.write(name, self.transport.write_fact, text)
            self.merge_branch(other, branch, "auto", 0)

    def link_twin(self, branch: str, number: int) -> None:
        """Link a fact that another branch has absorbed: it shows the same text under another id."""
        for name, uid in self.pick_absorbed(number):
            if end := self.pick(name, "fact", number // 2):
                self.write(name, self.transport.write_link, uid, end, "fact")

    def judge_twin(self, branch: str, number: int) -> None:
        for name, uid in self.pick_absorbed(number):
            self.write(name, self.transport.judge_fact, uid, ("verified", "invalidated")[number % 2])

    def confirm_twin(self, branch: str, number: int) -> None:
        for name, uid in self.pick_absorbed(number):
            text = self.lines[name].shown[-1]["fact", uid].fields["fact_text"]
            self.write(name, self.transport.write_fact, text, session_id=f"s{number}")

    def pick_absorbed(self, number: int) -> list[tuple[str, str]]:
        """Return a fact that a merge into another branch closed, with a branch that shows it, if any."""
        versions = [one for line in self.lines.values() for one in line.versions.items()]
        closed = {key for key, version in versions if version.twins and key[1] not in self.erased}
        found = [
            (name, key[1]) for name, line in self.lines.items() for key in line.shown[-1] if key in closed
        ]
        ordered = sorted(found, key=lambda one: (one[0], self.get_place(one[1])))
        return [ordered[number % len(ordered)]] if ordered else []

    def unlink(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "link", number):
            start = str(self.lines[branch].shown[-1]["link", uid].fields["from_id"])
            self.write(branch, self.transport.delete_link, start, uid)

    def relate(self, branch: str, number: int) -> None:
        properties = {f"p{number % 2}": number} if number % 3 else {f"q{next(self.texts)}": 1}
        self.write(branch, self.transport.write_relation, f"lib {number % 2}", properties)

    def close(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "relation", number, valid_until=None):
            self.write(branch, self.transport.close_relation, uid)

    def observe(self, branch: str, number: int) -> None:
        self.write(branch, self.transport.write_observation, f"seen {next(self.texts)}")

    def talk(self, branch: str, number: int) -> None:
        self.write(branch, self.transport.create_conversation, f"talk {next(self.texts)}")

    def say(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "conversation", number):
            self.write(branch, self.transport.write_message, uid, f"said {next(self.texts)}")

    def hang_up(self, branch: str, number: int) -> None:
        if uid := self.pick(branch, "conversation", number):
            self.write(branch, self.transport.close_conversation, uid)

    # ---- branches ------------------------------------------------------------------------------

    def fork(self, branch: str, number: int) -> None:
        if len(self.lines) == MAX_BRANCHES:
            return
        line, name = self.lines[branch], f"b{len(self.lines)}"
        seq = line.head if number % 2 else number % (line.head + 1)
        self.transport.create_branch(name, branch, seq)
        self.lines[name] = Line(line, seq)
        self.merges[name] = []
        assert self.look(name) == line.shown[seq]

    def cross(self, branch: str, number: int) -> None:
        """Merge a fork of another branch here, and a fork of this one there: each has several common versions
        with the other one then.
        """
        others = [name for name in self.lines if name != branch]
        if others:
            pair = branch, others[number % len(others)]
            forks = [self.fork_aside(name) for name in pair]
            for target, source, step in ((pair[0], forks[1], number), (pair[1], forks[0], number + 1)):
                self.merge_branch(source, target, "decide", step)
            for name in forks:
                del self.lines[name]

    def fork_aside(self, branch: str) -> str:
        line, name = self.lines[branch], f"x{next(self.texts)}"
        self.transport.create_branch(name, branch, line.head)
        self.lines[name], self.merges[name] = Line(line, line.head), []
        return name

    def undo(self, branch: str, number: int) -> None:
        """Revert one of the last commits; it may be refused."""
        line = self.lines[branch]
        if seq := max(0, line.head - number % 3):
            self.revert(branch, seq, newest=seq == line.head)

    def regret(self, branch: str, number: int) -> None:
        """Revert a merge."""
        if merges := self.merges[branch]:
            self.revert(branch, merges[-1], newest=merges[-1] == self.lines[branch].head)

    def revert(self, branch: str, seq: int, newest: bool) -> None:
        line = self.lines[branch]
        try:
            self.transport.revert(branch, seq)
        except Refused as refused:
            self.check_unchanged(branch, refused)
            return
        if seq in self.merges[branch]:
            self.merge_reverts.add((branch, line.head + 1))
            self.record(branch, line.record_merge_revert, seq)
        elif (branch, seq) in self.merge_reverts:
            self.merges[branch].append(line.head + 1)  # it stands again, and may be taken back again
            self.record(branch, line.record_merge_redo, seq)
        else:
            self.record(branch, line.record_write)
        if newest:
            assert show_contents(line.shown[-1]) == show_contents(line.shown[seq - 1])

    def restore(self, branch: str, number: int) -> None:
        line = self.lines[branch]
        seq = number % (line.head + 1)
        self.transport.restore(branch, seq)
        self.record(branch, line.record_restore, seq)
        assert show_contents(line.shown[-1]) == show_contents(line.shown[seq])

    # ---- merging -------------------------------------------------------------------------------

    def merge(self, branch: str, number: int) -> None:
        others = [name for name in self.lines if name != branch]
        if others:
            source = others[number % len(others)]
            self.merge_branch(source, branch, STRATEGIES[number // 3 % len(STRATEGIES)], number)

    def sync(self, branch: str, number: int) -> None:
        """Merge in both directions: where nothing is held or rejected, both sides are equal then."""
        others = [name for name in self.lines if name != branch]
        if others:
            other = others[number % len(others)]
            left = [self.merge_branch(*pair, "auto", 0) for pair in ((other, branch), (branch, other))]
            if not any(left):
                differing = compare_sides(*(self.lines[name].shown[-1] for name in (branch, other)))
                assert not [key for key in differing if not self.was_restored(key, branch, other)]

    def was_restored(self, key: Key, *branches: str) -> bool:
        """Return whether one of two branches went back to a version that the other one has in its past."""
        one, two = (self.lines[name].versions.get(key) for name in branches)
        return bool(one and two and one is not two and (one.includes(two) or two.includes(one)))

    def merge_branch(self, source: str, target: str, strategy: str, number: int) -> bool:
        """Merge and judge the result; merge again, to no effect. Return whether something is left."""
        self.log.append((source, target, strategy, number))
        self.transport.embed()
        line = self.lines[target]
        items = sorted(
            self.transport.plan(source, target), key=lambda item: (item.kind, self.get_place(item.uid))
        )
        name = "auto" if strategy == "decide" else strategy
        ids = (
            [item.uid for item in items if item.kind == "fact"][number % 2 :: 2]
            if name == "cherry_pick"
            else []
        )
        if name == "cherry_pick" and not ids:
            return True
        picked, erased = frozenset(ids), frozenset(self.erased)
        judgement = Judgement(self.lines[source], line, name, picked, erased)
        judgement.check_plan(items)
        choices = self.decide(items, number) if strategy == "decide" else []
        try:
            done = self.transport.merge(source, target, name, choices, ids)
        except Refused as refused:
            self.check_refusal(refused, name, source, target)
            return True
        self.settle(judgement, source, target, choices, done)
        if self.has_whispered:
            self.check_hidden(target)
        left = [item for item in judgement.plan.values() if not judgement.is_taken(item)]
        # What was decided may have brought the very text of a fact that waits as nearly equal to another one.
        waits = choices and any(item.reason in SIMILAR for item in left)
        if number % 3 == 0 and not waits:
            self.merge_again(source, target, name, ids)
        return bool(left)

    def merge_again(self, source: str, target: str, strategy: str, ids: Sequence[str]) -> None:
        try:
            done = self.transport.merge(source, target, strategy, (), ids)
            assert done.commit is None, "merging again made a commit"
        except Refused as refused:  # nothing of what was picked is left
            if (strategy, refused.code) != ("cherry_pick", "invalid"):
                raise
        assert self.transport.read_head(target) == self.lines[target].head

    def settle(self, judgement: Judgement, source: str, target: str, choices: Sequence, done: Any) -> None:
        line, shown = self.lines[target], self.look(target)
        self.number_memories(shown)
        before = line.shown[-1]
        versions = judgement.settle(choices, shown)
        if done.commit is None:
            assert shown == before
            line.states[-1] = versions
        else:
            assert self.transport.read_head(target) == line.head + 1
            line.commit(versions, shown)
            self.merges[target].append(line.head)
        if judgement.strategy != "cherry_pick":
            conflicts = [item for item in judgement.plan.values() if item.name == "conflict"]
            assert done.held == sum(not judgement.get_choice(item) for item in conflicts)

    def check_refusal(self, refused: Refused, strategy: str, source: str, target: str) -> None:
        """Check that only a fast-forward over the target's own changes was refused, and changed nothing."""
        assert strategy == "fast_forward", refused
        self.check_unchanged(target, refused)
        assert self.lines[target].head > 0

    def check_unchanged(self, branch: str, refused: Refused) -> None:
        assert refused.code == "conflict", refused
        assert self.look(branch) == self.lines[branch].shown[-1]

    def decide(self, items: Sequence[Item], number: int) -> list[Choice]:
        conflicts = [item for item in items if item.name == "conflict"]
        chosen = [self.choose(item, number + place) for place, item in enumerate(conflicts)]
        return list(drop_rivals(chosen))

    def choose(self, item: Item, number: int) -> Choice:
        choices = FACT_CHOICES.get(item.reason, CHOICES) if item.kind == "fact" else CHOICES
        choice = choices[number % len(choices)]
        return Choice(item, choice, self.new_text() if choice == "edited" else "")

    # ---- the end -------------------------------------------------------------------------------

    def check_past(self) -> None:
        """Check that each branch still shows at each of its commits what it showed then."""
        for name, line in self.lines.items():
            for seq, shown in enumerate(line.shown):
                assert self.look(name, seq) == shown, (name, seq)


def drop_rivals(choices: Sequence[Choice]) -> Iterator[Choice]:
    """Yield decisions: where one edits a fact of the target, the others on that fact keep both."""
    edited, replaced = set[str](), set[str]()
    for one in choices:
        other = one.item.other
        changes = one.item.reason in SIMILAR and one.choice in ("edited", "source")
        if changes and (other in edited or (other in replaced and one.choice == "edited")):
            yield Choice(one.item, "both")
            continue
        if changes:
            (edited if one.choice == "edited" else replaced).add(other)
        yield one


def show_contents(shown: Any) -> dict[Key, Any]:
    """Return what a branch shows, without the numbers of versions."""
    return {key: row.fields if isinstance(row, Row) else row for key, row in shown.items()}
