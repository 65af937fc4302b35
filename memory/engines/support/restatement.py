"""Whether two statements say the same of one subject in other words. Pure functions, English and Chinese.

Precision counts more than recall, as in ``revision_rules``: what one statement says beyond the other would be
lost. So all words but common verbs have to be in both, in the same runs, and nothing may be left aside but
what is not chosen.
"""

import re

from memory.engines.support.revision_rules import (
    CLAUSE_END,
    NARROWS,
    SENTENCE_END,
    TURNS_DOWN,
    Statement,
    find_given_up,
    is_short,
    normalise,
    read_statement,
    split_runs,
)

MIN_RUNS = 2  # a subject and its value
REFUSES = re.compile(
    r"(?:and )?(?:nobody|no one|never|(?:we )?(?:do not|don't)) (?:touch|use|want)\w* [\w.-]+"
    r"(?: for it| there)?$"
    r"|(?:不要|不再|不)用\s?[\w.-]+$"
)
# Common words that ``revision_rules`` passes over, and that change what is said: how sure, how many, whose,
# when, in which direction.
QUALIFIERS = re.compile(
    r"\b(?:may|might|can|could|would|should|must|needs?|wants?|like|allowed|try|always|currently|still"
    r"|again|temporarily|(?<!from )today|was|were|had|did|been|once|if|when|while|until|and|or|all|some|any"
    r"|each|every|other|another|both|few|first|my|your|his|her|their|from(?! today| now)|into|without"
    r"|to(?! (?:use|keep|run|have|make|go|stay)\b)"
    r"|against|off|by|up|down|back|out|via|through|per)\b|可以|可能|应该|必须|目前|能|从|到|和|或"
)
LABEL = re.compile(r"^(\w[^:.;!?\n]{0,80}):\s")  # Decision for the queue: Kafka
FOR = re.compile(r"\bfor\b")


def restates(one: str, other: str) -> bool:
    """Return whether two statements say the same of one subject, so that either may stand for both."""
    one, other = (LABEL.sub(r"\1 is ", text) for text in (one, other))
    if not (is_short(one) and is_short(other)):
        return False
    return say_same(read_statement(one), read_statement(other)) and is_whole(one) and is_whole(other)


def is_whole(text: str) -> bool:
    """Return whether a text is one sentence that says nothing beside its statement."""
    plain = normalise(text)
    _first, *rest = CLAUSE_END.split(plain)
    asides = (clause for clause in rest if not NARROWS.match(clause.lower()))
    return len(SENTENCE_END.split(plain)) == 1 and all(map(is_refusal, asides))


def is_refusal(clause: str) -> bool:
    """Return whether a clause says nothing, or only names what is not chosen."""
    lower = clause.lower()
    says_nothing = not any(split_runs(clause)[0])
    return says_nothing or bool(
        TURNS_DOWN.match(lower) or REFUSES.match(lower) or any(find_given_up(f", {lower}"))
    )


def say_same(one: Statement, other: Statement) -> bool:
    """Return whether two statements have the same words in the same runs, and the same figures."""
    if one.words != other.words or one.changed or other.changed or one.negated or other.negated:
        return False
    if (one.numbers, one.units, find_qualifiers(one)) != (other.numbers, other.units, find_qualifiers(other)):
        return False
    return len(one.runs) >= MIN_RUNS and (one.runs == other.runs or is_turned(one, other))


def is_turned(one: Statement, other: Statement) -> bool:
    """Return whether one begins with the subject and the other with its value: "Use A for B", "B uses A".

    Without *for*, or between names, the order may say who does what to whom.
    """
    rotated = any(one.runs[at:] + one.runs[:at] == other.runs for at in range(1, len(one.runs)))
    return rotated and any(FOR.search(text) for text in (one.text, other.text)) and not is_relation(one)


def find_qualifiers(one: Statement) -> set[str]:
    return set(QUALIFIERS.findall(one.text))


def is_relation(one: Statement) -> bool:
    """Return whether a statement is about several names, whose order may say who does what to whom."""
    return sum(set(run) <= one.names for run in one.runs) > 1
