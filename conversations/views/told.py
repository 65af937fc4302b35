"""What a session was told by memory, on its page, and what a curator says of a line."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.told import (
    Aftermath,
    ToldLine,
    ToldTime,
    answer_message,
    answer_told_fact,
    list_told,
)
from memory.engines.sessions.manager import get_session
from memory.engines.sessions.told_answers import (
    AGAIN,
    NOT_HERE,
    OUTDATED,
    WRONG,
    answer_fact,
    replace_fact,
)
from memory.engines.versions.repositories import list_left_out
from memory.exceptions import Invalid, StaleVersion
from memory.models import Commit, Fact, Session
from memory.repository_names import ANY
from memory.templatetags.day1 import inline_code, moment, short
from memory.views.facts.fact_actions import RECOVERABLE_ERRORS
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.view_context import ViewContext, build_undo_url
from memory.views.text.error_text import error_sentence

REPLACED = "replaced"  # an answer that comes with a text
DONE = {
    WRONG: lazy("Wrong: no session is told it any more."),
    OUTDATED: lazy("Outdated: no session is told it any more."),
    NOT_HERE: lazy("Not here: no session of this repository is told it."),
    AGAIN: lazy("Sessions of this repository are told it again."),
    REPLACED: lazy("Replaced: sessions are told the new text."),
}
WORDS = {
    WRONG: lazy("Wrong"),
    OUTDATED: lazy("Outdated"),
    NOT_HERE: lazy("Not here"),
    AGAIN: lazy("Tell it here"),
}
OWN = lazy("%(category)s of this repository")
SPOKEN = lazy("a person’s words in an earlier session")
MAX_OPEN = 5  # lines of a start that are not folded
MAX_REPLACED = 500  # characters of a fact whose text is in a field beside its line; a longer one has its page
MAX_CITING = 3  # facts that came of a line and are named
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
        count = ngettext("%(n)s line", "%(n)s lines", len(lines)) % {"n": len(lines)}
        shown = {"title": _("With a prompt"), "lines": lines, "count": count, "is_open": True}
        if one.is_start:
            return {**shown, "title": _("At its start"), "is_open": len(lines) <= MAX_OPEN}
        if prompt := one.prompt:
            where = {"address": self.link("message", prompt.uid), "at": prompt.created_at}
            return {**shown, **where, "title": prompt.content}
        return shown

    def show_line(self, line: ToldLine, one: ToldTime) -> dict[str, Any]:
        if fact := line.fact:
            where = {
                "name": f"told-{fact.uid}",
                "address": self.link("fact", fact.uid),
                "at": fact.created_at,
            }
            kind = OWN % {"category": fact.category} if line.is_own else fact.category
            words = {"kind": kind, "fact": fact, "text": line.text}
            return {**where, **words, **self.explain_line(line, one)}
        message = line.message
        assert message is not None  # a line is of a fact or of a message
        where = {
            "name": f"told-{message.uid}",
            "address": self.link("message", message.uid),
            "at": message.created_at,
        }
        return {**where, **self.explain_line(line, one), "kind": SPOKEN, "text": line.text}

    def explain_line(self, line: ToldLine, one: ToldTime) -> dict[str, Any]:
        """Return why a line came with its prompt, what came of it, and what may be said of it."""
        answers = list_answers(line, self.session.project_path) if self.may_answer else []
        shown = {
            "answers": answers,
            "replacement": offer_replacement(line, answers),
            "badges": list_badges(line),
            "outcomes": list(self.list_outcomes(line)),
        }
        if one.is_start:
            return shown
        words = {"words": ", ".join(line.words)}
        reason = format_html(
            "<bdi>{}</bdi>", _("shares %(words)s") % words if line.words else _("near in meaning")
        )
        if line.fact and one.prompt:
            why = self.link("fact-why", line.fact.uid, q=one.prompt.content[:MAX_QUERY])
            reason = format_html('<a href="{}">{}</a>', why, reason)
        return {**shown, "reason": reason}

    def list_outcomes(self, line: ToldLine) -> Iterator[SafeString]:
        """Yield what came of a line since it was learned."""
        came, fact = line.aftermath or Aftermath(), line.fact
        if fact and line.is_changed:
            yield self.name_fact(_("Changed since to:"), fact, fact.updated_at)
        if came.newer:
            yield self.name_fact(_("Its place was taken by:"), came.newer)
        if came.doubting:
            yield self.name_fact(_("Said later:"), came.doubting)
        if fact and fact.verified_by:
            words = _("Wrong, says %(who)s.") if "invalidated" in line.states else _("Verified by %(who)s.")
            yield show_outcome(words % {"who": fact.verified_by}, fact.verified_at)
        if made := came.marked:
            words = _("Changed by %(who)s") % {"who": made.actor_label}
            yield show_outcome("", made.at, words, self.link("commit", made.pk))
        if count := len(came.confirmed):
            words = ngettext("Confirmed once more.", "Confirmed %(count)s times.", count)
            yield show_outcome(words % {"count": count}, max(came.confirmed))
        for other in came.citing[:MAX_CITING]:
            yield self.name_fact(_("Learned from it:") if line.message else _("Built on it:"), other)
        if came.uses > 1:
            words = ngettext("Found or told once.", "Found or told %(count)s times.", came.uses)
            yield show_outcome(words % {"count": came.uses})

    def name_fact(self, words: str, fact: Fact, at: datetime | None = None) -> SafeString:
        return show_outcome(words, at or fact.created_at, fact.essence, self.link("fact", fact.uid))


def show_outcome(words: str, at: datetime | None = None, name: str = "", address: str = "") -> SafeString:
    link = (
        format_html('<a href="{}" dir="auto">{}</a>', address, inline_code(short(name, 140)))
        if address
        else ""
    )
    return format_html("{} {} {}", words, link, moment(at))


def list_badges(line: ToldLine) -> list[str]:
    is_wrong = line.message is not None and ANY in list_left_out(line.message)
    found = [
        (WRONG, is_wrong),
        (OUTDATED, "outdated" in line.states),
        (NOT_HERE, line.is_left_out and not is_wrong),
    ]
    return [str(WORDS[name]) for name, holds in found if holds]


def list_answers(line: ToldLine, repository: str) -> list[tuple[str, str]]:
    """Return the buttons of a line, by what each sends; none of one that is told no more, or says else now.

    A message was said, and stays so: it has no validity that ends, and no version that a button names.
    """
    row = line.fact or line.message
    assert row is not None  # a line is of a fact or of a message
    marks = [WRONG, OUTDATED, NOT_HERE] if line.fact else [WRONG, NOT_HERE]
    names = [AGAIN] if line.is_left_out else [] if line.states or line.is_changed else marks
    fitting = [name for name in names if repository or name != NOT_HERE]
    version = line.fact.version if line.fact else ""
    return [(f"{name}:{row.uid}:{version}", str(WORDS[name])) for name in fitting]


def offer_replacement(line: ToldLine, answers: list[tuple[str, str]]) -> dict[str, str]:
    """Return the field and the button for a text that takes the place of a line that may be answered."""
    fact = line.fact
    if not fact or not answers or line.is_left_out or len(fact.fact_text) > MAX_REPLACED:
        return {}
    return {"field": f"text-{fact.uid}", "answer": f"{REPLACED}:{fact.uid}:{fact.version}"}


class AnswerLine(ProjectPage):
    """The buttons beside the lines: ``answer`` is what a curator says, the fact, and the version shown; of a
    message none. ``key`` is the session that was told; without one, what is said holds on the page's branch.
    ``back`` is home where the line stood there.
    """

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        key = request.POST.get("key", "")
        answer, uid, version = parse_answer(request.POST.get("answer", ""))
        is_home = not key or request.POST.get("back") == "home"
        where = self.reader.url("home") if is_home else self.reader.url("session", key=key, branch="", at="")
        try:
            self.reader.require_now()
            commit = self.say(key, uid, answer, version)
        except (*RECOVERABLE_ERRORS, StaleVersion) as error:
            flash_warning(request, error_sentence(error))
            return redirect(where)
        text = str(DONE[answer]) if commit else _("Nothing was changed.")
        flash_success(request, text, build_undo_url(self.reader, commit))
        return redirect(where if is_home else f"{where}#told-{quote(str(uid))}")

    def say(self, key: str, uid: UUID, answer: str, version: int | None) -> Commit | None:
        if answer == REPLACED:
            return self.replace(key, uid, version)
        own: dict[str, Any] = {"answer": answer, "actor": self.reader.actor}
        if not key:
            branch = self.reader.branch.name
            return answer_fact(fact_id=uid, branch_name=branch, expected_version=version, **own)
        if version is None:
            return answer_message(message_id=uid, session_id=key, **own)
        return answer_told_fact(fact_id=uid, session_id=key, expected_version=version, **own)

    def replace(self, key: str, uid: UUID, version: int | None) -> Commit | None:
        actor, text = self.reader.actor, self.request.POST.get(f"text-{uid}", "").strip()
        if not text:
            raise Invalid(_("Write what is right."), field="text")
        branch = get_session(actor, key, is_shown=True).branch if key else self.reader.branch
        where: dict[str, Any] = {"actor": actor, "branch_name": branch.name}
        return replace_fact(fact_id=uid, text=text, expected_version=version, **where)


def parse_answer(text: str) -> tuple[str, UUID, int | None]:
    """Parse the value of a button. Raises Invalid."""
    answer, _colon, rest = text.partition(":")
    uid, _colon, version = rest.partition(":")
    try:
        return answer, UUID(uid), int(version) if version else None
    except ValueError:
        raise Invalid(_("This is not a line of the session."), field="answer") from None
