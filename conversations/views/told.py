"""What a session was told by memory, on its page, and what a curator says of a line."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.told import list_told
from memory.engines.sessions.told_answers import HERE, NOT_HERE, OUTDATED, WRONG, answer_line
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
    HERE: lazy("Sessions of this repository are told it again."),
}


def load_told(reader: ViewContext, session: Session) -> dict[str, Any]:
    """Return what the page of a session shows of what it was told."""
    branch = session.branch
    is_open = not branch.archived_at and not branch.read_only and reader.is_now
    actor = reader.actor
    return {
        "session": session,
        "told": list_told(session, timezone.now()),
        "answers": is_open and actor.has_scope("curate") and actor.may_use(branch.name),
    }


class AnswerLine(ProjectPage):
    """The buttons beside the lines: ``answer`` is what a curator says, the fact, and the version shown."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        key = request.POST.get("key", "")
        answer, fact_id, version = parse_answer(request.POST.get("answer", ""))
        where = self.reader.url("session", key=key, branch="", at="")
        try:
            self.reader.require_now()
            line = {"session_id": key, "fact_id": fact_id, "expected_version": version}
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
