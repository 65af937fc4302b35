"""What a session was told by memory, on its page, and what a curator says of a line."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.told import ToldLine, ToldTime, list_told
from memory.engines.sessions.told_answers import AGAIN, NOT_HERE, OUTDATED, WRONG, answer_line
from memory.exceptions import Invalid, StaleVersion
from memory.models import Session
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.fact_actions import RECOVERABLE_ERRORS, build_undo_url
from memory.views.flash import flash_success, flash_warning
from memory.views.view_context import ViewContext

DONE = {
    WRONG: lazy("Wrong: no session is told it any more."),
    OUTDATED: lazy("Outdated: no session is told it any more."),
    NOT_HERE: lazy("Not here: no session of this repository is told it."),
    AGAIN: lazy("Sessions of this repository are told it again."),
}
WORDS = {
    WRONG: lazy("Wrong"),
    OUTDATED: lazy("Outdated"),
    NOT_HERE: lazy("Not here"),
    AGAIN: lazy("Tell it here"),
}
OWN, GENERAL = lazy("%(category)s of this repository"), lazy("%(category)s of no repository")
SPOKEN = lazy("a person’s words in an earlier session")
MAX_QUERY = 300  # characters of a prompt, in an address


def load_told(reader: ViewContext, session: Session) -> dict[str, Any]:
    """Return what the page of a session shows of what it was told."""
    shown = LineShower(reader, session)
    return {"session": session, "times": [shown.show_time(one) for one in list_told(session, timezone.now())]}


class LineShower:
    """The words and addresses of the lines that one session was told."""

    def __init__(self, reader: ViewContext, session: Session) -> None:
        self.reader, self.session = reader, session
        branch, actor = session.branch, reader.actor
        is_open = not branch.archived_at and not branch.read_only and reader.is_now
        self.may_answer = is_open and actor.has_scope("curate") and actor.may_use(branch.name)

    def link(self, page: str, *args: Any, **query: Any) -> str:
        return self.reader.url(page, *args, branch=self.session.branch.name, at="", **query)

    def show_time(self, one: ToldTime) -> dict[str, Any]:
        """Return what was told at once, with the prompt that it came with."""
        lines = [self.show_line(line, one) for line in one.lines]
        if prompt := one.prompt:
            where = {"address": self.link("message", prompt.uid), "at": prompt.created_at}
            return {"title": prompt.content, "lines": lines, **where}
        return {"title": _("At its start") if one.is_start else _("With a prompt"), "lines": lines}

    def show_line(self, line: ToldLine, one: ToldTime) -> dict[str, Any]:
        if fact := line.fact:
            where = {
                "name": f"told-{fact.uid}",
                "address": self.link("fact", fact.uid),
                "at": fact.created_at,
            }
            kind = OWN if line.is_own else GENERAL
            words = {"kind": kind % {"category": fact.category}, "badges": list_badges(line)}
            return {**where, **words, **self.explain_line(line, one), "fact": fact, "text": line.text}
        message = line.message
        assert message is not None  # a line is of a fact or of a message
        where = {"address": self.link("message", message.uid), "at": message.created_at}
        return {**where, **self.explain_line(line, one), "kind": SPOKEN, "text": line.text}

    def explain_line(self, line: ToldLine, one: ToldTime) -> dict[str, Any]:
        """Return why a line came with its prompt, and what may be said of it."""
        answers = list_answers(line, self.session) if self.may_answer else []
        if one.is_start:
            return {"answers": answers}
        reason = (
            _("shares %(words)s") % {"words": ", ".join(line.words)} if line.words else _("near in meaning")
        )
        prompt = one.prompt.content[:MAX_QUERY] if one.prompt else ""
        why = self.link("fact-why", line.fact.uid, q=prompt) if line.fact and prompt else ""
        return {"answers": answers, "reason": reason, "why": why}


def list_badges(line: ToldLine) -> list[str]:
    found = [(OUTDATED, "outdated" in line.states), (NOT_HERE, line.is_left_out)]
    return [str(WORDS[name]) for name, holds in found if holds]


def list_answers(line: ToldLine, session: Session) -> list[tuple[str, str]]:
    """Return the buttons of a line, by what each sends; none of one that is told no more."""
    if line.fact is None:
        return []
    names = [AGAIN] if line.is_left_out else [] if line.states else [WRONG, OUTDATED, NOT_HERE]
    fitting = [name for name in names if session.project_path or name != NOT_HERE]
    return [(f"{name}:{line.fact.uid}:{line.fact.version}", str(WORDS[name])) for name in fitting]


class AnswerLine(ProjectPage):
    """The buttons beside the lines: ``answer`` is what a curator says, the fact, and the version shown."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        key = request.POST.get("key", "")
        answer, fact_id, version = parse_answer(request.POST.get("answer", ""))
        where = self.reader.url("session", key=key, branch="", at="")
        try:
            self.reader.require_now()
            line: dict[str, Any] = {"session_id": key, "fact_id": fact_id, "expected_version": version}
            commit = answer_line(answer=answer, actor=self.reader.actor, **line)
        except (*RECOVERABLE_ERRORS, StaleVersion) as error:
            flash_warning(request, error_sentence(error))
            return redirect(where)
        text = str(DONE[answer]) if commit else _("Nothing was changed.")
        flash_success(request, text, build_undo_url(self.reader, commit))
        return redirect(f"{where}#told-{quote(str(fact_id))}")


def parse_answer(text: str) -> tuple[str, UUID, int | None]:
    """Parse the value of a button. Raises Invalid."""
    answer, _colon, rest = text.partition(":")
    fact_id, _colon, version = rest.partition(":")
    try:
        return answer, UUID(fact_id), int(version) if version else None
    except ValueError:
        raise Invalid(_("This is not a line of the session."), field="answer") from None
