"""Admin of periodic tasks and their schedules, intervals and crontabs, in the reader's language."""

from calendar import day_name, month_name
from json import loads
from typing import Any

from cron_descriptor import CasingTypeEnum, FormatException, Options, get_description
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import get_language, gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _
from django_celery_beat import admin as beat
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from day1site.admin.base import ServerModelAdmin

# Day1's tasks use intervals and crontabs only: no one-time clock, no solar events.
admin.site.unregister([PeriodicTask, IntervalSchedule, CrontabSchedule, ClockedSchedule, SolarSchedule])

LOCALES = {"en": "en_US", "zh-hans": "zh_CN"}  # locale names of cron-descriptor
# cron-descriptor names days and months in the server's locale, not in the reader's.
NAMES = dict(zip([*day_name, *month_name[1:]], [*WEEKDAYS.values(), *MONTHS.values()], strict=True))
TIMES = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")


def expression(crontab: CrontabSchedule) -> str:
    """Return the crontab's five fields, as in a cron file."""
    return " ".join(getattr(crontab, name) for name in TIMES)


def in_words(crontab: CrontabSchedule) -> str:
    """Return the crontab as a sentence in the reader's language; its five fields where that fails."""
    options = Options()
    options.locale_code, options.use_24hour_time_format = LOCALES[get_language() or "en"], True
    options.casing_type = CasingTypeEnum.Sentence
    try:
        words = get_description(expression(crontab), options)
    except FormatException:
        words = expression(crontab)
    for name, word in NAMES.items():
        words = words.replace(name, str(word))
    return f"{words} ({crontab.timezone})"


class TaskSelect(UnfoldAdminSelectWidget, beat.TaskSelectWidget):
    """Selection of the tasks that the workers know."""


