"""Whether an older statement still stands beside a newer one. Pure functions, no model.

``revision_rules`` reads statements word by word and answers where nothing is left open. What people say is
mostly shorter ("Forget GraphQL, REST"), so claims are compared as well: by subject, value and denial.
"""

import itertools
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

from memory.engines.statements.answered import spell_out
from memory.engines.statements.change_words import (
    ADDS,
    ALONE,
    ALSO,
    ANYBODY,
    CEASES,
    EVERY,
    EXCEPTS,
    FORGETS,
    NAMED_NUMBER,
    OBLIGED,
    OPTIONAL,
    PERMITS,
)
from memory.engines.statements.choices import (
    CHOSEN_ROOTS,
    are_choices,
    are_opposites,
    bound_alike,
    bound_apart,
    count_same,
    counts_all,
    find_choices,
    list_chosen,
    outdoes,
    turns_round,
)
from memory.engines.statements.claims import (
    SAYER,
    Claim,
    compare,
    join_words,
    list_roots,
    may_deny,
    measured,
    narrows,
    parts_value,
    prefers_other,
    prefers_same,
    shares_root,
    split_claims,
    split_clauses,
    swaps,
)
from memory.engines.statements.personal_facts import replaces_personally
from memory.engines.statements.revision_rules import (
    ADDITIVE,
    ATTRIBUTES,
    CACHE_SIZE,
    is_numbered,
    normalise,
    revises,
)
from memory.engines.statements.subject_words import list_translated, share_translated, translate
from memory.engines.statements.values import MEASURES, NUMBER, differ
from memory.models.hashes import normalise_text
from memory.texts import split_taken_back

MAX_EXTRA = 3  # words of a value that the newer statement may have beside the subject
MIN_SUBJECT = 2  # words of a subject that is the same without a word of change
MIN_SHARE = 0.3  # of a statement's words that a shorter one must have to deny it
HOLDERS = frozenset(list_roots("account server instance cluster licence license subscription setup config"))


class Standing(IntEnum):
    """Whether an older statement holds beside a newer one."""

    HOLDS = 0
    DOUBTED = 1  # the newer one may be about it: both are told, as "was …; later …"
    REPLACED = 2


@lru_cache(CACHE_SIZE)
def judge_standing(newer: str, older: str) -> Standing:
    """Return what a newer statement does to an older one, also where they name a subject in two languages, or
    in the question that one of them answers.
    """
    found, spelled = judge_texts(newer, older), (spell_out(newer), spell_out(older))
    if not found and any(spelled):
        found = min(judge_texts(spelled[0] or newer, spelled[1] or older), Standing.DOUBTED)
    if found or not share_translated(newer, older):
        return found
    return judge_texts(translate(newer), translate(older)) or judge_abroad(newer, older)


def judge_abroad(newer: str, older: str) -> Standing:
    """Judge two statements of which most words cannot be compared: whether one counts or chooses otherwise,
    and says that something changes or has two subjects of the other; what is counted alone is no subject.
    """
    bare = (NUMBER.sub(" ", text) for text in (newer, older))
    is_same = len(list_translated(newer, older)) >= MIN_SUBJECT
    every = itertools.product(split_claims(newer), split_claims(older))
    pairs = ((new, old) for new, old in every if is_same or new.is_change)
    is_other = any(differ(new.values, old.values) or find_choices(new, old) for new, old in pairs)
    return Standing.DOUBTED if is_other and share_translated(*bare) else Standing.HOLDS


def judge_texts(newer: str, older: str) -> Standing:
    """Return what a newer statement does to an older one in the same language."""
    if normalise_text(newer) == normalise_text(older):
        return Standing.HOLDS
    own, taken_back = split_taken_back(newer)
    older_own = split_taken_back(older)[0]
    if taken_back and normalise_text(taken_back) == normalise_text(older_own):
        return Standing.REPLACED
    if not shares_root(own, older_own) and not replaces_personally(own, older_own):
        return Standing.HOLDS
    if prefers_same(newer, older):
        return Standing.HOLDS
    if any(rule(own, older_own) for rule in (revises, replaces_personally, prefers_other)):
        return Standing.REPLACED
    olds, news = split_claims(older_own), split_claims(own)
    if join_words(news).isdisjoint(join_words(olds)):
        return Standing.HOLDS
    found = max((judge_claims(new, old) for new in news for old in olds), default=Standing.HOLDS)
    if len(olds) > 1:
        found = min(found, Standing.DOUBTED)  # the rest of it may hold
    is_outdone = len(olds) == 1 and outdoes(own, olds[0])
    return max(found, judge_whole(news, olds), Standing(is_outdone))


