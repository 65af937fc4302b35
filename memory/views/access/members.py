"""Members of the project: everybody sees them, maintainers change them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memory.actors import OWNER
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.members import KEPT_ROLES, Departure, MemberEngine
from memory.engines.fields.base import Use
from memory.engines.fields.invitations import INVITATION
from memory.exceptions import Day1Error
from memory.models import Membership
from memory.operations.invitations import INVITATIONS
from memory.operations.members import MEMBERS
from memory.views.frame.base import ProjectPage
from memory.views.frame.widgets import add_form_error
from memory.views.generic.actions import Action, ActionPage, ConfirmPage
from memory.views.generic.field_widgets import DeclaredForm
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import WORDS

REMOVED = lazy(
    "%(name)s is no member any more. Ended with it: keys %(keys)d, invitations %(invitations)d, logins"
    " %(logins)d."
)
SHOWN = 20  # of the newest invitations


def tell_departure(done: Departure) -> str:
    """Return what ended with a member."""
    return str(REMOVED % {"name": done.name, **done.counts})


class Members(ActionPage, ListPage):
    needs_now = False
    actions = {
        "create": Action(
            MEMBERS["create"],
            lambda member: _("%(name)s is a member now.") % {"name": member.user.get_username()},
            fields=("username", "role"),
            button=lazy("Add"),
        )
    }
    template_name = "members/list.html"
    section = "members"
    title = lazy("Members")
    operation = MEMBERS["list"]
    extra_context = {
        "search": lazy("Filters, such as role:curator or name:mira"),
        "drawing": "members",
        "none_fits": lazy("No member matches."),
        "show_all": lazy("Show all members"),
        "lead": lazy(
            "Only members see this project. Viewers read; curators also verify and correct; maintainers also"
            " keep keys and members; owners alone take rights from maintainers."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        if self.reader.can["admin"]:
            found = InvitationEngine().list_invitations(actor=self.reader.actor, limit=SHOWN)
            kwargs |= {"invitations": found.results, "invitation_form": build_invitation_form()}
        roles = [one for one in Membership.Role.values if one != OWNER or self.reader.can[OWNER]]
        return super().get_context_data(roles=roles, kept=KEPT_ROLES, **kwargs)

    def find_values(self, name: str) -> Mapping[str, Any]:
        return {"role": Membership.Role.VIEWER.value}


def tell_role(member: Membership) -> str:
    values = {"name": member.user.get_username(), "role": WORDS[member.role]}
    return _("%(name)s is %(role)s now.") % values


class ChangeMember(ActionPage):
    """A change of a member's role, sent from the list."""

    scope, usual, needs_now = "admin", "change", False
    http_method_names = ["post"]
    actions = {"change": Action(MEMBERS["partial_update"], tell_role, fields=("role",), opens=("members",))}


class RemoveMember(ConfirmPage):
    """A confirmation that says what ends with a member, and removes the member."""

    template_name = "members/remove.html"
    title = lazy("Remove a member")
    scope, section, needs_now = "admin", "members", False
    actions = {
        "confirm": Action(
            MEMBERS["remove"], tell_departure, opens=("members",), button=lazy("Remove"), tone="danger"
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        member_id = self.kwargs["member_id"]
        departure = MemberEngine().preview_removal(member_id=member_id, actor=self.reader.actor)
        parts = list(describe_departure(departure))
        return super().get_context_data(departure=departure, parts=parts, **kwargs)

    def find_next(self, action: Action, result: Departure) -> str:
        """Lead who left to the front page: the project is theirs no more."""
        if result.member.user_id == self.request.user.pk:
            return reverse("front")
        return super().find_next(action, result)


class Line(NamedTuple):
    """A line about a row, with the kind and label of a person or maker."""

    text: str
    code: str = ""
    kind: str = ""
    label: str = ""


def describe_departure(departure: Departure) -> Iterator[tuple[Any, int, list[Line]]]:
    """Yield what ends with a member, and whom the member let in: a title, the number, and lines."""
    keys = [Line(one.label, one.prefix, one.created_by_kind, one.created_by) for one in departure.first_keys]
    yield _("Keys that end, made or rotated by this person or by such keys"), len(departure.keys), keys
    links = [Line(f"{link.note or '–'} · {WORDS[link.role]}") for link in departure.invitations]
    yield _("Invitations that end, made by them, or by which this person came"), len(links), links
    yield _("Logins that end"), len(departure.logins), []
    joined = [
        Line(str(WORDS[one.role]), kind="user", label=one.user.get_username()) for one in departure.joined
    ]
    if joined:
        yield _("Members whom they let in: these stay; check whether they should"), len(joined), joined


def build_invitation_form(data: Any = None) -> DeclaredForm:
    """Return the form of a new invitation."""
    fields = INVITATION.select_fields(Use.CREATE)
    return DeclaredForm(fields, data, {one.name: one.default for one in fields if one.default})


class Invite(ProjectPage):
    """The form of a new invitation, sent from the list; its answer shows the link once."""

    template_name = "members/invited.html"
    title = lazy("The new invitation")
    scope = "admin"
    section = "members"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Lead whoever comes back to the list: a link is shown once, and only a POST makes one."""
        return redirect(self.reader.url("members"))

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = build_invitation_form(request.POST)
        form.full_clean()
        try:
            row, secret = InvitationEngine().create_invitation(actor=self.reader.actor, **form.read_values())
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        link = request.build_absolute_uri(reverse("join", args=[secret]))
        response = self.render_to_response(self.get_context_data(invitation=row, link=link), status=201)
        response["Cache-Control"] = "no-store"
        return response


class RevokeInvitation(ActionPage):
    """The end of an invitation, sent from the list."""

    scope, usual, needs_now = "admin", "revoke", False
    http_method_names = ["post"]
    actions = {
        "revoke": Action(
            INVITATIONS["revoke"],
            lazy("The invitation is revoked: its link no longer works."),
            opens=("members",),
        )
    }
