"""Users, projects, and the roles of users in projects: what superusers may do without being members."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from day1site.admin.base import ServerModelAdmin
from memory.actors import NO_PROJECT
from memory.engines.access.logins import LoginTrailEngine
from memory.engines.access.members import MemberEngine, build_server_actor
from memory.engines.access.project_settings import CHECKS, check_settings, refuse_taken
from memory.engines.access.projects import ProjectEngine
from memory.engines.fields.projects import PROJECT
from memory.engines.support.usage import UsageEngine
from memory.exceptions import Day1Error, StoreDamaged
from memory.models import Membership, Project
from memory.models.usage import build_usage, get_server_quota
from memory.quota import NONE
from memory.views.text.error_text import error_sentence

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

admin.site.unregister([Group, User])
member_engine = MemberEngine()


def preview_removals(
    members: Iterable[Membership], user: Any
) -> "tuple[list[Any], dict[StrOrPromise, int], list[str]]":
    """Return what removals of members would end, as the admin's question shows it, and what refuses them."""
    shown: list[Any] = []
    counts: dict[StrOrPromise, int] = {_("API keys"): 0, _("invitations"): 0}
    refused: list[str] = []
    for member in members:
        actor = build_server_actor(member.project_id, user)
        try:
            departure = member_engine.preview_removal(member_id=member.pk, actor=actor)
        except Day1Error as error:
            refused.append(f"{member.project}: {error_sentence(error)}")
            continue
        shown += [str(member), departure.lines]
        counts[_("API keys")] += len(departure.keys)
        counts[_("invitations")] += len(departure.invitations)
    return shown, counts, refused


def list_members(**filters: Any) -> list[Membership]:
    return list(Membership.objects.filter(**filters).select_related("user", "project"))


class EngineModelAdmin(ServerModelAdmin):
    """Base of admins whose forms an engine carries out, and may refuse."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Render the form; a refusal of the engine becomes a message above it."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except StoreDamaged:
            raise
        except Day1Error as error:
            self.message_user(request, error_sentence(error), messages.ERROR)
            return redirect(request.get_full_path())


@admin.register(User)
class Users(UserAdmin, EngineModelAdmin):
    title, new = _("Users"), _("New user")
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "is_active", "is_staff", "is_superuser", "last_login"]
    list_filter = ["is_active", "is_staff", "is_superuser"]
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Person"), {"fields": ("first_name", "last_name", "email")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser")}),
        (_("Dates"), {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        if "password" in str(message).lower():
            LoginTrailEngine().record_event(user=obj, action="password.change", by=request.user)
        return super().log_change(request, obj, message)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what goes with accounts: the keys and invitations that they made in their projects."""
        shown, models, lacking, refused = super().get_deleted_objects(objs, request)
        ends, counts, kept = preview_removals(list_members(user__in=list(objs)), request.user)
        return [*shown, *ends], models | counts, lacking, [*refused, *kept]

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        for member in list_members(user=obj):
            actor = build_server_actor(member.project_id, request.user)
            member_engine.remove_member(member_id=member.pk, actor=actor)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for one in queryset:
            self.delete_model(request, one)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save a user; for one who may not log in any more, keys and invitations of theirs end as well."""
        super().save_model(request, obj, form, change)
        if not change or obj.is_active or "is_active" not in form.changed_data:
            return
        for member in list_members(user=obj):
            actor = build_server_actor(member.project_id, request.user)
            ended = member_engine.end_holdings(member_id=member.pk, actor=actor)
            sentence = _("%(project)s: ended with the account: keys %(keys)d, invitations %(invitations)d.")
            self.message_user(request, sentence % {"project": member.project, **ended.counts})


@admin.register(Membership)
class Roles(EngineModelAdmin):
    """The roles of users, given by the engine, which asks for what a maintainer would have to keep."""

    title, new = _("Roles"), _("New role")
    list_display = ["user", "project", "role"]
    list_filter = ["project", "role"]
    list_select_related = ["user", "project"]
    search_fields = ["user__username", "project__name"]
    fields = ["user", "project", "role"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("user", "project") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        actor = build_server_actor(obj.project_id, request.user)
        if change:
            member_engine.change_role(member_id=obj.pk, role=obj.role, actor=actor)
        else:
            username = obj.user.get_username()
            obj.pk = member_engine.add_member(username=username, role=obj.role, actor=actor).pk

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return what ends with the roles."""
        shown, counts, refused = preview_removals(list_members(pk__in=[one.pk for one in objs]), request.user)
        return shown, counts, set(), refused

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        actor = build_server_actor(obj.project_id, request.user)
        member_engine.remove_member(member_id=obj.pk, actor=actor)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for one in queryset:
            self.delete_model(request, one)


class ProjectForm(forms.ModelForm):
    """The form of a project, in the words of its declaration, with its quota, which only who administers the
    server may set.
    """

    quota = forms.CharField(
        label=_("quota"),
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text=_("20GB, rows=5000000,bytes=20GB, or none. Empty means the quota of the server."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() & CHECKS.keys():
            self.fields[name].label = PROJECT[name].title
            self.fields[name].help_text = PROJECT[name].form_help
        if self.instance.pk:
            self.initial["quota"] = UsageEngine().describe_own_quota(project_id=self.instance.pk)

    def clean(self) -> None:
        """Have each changed setting checked by what it may be, and the slug for another project's."""
        for name in CHECKS.keys() & self.cleaned_data.keys() & {*self.changed_data}:
            try:
                values = check_settings({name: self.cleaned_data[name]})
                if "slug" in values:
                    refuse_taken(values["slug"])
            except Day1Error as error:
                self.add_error(name, error_sentence(error))

    def clean_quota(self) -> str:
        text = self.cleaned_data["quota"].strip()
        try:
            get_server_quota().with_parts(text or NONE)
        except ValueError:
            raise forms.ValidationError(_("This is no quota, such as 20GB or rows=5000000.")) from None
        return str(text)


@admin.register(Project)
class Projects(EngineModelAdmin):
    title, new = _("Projects"), _("New project")
    form = ProjectForm
    list_display = ["name", "slug", "recipe", "stored", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    exclude = [
        "redact_secrets",  # its maintainers decide that, and it is audited
        *(field.name for field in Project._meta.fields if field.name.startswith("dream_")),
    ]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        """Save a project; a new one gets its branch main, and its maker as owner."""
        values = {name: form.cleaned_data[name] for name in form.changed_data if name != "quota"}
        if change:
            actor, slug = build_server_actor(obj.pk, request.user), form.initial["slug"]
            ProjectEngine().update_project(actor=actor, project_slug=slug, **values)
        else:
            maker = {"username": request.user.get_username(), "role": Membership.Role.OWNER.value}
            actor = build_server_actor(NO_PROJECT, request.user)
            obj.pk = ProjectEngine().create_project(actor=actor, members=[maker], **values).project.pk
        if "quota" in form.changed_data:
            usage = UsageEngine().set_quota(slug=obj.slug, text=form.cleaned_data["quota"])
            if usage.find_full():
                text = gettext("%(name)s stores more than its quota: writes stop, reads go on.")
                messages.warning(request, text % {"name": obj})

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("usage")

    @admin.display(description=_("stored"))
    def stored(self, obj: Project) -> str:
        """Return what the project stores of its quota."""
        return build_usage(getattr(obj, "usage", None), obj.limits).describe()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a project contains memory, which is never deleted casually
