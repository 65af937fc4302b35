"""What a person takes back, approves or changes in a later prompt: what holds is told, the rest is not."""

import re
from typing import Any

import pytest

from conversations.capture.engine import IngestEngine
from memory.actors import Actor, local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.sessions.lines import split_line
from memory.models import Fact, Project
from tests.memory.api.client import Api
from tests.site.hook_events import event, learn, send, told
from tests.site.test_hooks_decisions import live

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("learning")]


def talk(api: Api, session: str, *turns: tuple[str, str]) -> None:
    """Play prompts with the agent's answers in a session that ends and is learned from."""
    for number, (prompt, answer) in enumerate(turns):
        own: dict[str, Any] = {"prompt_id": f"{session}-{number}"}
        send(api, event("UserPromptSubmit", session, prompt=prompt, **own))
        send(api, event("Stop", session, last_assistant_message=answer, **own))
    send(api, event("SessionEnd", session))
    learn(session)


def go_on(api: Api, session: str, prompt: str) -> None:
    """Resume a session that ended, which begins another conversation of it."""
    send(api, event("SessionStart", session, source="resume"))
    send(api, event("UserPromptSubmit", session, prompt=prompt, prompt_id=f"{session}-again"))
    learn(session)


def read_texts(api: Api, session: str = "next") -> list[str]:
    """Return the texts of the lines that a new session is told, without their notes."""
    answer = send(api, event("SessionStart", session))
    lines = told(answer).splitlines() if answer else []
    return [text for line in lines if (text := split_line(line)[0])]


def list_facts() -> list[str]:
    return sorted(Fact.objects.all_versions().values_list("fact_text", flat=True))


CSV = "Dates in the CSV export are always written as dd.mm.yyyy."


@pytest.mark.parametrize("words", ["scratch that", "Vergiss das wieder.", "forget what I just said"])
def test_what_is_taken_back_in_the_same_session_is_not_told(api: Api, words: str) -> None:
    talk(api, "s1", (CSV, "Changed."), ("thanks", "Sure."), (words, "Reverted."))
    assert not [text for text in read_texts(api) if text.startswith(CSV[:-1])]
    assert f"{words} (takes back: {CSV})" in list_facts()


def test_a_session_that_goes_on_takes_back_and_approves_what_was_said_before_its_end(api: Api) -> None:
    talk(api, "s1", (CSV, "Changed."))
    go_on(api, "s1", "actually no")
    assert f"actually no (takes back: {CSV})" in list_facts()
    proposal = "I'd keep the sessions in Redis with a TTL of 24 hours. Shall I do that?"
    talk(api, "s2", ("Where do sessions go?", proposal))
    go_on(api, "s2", "go ahead")
    assert "Keep the sessions in Redis with a TTL of 24 hours." in read_texts(api)


def test_what_is_corrected_in_a_few_words_names_what_it_corrects(api: Api) -> None:
    talk(
        api,
        "s1",
        ("Prices are always rounded to 2 decimals.", "Rounded."),
        ("no wait, 3 decimals", "Changed."),
    )
    older = "Prices are always rounded to 2 decimals"
    assert read_texts(api) == [f"was: {older}; later: no wait, 3 decimals"]


def test_the_name_of_a_norm_corrects_a_statement_without_a_number(api: Api) -> None:
    talk(api, "s1", ("Dates in the export are dd.mm.yyyy.", "Changed."), ("actually no, ISO 8601", "Ok."))
    assert read_texts(api) == ["was: Dates in the export are dd.mm.yyyy; later: actually no, ISO 8601"]


def test_an_answer_to_a_question_takes_nothing_back(api: Api) -> None:
    talk(api, "s1", (CSV, "Changed. Shall I push it?"), ("actually no", "Then not."))
    assert read_texts(api) == [CSV]


