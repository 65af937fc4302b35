"""The audit trail in the admin: read only, and filtered by action, in words."""

import ast
import re
from html import unescape

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from memory.actors import Actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.audit.trail import AuditEngine, record_entry
from memory.engines.facts.engine import FactEngine
from memory.models import AuditEntry, Project
from memory.operations.action_labels import ACTION_LABELS
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_admin_facts import page
from tests.test_architecture import FILES

pytestmark = pytest.mark.django_db(transaction=True)
AUDIT = f"{HOME}audit"


def offered(html):
    found = re.findall(r'<option value="([^"]*)"(?: selected)?>([^<]*)<', html)
    return {value: unescape(text) for value, text in found}


def shown(html):
    return dict(re.findall(r'title="([a-z.]+)">([^<]+)</a>', html))


def test_it_is_read_only_and_filtered(maintainer, write):
    write("one")
    html = page(maintainer, f"{AUDIT}?action=fact.write")
    assert html.count("<tr>") == 2
    assert 'method="post"' not in html.split("<main")[1].split("</main>")[0]
    empty = page(maintainer, f"{AUDIT}?action=fact.update")
    assert "No entry fits." in empty
    assert re.findall(r'href="(\S+)">Show all entries', empty) == [AUDIT]


def test_it_offers_every_action_in_the_words_of_its_list(maintainer, write):
    write("one")
    html = page(maintainer, AUDIT)
    assert shown(html) == {"fact.write": "wrote a fact"}
    assert offered(html) == {"": "any", **{name: str(word) for name, word in ACTION_LABELS.items()}}
    assert len(set(offered(html).values())) == len(ACTION_LABELS) + 1


def find_actions():
    """Yield the kinds of entries and commits that the code names where it makes them."""
    for file in FILES:
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("record_entry", "open_commit"):
                words = [word.value for word in call.args if isinstance(word, ast.Constant)]
                yield from (word for word in words if re.fullmatch(r"[a-z_]+\.[a-z_-]+", str(word)))


def test_every_action_has_words():
    found = set(find_actions())
    assert {"branch.archive", "quarantine.create", "bundle.key"} <= found
    assert found - ACTION_LABELS.keys() == set()


def test_a_person_a_key_and_the_command_line_of_one_name(maintainer, project, actor):
    key, _token = KeyEngine().create_key(label="local", scopes=["admin"], actor=actor)
    user = User.objects.create_user("local")
    for who in (
        actor,
        get_actor(key, "rest"),
        Actor(project.pk, "user", str(user.pk), "local", actor.scopes),
    ):
        FactEngine().write_fact(fact_text=f"By the {who.kind}.", actor=who)
    html = page(maintainer, AUDIT)
    for kind, word in (("local", "command line"), ("key", "API key"), ("user", "person")):
        assert f'title="{word}"' in html
        (entry,) = AuditEngine().list_entries(actor=actor, by="local", kind=kind, action="fact.write").results
        assert entry.actor_kind == kind
        assert f"by=local&amp;kind={kind}" in html
        (same,) = (
            AuditEngine()
            .list_entries(actor=actor, by=f"{kind}:{entry.actor_id}", action="fact.write")
            .results
        )
        assert same == entry


def test_an_action_that_an_address_asks_for_stays_chosen(maintainer, write):
    write("one")
    for action in ("fact.write", "of-an.older-time"):
        assert f'<option value="{action}" selected>' in page(maintainer, f"{AUDIT}?action={action}")
    html = page(maintainer, f"{AUDIT}?action=of-an.older-time")
    assert (offered(html)["of-an.older-time"], "No entry fits." in html) == ("of-an.older-time", True)


def test_it_is_filtered_by_time(maintainer, actor):
    for day in ("2026-05-01", "2026-05-02", "2026-05-03"):
        with time_machine.travel(f"{day}T12:00:00+00:00", tick=False):
            record_entry(actor, "fact.write", target=day)

    def targets(query):
        return re.findall(r'title="(2026-[0-9-]+)"', page(maintainer, f"{AUDIT}?{query}"))

    assert targets("") == ["2026-05-03", "2026-05-02", "2026-05-01"]
    assert targets("after=2026-05-02T12:00&before=2026-05-03T12:00Z") == ["2026-05-02"]
    assert targets("after=2026-05-02T14:00:01%2B02:00") == ["2026-05-03"]
    assert targets("before=2026-05-02&action=fact.write") == ["2026-05-01"]
    html = page(maintainer, f"{AUDIT}?before=2026-05-02")
    assert '<input type="datetime-local" name="before" value="2026-05-02T00:00:00.000"' in html


def test_a_time_that_is_none_is_told_and_stays_in_the_form(maintainer, write):
    write("one")
    html = page(maintainer, f"{AUDIT}?after=soon&by=cora", 400)
    assert "Recorded from must be a time in ISO 8601, such as 2026-05-01T12:00:00Z." in html
    assert '<input type="text" name="after" value="soon"' in html
    assert ('name="by" value="cora"' in html, "<tr>" in html, "No entry fits." in html) == (
        True,
        False,
        False,
    )


def test_maintainers_decide_whether_secrets_are_taken_out(
    project: Project, maintainer: Client, curator: Client
) -> None:
    """Turn it off and on: the audit has both, every page of a maintainer warns while it is off."""
    warning = "Secrets are stored"
    assert curator.post(f"{HOME}secrets", {"do": "settings"}).status_code == 403
    assert Project.objects.get(pk=project.pk).redact_secrets
    assert warning not in maintainer.get(HOME).content.decode()
    assert maintainer.post(f"{HOME}secrets", {"do": "settings"}).status_code == 302
    entry = AuditEntry.objects.get(action="project.update")
    assert entry.detail == {"redact_secrets": False, "before": {"redact_secrets": True}}
    assert warning in maintainer.get(HOME).content.decode()
    assert warning not in curator.get(HOME).content.decode()
    maintainer.post(f"{HOME}secrets", {"do": "settings", "redact_secrets": "on"})
    assert Project.objects.get(pk=project.pk).redact_secrets
    assert warning not in maintainer.get(AUDIT).content.decode()
    assert AuditEntry.objects.filter(action="project.update").count() == 2
