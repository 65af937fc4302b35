"""Rules that find decisions and preferences in messages. Pure functions, no database.

What a person lays down is found by a score of the prompt's words; an agent's message needs a phrase that
names a decision. The rules favour precision over recall: what asks, doubts, denies or passes is no decision.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conversations.engines.consolidation.approvals import (
    CHOSEN,
    MAX_QUESTION_LENGTH,
    find_question,
    read_approval,
)
from conversations.engines.consolidation.hearsay import OBLIGES, SARCASTIC, is_documented, is_hearsay
from conversations.engines.consolidation.lasting import asks_choice, is_at_work, is_passing, is_report, lasts
from conversations.engines.consolidation.lists import take_rules
from conversations.engines.consolidation.phrases import (
    IN_PASSING,
    PASSING,
    QUOTE_SIGN,
    QUOTED,
    REQUESTED,
    SHORT_LENGTH,
    has_phrase,
    is_idle,
    is_intent,
    names_decision,
    prefers,
)
from conversations.engines.consolidation.sentence_score import score_prompt
from conversations.engines.consolidation.sentences import (
    MIN_PART_LENGTH,
    MIN_SENTENCE_LENGTH,
    keep_typed,
    measure_length,
    sentences,
)
from conversations.engines.consolidation.withdrawals import list_instead
from memory.engines.search.answer_boost import ASKS
from memory.engines.statements.answered import find_choice
from memory.engines.statements.choices import list_taken
from memory.engines.statements.claims import SAYER, is_negated, split_claims
from memory.engines.statements.personal_facts import read_personal
from memory.models.hashes import normalise_text
from memory.patterns import lazy_pattern

MIN_SCORE = 0.0  # of a person's prompt
MIN_ALONE_SCORE = 1.0  # of a sentence of another prompt, which says so among orders and questions
MIN_OWN_SCORE = -1.0  # of a sentence of such a prompt that stands by itself
MIN_PART_SCORE = -4.0  # of another sentence of it
MAX_PARTS = 8  # sentences that are scored together
MIN_CLAUSE_LENGTH = 8
CLAUSE = lazy_pattern(  # after which another clause of a chat begins
    r"(?i)[,;:?，；：]\s*|\s[-–—]\s"
    r"|\s+(?:and|but|so|because|btw|und|aber|weil|y|pero|porque|et|mais|e|mas) (?:also )?"
    r"(?=(?:i|we|my|our|ich|wir|mein|yo|mi|je|j'|mon|ma|eu|meu|minha)\b)"
)
ANSWERS = "(to: {})"
# What is to be done in the place of what the sentence before it refuses.
INSTEAD = lazy_pattern(r"(?i)\b(?:instead|stattdessen|à la place|en su lugar|no lugar)\W*$|代わりに")
OPENING_END = lazy_pattern(r"[,;.，；。、:]|\s[–—-]+\s")
LETTER = lazy_pattern(r"[^\W\d_]")


@dataclass(frozen=True)
class Lesson:
    """A sentence worth storing, with its category."""

    text: str
    category: str


def lessons(
    text: str, spoken_by_user: bool, previous: str = "", is_chat: bool = False, answers: Sequence[str] = ()
) -> Iterator[Lesson]:
    """Yield what a message lays down, each text once; ``previous`` is what the other side said before it,
    ``answers`` what else it said around it, and a chat belongs to no repository.

    An agent's message needs a phrase of the rules; a person's is scored by its words, and while the agent
    works a sentence needs the form of what holds on.
    """
    is_working = is_at_work(text, is_chat, (previous, *answers))
    found = read_prompt(text, previous, is_chat, is_working) if spoken_by_user else read_answer(text)
    seen: set[str] = set()
    for lesson in found:
        if normalise_text(lesson.text) not in seen:
            seen.add(normalise_text(lesson.text))
            yield lesson


def read_rest(text: str, learned: Iterable[str], is_working: bool = False) -> Iterator[str]:
    """Yield the other sentences of a prompt that may state something, orders of the moment included.

    While the agent works only those that have the form of what holds on, or take something back.
    """
    known = " ".join(learned)
    typed = join_taken(sentences(keep_typed(text), MIN_PART_LENGTH))
    parts = [part for part in typed if measure_length(part) >= MIN_SENTENCE_LENGTH]
    if any(QUOTE_SIGN.search(part) for part in parts):
        return
    for part in parts:
        is_idle = ASKS.search(part) or PASSING.search(part) or (is_hearsay(part) and not may_bind(part))
        if not is_idle and part not in known and (not is_working or may_hold(part)):
            yield part


def may_bind(hearsay: str) -> bool:
    """Return whether what another says has to be, or what somebody by name or trade counts, may change what
    was decided; what documents count does not.
    """
    is_counted = SAYER.search(hearsay.lower()) and any(claim.values for claim in split_claims(hearsay))
    return bool(OBLIGES.search(hearsay) or (is_counted and not is_documented(hearsay)))


def join_taken(parts: Iterable[str]) -> Iterator[str]:
    """Yield sentences; one that only takes something with the one before it: "Celery is slow. Use cron"."""
    before = ""
    for part in parts:
        joined = f"{before} {part}".strip()
        if before and list_taken(joined) <= list_taken(before):
            yield before
            joined = part
        before = joined
    if before:
        yield before


def may_hold(text: str) -> bool:
    """Return whether a sentence may change what was laid down, and is no step of work."""
    return holds_on(text, "") or any(one.topic or one.given_up for one in split_claims(text))


def read_answer(text: str) -> Iterator[Lesson]:
    """Yield the sentences in which a phrase names a decision; none of an answer that reports work."""
    if is_report(text):
        return
    for sentence in sentences(text):
        if names_decision(sentence) and not is_intent(sentence):
            yield Lesson(sentence, "decision")


def read_prompt(prompt: str, previous: str, is_chat: bool, is_working: bool) -> Iterator[Lesson]:
    """Yield what a person lays down, with the question that a short text answers."""
    text = keep_typed(prompt)
    if SARCASTIC.search(text):
        return
    if (approved := read_approval(text, previous)) is not None:
        yield from (Lesson(one, "decision") for one in approved if not (is_working and is_passing(one)))
        return
    question = find_question(previous)
    text, listed = take_rules(text, is_working)
    yield from (Lesson(one, name_category(one, is_chat)) for one in listed)
    parts = list(sentences(text, MIN_PART_LENGTH))
    personal = [one for one in read_life(parts, is_chat) if not (is_working and is_passing(one.text))]
    yield from personal
    parts = [part for part in parts if not any(one.text in part for one in personal)]
    parts = [part for part in parts if not (is_chat and IN_PASSING.search(part))]
    for start in range(0, len(parts), MAX_PARTS):
        batch = parts[start : start + MAX_PARTS]
        for joined in join_parts(batch, choose_parts(batch, question)):
            if not is_working or holds_on(joined, question):
                yield Lesson(add_question(joined, question), name_category(joined, is_chat))
        question = ""


def name_category(text: str, is_chat: bool) -> str:
    """Return the category of what is laid down; in a chat it is a decision only where a phrase says so."""
    if prefers(text) or (is_chat and REQUESTED.search(text)):
        return "preference"
    return "decision" if not is_chat or has_phrase(text) else "personal"


def choose_parts(parts: Sequence[str], question: str) -> list[int]:
    """Return the positions of the sentences of a prompt that lay something down."""
    whole = score_prompt(parts, question)
    telling = [at for at, part in enumerate(parts) if not is_idle(part)]
    scores = {at: score_prompt([parts[at]], question) for at in telling}
    if whole < MIN_SCORE:
        own = [at for at in telling if stands_out(parts, at, scores[at])]
        is_list = len(own) > 1  # among requests
        own += [at for at in telling if at - 1 in own and at not in own and INSTEAD.search(parts[at])]
        return [at for at in telling if at in own or (is_list and scores[at] >= MIN_SCORE)]
    own = [at for at in telling if scores[at] >= MIN_OWN_SCORE or has_phrase(parts[at])]
    is_quoting = any(QUOTED.match(part) for part in parts)
    if is_quoting or (not own and len(telling) < len(parts)):  # what is left says little without the rest
        return [at for at in own if has_phrase(parts[at])]
    return [at for at in telling if at in own or belongs(at, parts, scores, own)]


def read_life(parts: Iterable[str], is_chat: bool) -> Iterator[Lesson]:
    """Yield the plain facts of the person's life; in a chat also those that stand in the middle of a request:
    "i'm from Manila, where can I eat cheaply?".
    """
    for part in parts:
        if category := find_personal(part, is_chat):
            yield Lesson(part, category)
        elif is_chat:
            clauses = [clause.strip() for clause in CLAUSE.split(part)]
            found = ((one, find_personal(one, is_chat)) for one in clauses if len(one) >= MIN_CLAUSE_LENGTH)
            is_refusal = is_negated(clauses[0].lower())  # "no nuts please, my son is allergic"
            yield from (Lesson(part if is_refusal else one, category) for one, category in found if category)


def find_personal(part: str, is_chat: bool = False) -> str:
    """Return the category of a plain fact of the person's life, "" for any other sentence."""
    found = read_personal(part, is_chat)
    if not found or names_decision(part) or prefers(part) or is_hearsay(part) or QUOTE_SIGN.search(part):
        return ""
    return found.category


