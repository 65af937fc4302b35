"""Home opens with what was learned and told: exactly these rows, the newest first, of this branch alone."""

import html
import random
import re
from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from conversations.engines.tellings import list_tellings
from memory.actors import Actor, local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchForbidden, NotFound
from memory.models import Membership, Project, Session
from tests.conversations.test_prompt_recall import lines
from tests.memory.api.client import Api, api_for
from tests.memory.views.conftest import browser, person
from tests.site.hook_events import CONSOLIDATOR, HOOK, event, learn

pytestmark = pytest.mark.django_db(transaction=True)
TOPICS = ["settlement webhook", "invoice template", "gateway port", "price cache", "login token"]
Said = tuple[str, list[str]]  # a session, and the ends of the ids that it was told of


@pytest.fixture
def learning(settings) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}


@pytest.fixture
def curator(project: Project) -> Client:
    return browser(person("cora", project, Membership.Role.CURATOR))


def play(api: Api, name: str, session: str, branch: str = "main", **fields: object) -> list[Said]:
    """Send an event; return what came back with it."""
    answer = api.post(f"{HOOK}?branch={branch}", event(name, session, **fields))
    assert answer.status_code == 200
    text = answer.json()["hookSpecificOutput"]["additionalContext"] if answer.content else ""
    ids = [line.rpartition("[")[2][:6] for line in lines(text)]
    return [(session, ids)] if ids else []


def read_tellings(actor: Actor, branch: str = "main", limit: int = 6) -> list[Said]:
    where = find_branch(actor, branch)
    found = list_tellings(actor=actor, branch=where, limit=limit, now=timezone.now())
    rows = [(one.session.key, [line.fact or line.message for line in one.content.lines]) for one in found]
    return [(key, [str(row.uid)[-6:] for row in told]) for key, told in rows]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_told_is_what_the_answers_held_newest_first(
    api: Api, actor: Actor, other_project: Project, seed: int
) -> None:
    chance, other = random.Random(seed), api_for(other_project)
    BranchManager().create_branch(name="task/a", actor=actor)
    told: dict[str, list[Said]] = {"main": [], "task/a": []}
    for number in range(16):
        session, topic = f"s{chance.randrange(4)}", chance.choice(TOPICS)
        branch = "main" if session < "s2" else "task/a"
        text = f"The {topic} has rule {number} since then."
        if chance.random() < 0.4:
            for one in (api, other):
                one.post(
                    "/facts", {"fact_text": text, "branch": branch} if one is api else {"fact_text": text}
                )
        asked = {"prompt": f"Why does the {topic} behave like this?", "prompt_id": f"p{number}"}
        told[branch] += play(api, "UserPromptSubmit", session, branch, **asked)
        play(other, "UserPromptSubmit", f"other-{session}", **asked)
    assert min(map(len, told.values())) > 0
    for branch, log in told.items():
        assert read_tellings(actor, branch) == log[::-1][:6]


def test_a_start_comes_with_its_lines_and_a_hidden_or_erased_session_does_not(api: Api, actor: Actor) -> None:
    api.post("/facts", {"fact_text": "Never cache prices.", "category": "decision"})
    log = play(api, "SessionStart", "s1", source="startup") + play(
        api, "SessionStart", "s2", source="startup"
    )
    assert read_tellings(actor) == log[::-1] != []
    Session.objects.filter(key="s2").update(hidden=True)
    assert read_tellings(actor) == log[:1]
    Session.objects.filter(key="s1").update(erased_at=timezone.now())
    assert read_tellings(actor) == []


def test_an_old_session_that_is_told_something_now_is_first(api: Api, actor: Actor) -> None:
    play(api, "SessionStart", "old", source="startup")
    for number in range(25):
        play(api, "SessionStart", f"s{number}", source="startup")
    api.post("/facts", {"fact_text": "The settlement webhook retries five times."})
    said = play(
        api, "UserPromptSubmit", "old", prompt="Why does the settlement webhook stop?", prompt_id="p1"
    )
    buffer.flush()
    assert read_tellings(actor) == said != []


def test_who_may_not_read_the_branch_is_refused(actor: Actor) -> None:
    tasks = replace(actor, branch_patterns=("task/*",))
    with pytest.raises(BranchForbidden):
        list_tellings(actor=tasks, branch=find_branch(actor, "main"), limit=6, now=timezone.now())


def read_card(client: Client, name: str, path: str = "/p/test/") -> str:
    """Return the words of a card of Home."""
    page = html.unescape(client.get(path).content.decode())
    card = re.search(rf'<section class="card" aria-labelledby="{name}".*?</section>', page, re.S)
    assert card
    return " ".join(re.sub(r"<[^>]*>", " ", card[0]).split())