@pytest.mark.parametrize("words", ["scratch that", "Please forget what I said about the staging password."])
def test_who_takes_back_what_nobody_said_teaches_nothing(api: Api, words: str) -> None:
    talk(api, "s1", ("run the tests", "All pass."), (words, "I know of nothing."))
    assert list_facts() == []


def test_who_takes_back_a_withdrawal_of_what_nobody_said_teaches_nothing(api: Api) -> None:
    talk(api, "s1", ("Please forget what I said about Kafka.", "Of what?"), ("scratch that", "Fine."))
    assert list_facts() == []


def test_who_takes_back_a_withdrawal_takes_back_that(api: Api) -> None:
    talk(api, "s1", (CSV, "Changed."))
    talk(api, "s2", ("forget what I said about CSV dates", "Fine."), ("scratch that", "Fine."))
    assert "scratch that (takes back: forget what I said about CSV dates)" in list_facts()


def test_who_takes_back_another_topic_takes_nothing_back(api: Api) -> None:
    talk(api, "s1", (CSV, "Changed."), ("forget what i said about the staging password", "I know of none."))
    assert read_texts(api) == [CSV]


def test_a_topic_is_taken_back_in_a_later_session(api: Api) -> None:
    live(api, "s1", "We decided to write our tests with Vitest.", "We decided to deploy from main.")
    live(api, "s2", "Please forget what I said about Vitest.")
    assert "We decided to write our tests with Vitest." not in read_texts(api)
    assert "We decided to deploy from main." in read_texts(api, "later")


def test_an_order_that_taught_nothing_is_known_once_a_later_statement_changes_it(api: Api) -> None:
    live(api, "s1", "use graphql for the partner api")
    assert list_facts() == []
    live(api, "s2", "forget graphql, plain rest for the partner api")
    older, newer = "use graphql for the partner api", "forget graphql, plain rest for the partner api"
    assert read_texts(api) == [f"was: {older}; later: {newer}"]
    answer = send(
        api, event("UserPromptSubmit", "s3", prompt="Add an endpoint to the partner api", prompt_id="p")
    )
    assert "- use graphql" not in (told(answer) if answer else "")


def test_what_denies_in_one_part_of_a_sentence_is_learned_where_it_changes_a_prompt(api: Api) -> None:
    older, newer = "the queue is polled", "listen/notify works great, no need to poll the queue"
    live(api, "s1", older)
    assert list_facts() == []
    live(api, "s2", newer)
    assert read_texts(api) == [f"was: {older}; later: {newer}"]


def test_what_changes_a_prompt_that_taught_nothing_is_learned_with_it(api: Api) -> None:
    older = "Bestellungen können bis 10 Uhr geändert werden."
    newer = "Bestellungen können jetzt bis 11 Uhr geändert werden."
    talk(api, "s1", (older, "Gut."), *[("danke", "Gern.")] * 4, (newer, "Gut."))
    assert read_texts(api) == [f"was: {older[:-1]}; later: {newer}"]


def test_what_names_a_value_of_before_takes_its_statement_back(api: Api) -> None:
    older, newer = (
        "Jump tables are always built from five arms upward.",
        "Five is too early. Make the threshold nine.",
    )
    other = "Log files are always rotated after 40 days."
    talk(api, "s1", (older, "Built."), (other, "Rotated."), (f"The run is bad. {newer}", "Changed."))
    assert read_texts(api) == [f"was: {older[:-1]}; later: {newer}", other]


def test_what_a_document_says_changes_nothing(api: Api) -> None:
    live(api, "s1", "We decided to retry webhooks 3 times.")
    live(api, "s2", "The docs now recommend 5 retries for webhooks.")
    assert read_texts(api) == ["We decided to retry webhooks 3 times."]


def test_what_somebody_by_trade_counts_is_told_beside_what_was_decided(api: Api) -> None:
    older, newer = (
        "We decided to keep receipts for 10 years.",
        "receipts: 7 years is enough says our tax person",
    )
    live(api, "s1", older)
    live(api, "s2", "someone on the train says 5 years for receipts")
    live(api, "s3", newer)
    assert read_texts(api) == [f"was: {older[:-1]}; later: {newer}"]


