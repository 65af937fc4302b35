"""A new fact is written on its page, on Home and on Facts; a long text is folded, Markdown shown safely."""

from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Fact
from memory.views.text.rich_text import render_rich_text

pytestmark = pytest.mark.django_db(transaction=True)


def write(client: Client, query: str = "", **fields: Any) -> tuple[str, str]:
    """Send the form; return the page that follows, and its address."""
    answer = client.post(f"/p/test/facts/new{query}", fields, follow=True)
    return answer.content.decode(), answer.redirect_chain[-1][0] if answer.redirect_chain else ""


@pytest.mark.parametrize("path", ["/p/test/", "/p/test/facts", "/admin/p/test/facts"])
def test_its_form_stands_where_facts_are(maintainer: Client, viewer: Client, path: str) -> None:
    place = path.rpartition("/p/test")[0]
    assert f'action="{place}/p/test/facts/new"' in maintainer.get(path).content.decode()
    if not place:
        assert "facts/new" not in viewer.get(path).content.decode()


def test_it_is_written_once_with_what_was_typed(maintainer: Client, actor: Actor) -> None:
    fields = {"fact_text": "Deploys run from main.", "category": "decision", "tags": "deploy, ci"}
    page, address = write(maintainer, **fields)
    (fact,) = FactEngine().list_facts(actor=actor).results
    assert (fact.fact_text, fact.category, fact.tags) == (
        "Deploys run from main.",
        "decision",
        ["deploy", "ci"],
    )
    assert (address, "Remembered." in page) == (f"/p/test/facts/{fact.uid}", True)
    page, address = write(maintainer, **fields)
    assert (address, "known already" in page) == (f"/p/test/facts/{fact.uid}", True)
    assert Fact.objects.all_versions().count() == 1


def test_what_is_refused_keeps_the_text(maintainer: Client, viewer: Client) -> None:
    answer = maintainer.post("/p/test/facts/new", {"fact_text": "Kept.", "priority": "P9"})
    assert (answer.status_code, "Kept." in answer.content.decode()) == (400, True)
    assert maintainer.post("/p/test/facts/new", {"fact_text": " "}).status_code == 400
    assert viewer.post("/p/test/facts/new", {"fact_text": "No."}).status_code == 403
    assert Fact.objects.all_versions().count() == 0


def test_a_long_text_is_folded(viewer: Client, actor: Actor) -> None:
    fact = FactEngine().write_fact(fact_text="word " * 500 + "the end", actor=actor).fact
    page = viewer.get(f"/p/test/facts/{fact.uid}").content.decode()
    article = page[page.index("<article") : page.index("</article>")]
    before, fold, after = article.partition("<details>")
    assert ("the end" in before.partition('class="memory hero')[2], bool(fold), "the end" in after) == (
        False,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One.\nTwo.\n\nThree.", "<p>One.<br>\nTwo.</p><p>Three.</p>"),
        ("Run `make <x>` **now**", "<p>Run <code>make &lt;x&gt;</code> <strong>now</strong></p>"),
        (
            "# Rules\n- one\n- `two`\n1. three",
            "<p><strong>Rules</strong></p><ul><li>one</li><li><code>two</code></li><li>three</li></ul>",
        ),
        ("2) b", "<ol><li>b</li></ol>"),
        ("```py\n<b> **x**\n```\nend", "<pre><code>&lt;b&gt; **x**</code></pre><p>end</p>"),
        ("```\nopen", "<pre><code>open</code></pre>"),
        (
            "<script>alert(1)</script> [a](javascript:x)",
            "<p>&lt;script&gt;alert(1)&lt;/script&gt; [a](javascript:x)</p>",
        ),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_markdown_is_shown_safely(text: str, html: str) -> None:
    assert render_rich_text(text) == html