@pytest.mark.usefixtures("learning")
def test_learned_says_whose_words_and_from_which_session(
    api: Api, actor: Actor, project: Project, other_project: Project, curator: Client
) -> None:
    said = "We decided: the settlement webhook retries five times."
    play(api, "UserPromptSubmit", "s1", prompt=said, prompt_id="p1")
    learn()
    FactEngine().write_fact(fact_text="By hand.", actor=actor.with_origin(agent_id="builder"))
    FactEngine().write_fact(fact_text="Elsewhere.", actor=local_actor(other_project.pk))
    BranchManager().create_branch(name="task/a", actor=actor)
    FactEngine().write_fact(fact_text="On a task.", actor=actor, branch_name="task/a")
    card = read_card(curator, "learned")
    assert card.index("By hand. written by builder") < card.index(
        "the settlement webhook retries five times."
    )
    assert f"a person’s words just now in {said} Wrong Outdated Not here" in card
    assert ("Elsewhere." in card, "On a task." in card) == (False, False)
    assert "On a task." in read_card(curator, "learned", "/p/test/?branch=task/a")
    viewer = browser(person("vera", project))
    assert "Wrong" not in read_card(viewer, "learned") + read_card(viewer, "told")


def answer(client: Client, path: str, **fields: str) -> str:
    """Press a button of Home; return the message of the page that follows."""
    reply = client.post(f"/p/test/session/told{path}", fields, follow=True)
    assert reply.redirect_chain[-1][0].startswith("/p/test/")
    return reply.content.decode()


def test_the_buttons_of_learned_hold_on_the_branch_of_the_page(
    actor: Actor, api: Api, curator: Client
) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    play(api, "SessionStart", "s1", source="startup")
    in_session = actor.with_origin(session_id="s1")
    wrong, old, here = (
        FactEngine().write_fact(fact_text=text, actor=in_session, branch_name="task/a").fact
        for text in ("Wrong one.", "Old one.", "Not here.")
    )
    for fact, word in ((wrong, "wrong"), (old, "outdated"), (here, "not_here")):
        answer(curator, "?branch=task/a", answer=f"{word}:{fact.uid}:1")
    found = {
        uid: FactEngine().get_fact(fact_id=uid, actor=actor, branch_name="task/a")
        for uid in (wrong.uid, old.uid, here.uid)
    }
    assert found[wrong.uid].verification_status == "invalidated"
    assert found[old.uid].valid_until is not None
    assert found[here.uid].metadata == {"not_in": ["github.com/acme/shop"]}
    with pytest.raises(NotFound):
        FactEngine().get_fact(fact_id=wrong.uid, actor=actor)


def test_what_is_right_takes_the_place_of_a_line(actor: Actor, api: Api, curator: Client) -> None:
    play(api, "SessionStart", "s1", source="startup")
    old = FactEngine().write_fact(fact_text="The port is 80.", category="decision", actor=actor).fact
    button, field = f"replaced:{old.uid}:1", f"text-{old.uid}"
    assert button in (page := curator.get("/p/test/").content.decode())
    assert f'name="{field}"' in page
    assert "Write what is right." in answer(curator, "", answer=button, **{field: " "})
    assert FactEngine().get_fact(fact_id=old.uid, actor=actor).version == 1
    text = {field: "The port is 81."}
    assert "Replaced: sessions are told the new text." in answer(curator, "", answer=button, **text)
    assert FactEngine().get_fact(fact_id=old.uid, actor=actor).status == "superseded"
    (new,) = (one for one in FactEngine().list_facts(actor=actor).results if one.status == "active")
    assert (new.fact_text, new.category) == ("The port is 81.", "decision")
    answer(curator, "", answer=button, **{field: "From an old page."})
    assert FactEngine().get_fact(fact_id=new.uid, actor=actor).version == new.version


def test_each_telling_is_folded_but_the_newest(api: Api, curator: Client) -> None:
    for number in range(5):
        api.post("/facts", {"fact_text": f"Rule {number} of prices.", "category": "decision"})
    for session in ("s1", "s2", "s3"):
        play(api, "SessionStart", session, source="startup")
    page = curator.get("/p/test/").content.decode()
    told = page[page.index('aria-labelledby="told"') : page.index('<ul class="figures">')]
    folds = re.findall(r"<details( open)?>\s*<summary>([^<]*)</summary>", told)
    assert folds == [(" open", "5 lines"), ("", "5 lines"), ("", "5 lines")]
    assert told.count("2 more lines") == 3
    assert told.count("told-text") == 9
    rest = page[page.index('<ul class="figures">') :]
    assert rest.index("Needs review") < rest.index('id="activity"')


def test_a_fact_says_to_which_sessions_it_was_told(api: Api, project: Project, curator: Client) -> None:
    uid = api.post("/facts", {"fact_text": "The settlement webhook retries five times."}).json()["id"]
    path = f"/p/test/facts/{uid}"
    assert "No session was told it, and no search has found it yet." in read_card(curator, "recalls", path)
    play(api, "SessionStart", "s1", source="startup")
    asked = "Why does the settlement webhook stop?"
    play(api, "UserPromptSubmit", "s2", prompt=asked, prompt_id="p1")
    api.get("/facts/search?query=webhook")
    buffer.flush()
    card = read_card(curator, "recalls", path)
    assert card.startswith(f"Told and found 3 × Why is it found? Told to 2 sessions: {asked} claude-code")
    assert card.count("claude-code At its start") == 1  # s1 has no prompt: its agent and time are its title
    assert card.index("At its start") < card.index("Found by searches: webhook")
    Session.objects.filter(key="s2").update(hidden=True)
    card = read_card(curator, "recalls", path)
    assert ("Told to 1 session: claude-code" in card, asked in card) == (True, False)
