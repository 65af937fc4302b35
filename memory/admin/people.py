"""Who belongs to the project, in which sessions agents worked, and what everybody did."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.admin.forms import AuditForm, MemberForm
from memory.engines.audit import AuditEngine
from memory.engines.members import MemberEngine
from memory.engines.session_manager import SessionManager
from memory.exceptions import Exists, Invalid, NotFound
from memory.models import Membership, Session
from memory.views.forms import number
from memory.views.sentences import sentence
from memory.views.toasts import warn
from memory.views.wording import WORDS


class Members(DeskPage):
    template_name = "admin/day1/members.html"
    section = "members"
    scope = "admin"
    title = _("Members")
    deeds = ("add", "role", "remove")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = MemberEngine().list_members(actor=self.reader.actor, **self.paging)
        form = MemberForm(initial=self.request.POST.dict())  # what was refused stays, to be mended
        return super().get_context_data(page=page, form=form, roles=Membership.Role.choices, **kwargs)

    def add(self, request: HttpRequest) -> HttpResponse:
        given = {name: request.POST.get(name, "").strip() for name in ("username", "role")}
        try:
            member = MemberEngine().add_member(actor=self.reader.actor, **given)
        except (Invalid, Exists) as error:
            warn(request, sentence(error))
            return self.render_to_response(self.get_context_data(), status=error.status)
        return self.done(gettext("%(name)s is a member now.") % {"name": member.user})

    def role(self, request: HttpRequest) -> HttpResponse:
        member = MemberEngine().change_role(
            member_id=member_of(request), role=request.POST.get("role", ""), actor=self.reader.actor
        )
        said = {"name": member.user, "role": WORDS[member.role]}
        return self.done(gettext("%(name)s is %(role)s now.") % said)

    def remove(self, request: HttpRequest) -> HttpResponse:
        member = MemberEngine().get_member(member_id=member_of(request), actor=self.reader.actor)
        MemberEngine().remove_member(member_id=member.pk, actor=self.reader.actor)
        return self.done(gettext("%(name)s is no member any more.") % {"name": member.user})


def member_of(request: HttpRequest) -> int:
    if (member := number(request.POST.get("member", ""), digits=18)) is None:
        raise NotFound()
    return member


class Sessions(DeskPage):
    template_name = "admin/day1/sessions.html"
    section = "sessions"
    title = _("Sessions")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked: dict[str, Any] = {name: self.request.GET.get(name, "") for name in ("status", "agent_id")}
        page = SessionManager().get_recent_sessions(actor=self.reader.actor, **asked, **self.paging)
        return super().get_context_data(page=page, asked=asked, statuses=Session.Status.choices)


class Audit(DeskPage):
    template_name = "admin/day1/audit.html"
    section = "audit"
    scope = "admin"
    title = _("Audit")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked: dict[str, Any] = {
            name: self.request.GET.get(name, "").strip() for name in AuditForm.base_fields
        }
        shown: dict[str, Any] = {
            "asked": asked,
            "form": AuditForm(asked),
            "set": sum(map(bool, asked.values())),
        }
        try:
            shown["page"] = AuditEngine().list_entries(actor=self.reader.actor, **asked, **self.paging)
        except Invalid as error:  # what was asked for stays in the form, to be mended
            shown["refusal"] = sentence(error)
        return super().get_context_data(**shown, **kwargs)
