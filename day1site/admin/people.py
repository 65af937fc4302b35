"""Users and projects."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from day1site.admin.base import ServerModelAdmin
from memory.engines.access.projects import ProjectEngine
from memory.engines.store.usage import UsageEngine
from memory.models import Project
from memory.quota import NONE
from memory.usage import get_server_quota, read_usage

admin.site.unregister([Group, User])


@admin.register(User)
class Users(UserAdmin, ServerModelAdmin):
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


class ProjectForm(forms.ModelForm):
    """The form of a project, with its quota, which only who administers the server may set."""

    quota = forms.CharField(
        label=_("quota"),
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text=_("20GB, rows=5000000,bytes=20GB, or none. Empty means the quota of the server."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["quota"] = UsageEngine().describe_own_quota(project_id=self.instance.pk)

    def clean_quota(self) -> str:
        text = self.cleaned_data["quota"].strip()
        try:
            get_server_quota().with_parts(text or NONE)
        except ValueError:
            raise forms.ValidationError(_("This is no quota, such as 20GB or rows=5000000.")) from None
        return str(text)


@admin.register(Project)
class Projects(ServerModelAdmin):
    title, new = _("Projects"), _("New project")
    form = ProjectForm
    list_display = ["name", "slug", "recipe", "stored", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    helps = {"slug": _("Agents name the project by it. Letters, digits and hyphens.")}
    exclude = [field.name for field in Project._meta.fields if field.name.startswith("dream_")]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        """Save a project; a new one gets its branch main, and its maker as first maintainer."""
        super().save_model(request, obj, form, change)
        if not change:
            ProjectEngine().open_project(project=obj, members=[request.user])

        if "quota" in form.changed_data:
            usage = UsageEngine().set_quota(slug=obj.slug, text=form.cleaned_data["quota"])
            if usage.find_full():
                text = gettext("%(name)s stores more than its quota: writes stop, reads go on.")
                messages.warning(request, text % {"name": obj})

    @admin.display(description=_("stored"))
    def stored(self, obj: Project) -> str:
        """Return what the project stores of its quota."""
        return read_usage(obj.pk).describe()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a project contains memory, which is never deleted casually
