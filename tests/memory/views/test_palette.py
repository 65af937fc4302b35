"""The command palette: pages, branches and facts, and nothing of another project."""

from html.parser import HTMLParser

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.models import RecallLog


class Options(HTMLParser):
    """Parser that collects the URL of each option by its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.href, self.inside = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        attrs = dict(attrs)
        if attrs.get("role") == "option":
            self.href = attrs["href"]
        self.inside = attrs.get("class") == "cut"

    def handle_data(self, data: str) -> None:
        if self.inside and self.href and data.strip():
            self.found[data.strip()] = self.href


def asked(client: Client, said: str = "", project: str = "test", **words: str) -> dict[str, str]:
    answer = client.get(f"/p/{project}/palette", {"q": said, **words}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return Options(answer.content.decode()).found


def test_without_a_word_it_offers_every_page_and_the_branches_written_last(viewer: Client) -> None:
    found = asked(viewer)
    assert {"Home", "Search", "Facts", "Branches", "Help", "Your account"} <= set(found)
    assert found["main"] == "/p/test/branches/main"
    assert "Keys" not in found


def test_a_maintainer_is_offered_the_keys(maintainer: Client) -> None:
    assert asked(maintainer, "KEY")["Agents & keys"] == "/p/test/keys"


def test_facts_are_found_by_their_words_and_typing_is_no_recall(viewer: Client, actor: Actor) -> None:
    written = FactEngine().write_fact(fact_text="Deploys run from the main branch.", actor=actor)
    found = asked(viewer, "deploys  run")
    assert found["Deploys run from the main branch."] == f"/p/test/facts/{written.fact.uid}"
    assert found["Search for “deploys run”"] == "/p/test/search?q=deploys+run"
    buffer.flush()
    assert RecallLog.objects.count() == 0


def test_branch_and_time_stay(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/tags", actor=actor)
    FactEngine().write_fact(fact_text="Deploys could run from tags.", actor=actor, branch_name="task/tags")
    assert "Deploys could run from tags." not in asked(viewer, "deploys")
    found = asked(viewer, "deploys", branch="task/tags")
    assert found["Deploys could run from tags."].endswith("?branch=task%2Ftags")
    assert "Deploys could run from tags." not in asked(viewer, "deploys", branch="task/tags", at="0")


def test_archived_branches_are_not_offered(viewer: Client, actor: Actor) -> None:
    BranchManager().create_branch(name="task/old", actor=actor)
    BranchManager().archive_branch(name="task/old", actor=actor)
    assert "task/old" not in asked(viewer, "old")


@pytest.mark.parametrize("said", ["%", "_", "' OR 1=1 --", "<script>", "分支", "a" * 9000, "\x00"])
def test_odd_words_find_nothing_and_break_nothing(viewer: Client, said: str) -> None:
    offered = set(asked(viewer)) if said == "\x00" else set()  # which is no word at all
    assert {name for name in asked(viewer, said) if not name.startswith("Search for")} == offered


def test_without_a_script_it_is_a_page(viewer: Client) -> None:
    page = viewer.get("/p/test/palette?q=help").content.decode()
    assert ("<h1>Go to</h1>" in page, 'href="/p/test/help"' in page) == (True, True)
