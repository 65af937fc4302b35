"""The pages of templates: what each role sees and may do."""

import pytest
from django.test import Client

from curation.engines.templates.engine import TemplateEngine
from curation.models import Template
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.models import Branch
from tests.curation.test_handoffs import write_fact
from tests.memory.views.test_page_frame import text

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/p/test/templates"
PAGE = f"{LIST}/bug-fix"


@pytest.fixture
def template(actor: Actor, main: Branch) -> Template:
    BranchManager().create_branch(name="task/login", actor=actor)
    write_fact(actor, "The clock is `two minutes` ahead of <b>all</b>.", branch="task/login")
    return TemplateEngine().create_template(
        name="bug-fix", source_branch="task/login", description="About <i>clocks</i>.", actor=actor
    )


def test_the_page_shows_what_work_begins_with(viewer: Client, template: Template) -> None:
    page = viewer.get(PAGE).content.decode()
    assert "<code>two minutes</code> ahead of &lt;b&gt;all&lt;/b&gt;." in page
    assert "tokens of a session’s start" in page
    assert "template/bug-fix/v1" in page
    assert "Start work from it" not in page
    assert viewer.post(PAGE, {"do": "begin", "target_branch": "task/x"}).status_code == 403


def test_a_curator_makes_begins_renews_and_deprecates(curator: Client, template: Template) -> None:
    made = curator.post(LIST, {"name": "new", "source_branch": "task/login", "task_types": "a, b"})
    assert (made.status_code, made["Location"]) == (302, f"{LIST}/new")
    assert Template.objects.get(name="new").task_types == ["a", "b"]
    again = curator.post(LIST, {"name": "new", "source_branch": "task/login"})
    assert (again.status_code, "exists already" in text(again)) == (409, True)
    assert curator.post(PAGE, {"do": "begin", "target_branch": "task/x"}).status_code == 302
    page = curator.get(PAGE).content.decode()
    assert 'value="outcome:success:task/x"' in page
    assert curator.post(PAGE, {"do": "outcome:success:task/x"}).status_code == 302
    assert curator.post(PAGE, {"do": "update", "new_source": "main"}).status_code == 302
    assert curator.post(PAGE, {"do": "deprecate", "reason": "Old."}).status_code == 302
    template.refresh_from_db()
    assert (template.version, template.state, template.reason) == (2, "deprecated", "Old.")
    assert curator.post(PAGE, {"do": "begin", "target_branch": "task/y"}).status_code == 409
    assert curator.post(PAGE, {"do": "paint"}).status_code == 400
