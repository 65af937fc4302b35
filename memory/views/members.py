"""Members of the project: everybody sees them, maintainers change them."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.members import Departure, MemberEngine
from memory.engines.fields.invitations import DEFAULT_DAYS, MAX_DAYS, MAX_USES
from memory.exceptions import Day1Error
from memory.models import Membership
from memory.operations.members import MEMBERS
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.labels import WORDS
from memory.views.list_page import ListPage
from memory.views.widgets import add_form_error

REMOVED = lazy(
    "%(name)s is no member any more. Ended with it: keys %(keys)d, invitations %(invitations)d, logins"
    " %(logins)d."
)
SHOWN = 20  # of the newest invitations
ROLES = {
    "viewer": lazy("viewer: reads"),
    "curator": lazy("curator: also verifies, corrects and answers the review queue"),
    "maintainer": lazy("maintainer: everything, keys and members included"),
}


class MemberForm(forms.Form):
    username = forms.CharField(
        label=lazy("Username"), max_length=150, help_text=lazy("The person must have an account here.")
    )
    role = forms.ChoiceField(
        label=lazy("Role"), choices=list(ROLES.items()), widget=forms.RadioSelect, initial="viewer"
    )


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        label=lazy("Role"), choices=list(ROLES.items()), widget=forms.RadioSelect, initial="viewer"
    )
    note = forms.CharField(label=lazy("For whom"), max_length=200, required=False)
    max_uses = forms.IntegerField(
        label=lazy("How many may use it"), min_value=1, max_value=MAX_USES, initial=1
    )
    days = forms.IntegerField(
        label=lazy("Expires in days"), min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS
    )


class Members(ListPage):
    template_name = "members/list.html"
    section = "members"
    title = lazy("Members")
    operation = MEMBERS["list"]
    extra_context = {
        "search": lazy("Filters, such as role:curator or name:mira"),
        "drawing": "members",
        "none_fits": lazy("No member fits."),
        "show_all": lazy("Show all members"),
        "lead": lazy(
            "Only members see this project. Viewers read; curators also verify and correct; maintainers also"
            " keep keys and members."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", MemberForm())
        if self.reader.can["admin"]:
            found = InvitationEngine().list_invitations(actor=self.reader.actor, limit=SHOWN)
            kwargs |= {"invitations": found.results, "invitation_form": InvitationForm()}
        return super().get_context_data(roles=Membership.Role.choices, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        self.reader.actor.require_scope("admin")
        form = MemberForm(request.POST)
        if form.is_valid():
            try:
                member = MemberEngine().add_member(**form.cleaned_data, actor=self.reader.actor)
                flash_success(request, _("%(name)s is a member now.") % {"name": member.user.get_username()})
                return redirect(self.reader.url("members"))
            except Day1Error as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class ChangeMember(ProjectPage):
    """A change of a member's role, sent from the list."""

    scope = "admin"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, member_id: int, **kwargs: Any) -> HttpResponse:
        role = request.POST.get("role", "")
        member = MemberEngine().change_role(member_id=member_id, role=role, actor=self.reader.actor)
        values = {"name": member.user.get_username(), "role": WORDS[member.role]}
        flash_success(request, _("%(name)s is %(role)s now.") % values)
        return redirect(self.reader.url("members"))


class RemoveMember(ProjectPage):
    """A confirmation with all that ends with it, which removes the member."""

    template_name = "members/remove.html"
    title = lazy("Remove a member")
    extra_context = {"verb": lazy("Remove")}
    scope = "admin"
    section = "members"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        member_id = self.kwargs["member_id"]
        departure = MemberEngine().preview_removal(member_id=member_id, actor=self.reader.actor)
        parts = list(describe_departure(departure))
        return super().get_context_data(departure=departure, parts=parts, **kwargs)

    def post(self, request: HttpRequest, member_id: int, **kwargs: Any) -> HttpResponse:
        departure = MemberEngine().remove_member(member_id=member_id, actor=self.reader.actor)
        flash_success(request, REMOVED % {"name": departure.name, **departure.counts})
        if departure.member.user_id == request.user.pk:
            return redirect("front")
        return redirect(self.reader.url("members"))


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
        yield _("Members whom they let in: these stay, look whether they should"), len(joined), joined


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
        form = InvitationForm(request.POST)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form), status=400)
        row, secret = InvitationEngine().create_invitation(actor=self.reader.actor, **form.cleaned_data)
        link = request.build_absolute_uri(reverse("join", args=[secret]))
        response = self.render_to_response(self.get_context_data(invitation=row, link=link), status=201)
        response["Cache-Control"] = "no-store"
        return response


class RevokeInvitation(ProjectPage):
    """The end of an invitation, sent from the list."""

    scope = "admin"
    http_method_names = ["post"]

    def post(self, request: HttpRequest, invitation_id: UUID, **kwargs: Any) -> HttpResponse:
        InvitationEngine().revoke_invitation(invitation_id=invitation_id, actor=self.reader.actor)
        flash_success(request, _("The invitation is revoked: its link opens nothing any more."))
        return redirect(self.reader.url("members"))
