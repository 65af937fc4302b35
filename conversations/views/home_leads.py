"""What Home opens with: what memory learned last, and what sessions were told of it."""

from typing import Any

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.capture.sample import SampleEngine
from conversations.engines.tellings import Telling, list_tellings
from conversations.engines.told import describe_fact
from conversations.views.told import LineShower, list_answers, list_badges, offer_replacement
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.lines import AGENTS, NOTED, OBSERVED, REPAIR, name_source
from memory.engines.sessions.manager import Utterance, list_named
from memory.engines.sessions.utterances import find_utterances
from memory.models import Fact, Session
from memory.templatetags.day1 import short
from memory.views.frame.view_context import ViewContext

MAX_LEARNED = 5
MAX_TEXT = 400  # characters of a fact
MAX_NAME = 40  # characters of who wrote a fact
MAX_TITLE = 60  # characters of a session’s title below a fact
MAX_TELLINGS = 6
MAX_LINES = 3  # of a telling
VOICES = {
    "": lazy("a person’s words"),
    AGENTS: lazy("an agent’s words"),
    OBSERVED: lazy("seen in an agent’s work"),
    REPAIR: lazy("a failure and what put it right"),
    NOTED: lazy("written down"),
}


def load_learned(reader: ViewContext) -> dict[str, Any]:
    """Return the newest facts, each with whose words it is, the session that taught it, and the buttons."""
    facts = FactEngine().list_facts(**reader.read_args, limit=MAX_LEARNED).results
    voices = find_utterances(facts, reader.branch.lineage(reader.seq))
    sessions = list_named(reader.actor, {fact.session_id for fact in facts})
    rows = [LearnedRow(reader, fact, voices.get(fact.uid), sessions.get(fact.session_id)) for fact in facts]
    return {"lines": [row.show() for row in rows], "sample": choose_sample(reader, bool(facts))}


def choose_sample(reader: ViewContext, has_facts: bool) -> str:
    """Return what may be done with a sample session: play it where nothing is known, or remove it."""
    if not (reader.is_now and reader.allowed_now["curate"]):
        return ""
    if not has_facts:
        return "play"
    return "remove" if SampleEngine().list_facts(reader.branch) else ""


class LearnedRow:
    """A fact that was learned, as Home shows it."""

    def __init__(
        self, reader: ViewContext, fact: Fact, voice: Utterance | None, session: Session | None
    ) -> None:
        self.reader, self.fact, self.voice, self.session = reader, fact, voice, session

    def show(self) -> dict[str, Any]:
        fact = self.fact
        line = describe_fact(
            Session(project_path=fact.repository), fact, fact.fact_text, frozenset(), timezone.now()
        )
        answers = list_answers(line, fact.repository) if self.reader.allowed_now["curate"] else []
        return {
            "fact": fact,
            "text": short(fact.fact_text, MAX_TEXT),
            "address": self.reader.url("fact", fact.uid),
            "kind": self.name_voice(),
            "at": fact.created_at,
            "reason": self.name_session(),
            "badges": list_badges(line),
            "answers": answers,
            "replacement": offer_replacement(line, answers),
        }

    def name_voice(self) -> str:
        """Return whose words a fact is: of a person by name, where who used the key is known."""
        source = name_source(self.fact, self.voice)
        if not source and self.voice and self.voice.author.startswith("user:"):
            return _("said by %(who)s") % {"who": self.voice.name}
        writer = self.fact.agent_id or self.fact.source
        if source == NOTED and writer:
            return _("written by %(who)s") % {"who": short(writer, MAX_NAME)}
        return str(VOICES[source])

    def name_session(self) -> SafeString | str:
        if self.session is None:
            return ""
        address = self.reader.url("session", key=self.session.key, branch=self.session.branch.name, at="")
        link = format_html('<a href="{}" dir="auto">{}</a>', address, short(self.session.title, MAX_TITLE))
        return format_html("<span>{}</span>", format_html(_("in {session}"), session=link))


def load_told_lately(reader: ViewContext) -> dict[str, Any] | None:
    """Return what the last sessions of the branch were told; nothing in the past."""
    if not reader.is_now:
        return None
    found = list_tellings(actor=reader.actor, branch=reader.branch, limit=MAX_TELLINGS, now=timezone.now())
    return {"tellings": [show_telling(reader, one) for one in found]}


def show_telling(reader: ViewContext, one: Telling) -> dict[str, Any]:
    """Return a telling: to which session, with which prompt, when, and its first lines."""
    shower = LineShower(reader, one.session)
    lines = one.content.lines
    prompt = one.content.prompt
    more = len(lines) - MAX_LINES
    return {
        "session": one.session,
        "address": shower.link("session", key=one.session.key),
        "prompt": prompt.content if prompt else "",
        "title": _("At its start") if one.content.is_start else _("With a prompt"),
        "at": one.at,
        "lines": [shower.show_line(line, one.content) for line in lines[:MAX_LINES]],
        "count": ngettext("%(n)s line", "%(n)s lines", len(lines)) % {"n": len(lines)},
        "more": ngettext("%(n)s more line", "%(n)s more lines", more) % {"n": more} if more > 0 else "",
    }
