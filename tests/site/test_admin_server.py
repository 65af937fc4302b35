"""The server-wide admin pages: users, projects, periodic tasks; for superusers only."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from memory.models import Membership, Project
from tests.memory.admin.test_admin_facts import page

pytestmark = pytest.mark.django_db

LISTS = {
    "auth/user/": ("Users", "New user"),
    "memory/project/": ("Projects", "New project"),
    "django_celery_beat/periodictask/": ("Periodic tasks", "New periodic task"),
}


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root", password="p"))
    return client


@pytest.mark.parametrize("path", LISTS)
def test_a_list_leads_to_a_form_that_saves(root: Client, path: str) -> None:
    title, new = LISTS[path]
    html = page(root, f"/admin/{path}")
    assert f"<h1>{title}</h1>" in html
    assert f'href="/admin/{path}add/"' in html
    form = page(root, f"/admin/{path}add/")
    assert (f"<h1>{new}</h1>" in form, 'name="_save"' in form, "<script id" in form) == (True, True, True)
    assert "updateCrontabHelp" not in form  # an inline script, which the content policy refuses


@pytest.mark.slow
def test_a_user_is_added_and_changed(root: Client) -> None:
    assert 'name="password1"' in page(root, "/admin/auth/user/add/")
    secret = "correct horse battery"
    given = {"username": "cora", "usable_password": "true", "password1": secret, "password2": secret}
    made = root.post("/admin/auth/user/add/", given)
    cora = User.objects.get(username="cora")
    assert (made.status_code, cora.check_password(secret), cora.is_staff) == (302, True, False)
    html = page(root, f"/admin/auth/user/{cora.pk}/change/")
    assert ("<h1>cora</h1>" in html, 'name="_save"' in html) == (True, True)
    root.post(f"/admin/auth/user/{cora.pk}/change/", {"username": "cora", "email": "c@example.org"})
    cora.refresh_from_db()
    assert (cora.email, cora.is_active) == ("c@example.org", False)  # an unticked box
    assert "<h1>Delete “cora”?</h1>" in page(root, f"/admin/auth/user/{cora.pk}/delete/")


def test_a_project_is_made_with_its_branch_and_its_maker(root: Client) -> None:
    root.post("/admin/memory/project/add/", {"name": "New one", "slug": "new-one", "recipe": ""})
    project = Project.objects.get(slug="new-one")
    assert project.branches.get().name == "main"
    assert Membership.objects.get(project=project).role == "maintainer"
    page(root, f"/admin/memory/project/{project.pk}/delete/", 403)


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("password_change/", "/account/password"),
        ("password_change/done/", "/account"),
        ("logout/", "/account"),
        ("auth/", "/admin/"),
        ("memory/", "/admin/"),
    ],
)
def test_what_the_admin_has_twice_leads_to_the_one_page_of_it(root: Client, path: str, leads_to: str) -> None:
    answer = root.get(f"/admin/{path}")
    assert (answer.status_code, answer.headers["Location"]) == (302, leads_to)


def test_a_form_without_a_slug_loads_no_scripts_for_one(root: Client) -> None:
    assert "xregexp" not in page(root, "/admin/django_celery_beat/crontabschedule/add/")
    assert "xregexp" in page(root, "/admin/memory/project/add/")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("auth/user/", ("用户名", "人员状态", "超级用户状态")),
        ("memory/project/", ("名称", "地址中的名称", "搜索配方", "创建时间")),
        ("memory/project/add/", ("名称", "地址中的名称", "搜索配方", "留空表示使用服务器的默认值。")),
        ("django_celery_beat/periodictask/", ("名称", "计划")),
        ("django_celery_beat/periodictask/add/", ("参数", "执行选项")),
    ],
)
def test_the_fields_have_their_names_in_chinese(root: Client, path: str, words: tuple[str, ...]) -> None:
    Project.objects.create(name="One", slug="one")
    PeriodicTask.objects.create(
        name="x", task="memory.sweep", interval=IntervalSchedule.objects.create(every=5, period="minutes")
    )
    html = root.get(f"/admin/{path}", headers={"accept-language": "zh-hans"}).content.decode()
    main = html.split("<main")[1].split("</main>")[0]
    assert [word for word in words if word not in main] == []
    raw = ("Slug", "Recipe", "Created at", "Scheduler", "Arguments", "Execution Options", "Last Run")
    assert [name for name in raw if f">{name}<" in re.sub(r"\s*([<>])\s*", r"\1", main)] == []