def changes(newer: str, older: str) -> bool:
    """Return whether a newer statement leaves an older one replaced, or doubted."""
    return judge_standing(newer, older) > Standing.HOLDS


def replaces(newer: str, older: str) -> bool:
    return judge_standing(newer, older) is Standing.REPLACED


def judge_whole(news: Sequence[Claim], olds: Sequence[Claim]) -> Standing:
    """Return whether a text of several sentences takes back one on its subject."""
    shared = join_words(news) & join_words(olds)
    values, before = (tuple(value for claim in claims for value in claim.values) for claims in (news, olds))
    if any(value <= join_words(olds) and shared - value for new in news for value in new.given_up):
        return Standing.DOUBTED
    if not shared or not differ(values, before):
        return Standing.HOLDS
    if not any(new.is_change or new.is_correction for new in news):
        return Standing.HOLDS
    is_restated = any(new.is_change for new in news) and bool(set(values) & set(before))
    is_swapped = any(swaps(new, old) for new in news for old in olds)
    is_measured = (
        not is_swapped
        and len(shared) >= MIN_SUBJECT
        and any(differ(tuple(value for value in values if value.kind == kind), before) for kind in MEASURES)
    )
    is_taken_back = is_restated or is_measured or any(new.is_correction for new in news)
    return Standing.DOUBTED if is_taken_back else Standing.HOLDS


def judge_claims(new: Claim, old: Claim) -> Standing:
    """Return what one sentence does to another; what somebody else says leaves it in doubt at most."""
    if new.topic:
        return forget(new, old)
    if old.topic or not new.words or not old.words or "?" in new.text or "？" in new.text:
        return Standing.HOLDS
    found = max(rule(new, old) for rule in RULES)
    clauses = (
        rule(part, old)
        for at, part in enumerate(split_clauses(new))
        for rule in RULES
        if rule is not deny or may_deny(at, part)
    )
    found = found or min(max(clauses, default=Standing.HOLDS), Standing.DOUBTED)
    return min(found, Standing.DOUBTED) if SAYER.search(new.text) else found


def forget(new: Claim, old: Claim) -> Standing:
    """Judge a claim that says to forget what was laid down about a topic."""
    if new.topic <= old.words:
        return Standing.REPLACED
    shared = len(new.topic & old.words)
    return Standing.DOUBTED if shared >= MIN_SUBJECT and 2 * shared > len(new.topic) else Standing.HOLDS


def give_up(new: Claim, old: Claim) -> Standing:
    """Judge a claim that gives up a value of the older one: "forget GraphQL, REST"."""
    for value in new.given_up:
        value -= HOLDERS
        if (
            not value
            or not value <= old.words
            or old.is_negated
            or value in (*old.given_up, *old.turned_down)
        ):
            continue
        rest, subject = new.words - value, old.words - value
        shared = rest & subject
        if not shared and not subject:
            return Standing.REPLACED if len(rest) <= MAX_EXTRA else Standing.DOUBTED
        if not rest and len(value) > len(subject):
            return Standing.DOUBTED
        is_whole = len(rest - subject) <= MAX_EXTRA and not narrows(new, old)
        if shared:
            return Standing.REPLACED if is_whole else Standing.DOUBTED
        is_name = not value.isdisjoint(new.names | old.names)
        is_choice = value <= list_chosen(old) or (len(value) > 1 and old.roots[-1] in value)
        if is_whole and (is_name or is_choice or FORGETS.match(new.text)):
            return Standing.DOUBTED
    return Standing.HOLDS


def turn_down(new: Claim, old: Claim) -> Standing:
    """Judge a claim that says "not X": weaker than to give it up, so the subject must be there."""
    for value in new.turned_down:
        if not value <= old.words or old.is_negated or value in (*old.given_up, *old.turned_down):
            continue
        subject = old.words - value
        shared = subject & (new.words - value)
        is_value = not value.isdisjoint(old.roots[-1:])
        if not subject and len(value) >= MIN_SUBJECT:
            return Standing.DOUBTED
        if shared and (len(shared) >= MIN_SUBJECT or subject <= new.words or is_value):
            return Standing.REPLACED if subject <= new.words and not narrows(new, old) else Standing.DOUBTED
    return Standing.HOLDS


