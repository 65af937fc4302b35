"""Prompts: versioned files; stored text stands in them between fences that it cannot close."""

import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from curation.engines.cases import Case, Excerpt
from curation.engines.ratings import cut_characters
from memory.providers.chat import Message

FOLDER = Path(__file__).parent.parent / "prompts"
VERIFY = "verify-1"  # a changed prompt is a new file, since results name it
MAX_FACT = 16_000  # characters of the fact that a judge reads
MAX_EXCERPT = 2_000  # of one piece of evidence
MAX_EVIDENCE = 12_000  # of all of it


@cache
def read_prompt(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


def build_messages(case: Case, prompt: str = VERIFY) -> list[Message]:
    """Return the messages for a judge: the rules with the fence of this prompt, and the data between it."""
    fence = f"==={secrets.token_hex(12)}==="  # no stored text can know it
    parts = [Excerpt("the fact to rate", cut_characters(MAX_FACT, describe_fact(case))), *fit(case.evidence)]
    data = "\n\n".join(f"{fence} {one.title}\n{one.text}\n{fence} end" for one in parts)
    missing = "" if case.evidence else "\n\nNo evidence is stored with this fact."
    return [Message("system", read_prompt(prompt).replace("{fence}", fence)), Message("user", data + missing)]


def describe_fact(case: Case) -> str:
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
