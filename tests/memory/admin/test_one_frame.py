"""A page of a project is the same in both frames: its view and what it shows; addresses differ."""

import re

import pytest
from django.urls import get_resolver

from bench.page_urls import walk
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Commit
from memory.views.frame.navigation import PLACES
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_admin_facts import page

pytestmark = pytest.mark.django_db(transaction=True)


def views_of(start):
    """Return the view of each address of a project's pages, by the path after the project."""
    found = {}
    for _name, path, _words, callback in walk(get_resolver().url_patterns):
        if path.startswith(start) and hasattr(callback, "view_class"):
            found[path.removeprefix(start)] = callback.view_class
    return found


def entries(html):
    menu = html.split('<nav class="sections"')[1].split("</nav>")[0]
    return re.findall(r'<a href="([^"]+)"', menu)


def test_both_frames_have_the_same_pages():
    web, admin = views_of("p/<slug:slug>/"), views_of("admin/p/<slug:slug>/")
    assert len(web) > 30
    assert web == admin


def test_one_navigation_for_both(maintainer, main):
    web, admin = (entries(page(maintainer, f"{root}facts")) for root in ("/p/test/", HOME))
    assert [f"/admin{link}" for link in web] == admin
    assert len(web) == len(PLACES) == 8


def test_a_place_has_its_sections_as_tabs(maintainer, person, main):
    def tabs(client, path):
        html = page(client, f"/p/test/{path}")
        found = (
            html.split('<nav class="tabs place"')[1].split("</nav>")[0]
            if 'class="tabs place"' in html
            else ""
        )
        return re.findall(r'<a href="/p/test/([^"]*)"( aria-current="page")?', found)

    assert tabs(maintainer, "conversations") == [
        ("sessions", ""),
        ("conversations", ' aria-current="page"'),
        ("observations", ""),
        ("activity", ""),
    ]
    assert tabs(maintainer, "facts") == tabs(maintainer, "") == []
    assert [path for path, _ in tabs(maintainer, "keys")] == ["settings", "keys", "connections", "members"]
    viewer = person("viewer")
    assert [path for path, _ in tabs(viewer, "members")] == ["settings", "connections", "members"]
    assert entries(page(viewer, "/p/test/"))[-1] == "/p/test/settings"


def test_the_settings_say_how_each_part_stands(maintainer, person, main):
    def parts(client):
        html = page(client, "/p/test/settings").split('id="content"')[1]
        found = re.findall(
            r'<a class="line"\s+href="/p/test/([^"]+)">.*?</a>\s*<div[^>]*>(.*?)</div>', html, re.S
        )
        return {name: state.strip() for name, state in found}

    shown = parts(maintainer)
    assert list(shown) == [
        *("keys", "connections", "members", "learning", "ageing", "policies", "limits", "handoffs"),
        *("templates", "bundles", "imports", "webhooks", "quarantines", "erasures", "audit", "secrets"),
        "server",
    ]
    assert (shown["keys"], shown["members"], shown["handoffs"]) == ("None", "1", "None")
    assert shown["secrets"] == "Taken out of what is written"
    assert shown["policies"] == "On main: Written at once · No approval"
    own = ["connections", "members", "policies", "limits", "handoffs", "templates", "bundles", "imports"]
    assert list(parts(person("viewer"))) == own
    assert parts(maintainer)["members"] == "2"


def test_old_addresses_lead_on(maintainer, main, write):
    moved = {"analytics?days=7": "insights?days=7", "queue": "review", "policies": "policy/main"}
    for old, new in moved.items():
        assert maintainer.get(f"/p/test/{old}").headers["Location"] == f"/p/test/{new}"
        assert maintainer.get(f"{HOME}{old}").headers["Location"] == f"{HOME}{new}"
    write("One.")
    commit = Commit.objects.get()
    assert maintainer.get(f"/p/test/undo/{commit.pk}").headers["Location"] == f"/p/test/commits/{commit.pk}"


def test_a_viewer_reads_what_agents_saw_and_stated_on_the_web(person, main, actor):
    ObservationEngine().write_observation(observation_type="insight", summary="Seen.", actor=actor)
    edge = {"source_entity": "billing", "relation_type": "uses", "target_entity": "Redis"}
    RelationEngine().write_relation(**edge, actor=actor)
    viewer = person("viewer")
    assert "Seen." in page(viewer, "/p/test/observations")
    assert "billing" in page(viewer, "/p/test/relations")
    assert "yet." in page(viewer, "/p/test/conversations")
    page(viewer, "/p/test/audit", 403)
    page(viewer, f"{HOME}observations", 403)


def test_each_frame_leads_to_the_same_page_of_the_other(maintainer, main):
    html = page(maintainer, "/p/test/facts?category=security")
    assert f'href="{HOME}facts?category=security"' in html
    html = page(maintainer, f"{HOME}facts?category=security")
    assert 'href="/p/test/facts?category=security"' in html


def test_text_in_backticks_is_code_and_stays_escaped(curator, write):
    write("Run `make <b>` first.")
    assert "Run <code>make &lt;b&gt;</code> first." in page(curator, "/p/test/facts")