def take_up(new: Claim, old: Claim) -> Standing:
    """Judge a claim that uses what the older one turned down: "a real postgres, never sqlite"."""
    for value in old.turned_down:
        shared = (new.words & old.words) - value
        is_meant = (
            value <= new.words and not new.is_negated and value not in (*new.turned_down, *new.given_up)
        )
        if is_meant and len(shared) >= MIN_SUBJECT:
            return Standing.DOUBTED
    return Standing.HOLDS


def change_value(new: Claim, old: Claim) -> Standing:
    """Judge two claims that count the same kind of thing of one subject, with other numbers."""
    if not differ(new.values, old.values):
        return Standing.HOLDS
    if new.is_negated != old.is_negated:  # it may deny something else: "make it 40 minutes, and no mails"
        is_measured = differ(measured(new), measured(old)) and not swaps(new, old)
        return Standing.DOUBTED if new.is_change and is_measured and new.words & old.words else Standing.HOLDS
    if any(is_numbered(normalise(one.text)) for one in (new, old)) and not count_same(new, old):
        return Standing.HOLDS
    shared, only_new, only_old = compare(new, old)
    if not shared or bound_apart(new, old) or (ADDITIVE.search(old.text) and not new.is_change):
        return Standing.HOLDS
    if set(new.values) & set(old.values) and len(new.values) > len(old.values):
        return Standing.REPLACED if len(shared) >= MIN_SUBJECT or not only_old else Standing.DOUBTED
    if swaps(new, old) or (narrows(new, old) and not new.is_change):
        return Standing.HOLDS
    if not only_new and (new.is_change or (not only_old and len(shared) >= MIN_SUBJECT)):
        return Standing.REPLACED
    is_verb = len(only_new) == len(only_old) == 1 and new.roots[0] == old.roots[0]
    is_counted = not set(NAMED_NUMBER.findall(new.text)).isdisjoint(NAMED_NUMBER.findall(old.text))
    is_counted = is_counted or (len(only_old) <= 1 and differ(measured(new), measured(old)))
    is_bound = not only_old and bound_alike(new, old)
    is_likely = (
        is_verb
        or is_bound
        or (new.is_change and is_counted)
        or (new.is_change and (len(shared) >= MIN_SUBJECT or not only_old))
    )
    return Standing.DOUBTED if is_likely or counts_all(new, old) or not only_new else Standing.HOLDS


def change_unit(new: Claim, old: Claim) -> Standing:
    """Judge a claim that counts by something else: "every 5 seconds", "every 10 metres"."""
    kinds = [{value.kind for value in claim.values} for claim in (new, old)]
    shared = new.words & old.words
    is_same = len(shared) >= MIN_SUBJECT and 2 * len(shared) >= len(old.words)
    is_other = all(kinds) and kinds[0].isdisjoint(kinds[1])
    return Standing.DOUBTED if new.is_change and is_same and is_other else Standing.HOLDS


def narrow(new: Claim, old: Claim) -> Standing:
    """Judge a claim that says where the older one does not hold: "but not on Fridays"."""
    shared = new.words & old.words
    is_same = 2 * len(shared) >= len(old.words) and narrows(new, old)
    is_same = is_same and (len(shared) >= MIN_SUBJECT or old.roots[0] in shared)
    return Standing.DOUBTED if is_same and EXCEPTS.search(new.text) else Standing.HOLDS


def deny(new: Claim, old: Claim) -> Standing:
    """Judge two claims of which one denies what the other says; the newer one may say where."""
    shared, only_new, only_old = compare(new, old)
    if new.is_negated == old.is_negated or not shared or differ(new.values, old.values):
        return Standing.HOLDS
    if not only_new and not only_old:
        return Standing.REPLACED
    if only_new and only_old:
        is_most = 2 * len(shared) >= len(old.words) and (len(shared) >= MIN_SUBJECT or old.roots[0] in shared)
        is_allowed = len(shared) >= MIN_SUBJECT and old.is_negated and PERMITS.search(new.text)
        is_ended = is_most and (is_allowed or CEASES.search(new.text))
        return Standing.DOUBTED if turns_round(new, old) or is_ended else Standing.HOLDS
    is_same = len(shared) >= MIN_SUBJECT or len(only_new or only_old) <= MAX_EXTRA
    return (
        Standing.DOUBTED
        if is_same and len(shared) >= MIN_SHARE * len(new.words | old.words)
        else Standing.HOLDS
    )


