"""Prompts: versioned files; stored text stands in them between fences that it cannot close."""

import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from curation.engines.cases import Case, Excerpt
from curation.engines.ratings import cut_characters
from memory.providers.chat import Message

FOLDER = Path(__file__).parent.parent / "prompts"
VERIFY, SCORE = "verify-1", "score-1"  # a changed prompt is a new file, since results name it
MAX_FACT = 16_000  # characters of the fact that a judge reads
MAX_EXCERPT = 2_000  # of one piece of evidence
MAX_EVIDENCE = 12_000  # of all of it


@cache
def read_prompt(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


def build_messages(case: Case, prompt: str = VERIFY) -> list[Message]:
    """Return the messages for a judge: the rules with the fence of this prompt, and the data between it."""
    parts = [Excerpt("the fact to rate", cut_characters(MAX_FACT, describe_case(case))), *fit(case.evidence)]
    missing = "" if case.evidence else "\n\nNo evidence is stored with this fact."
    return fence_parts(prompt, parts, missing)


def fence_parts(prompt: str, parts: Sequence[Excerpt], note: str = "", **words: str) -> list[Message]:
    """Return a prompt with stored texts between fences that none of them can close.

    ``words`` take the places of their names in the prompt; ``note`` follows the texts.
    """
    fence = f"==={secrets.token_hex(12)}==="  # no stored text can know it
    data = "\n\n".join(f"{fence} {one.title}\n{one.text}\n{fence} end" for one in parts)
    rules = read_prompt(prompt)
    for name, text in {**words, "fence": fence}.items():
        rules = rules.replace(f"{{{name}}}", text)
    return [Message("system", rules), Message("user", data + note)]


def describe_case(case: Case) -> str:
    fact = case.fact
    return f"category: {fact.category}\nstored: {fact.created_at:%Y-%m-%d}\n\n{fact.fact_text}"


def fit(evidence: Sequence[Excerpt]) -> list[Excerpt]:
    """Return the evidence, each piece cut, as far as it fits."""
    found, left = list[Excerpt](), MAX_EVIDENCE
    for one in evidence:
        text = cut_characters(min(MAX_EXCERPT, left), one.text) if left > 0 else ""
        if text:
            found.append(Excerpt(one.title, text))
        left -= len(text)
    return found
