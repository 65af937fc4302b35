"""Sentences of a language model for reflections, within a budget. Never called in a transaction."""

from collections.abc import Sequence
from pathlib import Path

from conversations.engines.consolidation.extraction import ModelCosts
from curation.engines.dreaming.reflections import MAX_EXCERPT, Reflection, replace_essence
from memory.conf import conf
from memory.engines.fields.facts import ESSENCE_LENGTH
from memory.engines.support.similarity import extract_numbers
from memory.exceptions import ProviderNonsense
from memory.providers import chat
from memory.providers.chat import iterate_objects
from memory.providers.openai_server import find_configured
from memory.providers.prompts import build_prompt
from memory.redaction import redact_all
from memory.texts import cut_line

FOLDER = Path(__file__).parents[2] / "prompts"
PROMPT = "reflect-1"
MAX_ANSWER = 8_000  # characters of an answer that are read
MIN_LENGTH = 10


def write_sentences(reflections: Sequence[Reflection], costs: ModelCosts) -> list[Reflection]:
    """Return the reflections with the sentences of the model, as far as it answers; rules do the rest."""
    server, _problem = find_configured(chat.get_judge)
    if server is None or not conf().consolidation_budget:
        return list(reflections)
    found = []
    for one in reflections:
        sentence = "" if costs.note else ask_model(server, one, costs)
        found.append(replace_essence(one, sentence) if sentence else one)
    return found


def ask_model(server: chat.ChatServer, one: Reflection, costs: ModelCosts) -> str:
    """Return one sentence of the model, "" for none that may be used; note why it is asked no more."""
    pieces = [("", cut_line(fact.fact_text, 2 * MAX_EXCERPT)) for fact in one.members]
    answer = costs.ask(server, build_prompt(FOLDER / f"{PROMPT}.txt", pieces))
    try:
        return parse_sentence(answer, one) if answer is not None else ""
    except ProviderNonsense as error:
        costs.give_up(error)
        return ""


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
