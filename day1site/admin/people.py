"""Users and projects."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from day1site.admin.base import ServerModelAdmin
from memory.engines.access.projects import ProjectEngine
from memory.models import Project

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


@admin.register(Project)
class Projects(ServerModelAdmin):
    title, new = _("Projects"), _("New project")
    list_display = ["name", "slug", "recipe", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    helps = {"slug": _("Agents name the project by it. Letters, digits and hyphens.")}
    exclude = [field.name for field in Project._meta.fields if field.name.startswith("dream_")]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        """Save a project; a new one gets its branch main, and its maker as first maintainer."""
        super().save_model(request, obj, form, change)
        if not change:
            ProjectEngine().open_project(project=obj, members=[request.user])

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a project contains memory, which is never deleted casually
