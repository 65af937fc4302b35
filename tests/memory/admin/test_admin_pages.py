"""The other admin pages: a fact, questions, branches, keys, members, sessions, audit, the server."""

import re

import pytest

from curation.models import ReviewItem
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.evidence import get_fact_commit
from memory.engines.facts.links import LinkEngine
from memory.exceptions import Unauthenticated
from memory.models import AuditEntry, Membership, Project
from memory.models.nodes import uuid7
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_admin_facts import page, undo_of
from tests.memory.api.client import UNKNOWN, nothing_left
from tests.queries import count_later_queries

pytestmark = pytest.mark.django_db(transaction=True)


def of(fact):
    return f"{HOME}facts/{fact.uid}"


def act_of(fact):
    return f"{of(fact)}/act"


def edit_of(fact):
    return f"{of(fact)}/edit"


def form_of(fact, **changed):
    names = ("fact_text", "essence", "category", "kind", "priority", "confidence", "visibility")
    values = {name: getattr(fact, name) for name in names}
    return {"version": fact.version, **values, "tags": "", **changed}


class TestFact:
    def test_what_it_says_and_what_stands_beside_it(self, curator, write, actor):
        one, two = write("Deploys run from main.", tags=["ops"], session_id="s1"), write("Another.")
        FactEngine().update_fact(
            fact_id=one.uid, updates={"fact_text": "Deploys run from tags."}, actor=actor
        )
        ActionEngine().apply_action(action="verify", fact_ids=[one.uid], actor=actor, reason="Read it.")
        LinkEngine().write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
        html = page(curator, of(one))
        assert "Deploys run from <del>main</del><ins>tags</ins>." in html
        for part in ("Read it.", "depends on", "Another.", "s1", "#<bdi>ops</bdi>", "corrected a fact"):
            assert part in html, part

    def test_a_correction_and_its_undoing(self, curator, write, actor):
        one = write("old")
        answer = curator.post(edit_of(one), form_of(one, fact_text="new", tags="a, b"))
        assert (answer.status_code, answer["Location"]) == (302, of(one))
        fact = FactEngine().get_fact(fact_id=one.uid, actor=actor)
        assert (fact.fact_text, fact.essence, fact.tags, fact.version) == ("new", "new", ["a", "b"], 2)
        curator.post(undo_of(page(curator, of(one))))
        fact = FactEngine().get_fact(fact_id=one.uid, actor=actor)
        assert (fact.fact_text, fact.tags, fact.version) == ("old", [], 3)

    def test_saving_what_is_there_changes_nothing(self, curator, write):
        one = write("old")
        with nothing_left():
            curator.post(edit_of(one), form_of(one))
        assert "Nothing was changed." in page(curator, of(one))

    def test_a_stale_form_keeps_what_was_typed_and_tells_what_changed(self, curator, write, actor):
        one = write("The first words.")
        FactEngine().update_fact(fact_id=one.uid, updates={"fact_text": "The other words."}, actor=actor)
        with nothing_left():
            answer = curator.post(edit_of(one), form_of(one, fact_text="What I typed.", category="mine"))
        html = answer.content.decode()
        assert answer.status_code == 412
        assert "Nothing was changed: somebody was quicker." in html
        assert "The <del>first</del><ins>other</ins> words." in html
        assert "What I typed." in html
        assert 'value="mine"' in html
        assert 'name="version" value="2"' in html
        curator.post(edit_of(one), form_of(one, fact_text="What I typed.", version=2))
        assert FactEngine().get_fact(fact_id=one.uid, actor=actor).fact_text == "What I typed."

    def test_what_was_left_alone_in_a_stale_form_follows_the_fact(self, curator, write, actor):
        one = write("The words.", category="old")
        FactEngine().update_fact(fact_id=one.uid, updates={"category": "theirs"}, actor=actor)
        with nothing_left():
            answer = curator.post(edit_of(one), form_of(one, fact_text="My words."))
        assert answer.status_code == 412
        assert 'name="category" value="theirs"' in answer.content.decode()
        assert "My words." in answer.content.decode()

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

    def test_an_action(self, curator, write, actor):
        one = write("old")
        curator.post(act_of(one), {"action": "archive", "version": 1})
        assert FactEngine().get_fact(fact_id=one.uid, actor=actor).status == "archived"
        assert "Archived." in page(curator, of(one))
        typed = {"action": "restore", "version": 1, "reason": "It was needed after all."}
        with nothing_left():
            late = curator.post(act_of(one), typed)
        html = late.content.decode()
        assert late.status_code == 412
        assert "Nothing was changed: somebody was quicker." in html
        assert "<del>active</del>" in html
        assert "<ins>archived</ins>" in html
        assert 'value="It was needed after all."' in html

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

    @pytest.mark.slow
    def test_a_text_that_is_too_long_stays_in_the_form(self, curator, write):
        one = write("old")
        with nothing_left():
            answer = curator.post(edit_of(one), form_of(one, fact_text="long " * 14000))
        assert answer.status_code == 413
        assert "long " * 13000 in answer.content.decode()

    def test_an_action_on_a_branch_archived_meanwhile_keeps_the_reason(self, curator, write, actor):
        BranchManager().create_branch(name="task/x", actor=actor)
        one = write("old", branch="task/x")
        BranchManager().archive_branch(name="task/x", actor=actor)
        deed = {"action": "verify", "version": 1, "reason": "My reason."}
        with nothing_left():
            admin = curator.post(f"{act_of(one)}?branch=task/x", deed)
            web = curator.post(f"/p/test/facts/{one.uid}/act?branch=task/x", deed)
        for answer in (admin, web):
            assert answer.status_code == 409
            assert 'value="My reason."' in answer.content.decode()

    def test_a_viewer_reads_and_is_refused(self, viewer, write):
        one = write("old")
        html = page(viewer, of(one))
        assert 'name="action"' not in html
        with nothing_left():
            assert viewer.post(edit_of(one), form_of(one, fact_text="new")).status_code == 403
            deed = {"action": "verify", "version": 1}
            assert viewer.post(act_of(one), deed).status_code == 403

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

    def test_text_with_markup_and_from_right_to_left(self, curator, write):
        html = page(curator, of(write("<img src=x onerror=alert(1)> العربية")))
        assert "<img src=x" not in html
        assert "&lt;img src=x onerror=alert(1)&gt; العربية" in html


