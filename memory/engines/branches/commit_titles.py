"""Titles of commits: what a person or an agent wrote, else what changed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Min, OuterRef, Q
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext

from memory.db.expressions import NotHidden
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.pair_answers import get_pair_answers
from memory.models import Branch, Commit, Confirmation, FactAssessment

MAX_TITLE_LENGTH = 120
MAX_PARTS = 3
MIN_STATED = 100  # rows that a commit added, from which its own count is taken
CONFIRMATION, ANSWER = "confirmation", "answer"
FIRST_KINDS = ("fact", "verdict", CONFIRMATION, ANSWER, "link", "relation")
TITLE_ORDER = (*FIRST_KINDS, "message", "observation", "conversation")
ADDED, CHANGED, REMOVED = "added", "changed", "removed"
# Of a commit that wrote several kinds, the first of these says what it was about.
TEXTS = {"fact": "fact_text", "message": "content", "observation": "summary", "conversation": "title"}
REVERTED, RESTORED = re.compile(r" (?:at|commit) (\d+)\.$"), "back to "  # what messages say, older ones too

Phrase = Callable[[int], str]  # of a number; a lazy one would make a class of its own at each start
Tally = Counter[tuple[str, str]]  # how many rows by kind and change; of verdicts by what they say
Tallies = dict[tuple[int, int], Tally]  # by branch and seq


PHRASES: dict[tuple[str, str], Phrase] = {
    ("fact", ADDED): lambda n: ngettext("added %(n)s fact", "added %(n)s facts", n),
    ("fact", CHANGED): lambda n: ngettext("changed %(n)s fact", "changed %(n)s facts", n),
    ("fact", REMOVED): lambda n: ngettext("deleted %(n)s fact", "deleted %(n)s facts", n),
    ("verdict", "verified"): lambda n: ngettext("verified %(n)s fact", "verified %(n)s facts", n),
    ("verdict", "invalidated"): lambda n: ngettext("invalidated %(n)s fact", "invalidated %(n)s facts", n),
    ("verdict", "plausible"): lambda n: ngettext(
        "found %(n)s fact plausible", "found %(n)s facts plausible", n
    ),
    ("verdict", "unverified"): lambda n: ngettext("cleared %(n)s verdict", "cleared %(n)s verdicts", n),
    (CONFIRMATION, ADDED): lambda n: ngettext("confirmed %(n)s fact", "confirmed %(n)s facts", n),
    (CONFIRMATION, REMOVED): lambda n: ngettext(
        "withdrew %(n)s confirmation", "withdrew %(n)s confirmations", n
    ),
    (ANSWER, CHANGED): lambda n: ngettext("answered %(n)s question", "answered %(n)s questions", n),
    ("link", ADDED): lambda n: ngettext("added %(n)s link", "added %(n)s links", n),
    ("link", CHANGED): lambda n: ngettext("changed %(n)s link", "changed %(n)s links", n),
    ("link", REMOVED): lambda n: ngettext("removed %(n)s link", "removed %(n)s links", n),
    ("relation", ADDED): lambda n: ngettext("added %(n)s relation", "added %(n)s relations", n),
    ("relation", CHANGED): lambda n: ngettext("changed %(n)s relation", "changed %(n)s relations", n),
    ("relation", REMOVED): lambda n: ngettext("removed %(n)s relation", "removed %(n)s relations", n),
    ("message", ADDED): lambda n: ngettext("added %(n)s message", "added %(n)s messages", n),
    ("message", CHANGED): lambda n: ngettext("moved %(n)s message", "moved %(n)s messages", n),
    ("message", REMOVED): lambda n: ngettext("removed %(n)s message", "removed %(n)s messages", n),
    ("observation", ADDED): lambda n: ngettext(
        "recorded %(n)s observation", "recorded %(n)s observations", n
    ),
    ("observation", CHANGED): lambda n: ngettext(
        "changed %(n)s observation", "changed %(n)s observations", n
    ),
    ("observation", REMOVED): lambda n: ngettext(
        "removed %(n)s observation", "removed %(n)s observations", n
    ),
    ("conversation", ADDED): lambda n: ngettext("began %(n)s conversation", "began %(n)s conversations", n),
    ("conversation", CHANGED): lambda n: ngettext(
        "changed %(n)s conversation", "changed %(n)s conversations", n
    ),
    ("conversation", REMOVED): lambda n: ngettext(
        "removed %(n)s conversation", "removed %(n)s conversations", n
    ),
}
RESTORED_PHRASES: dict[str, Phrase] = {
    "conversation": lambda n: ngettext("restored %(n)s conversation", "restored %(n)s conversations", n),
    "message": lambda n: ngettext("restored %(n)s message", "restored %(n)s messages", n),
    "observation": lambda n: ngettext("restored %(n)s observation", "restored %(n)s observations", n),
}
# What a commit of one kind did, where that says more than that rows changed.
ACTION_PHRASES: dict[tuple[str, str, str], Phrase] = {
    ("fact.import", "fact", ADDED): lambda n: ngettext("imported %(n)s fact", "imported %(n)s facts", n),
    ("bundle.import", "fact", ADDED): lambda n: ngettext("imported %(n)s fact", "imported %(n)s facts", n),
    ("consolidate.session", "fact", ADDED): lambda n: ngettext(
        "learned %(n)s fact", "learned %(n)s facts", n
    ),
    ("fact.archive", "fact", CHANGED): lambda n: ngettext("archived %(n)s fact", "archived %(n)s facts", n),
    ("fact.age", "fact", CHANGED): lambda n: ngettext(
        "archived %(n)s aged fact", "archived %(n)s aged facts", n
    ),
    ("fact.restore", "fact", CHANGED): lambda n: ngettext("restored %(n)s fact", "restored %(n)s facts", n),
    ("fact.supersede", "fact", CHANGED): lambda n: ngettext("replaced %(n)s fact", "replaced %(n)s facts", n),
    ("fact.accept", "fact", CHANGED): lambda n: ngettext(
        "accepted %(n)s proposal", "accepted %(n)s proposals", n
    ),
    ("fact.refuse", "fact", CHANGED): lambda n: ngettext(
        "refused %(n)s proposal", "refused %(n)s proposals", n
    ),
    ("message.update", "message", CHANGED): lambda n: ngettext(
        "changed what is told of %(n)s message", "changed what is told of %(n)s messages", n
    ),
    ("relation.close", "relation", CHANGED): lambda n: ngettext(
        "ended %(n)s relation", "ended %(n)s relations", n
    ),
    ("conversation.close", "conversation", CHANGED): lambda n: ngettext(
        "ended %(n)s conversation", "ended %(n)s conversations", n
    ),
    **{
        (f"{whole}.restore", kind, CHANGED): phrase
        for whole in ("session", *RESTORED_PHRASES)
        for kind, phrase in RESTORED_PHRASES.items()
    },
}
COUNTED: dict[str, Phrase] = {
    "fact": lambda n: ngettext("%(n)s fact", "%(n)s facts", n),
    "verdict": lambda n: ngettext("%(n)s verdict", "%(n)s verdicts", n),
    CONFIRMATION: lambda n: ngettext("%(n)s confirmation", "%(n)s confirmations", n),
    ANSWER: lambda n: ngettext("%(n)s answer", "%(n)s answers", n),
    "link": lambda n: ngettext("%(n)s link", "%(n)s links", n),
    "relation": lambda n: ngettext("%(n)s relation", "%(n)s relations", n),
    "conversation": lambda n: ngettext("%(n)s conversation", "%(n)s conversations", n),
    "message": lambda n: ngettext("%(n)s message", "%(n)s messages", n),
    "observation": lambda n: ngettext("%(n)s observation", "%(n)s observations", n),
}


# ---- titles ------------------------------------------------------------------------------------------


def load_titles(commits: Sequence[Commit]) -> Sequence[Commit]:
    """Set the ``title`` and the ``tally`` of commits, in the active language, and return them."""
    tallies = tally_commits(commits)
    ids = {commit.source_branch_id for commit in commits if commit.source_branch_id}
    names = dict(Branch.objects.filter(pk__in=ids).values_list("pk", "name")) if ids else {}
    for commit in commits:
        commit.tally = tallies.get((commit.branch_id, commit.seq), Counter())
        commit.title = build_title(commit, names.get(commit.source_branch_id or 0, ""))
    return commits


def build_title(commit: Commit, source: str = "") -> str:
    """Return the title of a commit whose tally is known; ``source`` is the branch that it merged."""
    if source and (not commit.message or commit.message.startswith(f"Merge of {source} into ")):
        return _title_merge(commit.tally, source)
    if commit.kind == "commit.revert" and (found := REVERTED.search(commit.message)):
        return gettext("Undid commit %(seq)s") % {"seq": found[1]}
    if commit.kind == "snapshot.restore":
        return gettext("Restored the snapshot %(name)s") % {"name": commit.message.removeprefix(RESTORED)}
    if line := commit.message.strip().partition("\n")[0]:
        return Truncator(line).chars(MAX_TITLE_LENGTH)
    return title_changes(commit.kind, commit.tally) or commit.kind


def _title_merge(tally: Tally, source: str) -> str:
    numbers = count_kinds(tally)
    parts = [COUNTED[kind](number) % {"n": number} for kind, number in numbers.items() if kind in COUNTED]
    if not parts:
        return gettext("Merged %(source)s") % {"source": source}
    return gettext("Merged %(source)s: %(what)s") % {"source": source, "what": join_parts(parts)}


def title_changes(action: str, tally: Tally) -> str:
    """Return a line on changes, in the words of the action that made them; "" for none."""
    parts = []
    for (kind, change), number in sorted(tally.items(), key=_order):
        phrase = ACTION_PHRASES.get((action, kind, change)) or PHRASES.get((kind, change))
        if phrase is not None:
            parts.append(phrase(number) % {"n": number})
    line = join_parts(parts)
    return line[:1].upper() + line[1:]


def join_parts(parts: Sequence[str]) -> str:
    """Return the first parts as one line; it says where there are more."""
    more = [gettext("and more")] if len(parts) > MAX_PARTS else []
    return gettext(", ").join([*parts[:MAX_PARTS], *more])


def _order(part: tuple[tuple[str, str], int]) -> tuple[int, str, int]:
    (kind, change), _number = part
    first = TITLE_ORDER.index(kind) if kind in TITLE_ORDER else len(TITLE_ORDER)
    changes = (ADDED, CHANGED, REMOVED)
    return first, kind, changes.index(change) if change in changes else 0


def load_contents(commits: Sequence[Commit]) -> None:
    """Set the ``content`` of commits that have titles: the first text that each wrote, "" for none.

    What somebody wrote as its message says it already, and an import is about none of its texts.
    """
    plain = {(one.branch_id, one.seq): one for one in commits if not one.message and not one.source_branch_id}
    for commit in commits:
        commit.content = ""
    for kind, column in TEXTS.items():
        nameless = (one for one in plain.values() if not one.content and _has_written(one.tally, kind))
        if seqs := _seqs_by_branch(nameless):
            rows = models_by_kind()[kind]._base_manager.filter(_match_seqs(seqs, "seq_from"), NotHidden())
            first = rows.filter(deleted=False).order_by().values_list("branch_id", "seq_from")
            found = [rid for *_place, rid in first.annotate(Min("rid"))]
            for branch, seq, text in rows.filter(rid__in=found).values_list("branch_id", "seq_from", column):
                plain[branch, seq].content = Truncator(" ".join(text.split())).chars(MAX_TITLE_LENGTH)


def _has_written(tally: Tally, kind: str) -> bool:
    return 0 < tally[kind, ADDED] + tally[kind, CHANGED] < MIN_STATED


# ---- what commits changed ----------------------------------------------------------------------------


def list_kinds() -> list[str]:
    """Return all kinds of changes, those of facts first."""
    return [*FIRST_KINDS, *(name for name in models_by_kind() if name not in FIRST_KINDS)]


def count_kinds(tally: Tally) -> dict[str, int]:
    """Count the changes of each kind, in the order of kinds, without zeros."""
    sums = {kind: sum(n for (name, _change), n in tally.items() if name == kind) for kind in list_kinds()}
    return {kind: count for kind, count in sums.items() if count}


def tally_commits(commits: Iterable[Commit]) -> Tallies:
    """Return what commits changed, in a bounded number of queries, whatever branches they are of."""
    found: Tallies = {}
    for branch, seq, kind, change, count in _count_rows(list(commits)):
        found.setdefault((branch, seq), Counter())[kind, change] += count
    return found


def _count_rows(commits: Sequence[Commit]) -> Iterator[tuple[int, int, str, str, int]]:
    every = _seqs_by_branch(commits)
    adding = [one for one in commits if one.added and not one.changed + one.removed]
    known = _find_counted(adding)
    for commit in (one for one in adding if one.pk in known):
        yield commit.branch_id, commit.seq, known[commit.pk], ADDED, commit.added
    only_added = _seqs_by_branch(one for one in adding if one.pk not in known)
    others = _seqs_by_branch(one for one in commits if not one.added or one.changed + one.removed)
    for kind, model in models_by_kind().items():
        rows = model._base_manager
        if model is FactAssessment:
            yield from _count_changes(rows, kind, model, model.select_status(), every)
            continue
        # An index alone counts the rows of a commit, of which there may be thousands.
        added = rows.filter(_match_seqs(only_added, "seq_from")) if only_added else None
        for branch, seq, count in _group(added, "branch_id", "seq_from") if added is not None else ():
            yield branch, seq, kind, ADDED, count
        yield from _count_changes(rows, kind, model, "version", others)
    for kind, change, column, rows in _side_rows(every):
        for branch, seq, count in _group(rows, "branch_id", column):
            yield branch, seq, kind, change, count


def _find_counted(commits: Sequence[Commit]) -> dict[UUID, str]:
    """Return the kind of the large commits that added one kind alone: each states how many it added.

    Rows of imports are not walked through, of which a page of commits may have hundreds of thousands.
    """
    large = [commit.pk for commit in commits if commit.added >= MIN_STATED]
    if not large:
        return {}
    kinds = models_by_kind()
    own = {"branch_id": OuterRef("branch_id"), "seq_from": OuterRef("seq")}
    has_rows = [Exists(model._base_manager.filter(**own)) for model in kinds.values()]
    found = {}
    for pk, *flags in Commit.objects.filter(pk__in=large).order_by().values_list("pk", *has_rows):
        only = [kind for kind, is_there in zip(kinds, flags, strict=True) if is_there]
        if len(only) == 1 and kinds[only[0]] is not FactAssessment:  # verdicts are told by what they say
            found[pk] = only[0]
    return found


def _seqs_by_branch(commits: Iterable[Commit]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for commit in commits:
        found.setdefault(commit.branch_id, set()).add(commit.seq)
    return found


def _match_seqs(seqs: Mapping[int, set[int]], column: str) -> Q:
    """Return the condition that a row is of one of these commits."""
    # One condition for each branch: databases limit the depth of an expression.
    return reduce(or_, (Q(**{"branch_id": branch, f"{column}__in": own}) for branch, own in seqs.items()))


def _count_changes(
    rows: Any, kind: str, model: Any, column: Any, seqs: Mapping[int, set[int]]
) -> Iterator[tuple[int, int, str, str, int]]:
    """Yield counts that need the rows themselves: each says how it came to be."""
    if not seqs:
        return
    found = _group(rows.filter(_match_seqs(seqs, "seq_from")), "branch_id", "seq_from", "deleted", column)
    for branch, seq, deleted, value, count in found:
        yield branch, seq, kind, _name_change(model, deleted, value), count


def _side_rows(seqs: Mapping[int, set[int]]) -> Iterator[tuple[str, str, str, Any]]:
    if not seqs:
        return
    confirmations = Confirmation.objects
    yield CONFIRMATION, ADDED, "seq", confirmations.filter(_match_seqs(seqs, "seq"))
    yield CONFIRMATION, REMOVED, "seq_to", confirmations.filter(_match_seqs(seqs, "seq_to"))
    answers = (get_pair_answers().find_answers(branch, own) for branch, own in seqs.items())
    yield ANSWER, CHANGED, "seq", reduce(or_, answers)


def _group(rows: Any, *columns: Any) -> Any:
    return rows.order_by().values_list(*columns).annotate(Count("pk"))


def _name_change(model: Any, deleted: bool, value: Any) -> str:
    if model is FactAssessment:
        return "unverified" if deleted else str(value)
    return REMOVED if deleted else ADDED if value == 1 else CHANGED
