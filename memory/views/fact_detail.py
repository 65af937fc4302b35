"""A fact: what it says, whether it is believed and by whom, where it came from, what replaced it."""

import json
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from memory import ranking
from memory.engines.belief import left_out, time_of
from memory.engines.comparing import told_changes
from memory.engines.evidence import EvidenceEngine, commit_of
from memory.engines.explain import ExplainEngine, Explanation
from memory.engines.facts import FactEngine
from memory.engines.pages import MOST
from memory.exceptions import Day1Error, NotFound
from memory.models import Fact
from memory.views.base import ProjectPage, shell_of
from memory.views.reader import Reader
from memory.views.search import apart

VERSIONS = 10
TIMED = ("expired", "outdated")  # the states that no badge of its own tells


class OneFact(ProjectPage):
    """What the pages of one fact share: the id in the path, and a helpful answer when it is not here."""

    section = "facts"

    @property
    def fact_id(self) -> UUID:
        return self.kwargs["fact_id"]  # type: ignore[no-any-return]

    def answer_to(self, error: Day1Error) -> HttpResponse:
        """Of a fact that is not here; when it was deleted under an open form, what was typed is shown."""
        if not isinstance(error, NotFound) or not hasattr(self, "reader"):
            return super().answer_to(error)
        shell = shell_of(self.reader, self.section)
        instead = instead_of(self.reader, self.fact_id, self.request.GET.get("cursor", ""))
        return render(self.request, "fact_missing.html", {**shell, **instead}, status=404)

    def fact(self) -> Fact:
        """As the reader sees it. Raises NotFound."""
        return FactEngine().get_fact(fact_id=self.fact_id, **self.reader.where)


def beside(reader: Reader, fact: Fact, cursor: str) -> dict[str, Any]:
    """What a page of a fact tells beside the fact itself."""
    states = [state for state in left_out(fact, time_of(reader.at)) if state in TIMED]
    evidence = EvidenceEngine().evidence(fact=fact, **reader.where)
    similar = EvidenceEngine().similar(fact=fact, **reader.where)
    told = {"states": states, "tokens": ranking.cost(fact.essence), "evidence": evidence, "similar": similar}
    return {**told, **history_of(reader, fact.uid, cursor)}


def read_version(reader: Reader, fact_id: UUID, number: int | None) -> Fact | None:
    """The version that somebody read, where it is one of the last."""
    if number is None:
        return None
    page = FactEngine().history(fact_id=fact_id, **reader.where, limit=MOST)
    return next((one for one in page.results if one.version == number), None)


def meanwhile(read: Fact | None, now: Fact) -> dict[str, Any]:
    """What has changed since a version was read: fields with both values, and the newest commit.

    Nothing where that version is the newest: on an archived branch it only reads otherwise.
    """
    if read is None or read.version == now.version:
        return {"meanwhile": [], "changed_by": None}
    return {"meanwhile": list(told_changes(read, now).items()), "changed_by": commit_of(now)}


def instead_of(reader: Reader, fact_id: UUID, cursor: str) -> dict[str, Any]:
    """Where a fact is that is not shown here: on other branches, deleted with its history, or nowhere yet."""
    answer = ExplainEngine().explain(query="", fact_id=fact_id, **reader.where)
    history = history_of(reader, fact_id, cursor) if answer.reason == "deleted" else {}
    return {"answer": answer, "fact_id": fact_id, **history}


def history_of(reader: Reader, fact_id: UUID, cursor: str) -> dict[str, Any]:
    """Some versions, the newest first, each with what it changed of the one before."""
    page = FactEngine().history(fact_id=fact_id, **reader.where, limit=VERSIONS, cursor=cursor)
    before = [*page.results[1:], page.beyond]
    steps = [
        {"version": new, "old": old, "changes": _changes(old, new)}
        for new, old in zip(page.results, before, strict=True)
    ]
    return {"history": steps, "versions": page}


def _changes(old: Fact | None, new: Fact) -> dict[str, tuple[Any, Any]]:
    """Without the text, which is shown word by word."""
    changes = told_changes(old, new) if old else {}
    return {name: pair for name, pair in changes.items() if name not in ("fact_text", "updated_cycle")}


class FactPage(OneFact):
    template_name = "fact.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        fact = self.fact()
        return super().get_context_data(
            fact=fact,
            metadata=json.dumps(fact.metadata, ensure_ascii=False, indent=2),
            **beside(self.reader, fact, self.request.GET.get("cursor", "")),
            **kwargs,
        )


class Why(OneFact):
    """Why a search finds this fact, or why it does not."""

    template_name = "fact_why.html"
    fragment_name = "parts/fact_why.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        query = self.request.GET.get("q", "").strip()
        fact = self.fact()
        answer = self._answer(query) if query else None
        return super().get_context_data(fact=fact, query=query, answer=answer, **_parts(answer), **kwargs)

    def _answer(self, query: str) -> Explanation:
        return ExplainEngine().explain(query=query, fact_id=self.fact_id, **self.reader.where)


def _parts(answer: Explanation | None) -> dict[str, Any]:
    if not answer or not answer.signals:
        return {"parts": [], "factors": []}
    parts, factors = apart(answer.signals)
    return {"parts": parts, "factors": factors}
