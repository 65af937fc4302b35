"""Sentences of a language model for reflections, within a budget. Never called in a transaction."""

import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from conversations.engines.consolidation.extraction import DOWN, SPENT, ModelCosts
from curation.engines.dreaming.reflections import MAX_EXCERPT, Reflection, cut_line, replace_essence
from memory.conf import conf
from memory.engines.fields.facts import ESSENCE_LENGTH
from memory.engines.support.similarity import extract_numbers
from memory.exceptions import ProviderNonsense, ProviderUnavailable
from memory.providers import chat
from memory.providers.chat import iterate_objects
from memory.redaction import redact_all

FOLDER = Path(__file__).parents[2] / "prompts"
PROMPT = "reflect-1"
MAX_ANSWER = 8_000  # characters of an answer that are read
MIN_LENGTH = 10


def write_sentences(reflections: Sequence[Reflection], costs: ModelCosts) -> list[Reflection]:
    """Return the reflections with the sentences of the model, as far as it answers; rules do the rest."""
    try:
        server = chat.get_judge()
    except ImproperlyConfigured:
        return list(reflections)
    if server is None or not conf().consolidation_budget:
        return list(reflections)
    found = []
    for one in reflections:
        sentence = "" if costs.note else ask_model(server, one, costs)
        found.append(replace_essence(one, sentence) if sentence else one)
    return found


def ask_model(server: chat.ChatServer, one: Reflection, costs: ModelCosts) -> str:
    """Return one sentence of the model, "" for none that may be used; note why it is asked no more."""
    budget = conf().consolidation_budget
    if costs.calls >= budget:
        costs.note = SPENT.format(most=budget)
        return ""
    costs.calls += 1
    try:
        answer = server.complete(build_messages(one))
        costs.model = server.model[:200]
        costs.input_tokens += answer.input_tokens
        costs.output_tokens += answer.output_tokens
        return parse_sentence(answer.text, one)
    except (ProviderUnavailable, ProviderNonsense) as error:
        costs.note = DOWN.format(reason=error.text)[:500]
        return ""


@cache
def read_prompt(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8").strip()


def build_messages(one: Reflection) -> list[chat.Message]:
    """Return the rules with the fence of this prompt, and the members between it."""
    fence = f"==={secrets.token_hex(12)}==="  # no stored text can know it
    parts = [f"{fence}\n{cut_line(fact.fact_text, 2 * MAX_EXCERPT)}\n{fence} end" for fact in one.members]
    rules = read_prompt(PROMPT).replace("{fence}", fence)
    return [chat.Message("system", rules), chat.Message("user", "\n\n".join(parts))]


def parse_sentence(text: str, one: Reflection) -> str:
    """Return the sentence of an answer; "" where it names a number that no member has. Raises
    ProviderNonsense for an answer of another form.
    """
    found = [item["summary"] for item in iterate_objects(text[:MAX_ANSWER]) if "summary" in item]
    if len(found) != 1 or not isinstance(found[0], str):
        raise ProviderNonsense(reason="it has no summary")
    sentence = redact_all(" ".join(found[0].split()))
    known = {number for fact in one.members for number in extract_numbers(fact.fact_text)}
    is_invented = not set(extract_numbers(sentence)) <= known
    return "" if is_invented or not MIN_LENGTH <= len(sentence) <= ESSENCE_LENGTH else sentence