@pytest.fixture
def ask(main, write):
    def ask(n=1):
        for _ in range(n):
            older, newer = write(f"older {uuid7()}"), write(f"newer {uuid7()}")
            item = ReviewItem.objects.create(
                project=main.project,
                branch=main,
                kind="near_duplicate",
                fact_id=newer.uid,
                other_id=older.uid,
                pair=str(uuid7()),
                score=0.9,
                details={"versions": {str(older.uid): 1, str(newer.uid): 1}},
            )
        return item, older, newer

    return ask


class TestReview:
    def resolve(self, client, item, older, newer, decision, **more):
        read = {f"version-{fact.uid}": fact.version for fact in (older, newer)}
        decision, _colon, keep = decision.partition(":")
        data = {"decision": decision, "keep": keep, **read, **more}
        return client.post(f"{HOME}review/{item.pk}", data)

    @pytest.mark.parametrize(
        ("decision", "statuses"),
        [
            ("keep_both", ("active", "active")),
            ("same:{older}", ("active", "superseded")),
            ("supersede:{newer}", ("superseded", "active")),
            ("archive:{older}", ("active", "archived")),
            ("combine", ("superseded", "superseded")),
        ],
    )
    def test_an_answer_and_its_undoing(self, curator, ask, actor, decision, statuses):
        item, older, newer = ask()
        decision = decision.format(older=older.uid, newer=newer.uid)
        self.resolve(curator, item, older, newer, decision, new_fact_text="both")

        def now():
            return tuple(
                FactEngine().get_fact(fact_id=fact.uid, actor=actor).status for fact in (older, newer)
            )

        assert now() == statuses
        html = page(curator, f"{HOME}review/questions")
        assert "Nothing needs review." in html
        curator.post(undo_of(html))
        assert now() == ("active", "active")
        assert "answered before, and undone:" in page(curator, f"{HOME}review/questions")

    def test_a_stale_answer_is_told_what_changed(self, curator, ask, actor):
        item, older, newer = ask()
        FactEngine().update_fact(fact_id=older.uid, updates={"confidence": 0.1}, actor=actor)
        with nothing_left():
            told = self.resolve(curator, item, older, newer, f"same:{older.uid}", new_fact_text="both")
        assert told.status_code == 412
        html = told.content.decode()
        assert ("Changed: Confidence." in html, ">both</textarea>" in html) == (True, True)

    def test_a_viewer_is_kept_out(self, viewer, ask):
        item, older, newer = ask()
        page(viewer, f"{HOME}review", 403)
        assert f'{HOME}review"' not in page(viewer, f"{HOME}facts")
        with nothing_left():
            assert self.resolve(viewer, item, older, newer, "keep_both").status_code == 403

    @pytest.mark.slow
    def test_the_queries_do_not_grow_with_the_questions(self, curator, ask):
        def queries(n):
            ask(n)
            return count_later_queries(curator, f"{HOME}review")

        assert queries(20) == queries(40)  # a page is full with either


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

    def test_a_purpose_that_is_too_long_stays_in_the_form(self, curator, main):
        with nothing_left():
            answer = curator.post(f"{HOME}branches", {"name": "a", "purpose": "p" * 501})
        assert answer.status_code == 400
        assert "Purpose has at most 500 characters." in answer.content.decode()
        assert f'value="{"p" * 501}"' in answer.content.decode()

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

    def test_a_viewer_changes_nothing(self, viewer, write, main, actor):
        written = f"{HOME}undo/{get_fact_commit(write('one')).pk}"
        BranchManager().create_branch(name="task/x", actor=actor)
        assert 'name="purpose"' not in page(viewer, f"{HOME}branches")
        assert 'action="?do=archive"' not in page(viewer, f"{HOME}branches/task/x")
        with nothing_left():
            assert viewer.post(f"{HOME}branches/task/x?do=archive").status_code == 403
            assert viewer.post(f"{HOME}branches", {"name": "a"}).status_code == 403
            assert viewer.post(written).status_code == 403


