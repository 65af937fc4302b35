"""A fact's page: content, verdict, evidence, similar facts and history."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext, gettext_lazy

from memory import ranking
from memory.engines.facts.assessment import exclusion_reasons, parse_expiry_time
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.evidence import EvidenceEngine, get_fact_commit
from memory.engines.facts.field_diff import display_changes
from memory.engines.search.engine import Explanation, SearchEngine
from memory.engines.store.health import read_past_damage
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.exceptions import Day1Error, NotFound
from memory.models import Fact, RecallLog
from memory.views.facts.fact_form import CATEGORIES, FactForm, shown_as
from memory.views.facts.search import split_signals
from memory.views.frame.base import ProjectPage, base_context
from memory.views.frame.panels import FACT_PANELS
from memory.views.frame.view_context import ViewContext

VERSIONS = 10
MIN_SIMILARITY = 0.5  # of a fact that is shown as similar: below, two texts hardly share their subject
SHOWN_RECALLS = 8  # sessions that were told, and as many searches
TELLING = "hook"  # the surface of what agents are told at their start and with a prompt
PREVIEW_FRAME = "fact/preview.html"  # the frame of a fact's page that a script shows beside a list
TIMED = ("expired", "outdated")  # the states that no badge of its own tells


class FactViewBase(ProjectPage):
    """The base of one fact's pages: the id in the path, and a helpful page when it is not visible here."""

    section = "facts"

    @property
    def fact_id(self) -> UUID:
        return self.kwargs["fact_id"]

    def answer_to(self, error: Day1Error) -> HttpResponse:
        """Return the page for an error; for a missing fact, one that shows where it is or its history."""
        if not isinstance(error, NotFound) or not hasattr(self, "reader"):
            return super().answer_to(error)
        shell = base_context(self.reader, self.section)
        instead = missing_context(self.reader, self.fact_id, self.request.GET.get("cursor", ""))
        context = {**shell, **instead, "title": gettext("Not found")}
        return render(self.request, "fact_missing.html", context, status=404)

    def load_fact(self) -> Fact:
        """Return the fact as the reader sees it, nothing of it replaced. Raises NotFound, StoreDamaged."""
        with read_past_damage(False):
            return FactEngine().get_fact(fact_id=self.fact_id, **self.reader.read_args)


def fact_context(reader: ViewContext, fact: Fact, cursor: str) -> dict[str, Any]:
    """Return the context of a fact's page besides the fact itself."""
    states = [state for state in exclusion_reasons(fact, parse_expiry_time(reader.at)) if state in TIMED]
    evidence = EvidenceEngine().load_evidence(fact=fact, **reader.read_args)
    similar = EvidenceEngine().find_similar(fact=fact, least=MIN_SIMILARITY, **reader.read_args)
    context = {
        "states": states,
        "tokens": ranking.token_cost(fact.essence),
        "evidence": evidence,
        **describe_recalls(reader, evidence.recalls),
        "similar": similar,
        "panels": FACT_PANELS.load(reader, fact),
    }
    return {**context, **read_history(reader, fact.uid, cursor)}


def describe_recalls(reader: ViewContext, logs: Sequence[RecallLog]) -> dict[str, Any]:
    """Return to which sessions a fact was told, each with how often and when last, and the searches that
    found it; the newest first.
    """
    by_session: dict[str, list[RecallLog]] = {}
    for log in logs:
        if log.surface == TELLING:
            by_session.setdefault(log.session_id, []).append(log)
    reader.name_sessions(log.session_id for log in logs)
    shown = [(reader.sessions.get(key), own) for key, own in by_session.items()]
    rows = [{"session": session, "count": len(own), "last": own[0]} for session, own in shown if session]
    found = [log for log in logs if log.surface != TELLING]
    return {"told": rows[:SHOWN_RECALLS], "told_sessions": len(rows), "found": found[:SHOWN_RECALLS]}


def read_version(reader: ViewContext, fact_id: UUID, number: int | None) -> Fact | None:
    """Return a version of a fact by its number, if it is among the latest; else None."""
    if number is None:
        return None
    page = FactEngine().list_versions(fact_id=fact_id, **reader.read_args, limit=MAX_PAGE_SIZE)
    return next((one for one in page.results if one.version == number), None)


def changes_since(read: Fact | None, now: Fact) -> dict[str, Any]:
    """Return the changes since a version was read: fields with both values, and the newest commit.

    Nothing if that version is the newest: on an archived branch it only reads differently.
    """
    if read is None or read.version == now.version:
        return {"meanwhile": [], "changed_by": None}
    return {"meanwhile": list(display_changes(read, now).items()), "changed_by": get_fact_commit(now)}


def missing_context(reader: ViewContext, fact_id: UUID, cursor: str) -> dict[str, Any]:
    """Return where a missing fact is instead: on other branches, deleted with its history, or nowhere."""
    answer = SearchEngine().explain(query="", fact_id=fact_id, **reader.read_args)
    history = read_history(reader, fact_id, cursor) if answer.reason == "deleted" else {}
    return {"answer": answer, "fact_id": fact_id, **history}


def read_history(reader: ViewContext, fact_id: UUID, cursor: str) -> dict[str, Any]:
    """Return versions of a fact, newest first, each with its changes to the one before."""
    page = FactEngine().list_versions(fact_id=fact_id, **reader.read_args, limit=VERSIONS, cursor=cursor)
    before = [*page.results[1:], page.beyond]
    steps = [
        {"version": new, "old": old, "changes": changed_fields(old, new)}
        for new, old in zip(page.results, before, strict=True)
    ]
    return {"history": steps, "versions": page}


def changed_fields(old: Fact | None, new: Fact) -> dict[str, tuple[Any, Any]]:
    """Return the changed fields without the text, which is shown word by word."""
    changes = display_changes(old, new) if old else {}
    return {name: pair for name, pair in changes.items() if name not in ("fact_text", "updated_cycle")}


class FactPage(FactViewBase):
    reads_past = True
    template_name = "fact.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        fact = self.load_fact()
        kwargs["heading"] = "h1"
        if getattr(self.request, "htmx", False):
            kwargs |= {"frame": PREVIEW_FRAME, "heading": "h2"}  # the page beside has a heading
        return super().get_context_data(
            fact=fact,
            title=fact.essence,
            metadata=json.dumps(fact.metadata, ensure_ascii=False, indent=2),
            value=json.dumps(fact.value, ensure_ascii=False, indent=2),
            form=FactForm(initial=shown_as(fact)),
            categories=CATEGORIES,
            verb=gettext("Save"),
            **fact_context(self.reader, fact, self.request.GET.get("cursor", "")),
            **kwargs,
        )


class Why(FactViewBase):
    """A page that explains why a search finds this fact, or why not."""

    reads_past = True
    template_name = "fact_why.html"
    fragment_name = "parts/fact_why.html"
    title = gettext_lazy("Why is it found?")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query = self.request.GET.get("q", "").strip()
        fact = self.load_fact()
        answer = self._explain_query(query) if query else None
        return super().get_context_data(
            fact=fact, query=query, answer=answer, **score_parts(answer), **kwargs
        )

    def _explain_query(self, query: str) -> Explanation:
        return SearchEngine().explain(query=query, fact_id=self.fact_id, **self.reader.read_args)


def score_parts(answer: Explanation | None) -> dict[str, Any]:
    if not answer or not answer.signals:
        return {"parts": [], "factors": []}
    parts, factors = split_signals(answer.signals)
    return {"parts": parts, "factors": factors}