class TaskForm(beat.PeriodicTaskForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()
        self.fields["crontab"].label_from_instance = in_words

    def clean(self) -> Any:
        # the lookup below needs the field, also when a name that is too long was refused
        self.cleaned_data.setdefault("task", "")
        return super().clean()

    def _clean_json(self, field: str) -> Any:
        """Check a JSON field, without the parser's message, which is in English."""
        try:
            return super()._clean_json(field)
        except ValidationError:
            raise ValidationError(_("This is no JSON: write it as in the line above.")) from None

    def validate_unique(self) -> None:
        """Check for one schedule before the model does: its message is in English and names hidden
        schedules.
        """
        if bool(self.instance.interval) == bool(self.instance.crontab):
            self.add_error("interval", _("Choose an interval or a crontab: one of them, not both."))
        else:
            super().validate_unique()


@admin.register(PeriodicTask)
class PeriodicTasks(beat.PeriodicTaskAdmin, ServerModelAdmin):
    title, new = _("Periodic tasks"), _("New periodic task")
    form = TaskForm
    list_display = ["name", "enabled", "schedule", "last_run_at"]
    list_filter = ["enabled", "one_off"]
    fieldsets = (
        (None, {"fields": ("name", "regtask", "task", "enabled", "description")}),
        (_("Schedule"), {"fields": ("interval", "crontab", "start_time", "last_run_at", "one_off")}),
        *beat.PeriodicTaskAdmin.fieldsets[2:],
    )
    helps = {
        # the model's help texts only repeat the field names
        **dict.fromkeys(("name", "description", "start_time"), ""),
        "enabled": _("Turned off, it does not run."),
        "interval": _("It runs every so often. Choose this or a crontab."),
        "crontab": _("It runs at these times. Choose this or an interval."),
        "last_run_at": _("When it was last sent to a worker; empty again once it is turned off."),
        "one_off": _("It runs once, and is turned off then."),
        "queue": _("Empty means the usual one."),
    }
    date_hierarchy = None  # by the start time, which is never set
    change_list_template = change_form_template = (
        None  # its own templates have an inline script, which the content security policy refuses
    )

    def named(self, obj: PeriodicTask) -> str:
        return str(obj.name)

    @admin.action(description=_("Run selected tasks"))
    def run_tasks(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Run the selected tasks now, regardless of their schedules; none when one is unknown."""
        self.celery_app.loader.import_default_modules()
        if unknown := [task.name for task in queryset if task.task not in self.celery_app.tasks]:
            sentence = gettext("No worker knows what these are to run: {names}. Nothing was sent.")
            return self.message_user(request, sentence.format(names=", ".join(unknown)), messages.ERROR)
        for task in queryset:
            run = self.celery_app.tasks[task.task]
            run.apply_async(args=loads(task.args), kwargs=loads(task.kwargs), queue=task.queue or None)
        sentence = gettext("Sent to the workers: {names}.")
        return self.message_user(request, sentence.format(names=", ".join(task.name for task in queryset)))

    @admin.display(description=_("Schedule"))
    def schedule(self, task: PeriodicTask) -> Any:
        return in_words(task.crontab) if task.crontab else task.scheduler


@admin.register(IntervalSchedule)
class Intervals(ServerModelAdmin):
    title, new = _("Intervals"), _("New interval")
    list_display = ["__str__"]


class CrontabForm(forms.ModelForm):
    def clean(self) -> Any:
        """Validate the fields before the model does, whose messages are in English."""
        for name in TIMES:
            try:
                CrontabSchedule._meta.get_field(name).run_validators(self.cleaned_data.get(name))
            except ValidationError:
                self.add_error(name, _("This cannot be read: write it as in the line above."))
        return super().clean()


class TasksOfIt(beat.PeriodicTaskInline):
    verbose_name = verbose_name_plural = _("Tasks that come back by it")
    fields = readonly_fields = ("name", "runs", "on")

    @admin.display(description=_("Task"))
    def runs(self, task: PeriodicTask) -> Any:
        return task.task

    @admin.display(description=_("Enabled"), boolean=True)
    def on(self, task: PeriodicTask) -> bool:
        return bool(task.enabled)


@admin.register(CrontabSchedule)
class Crontabs(beat.CrontabScheduleAdmin, ServerModelAdmin):
    title, new = _("Crontabs"), _("New crontab")
    form = CrontabForm
    inlines = [TasksOfIt]
    list_display = ["human_readable", "expression"]
    helps = {
        "minute": _("0 to 59, such as 0,30 or */15; * means every minute."),
        "hour": _("0 to 23, such as 8,20 or 9-17; * means every hour."),
        "day_of_month": _("1 to 31, such as 1,15; * means every day."),
        "month_of_year": _("1 to 12, such as 1,7; * means every month."),
        "day_of_week": _("0 to 6, Sunday is 0, such as 1-5; * means every day."),
        "timezone": _("The clock that these times are of."),
    }

    def named(self, obj: CrontabSchedule) -> str:
        """Return the schedule as a sentence; the model's own name is five stars and a legend."""
        return in_words(obj)

    @admin.display(description=_("In words"))
    def human_readable(self, crontab: CrontabSchedule) -> Any:
        return in_words(crontab)

    @admin.display(description=_("As in a file of cron"))
    def expression(self, crontab: CrontabSchedule) -> Any:
        return expression(crontab)


# Texts of django-celery-beat without a Chinese translation, or with other words than these pages.
SAID_BY_BEAT = (
    _("Arguments"),
    _("Execution Options"),
    _("crontab"),
    _("crontabs"),
    _("Crontab Schedule"),
    _("Interval Schedule"),
    _("periodic task"),
    _("periodic tasks"),
    _("Microsecond"),
    _("Microseconds"),
    _("Only one can be set, in expires and expire_seconds"),
    ngettext_lazy("{0} task was successfully enabled", "{0} tasks were successfully enabled", 1),
    ngettext_lazy("{0} task was successfully disabled", "{0} tasks were successfully disabled", 1),
    ngettext_lazy("{0} task was successfully toggled", "{0} tasks were successfully toggled", 1),
)