def test_what_is_allowed_takes_the_place_of_what_was_forbidden(api: Api) -> None:
    older, newer = "Never call the api from a view.", "calling the api from a view is fine"
    live(api, "s1", older)
    live(api, "s2", "the tests are fine")
    live(api, "s3", newer)
    assert read_texts(api) == [f"was: {older[:-1]}; later: {newer}"]


def test_what_another_says_has_to_be_changes_what_was_decided(api: Api) -> None:
    live(api, "s1", "Uploads are always limited to 20 MB.")
    live(api, "s2", "The security review says uploads must be limited to 5 MB, please change that.")
    [line] = read_texts(api)
    assert "later: The security review says uploads must be limited to 5 MB" in line


def test_what_we_always_do_is_learned_and_taken_back(api: Api) -> None:
    live(api, "s1", "We always name queues after birds.")
    live(api, "s2", "We never got the queues to work.")
    assert list_facts() == ["We always name queues after birds."]
    live(api, "s3", "Forget birds, we name queues after trees.")
    assert not [text for text in read_texts(api) if text.startswith("We always name queues after birds")]


def test_what_is_not_sure_is_told_with_what_was_said_later(api: Api) -> None:
    live(api, "s1", "We always deploy the docs on merge to main.")
    live(api, "s2", "We always deploy the docs on merge to main, but not on Fridays.")
    older = "We always deploy the docs on merge to main"
    assert read_texts(api) == [f"was: {older}; later: {older}, but not on Fridays."]


def say_as(name: str, session: str, text: str, key_id: str = "") -> None:
    """Say something in a session as the holder of a key."""
    project = Project.objects.get()
    actor = Actor(project.pk, "key", key_id or name, name, frozenset({"write"}))
    for one in (event("UserPromptSubmit", session, prompt=text), event("SessionEnd", session)):
        IngestEngine().ingest(events=[one], actor=actor, client="claude-code")
    learn(session)


@pytest.mark.parametrize("other", ["ana", "ben"])
def test_two_people_who_disagree_are_both_told_with_their_names(api: Api, other: str) -> None:
    say_as("ana", "s1", "We use Mapbox for the maps.")
    say_as(other, "s2", "We don't use Mapbox for the maps.")
    [line] = read_texts(api)
    names = "(ana)" in line and "(ben)" in line
    assert line.startswith("was: We use Mapbox for the maps")
    assert names is (other == "ben")


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("claude-code", "codex", []),
        ("claude-code", "ben", ["local", "ben"]),
        ("ana", "ben", ["ana", "ben"]),
    ],
)
def test_programs_that_one_person_connected_speak_for_that_person(
    api: Api, first: str, second: str, names: list[str]
) -> None:
    maker, keys = local_actor(Project.objects.get().pk), KeyEngine()
    one, other = (keys.create_key(label=name, scopes=["write"], actor=maker)[0] for name in (first, second))
    say_as(first, "s1", "We use Mapbox for the maps.", str(one.pk))
    say_as(second, "s2", "We don't use Mapbox for the maps.", str(other.pk))
    [line] = read_texts(api)
    assert re.findall(r"\((\w+)\)", line) == names


def test_a_rotated_key_speaks_for_who_had_the_one_before(api: Api) -> None:
    maker, keys = local_actor(Project.objects.get().pk), KeyEngine()
    old, _token = keys.create_key(label="ana", scopes=["write"], actor=maker)
    say_as("ana", "s1", "We use Mapbox for the maps.", str(old.pk))
    new, _token = keys.rotate_key(key_id=old.pk, actor=maker)
    say_as("ana", "s2", "We don't use Mapbox for the maps.", str(new.pk))
    [line] = read_texts(api)
    assert "(" not in line