def choose_otherwise(new: Claim, old: Claim) -> Standing:
    """Judge a claim that has another word in the place of one: of a change, or its opposite."""
    shared, only_new, only_old = compare(new, old)
    if not shared or new.is_negated != old.is_negated or not (only_new and only_old):
        return Standing.HOLDS
    if are_opposites(new, old):
        if len(only_new) == len(only_old) == 1:
            return Standing.REPLACED if new.is_change else Standing.DOUBTED
        if len(shared) >= MIN_SUBJECT and not swaps(new, old):
            return Standing.DOUBTED
    if ADDS.search(old.text):
        return Standing.HOLDS
    is_elsewhere = swaps(new, old) or bool(new.scope - old.words - new.names - CHOSEN_ROOTS)
    if not is_elsewhere and are_choices(new, old):
        return Standing.DOUBTED
    if not new.is_change or is_elsewhere or max(len(only_new), len(only_old)) > MAX_EXTRA:
        return Standing.HOLDS
    named = bool(only_new & new.names and only_old & old.names)
    is_one = not (only_new - new.names and only_old - old.names - ATTRIBUTES)
    is_value = len(only_old) == 1 and old.roots[-1:] == tuple(only_old)
    return Standing.DOUBTED if (named and is_one) or is_value else Standing.HOLDS


def open_up(new: Claim, old: Claim) -> Standing:
    """Judge a claim that lets everybody do what one alone might, or leaves open what had to be, or the other
    way round.
    """
    who = ((ALONE, ANYBODY), (ANYBODY, ALONE), (ALONE, ALSO))
    has_to = ((OPTIONAL, OBLIGED), (OBLIGED, OPTIONAL)) if new.roots[:1] == old.roots[:1] else ()
    is_turned = any(one.search(old.text) and other.search(new.text) for one, other in (*who, *has_to))
    shared = new.words & old.words
    is_same = len(shared) >= MIN_SUBJECT or not shared.isdisjoint((old.roots[0], old.roots[-1]))
    return Standing.DOUBTED if is_turned and is_same else Standing.HOLDS


def limit(new: Claim, old: Claim) -> Standing:
    """Judge a claim that holds for some alone where the older one has all, or the other way round."""
    is_turned = any(
        one.search(old.text) and other.search(new.text) for one, other in ((EVERY, ALONE), (ALONE, EVERY))
    )
    shared = len(new.words & old.words)
    is_same = shared >= MIN_SUBJECT and 2 * shared >= len(old.words)
    return Standing.DOUBTED if is_turned and is_same else Standing.HOLDS


def say_anew(new: Claim, old: Claim) -> Standing:
    """Judge a claim that names the subject and then says what holds: "the log: a year"."""
    is_counted = differ(new.values, old.values)
    is_about = new.head <= old.words or (is_counted and len(new.head & old.words) >= MIN_SUBJECT)
    is_all = old.roots[-1:] == tuple(old.words - new.head) and not old.words & (new.words - new.head)
    is_said = is_counted or is_all or new.is_change or find_choices(new, old) or ALONE.search(new.text)
    return Standing.DOUBTED if new.head and is_about and is_said else Standing.HOLDS


def criticise(new: Claim, old: Claim) -> Standing:
    """Judge a claim that has most of the words of the older one: of a change, or with its value in another
    part than its subject, as a reason ("Production logs at warning, info eats our disk").
    """
    shared, only_new, _ = compare(new, old)
    if 2 * len(shared) < len(old.words) or not only_new:
        return Standing.HOLDS
    is_turned = new.is_negated != old.is_negated or swaps(new, old)
    is_said = len(shared) >= MIN_SUBJECT and new.is_change and not is_turned
    return Standing.DOUBTED if is_said or parts_value(new, old) else Standing.HOLDS


def correct(new: Claim, old: Claim) -> Standing:
    """Judge a claim that takes back what was said, and names the subject."""
    shared, only_new, only_old = compare(new, old)
    is_swapped = len(only_new) == len(only_old) == 1  # "actually no, use bigints for ids"
    is_same = len(shared) >= MIN_SUBJECT or (shared and (is_swapped or differ(new.values, old.values)))
    if new.corrected and new.corrected <= old.words:
        return Standing.DOUBTED
    return Standing.DOUBTED if new.is_correction and is_same else Standing.HOLDS


RULES = (
    *(give_up, turn_down, take_up, change_value, change_unit, deny, narrow, choose_otherwise, open_up),
    *(limit, say_anew, criticise, correct),
)
