"""Periodic tasks and their schedules in the admin, in the reader's language; for superusers."""

import re

import pytest
from django.test import Client
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from memory.models import QueueMessage
from tests.memory.admin.test_admin_facts import page
from tests.site.test_admin_server import root

__all__ = ["root"]
pytestmark = pytest.mark.django_db
TASKS = "/admin/django_celery_beat/periodictask/"
SCHEDULES = "/admin/django_celery_beat/crontabschedule/"


def test_schedules_stand_under_the_periodic_tasks_by_what_they_mean(root: Client) -> None:
    IntervalSchedule.objects.create(every=30, period="seconds")
    clock = CrontabSchedule.objects.create(minute="5", hour="4")
    intervals = page(root, "/admin/django_celery_beat/intervalschedule/")
    assert "every 30 seconds" in intervals
    assert re.findall(r'href="(\S+)" aria-current="page"', intervals) == [TASKS]
    assert "<h1>At 04:05 (UTC)</h1>" in page(root, f"{SCHEDULES}{clock.pk}/change/")
    assert "<h1>Delete “At 04:05 (UTC)”?</h1>" in page(root, f"{SCHEDULES}{clock.pk}/delete/")
    assert "<h1>Change history: At 04:05 (UTC)</h1>" in page(root, f"{SCHEDULES}{clock.pk}/history/")
    clock.delete()
    assert "Make the first one with the button above." in page(root, SCHEDULES)


def test_a_periodic_task_needs_one_schedule(root: Client) -> None:
    given = {"name": "x", "task": "memory.sweep", "args": "[]", "kwargs": "{}", "headers": "{}"}
    clock, often = CrontabSchedule.objects.create(), IntervalSchedule.objects.create(every=5, period="hours")
    both = root.post(f"{TASKS}add/", {**given, "crontab": clock.pk, "interval": often.pk})
    assert "Choose an interval or a crontab: one of them, not both." in both.content.decode()
    refused = root.post(f"{TASKS}add/", given)
    assert (refused.status_code, PeriodicTask.objects.count()) == (200, 0)
    assert "Choose an interval or a crontab: one of them, not both." in refused.content.decode()


def test_a_name_that_no_task_can_have_is_refused(root: Client) -> None:
    often = IntervalSchedule.objects.create(every=5, period="hours")
    given = {"name": "x", "args": "[]", "kwargs": "{}", "headers": "{}", "interval": often.pk}
    for name in ("", "x" * 201):
        refused = root.post(f"{TASKS}add/", {**given, "task": name})
        assert (refused.status_code, "Need name of task" in refused.content.decode()) == (200, True)
    assert PeriodicTask.objects.count() == 0


def test_arguments_that_are_no_json_are_refused_in_the_readers_words(root: Client) -> None:
    often = IntervalSchedule.objects.create(every=5, period="hours")
    given = {"name": "x", "task": "memory.expire", "headers": "{}", "interval": often.pk, "args": "{"}
    refused = root.post(f"{TASKS}add/", {**given, "kwargs": "x"}, headers={"accept-language": "zh-hans"})
    assert refused.content.decode().count("这不是 JSON：请按上方说明填写。") == 2
    assert PeriodicTask.objects.count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "english", "chinese"),
    [
        ({}, "Every minute", "每分钟"),
        ({"minute": "5", "hour": "4"}, "At 04:05", "在 04:05"),
        (
            {"minute": "0", "hour": "0", "day_of_month": "1", "month_of_year": "1,6"},
            "At 00:00, on day 1 of the month, only in January and June",
            "在 00:00, 每月的 1 号, 仅在 一月 和 六月",
        ),
        (
            {"minute": "30", "hour": "18", "day_of_week": "1-5"},
            "At 18:30, Monday through Friday",
            "在 18:30, 星期一 到 星期五",
        ),
        (
            {"minute": "0", "hour": "9", "day_of_week": "mon"},
            "At 09:00, only on Monday",
            "在 09:00, 仅在 星期一",
        ),
    ],
)
def test_a_crontab_is_told_in_the_readers_words(
    root: Client, fields: dict[str, str], english: str, chinese: str
) -> None:
    clock = CrontabSchedule.objects.create(**fields, timezone="Asia/Shanghai")
    PeriodicTask.objects.create(name="nightly", task="memory.expire", crontab=clock)
    for language, words in (("en", english), ("zh-hans", chinese)):
        for path in (f"{SCHEDULES}{clock.pk}/change/", SCHEDULES, TASKS, f"{TASKS}add/"):
            html = root.get(path, headers={"accept-language": language}, follow=True).content.decode()
            assert f"{words} (Asia/Shanghai)" in html, (path, language)


def test_a_crontab_that_cannot_be_is_refused_in_the_readers_words(root: Client) -> None:
    wrong = {"minute": "60", "hour": "x", "day_of_month": "0", "month_of_year": "13", "day_of_week": "5-1"}
    tasks = {"periodictask_set-TOTAL_FORMS": "0", "periodictask_set-INITIAL_FORMS": "0"}
    for language, words in (
        ("en", "This cannot be read: write it as in the line above."),
        ("zh-hans", "无法识别：请按上方说明填写。"),
    ):
        refused = root.post(
            f"{SCHEDULES}add/",
            {**wrong, **tasks, "timezone": "UTC"},
            headers={"accept-language": language},
        )
        assert (refused.status_code, refused.content.decode().count(words)) == (200, 5)
    assert CrontabSchedule.objects.count() == 0


def test_tasks_are_run_now_all_of_them_or_none(root: Client) -> None:
    often = IntervalSchedule.objects.create(every=5, period="hours")
    known = PeriodicTask.objects.create(name="expire now", task="memory.expire", interval=often)
    other = PeriodicTask.objects.create(name="odd", task="no.such", interval=often)

    def run(*tasks: PeriodicTask) -> str:
        ticked = {"action": "run_tasks", "_selected_action": [task.pk for task in tasks]}
        return root.post(TASKS, ticked, follow=True).content.decode()

    assert "No worker knows what these are to run: odd. Nothing was sent." in run(known, other)
    assert QueueMessage.objects.count() == 0
    assert "Sent to the workers: expire now." in run(known)
    assert [("memory.expire" in message.payload) for message in QueueMessage.objects.all()] == [True]


def test_what_libraries_say_is_in_chinese(root: Client) -> None:
    """Allow Latin letters only in protocol names and users' input."""
    clock = CrontabSchedule.objects.create(minute="5", hour="4")
    PeriodicTask.objects.create(name="nightly", task="memory.expire", crontab=clock, enabled=False)
    raw = re.compile(
        r"(?<![A-Za-z])(False|True|None|null|all|Select|Task Name|Every|At|Set to|Cron Days)(?![A-Za-z])"
    )
    assert raw.search("设置为False可禁用时间表")
    for path in (
        "periodictask/",
        "periodictask/add/",
        "crontabschedule/",
        f"crontabschedule/{clock.pk}/change/",
    ):
        address = f"/admin/django_celery_beat/{path}"
        html = root.get(address, headers={"accept-language": "zh-hans"}).content.decode()
        main = re.sub(r"<script.*?</script>", "", html.split("<main")[1].split("</main>")[0], flags=re.DOTALL)
        said = re.findall(r">([^<]+)<", main) + re.findall(
            r'(?:title|aria-label|placeholder)="([^"]*)"', main
        )
        assert [text.strip() for text in said if raw.search(text)] == [], path
