"""The words of a question that are worth looking for."""

import re
import unicodedata

STOP = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being between both
    but by can could couldn d did didn do does doesn doing don during each for from further had hadn has
    hasn have haven having he her here hers herself him himself his how i if in into is isn it its
    itself just ll m ma me more most my myself no nor not now o of off on once only or other our ours
    ourselves out over own re s same she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up ve very was wasn we were
    weren what when where which while who whom whose why will with won would wouldn y you your yours
    yourself yourselves
    """.split()
)
WORD = re.compile(r"\w+")
MOST = 64  # a query of 8,000 characters holds more; the first ones say what it is about


def keywords(query: str) -> list[str]:
    """The query's words without stop and question words (all words if nothing else is left), no repeats.

    A name like ``auth_token`` is kept whole, which finds it as a phrase, and in its parts.
    """
    plain = unicodedata.normalize("NFC", query.replace("\x00", " ")).lower()
    words = list(dict.fromkeys(WORD.findall(plain)))
    words = [word for word in words if word not in STOP] or words
    parts = (part for word in words for part in (word, *word.split("_")))
    return [part for part in dict.fromkeys(parts) if part.strip("_")][:MOST]