def holds_on(text: str, question: str) -> bool:
    """Return whether what is said has the form of what holds on, or a phrase of it and is no next step, or
    chooses in few words what a question asks for.
    """
    is_short = measure_length(text) < SHORT_LENGTH and LETTER.search(text) and not CHOSEN.match(text)
    is_answer = bool(is_short) and asks_choice(question)
    is_lasting = any(lasts(one) or has_phrase(one) for one in (text, *list_instead(text)))
    return not is_passing(text) and (is_answer or is_lasting)


def stands_out(parts: Sequence[str], at: int, score: float) -> bool:
    """Return whether a sentence lays something down in a prompt that, as a whole, does not."""
    if len(parts) > 1 and score >= MIN_ALONE_SCORE:
        return True
    return has_phrase(parts[at]) and not any(QUOTE_SIGN.search(part) for part in parts)


def belongs(at: int, parts: Sequence[str], scores: Mapping[int, float], own: Sequence[int]) -> bool:
    """Return whether a sentence that says little alone belongs to what a prompt lays down.

    A short one belongs to one beside it that lays something down; where none does, all that are no orders.
    """
    is_neighbour = measure_length(parts[at]) < SHORT_LENGTH and not {at - 1, at + 1}.isdisjoint(own)
    return scores[at] >= MIN_PART_SCORE and (is_neighbour or not own)


def join_parts(parts: Sequence[str], chosen: Iterable[int]) -> Iterator[str]:
    """Yield the chosen sentences; a short one together with the one beside it."""
    joined, last = "", 0
    for at in chosen:
        short = min(measure_length(joined), measure_length(parts[at])) < SHORT_LENGTH
        if joined and not (short and at == last + 1):
            yield joined
            joined = ""
        joined, last = f"{joined} {parts[at]}".strip(), at
    if joined:
        yield joined


def add_question(text: str, question: str) -> str:
    """Return the text; one that means little alone with the question that it answers, as does one that begins
    with an option of the question: "PDF, they keep breaking the sheets".
    """
    opening = OPENING_END.split(text)[0]
    is_short = measure_length(text) < SHORT_LENGTH
    is_chosen = measure_length(opening) < SHORT_LENGTH and bool(find_choice(opening, question)[1])
    if not question or not (is_short or is_chosen):
        return text
    return f"{text} {ANSWERS.format(question[:MAX_QUESTION_LENGTH])}"
