"""What a short answer lays down, with what its question asks about. Pure functions, no model.

"PDF (to: Should the monthly report be Excel or PDF?)" is about the monthly report, though the answer does not
say so: a later "the monthly report is xlsx" changes it.
"""

from functools import lru_cache

from memory.engines.statements.claims import list_roots
from memory.engines.statements.revision_rules import CACHE_SIZE, SENTENCE_END
from memory.patterns import lazy_pattern
from memory.texts import ANSWERED

OPTIONS = lazy_pattern(
    r"(?i)(?:\b(?:either|entweder|soit)\s)?([^\s,]+)\s+(?:or|oder|ou|o)\s+([^\s,?]+)"
    r"|([^\W\u3040-\u30ff]+?|[A-Za-z\d.+#-]+)\s?(?:还是|それとも|か、)\s?([A-Za-z\d.+#-]+|[^\W\u3040-\u30ff]+)"
)


@lru_cache(CACHE_SIZE)
def spell_out(text: str) -> str:
    """Return an answer as a statement on what its question asks about; "" for what answers none.

    Of two options that the question names, the one that the answer does not name is left out.
    """
    found = ANSWERED.search(text)
    if found is None:
        return ""
    answer = text[: found.start()]
    question = SENTENCE_END.split(" ".join(found[1].split()).rstrip(" ?？"))[-1]
    options, chosen = find_choice(answer, question)
    return question.replace(options, chosen) if chosen else f"{question}: {answer}"


def find_choice(answer: str, question: str) -> tuple[str, str]:
    """Return the options of a question as they stand in it, and the one that an answer names; "" for none."""
    roots = set(list_roots(answer.lower()))
    for found in OPTIONS.finditer(question):
        named = [name for name in found.groups() if name and roots & set(list_roots(name.lower()))]
        if len(named) == 1:
            return found.group(), named[0]
    return "", ""
