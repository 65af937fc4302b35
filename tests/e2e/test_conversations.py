"""A conversation in a browser: its thread, a fork, the comparison of both, and a replay."""

# ruff: noqa: F401, F811  fixtures

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.key_scene import LOADED, go, server, visit
from tests.e2e.test_queue_by_keys import look
from tests.up_process import Up

pytestmark = pytest.mark.browser
TALK = f"""{LOADED}
import json
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.facts.links import LinkEngine
talk = ConversationEngine().create_conversation(actor=actor, title="Login", model="first")
call = {{"id": "c1", "name": "Bash", "input": {{"command": "date -u"}}}}
took = {{"duration_ms": 2300}}
failed = {{"id": "c2", "name": "Read", "input": {{"path": "auth.py"}}}}
said = [
    {{"role": "user", "content": "Why does the login fail? למה"}},
    {{"role": "tool_result", "content": "yesterday", "tool_calls": [call], "metadata": took}},
    {{"role": "tool_result", "content": "no", "tool_calls": [failed], "metadata": {{"is_error": True}}}},
    {{"role": "assistant", "content": "The clock of the server is wrong. " * 9}},
]
rows = MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=actor)
for text in ("The clock was wrong.", "The login reads the clock."):
    fact = facts.write_fact(fact_text=text, actor=actor).fact
    LinkEngine().write_link(
        from_id=fact.uid, to_id=rows[3].uid, to_type="message", link_type="MESSAGE_OF", actor=actor
    )
print(json.dumps(str(talk.uid)))
"""
GOES_ON = """{LOADED}
from conversations.engines.messages import MessageEngine
said = [{{"role": "assistant", "content": "The password is wrong."}}]
MessageEngine().write_messages(conversation_id="{talk}", messages=said, actor=actor)
"""


def test_a_thread_its_fork_their_comparison_and_a_replay(visit: Callable[..., Page], server: Up) -> None:
    talk = json.loads(server.run_python(TALK))
    page = visit(f"/p/default/conversations/{talk}")
    call = page.locator(".call").first
    expect(call.locator("summary")).to_contain_text(re.compile(r"Bash\s+date -u\s+2.3 s\s+done"))
    expect(call.get_by_text("yesterday")).not_to_be_visible()
    call.locator("summary").click()
    expect(call.get_by_text("yesterday")).to_be_visible()
    page.get_by_text("→ 2 facts").click()
    page.get_by_role("link", name="The clock was wrong.").click()
    page.get_by_role("link", name="The clock of the server is wrong.").first.click()
    page.get_by_role("link", name="Login", exact=True).click()
    expect(page.locator("details.learned[open]")).to_be_visible()
    look(page, "thread")

    go(page, page.url.partition("?")[0])
    page.get_by_role("link", name="Fork at message 1").click()
    page.get_by_label("Title").fill("Another way")
    page.get_by_role("button", name="Fork").click()
    expect(page.locator("h1")).to_have_text("Another way")
    expect(page.get_by_text("Nothing was said in this fork yet.")).to_be_visible()
    fork = re.search(r"conversations/([0-9a-f-]+)", page.url)
    assert fork
    server.run_python(GOES_ON.format(LOADED=LOADED, talk=fork[1]))
    page.get_by_role("link", name="Compare with it").click()
    expect(page.get_by_text("Here they diverge")).to_be_visible()
    look(page, "compare")
    page.get_by_role("link", name="Tree of forks").click()
    expect(page.locator(".tree .node")).to_have_count(2)

    page.get_by_role("link", name="Login", exact=True).first.click()
    page.get_by_role("link", name="Replay from message 1").click()
    page.get_by_label("Model").fill("other")
    page.get_by_label("Memory of the branch").fill("main")
    page.get_by_role("button", name="Make the replay").click()
    expect(page.locator("h1")).to_have_text("Replay with other")
    expect(page.get_by_text("It has taken no step yet.")).to_be_visible()
    look(page, "replay")
    page.get_by_role("link", name="Replays").click()
    expect(page.locator("tbody tr")).to_have_count(1)
