"""Evidence that a prompt needs a text: how near they are, and the words that they share.

Evidence is the cosine plus half of the share of the prompt's words. How much is needed depends on what the
prompt is for, see prompt_intent.py; bench/decisions.py and bench/crowd.py measure both.
"""

from collections.abc import Collection

from conversations.engines.prompt_intent import Request, is_dense, read_request, split_words, stem_words
from memory.conf import conf
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.evidence import is_telling
from memory.words import extract_keywords

SHARE_WEIGHT = 0.5
# Of the share alone, in scripts without spaces: of their pairs of characters half are no word.
DENSE_WEIGHT = 2.0
FOREIGN_SHARE = 0.2  # that a question needs in a language of which the model knows the letters alone
MIN_SUBJECTS = 2  # of a prompt that names so many, nearness alone may be evidence
RICH_SUBJECTS = 5


def weigh(question: PreparedQuery, text: str, cosine: float | None) -> float:
    """Return the evidence that a prompt needs a text; 0 where it is too little."""
    request, stems = get_request(question), read_stems(text)
    share, subjects = request.share_words(stems), request.count_subjects(stems)
    if question.is_foreign and question.vector is not None and request.is_question:
        return share if share >= FOREIGN_SHARE and is_telling(request.subjects & set(stems)) else 0.0
    if is_dense(question.text) or is_dense(text):
        evidence, cosine = DENSE_WEIGHT * share, None
    elif cosine is None or question.is_foreign or not is_calibrated():
        evidence, cosine = share, None
    else:
        evidence = max(cosine, 0.0) + SHARE_WEIGHT * share
    return evidence if is_enough(request, evidence, subjects, cosine) else 0.0


def is_enough(request: Request, evidence: float, subjects: int, cosine: float | None) -> bool:
    """Return whether a text is about a subject of the prompt, by its words or by nearness alone."""
    least = request.least
    if not request.subjects:
        return False
    if evidence >= least.evidence and subjects >= (1 if request.is_lone else least.subjects):
        return True
    if cosine is None or not request.is_english or len(request.subjects) < MIN_SUBJECTS:
        return False
    return cosine >= (least.rich_cosine if len(request.subjects) >= RICH_SUBJECTS else least.cosine)


def is_calibrated() -> bool:
    """Return whether the least evidence was measured with this embedder: each has a scale of its own."""
    return conf().embedder == "minilm"


def get_request(question: PreparedQuery) -> Request:
    return read_request(question.text, tuple(question.words))


def share_words(question: PreparedQuery, text: str) -> float:
    """Return the share of the prompt's words that the text has."""
    return get_request(question).share_words(read_stems(text))


def read_stems(text: str) -> Collection[str]:
    return stem_words(split_words(extract_keywords(text)))
