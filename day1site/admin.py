"""What belongs to the whole server, in unfold's forms: users, projects, periodic tasks; for superusers."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.forms import Media
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_celery_beat import admin as beat
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from memory.engines.branches import create_main
from memory.models import Membership, Project

# Day1's tasks come back by interval or by the clock: never once only, nor by the sun.
admin.site.unregister(
    [Group, User, PeriodicTask, IntervalSchedule, CrontabSchedule, ClockedSchedule, SolarSchedule]
)

OF_SLUGS = ("xregexp", "urlify", "prepopulate.")  # scripts


class OfServer(ModelAdmin):
    """Roles in a project say nothing here: these are for who runs the server.

    ``title`` is the word for all of them, ``new`` that of the button and the page that add one.
    """

    title: Any = ""
    new: Any = ""
    show_full_result_count = False
    list_per_page = 20  # unfold spends 5 kB on a row

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """A list goes without the scripts of the forms, which are heavier than itself."""
        more = {"media": Media(js=["admin/js/actions.js"]), "title": self.title, "new": self.new}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def named(self, obj: Any) -> str:
        return str(obj)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        """The heading is the name of what is changed."""
        original = context["original"]
        words = {"title": self.named(original) if original else self.new, "plural": self.title}
        return super().render_change_form(request, {**context, **words}, *args, **kwargs)

    def render_delete_form(self, request: HttpRequest, context: Any) -> Any:
        name = self.named(context["object"])
        words = {"title": gettext("Delete “%(name)s”?") % {"name": name}, "plural": self.title}
        return super().render_delete_form(request, {**context, **words})

    @property
    def media(self) -> Media:
        """A form without a slug goes without the scripts that make one, a fifth of all that it loads."""
        every: Any = super().media
        if self.prepopulated_fields:
            return every
        js = [file for file in every._js if not any(word in file for word in OF_SLUGS)]
        return Media(css=every._css, js=js)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    has_change_permission = has_delete_permission = has_view_permission


@admin.register(User)
class Users(UserAdmin, OfServer):
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
class Projects(OfServer):
    title, new = _("Projects"), _("New project")
    list_display = ["name", "slug", "recipe", "created_at"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def get_form(self, *args: Any, **kwargs: Any) -> Any:
        slug = _("Agents name the project by it. Letters, digits and hyphens.")
        return super().get_form(*args, **kwargs, help_texts={"slug": slug})

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        """A new project has its branch main, and its maker as its first maintainer."""
        super().save_model(request, obj, form, change)
        if not change:
            create_main(obj)
            role = Membership.Role.MAINTAINER
            Membership.objects.create(project=obj, user_id=str(request.user.pk), role=role)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # a project holds memory, which is never deleted in passing


class TaskSelect(UnfoldAdminSelectWidget, beat.TaskSelectWidget):
    """The tasks that the workers know."""


class TaskForm(beat.PeriodicTaskForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


@admin.register(PeriodicTask)
class PeriodicTasks(beat.PeriodicTaskAdmin, OfServer):
    title, new = _("Periodic tasks"), _("New periodic task")
    form = TaskForm
    list_display = ["name", "enabled", "schedule", "last_run_at"]
    fieldsets = (
        (None, {"fields": ("name", "regtask", "task", "enabled", "description")}),
        (_("Schedule"), {"fields": ("interval", "crontab", "start_time", "last_run_at", "one_off")}),
        *beat.PeriodicTaskAdmin.fieldsets[2:],
    )
    date_hierarchy = None  # of a start that none of them has
    change_list_template = change_form_template = (
        None  # its own have an inline script, which the policy refuses
    )

    @admin.display(description=_("Schedule"))
    def schedule(self, task: PeriodicTask) -> Any:
        return task.scheduler


@admin.register(IntervalSchedule)
class Intervals(OfServer):
    title, new = _("Intervals"), _("New interval")
    list_display = ["__str__"]


@admin.register(CrontabSchedule)
class Crontabs(beat.CrontabScheduleAdmin, OfServer):
    title, new = _("Crontabs"), _("New crontab")

    def named(self, obj: CrontabSchedule) -> str:
        """Its own name is five stars and their legend."""
        return str(obj.human_readable)

    @admin.display(description=_("In words"))
    def human_readable(self, crontab: CrontabSchedule) -> Any:
        return crontab.human_readable


# What unfold says and has no Chinese for: named here, it is in the catalogue.
SAID_BY_UNFOLD = (
    _("Type to search"),
    _("Reset filters"),
    _(
        "Raw passwords are not stored, so there is no way to see this user’s password, but you can change"
        ' the password using <a href="{}" class="text-primary-600 dark:text-primary-500">this form</a>.'
    ),
    _("After you've created a user, you’ll be able to edit more user options."),
    _("Run"),
    _("Select all rows"),
    _("Select record"),
    _("Select value"),
    _("Date"),
)
# And what django-celery-beat says.
SAID_BY_BEAT = (
    _("Arguments"),
    _("Task Name"),
    _("Execution Options"),
    _("Periodic Tasks Using This Schedule"),
    _('Cron Days Of The Week to Run. Use "*" for "all", Sunday is 0 or 7, Monday is 1. (Example: "0,5")'),
    _('Cron Months (1-12) Of The Year to Run. Use "*" for "all". (Example: "1,12")'),
)