class TestKeys:
    def test_made_shown_once_rotated_and_revoked(self, maintainer, main):
        form = {
            "label": "build",
            "scopes": "write",
            "branch_patterns": "main, task/*",
            "rate_per_minute": "60",
        }
        made = maintainer.post(f"{HOME}keys", form)
        assert (made.status_code, "no-store" in made["Cache-Control"]) == (201, True)
        token = re.search(r"day1_\w+_\w+", made.content.decode())[0]
        key = KeyEngine().verify_token(token)
        assert (key.label, key.scopes, key.branch_patterns) == ("build", ["write"], ["main", "task/*"])
        assert key.rate_per_minute == 60
        assert token not in page(maintainer, f"{HOME}keys")
        turned = maintainer.post(f"{HOME}keys/{key.pk}/rotate", {"grace_seconds": "0"})
        assert turned.status_code == 201
        fresh_token = re.search(r"day1_\w+_\w+", turned.content.decode())[0]
        fresh = KeyEngine().verify_token(fresh_token)
        maintainer.post(f"{HOME}keys/{fresh.pk}/revoke")
        for gone in (token, fresh_token):
            with pytest.raises(Unauthenticated):
                KeyEngine().verify_token(gone)
        assert AuditEntry.objects.filter(surface="admin", action__startswith="key.").count() == 3

    def test_a_wrong_value_stands_beside_its_field(self, maintainer, main):
        with nothing_left():
            form = {"label": "x", "scopes": "read", "branch_patterns": "A B", "rate_per_minute": "60"}
            answer = maintainer.post(f"{HOME}keys", form)
        assert answer.status_code == 400
        assert 'id="id_branch_patterns_error"' in answer.content.decode()

    @pytest.mark.parametrize("root", [HOME, "/p/test/"])
    @pytest.mark.parametrize("path", ["keys", "audit"])
    def test_only_for_maintainers(self, curator, main, root, path):
        page(curator, root + path, 403)
        assert f'href="{root}{path}"' not in page(curator, f"{root}facts")
        with nothing_left():
            assert curator.post(root + path, {"label": "x"}).status_code == 403

    def test_another_projects_key_is_no_key(self, maintainer, main, other_project):
        key, _token = KeyEngine().create_key(
            label="foreign", scopes=["read"], actor=local_actor(other_project.pk)
        )
        assert "foreign" not in page(maintainer, f"{HOME}keys")
        with nothing_left():
            answer = maintainer.post(f"{HOME}keys/{key.pk}/revoke")
        assert answer.status_code == 404


class TestPeople:
    def test_added_changed_and_removed(self, maintainer, person, main, django_user_model):
        django_user_model.objects.create_user("cora")
        maintainer.post(f"{HOME}members", {"username": "cora", "role": "viewer"})
        member = Membership.objects.get(user__username="cora")
        maintainer.post(f"{HOME}members/{member.pk}", {"role": "curator"})
        member.refresh_from_db()
        assert member.role == "curator"
        assert "cora is curator now." in page(maintainer, f"{HOME}members")
        maintainer.post(f"{HOME}members/{member.pk}/remove")
        assert not Membership.objects.filter(user__username="cora").exists()

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

    def test_the_last_maintainer_stays(self, maintainer, main):
        member = Membership.objects.get(role="maintainer")
        with nothing_left():
            answer = maintainer.post(f"{HOME}members/{member.pk}/remove")
        assert "last maintainer" in answer.content.decode()

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

    def test_a_new_project_has_its_branch_and_its_maintainer(self, admin_client, admin_user):
        admin_client.post("/admin/memory/project/add/", {"name": "New", "slug": "new", "recipe": ""})
        project = Project.objects.get(slug="new")
        assert [branch.name for branch in project.branches.all()] == ["main"]
        assert [(m.user, m.role) for m in project.memberships.all()] == [(admin_user, "maintainer")]
        assert admin_client.get("/admin/").headers["Location"].endswith("p/new/facts")
