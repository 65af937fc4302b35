"""The server-wide admin pages: users, projects, periodic tasks; for superusers only."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from memory.actors import Actor
from memory.engines.access.keys import KeyEngine
from memory.engines.access.members import build_member_actor
from memory.exceptions import Unauthenticated
from memory.models import AuditEntry, Membership, Project
from tests.memory.admin.test_admin_facts import page

pytestmark = pytest.mark.django_db

LISTS = {
    "auth/user/": ("Users", "New user"),
    "memory/project/": ("Projects", "New project"),
    "memory/membership/": ("Roles", "New role"),
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


def test_a_superuser_takes_a_role_and_gives_roles(root: Client, project: Project) -> None:
    own, form = User.objects.get(), "/admin/memory/membership/add/"
    assert "Take a role" in page(root, "/admin/")
    assert root.get("/p/test/").status_code == 404
    root.post(form, {"user": own.pk, "project": project.pk, "role": "maintainer"})
    assert root.get("/p/test/").status_code == 200
    member = Membership.objects.get()
    change = f"/admin/memory/membership/{member.pk}/change/"
    answer = root.post(change, {"role": "viewer"}, follow=True)
    assert "root is the last owner of the project." in answer.content.decode()
    assert "root is the last owner" in page(root, change.replace("change", "delete"))
    member.refresh_from_db()
    assert member.role == "owner"
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.surface, entry.actor_id) == (
        "member.add",
        "root",
        "admin",
        str(own.pk),
    )


@pytest.mark.parametrize("way", ["auth/user", "memory/membership", "is_active"])
def test_keys_end_with_an_account_that_is_deleted_or_closed(
    root: Client, project: Project, actor: Actor, way: str
) -> None:
    lea = User.objects.create_user("lea")
    member = Membership.objects.create(user=lea, project=project, role="owner")
    made, token = KeyEngine().create_key(
        label="agent", scopes=["admin"], actor=build_member_actor(member, lea, "web")
    )
    if way == "is_active":
        address = f"/admin/auth/user/{lea.pk}/change/"
        refused = root.post(address, {"username": "lea"}, follow=True)
        assert "lea is the last owner of the project." in refused.content.decode()
        assert User.objects.get(username="lea").is_active
        Membership.objects.create(user=User.objects.get(username="root"), project=project, role="owner")
        closed = root.post(address, {"username": "lea"}, follow=True)
        assert "Test: ended with the account: keys 1, invitations 0." in closed.content.decode()
    else:
        address = f"/admin/{way}/{(lea if way == 'auth/user' else member).pk}/delete/"
        assert "lea is the last owner of the project." in page(root, address)
        assert root.post(address, {"post": "yes"}).status_code == 200  # refused
        assert Membership.objects.count() == 1
        Membership.objects.create(user=User.objects.get(username="root"), project=project, role="owner")
        assert made.prefix in page(root, address)
        root.post(address, {"post": "yes"})
        assert not Membership.objects.filter(user__username="lea").exists()
    with pytest.raises(Unauthenticated):
        KeyEngine().verify_token(token)


def test_a_project_is_made_with_its_branch_and_its_maker(root: Client) -> None:
    root.post("/admin/memory/project/add/", {"name": "New one", "slug": "new-one", "recipe": ""})
    project = Project.objects.get(slug="new-one")
    assert project.branches.get().name == "main"
    assert Membership.objects.get(project=project).role == "owner"
    page(root, f"/admin/memory/project/{project.pk}/delete/", 403)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("recipe", "nope", "There is no recipe nope"),
        ("slug", "Upper", "lower-case letters"),
        ("stale_after_days", "0", "must be a whole number from 1 to"),
        ("least_evidence", "2", "must be a number from 0 to 1"),
    ],
)
def test_a_setting_is_refused_at_its_field_in_the_words_of_its_declaration(
    root: Client, project: Project, field: str, value: str, words: str
) -> None:
    answer = root.post(
        f"/admin/memory/project/{project.pk}/change/", {"name": "P", "slug": project.slug, field: value}
    )
    (error,) = answer.context["adminform"].form.errors[field]
    assert words in error
    assert "Stale after days" in answer.content.decode()
    assert Project.objects.get(pk=project.pk).version == project.version


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
