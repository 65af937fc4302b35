"""The other admin pages: a fact, questions, branches, keys, members, sessions, audit, the server."""

import re

import pytest

from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Membership, Project
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_admin_facts import page
from tests.memory.api.client import UNKNOWN, nothing_left

pytestmark = pytest.mark.django_db(transaction=True)


def of(fact):
    return f"{HOME}facts/{fact.uid}"


def edit_of(fact):
    return f"{of(fact)}/edit"


def form_of(fact, **changed):
    names = ("fact_text", "essence", "category", "kind", "priority", "confidence", "visibility")
    values = {name: getattr(fact, name) for name in names}
    return {"version": fact.version, **values, "tags": "", **changed}


class TestFact:
    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"fact_text": ""}, "fact_text"),
            ({"confidence": "7"}, "confidence"),
            ({"valid_from": "2026-05-02T00:00", "valid_until": "2026-05-01T00:00"}, "valid_until"),
        ],
    )
    def test_a_wrong_value_stands_beside_its_field(self, curator, write, changed, field):
        one = write("old")
        with nothing_left():
            answer = curator.post(edit_of(one), form_of(one, **changed))
        assert answer.status_code == 400
        assert f'id="id_{field}_error"' in answer.content.decode()

    @pytest.mark.parametrize(
        ("typed", "status"),
        [
            ({"fact_text": "long " * 14000}, 413),
            ({"replaced_by": "nothing"}, 400),
            ({"replaced_by": str(UNKNOWN)}, 404),
        ],
    )
    def test_an_action_that_cannot_be_keeps_what_was_typed(self, curator, write, typed, status):
        one = write("old")
        deed = {"version": 1, "fact_text": "old", "reason": "My reason."}
        with nothing_left():
            answer = curator.post(f"{edit_of(one)}?as=new", {**deed, **typed})
        html = answer.content.decode()
        assert answer.status_code == status
        assert 'value="My reason."' in html
        assert all(words.strip() in html for words in typed.values())

    def test_an_unknown_one_tells_where_else_to_look(self, curator, write, actor):
        html = page(curator, f"{HOME}facts/{UNKNOWN}", 404)
        assert "Search the facts" in html
        assert "No fact of this project has this id" in html
        BranchManager().create_branch(name="task/x", actor=actor)
        BranchManager().create_branch(name="task/y", parent="task/x", actor=actor)
        one = write("only there", branch="task/x")
        html = page(curator, of(one), 404)
        assert f'href="{of(one)}?branch=task%2Fx"' in html
        assert "task%2Fy" not in html.split("<main")[1].split("</h1>")[1]

    def test_one_that_is_deleted_or_came_later_says_so(self, curator, write, actor):
        one = write("gone by now")
        html = page(curator, f"{of(one)}?at=0", 404)
        assert "It was written later than the time that you are reading." in html
        FactEngine().delete_fact(fact_id=one.uid, actor=actor)
        html = page(curator, of(one), 404)
        assert "It was deleted here." in html
        assert "gone by now" in html


class TestBranches:
    def test_made_archived_and_taken_back(self, curator, main):
        made = curator.post(f"{HOME}branches", {"name": "task/x", "purpose": "Try."})
        assert made["Location"] == f"{HOME}branches/task/x"
        assert "Try." in page(curator, made["Location"])
        curator.post(f"{made['Location']}?do=archive")
        assert 'action="?do=restore"' in page(curator, made["Location"])
        assert "task/x" not in page(curator, f"{HOME}branches").split("<table")[1]
        curator.post(f"{made['Location']}?do=restore")
        assert 'action="?do=archive"' in page(curator, made["Location"])

    def test_a_name_that_cannot_be_stays_in_the_form(self, curator, main):
        with nothing_left():
            answer = curator.post(f"{HOME}branches", {"name": "Bad Name"})
        assert answer.status_code == 400
        assert 'value="Bad Name"' in answer.content.decode()

    def test_the_log_and_undoing_from_it(self, maintainer, curator, write, actor):
        one = write("one")
        log = f"{HOME}branches/main"
        assert 'formaction="/admin/p/test/undo/' not in page(curator, log)
        html = page(maintainer, log)
        address = re.search(r'formaction="([^"]+)"', html)[1]
        maintainer.post(address)
        assert FactEngine().list_facts(actor=actor).results == []
        assert "Undid commit 1" in page(maintainer, log)
        assert str(one.rid) not in html


class TestPeople:
    def test_a_name_that_nobody_has_stays_in_the_form(self, maintainer):
        given = {"username": "crora <b>", "role": "curator"}
        answer = maintainer.post(f"{HOME}members", given)
        html = answer.content.decode()
        assert answer.status_code == 400
        assert "Nobody here has the name" in html
        assert 'value="crora &lt;b&gt;"' in html
        assert re.search(r'value="curator"[^>]* checked', html)
        assert Membership.objects.count() == 1
        assert 'value="crora' not in page(maintainer, f"{HOME}members")

    def test_a_filter_that_fits_is_not_called_invalid(self, curator, write):
        write("one", category="security")
        html = page(curator, f"{HOME}facts?status=active&category=security")
        assert ('value="active" selected' in html, 'value="security"' in html) == (True, True)
        assert "aria-invalid" not in html

    def test_sessions(self, curator, write):
        assert "--session s1 --agent builder" in page(curator, f"{HOME}sessions")
        assert "Show all sessions" in page(curator, f"{HOME}sessions?agent_id=nobody")
        write("one", session_id="s-1", agent_id="claude")
        html = page(curator, f"{HOME}sessions?status=active&agent_id=claude")
        assert "s-1" in html
        assert "No session fits" in page(curator, f"{HOME}sessions?agent_id=nobody")


class TestServer:
    PATHS = ("auth/user/", "memory/project/", "django_celery_beat/periodictask/")

    @pytest.mark.parametrize("path", PATHS)
    def test_only_for_superusers(self, admin_client, maintainer, path):
        assert admin_client.get(f"/admin/{path}").status_code == 200
        assert admin_client.get(f"/admin/{path}add/").status_code == 200
        assert maintainer.get(f"/admin/{path}").status_code == 403
        assert f"/admin/{path}" not in page(maintainer, f"{HOME}facts")

    def test_a_new_project_has_its_branch_and_its_owner(self, admin_client, admin_user):
        admin_client.post("/admin/memory/project/add/", {"name": "New", "slug": "new", "recipe": ""})
        project = Project.objects.get(slug="new")
        assert [branch.name for branch in project.branches.all()] == ["main"]
        assert [(m.user, m.role) for m in project.memberships.all()] == [(admin_user, "owner")]
        assert admin_client.get("/admin/").headers["Location"].endswith("p/new/facts")
