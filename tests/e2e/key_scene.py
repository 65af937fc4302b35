"""A project with questions and proposals, and pages of it with the network of a far server."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser import LISTEN, View, check_clean, intercept_from_start, listen, settle
from tests.up_process import Up

LATENCY_SECONDS = 0.15
REFUSED = re.compile("ERR_FAILED|responded with a status of 503")
# An empty project of a module's own in the place of the one before, on a server that is started once.
START = """
from django.contrib.auth import get_user_model
from memory.engines.branches.manager import create_main
from memory.models import Membership, Project
user = get_user_model().objects.get(username="cora")
Membership.objects.filter(user=user).delete()
Project.objects.filter(slug="default").update(slug=f"before-{Project.objects.count()}")
project = Project.objects.create(name="Default", slug="default")
create_main(project)
Membership.objects.create(user=user, project=project, role="curator")
"""
LOADED = """
from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from curation.models import ReviewItem
from memory.models import *
from tests.curation.test_review_pages import pairs
project = Project.objects.get(slug="default")
actor = local_actor(project.pk, label="builder")
facts = FactEngine()
"""


@pytest.fixture(scope="module")
def server(curators_server: Up) -> Up:
    curators_server.run_python(START)
    return curators_server


def ask(server: Up, count: int) -> None:
    """So many open questions, and no others; every fact as it was written."""
    server.run_python(f"{LOADED}ReviewItem.objects.all().delete()\npairs(actor, {count})\n")


def write(server: Up, *texts: str, **fields: Any) -> list[str]:
    code = f"""{LOADED}
import json
done = facts.write_facts(facts=[{{"fact_text": text}} for text in {texts!r}], actor=actor, **{fields!r})
print(json.dumps([str(one.fact.uid) for one in done.results]))
"""
    found: list[str] = json.loads(server.run_python(code))
    return found


def states(server: Up, uids: list[str]) -> list[str]:
    """Status and verdict of each."""
    code = f"""{LOADED}
import json
for uid in {uids!r}:
    fact = facts.get_fact(fact_id=uid, actor=actor)
    print(json.dumps(f"{{fact.status}} {{fact.verification_status}}"))
"""
    return [json.loads(line) for line in server.run_python(code).splitlines()]


def resolutions(server: Up) -> list[list[str]]:
    """Return the answers in the order of their commits: text of the newer fact, and decision."""
    code = f"""{LOADED}
import json
for item in ReviewItem.objects.filter(project=project, status="resolved").order_by("seq"):
    text = Fact.objects.all_versions().filter(uid=item.fact_id)[0].fact_text
    print(json.dumps([text.split()[1], item.resolution]))
"""
    return [json.loads(line) for line in server.run_python(code).splitlines()]


@pytest.fixture
def visit(browser: Browser, server: Up, curators_cookies: Any) -> Iterator[Callable[..., Page]]:
    """Open pages over a slow network; fail when the browser reported an error."""
    views: list[tuple[View, bool]] = []

    def visit(path: str, refused: bool = False, **options: Any) -> Page:
        context = browser.new_context(
            viewport={"width": 1280, "height": 900},
            storage_state=curators_cookies,
            reduced_motion="reduce",
            **options,
        )
        context.add_init_script(LISTEN)
        intercept_from_start(context)
        view = View(context.new_page())
        listen(view, missing=refused)
        views.append((view, refused))
        view.page.goto(server.first["url"] + path)
        context.route("**/*", late)
        return view.page

    yield visit
    for view, refused in views:
        settle(view.page)
        view.page.context.unroute_all(behavior="ignoreErrors")
        if refused:
            view.complaints = [one for one in view.complaints if not REFUSED.search(one)]
        check_clean(view, server.first["url"])
        view.page.context.close()


def go(page: Page, address: str) -> None:
    settle(page)
    page.goto(address)


def late(route: Route) -> None:
    if route.request.resource_type in ("document", "fetch", "xhr"):
        time.sleep(LATENCY_SECONDS)
    route.continue_()


QUEUES = ["/p/default/review/questions", "/admin/p/default/review/questions"]
WAITING = ".question:not([data-answered], [data-sent])"
DONE = ".question[data-answered]"
