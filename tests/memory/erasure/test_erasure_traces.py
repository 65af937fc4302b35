"""What repeats an erased text elsewhere: only texts that identify it are looked for, in its project alone."""

from typing import Any

import pytest
from django.utils import timezone

from memory.actors import Actor, local_actor
from memory.engines.erasure.listing import begin_erasure
from memory.engines.erasure.scopes import find_targets
from memory.engines.facts.import_export import FactImport
from memory.models import Commit, Erasure, FactAssessment, QueueMessage, Session
from tests.memory.erasure.helpers import (
    ERASURES,
    FACTS,
    OBSERVATIONS,
    RELATIONS,
    SESSION,
    SESSIONS,
    WORD,
    tables_with,
)

pytestmark = pytest.mark.django_db(transaction=True)


def commit_with(actor: Actor, message: str) -> Commit:
    """Return a commit with a message, which an import makes."""
    line = {"fact_text": f"Fact {Commit.objects.count()} of an import."}
    FactImport(actor=actor, message=message).apply_lines([(1, line)])
    return Commit.objects.get(message=message)


def erase_session(actor: Actor) -> Any:
    return ERASURES.erase(actor=actor, scope="session", target=SESSION, confirm=SESSION)


def begin(actor: Actor) -> Erasure:
    """Record the erasure of a session without carrying it out."""
    found = find_targets(actor.project_id, "session", SESSION)
    return begin_erasure(actor, "session", SESSION, found, [])


def add_message(text: str, project_id: Any) -> QueueMessage:
    payload = f'{{"headers": {{"argsrepr": "(\'{project_id}\',)"}}, "note": "{text}"}}'
    return QueueMessage.objects.create(queue="celery", visible_at=timezone.now(), payload=payload)


class TestCommonWords:
    def test_names_of_a_relation_are_looked_for_nowhere(self, actor, main) -> None:
        agent = actor.with_origin(session_id=SESSION)
        RELATIONS.write_relation(
            actor=agent,
            source_entity="the authentication service of the shop",
            relation_type="depends_on_the_availability_of_another",
            target_entity="the PostgreSQL server in Frankfurt",
        )
        messages = [
            "Sort depends_on_the_availability_of_another by name",
            "Move the authentication service of the shop",
            "Restart the PostgreSQL server in Frankfurt",
        ]
        commits = [commit_with(actor, message) for message in messages]
        erase_session(actor)
        assert [Commit.objects.get(pk=one.pk).message for one in commits] == messages

    def test_commands_and_short_texts_that_anybody_writes(self, actor, main) -> None:
        agent = actor.with_origin(session_id=SESSION)
        FACTS.write_fact(actor=agent, fact_text="Tests pass.", category="testing and quality")
        OBSERVATIONS.write_observation(
            actor=agent,
            observation_type="discovery",
            tool_name="Bash",
            summary="Ran the tests",
            raw_input="python3 manage.py test -q tests/memory",
            raw_output="============================= test session starts ====",
        )
        text = (
            "Tests pass. Ran the tests (testing and quality): python3 manage.py test -q tests/memory\n"
            "============================= test session starts =============================="
        )
        SESSIONS.create_session(session_id="other", actor=actor)
        SESSIONS.end_session(session_id="other", actor=actor, summary=text)
        erase_session(actor)
        assert Session.objects.get(key="other").summary == text

    def test_what_identifies_a_memory_is_found(self, actor, main) -> None:
        agent = actor.with_origin(session_id=SESSION)
        fact = f"Vault: {WORD}"
        output = f"{WORD} in line 17 of the log, " * 8
        FACTS.write_fact(actor=agent, fact_text=fact)
        OBSERVATIONS.write_observation(
            actor=agent, observation_type="discovery", summary=f"The log has {WORD} in it", raw_output=output
        )
        commit = commit_with(actor, f"Seen: {fact}, and more")
        SESSIONS.create_session(session_id="other", actor=actor)
        summary = f"It wrote {output.strip()}\nThe log has {WORD} in it."
        SESSIONS.end_session(session_id="other", actor=actor, summary=summary)
        erase_session(actor)
        assert Commit.objects.get(pk=commit.pk).message == "Seen: [erased], and more"
        assert Session.objects.get(key="other").summary == "It wrote [erased]\n[erased]."
        assert tables_with(WORD) == set()

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("张伟的电话是13800", True),  # six characters of Chinese count as twelve
            ("我们明天在上海见", True),
            ("我们明天在上海", False),
            ("Mira: 0301-47110", True),
            ("Mira: 0301-4711", False),
        ],
    )
    def test_short_texts(self, actor, main, text, found) -> None:
        """The preview lists what repeats them; beside memories, what is long enough to be theirs goes."""
        fact = FACTS.write_fact(actor=actor, fact_text=text).fact
        other = FACTS.write_fact(actor=actor, fact_text="Another thing").fact
        FACTS.set_verification(fact_id=other.uid, verdict="verified", actor=actor, reason=f"since {text}")
        repeats = FACTS.write_fact(actor=actor, fact_text=f"Somebody said: {text}!").fact
        what = {"actor": actor, "scope": "fact", "target": str(fact.uid)}
        assert [(one.id, one.why) for one in ERASURES.preview_erasure(**what).left] == [
            (repeats.uid, "repeats")
        ]
        ERASURES.erase(**what, confirm="test")
        reason = FactAssessment._base_manager.get(uid=other.uid).reason
        assert reason == ("since [erased]" if found else f"since {text}")


class TestQueue:
    def test_messages_of_the_project_alone(self, actor, main, other_project) -> None:
        text = f"The vault opens with {WORD}."
        fact = FACTS.write_fact(actor=actor, fact_text=text).fact
        own = add_message(text, actor.project_id)
        theirs = add_message(text, other_project.pk)
        FACTS.write_fact(actor=local_actor(other_project.pk), fact_text=text)
        ERASURES.erase(actor=actor, scope="fact", target=str(fact.uid), confirm="test")
        assert not QueueMessage.objects.filter(pk=own.pk).exists()
        assert QueueMessage.objects.filter(pk=theirs.pk).exists()

    def test_work_that_is_no_copy_stays(self, actor, main) -> None:
        agent = actor.with_origin(session_id=SESSION)
        RELATIONS.write_relation(
            actor=agent, source_entity="memory.embed", relation_type="argsrepr", target_entity="headers"
        )
        own = add_message("no text", actor.project_id)
        before = set(QueueMessage.objects.values_list("pk", flat=True))
        erase_session(actor)
        assert own.pk in before
        assert before <= set(QueueMessage.objects.values_list("pk", flat=True))


class TestPortions:
    def test_more_texts_than_are_read_at_once(self, actor, main, monkeypatch) -> None:
        """Each text is looked for, whatever portion it is in, and by its id."""
        from memory.engines.erasure import execution

        monkeypatch.setattr(execution, "MAX_TEXTS", 30)
        agent = actor.with_origin(session_id=SESSION)
        texts = [f"Number {n} of the {WORD} facts." for n in range(130)]
        FACTS.write_facts(actor=agent, facts=[{"fact_text": text} for text in texts])
        SESSIONS.create_session(session_id="other", actor=actor)
        SESSIONS.end_session(session_id="other", actor=actor, summary="\n".join(texts))
        done = erase_session(actor)
        assert (done.state, done.counts) == ("done", {"fact": 130, "session": 1})
        assert Session.objects.get(key="other").summary == "\n".join(["[erased]"] * 130)
        assert tables_with(WORD) == set()

    def test_more_characters_than_are_read_at_once(self, actor, main, monkeypatch) -> None:
        """A portion ends with the memory that fills it, and one transaction blanks a part of it."""
        from memory.engines.erasure import execution

        monkeypatch.setattr(execution, "READ_SIZE", 1)
        monkeypatch.setattr(execution, "MAX_CHARACTERS", 250)
        monkeypatch.setattr(execution, "MAX_BATCH_CHARACTERS", 200)
        agent = actor.with_origin(session_id=SESSION)
        texts = [f"{WORD} number {n:02}".ljust(100, ".") for n in range(7)]
        FACTS.write_facts(actor=agent, facts=[{"fact_text": text, "essence": "Dots"} for text in texts])
        SESSIONS.create_session(session_id="other", actor=actor)
        SESSIONS.end_session(session_id="other", actor=actor, summary="\n".join(texts))
        erasure = begin(actor)
        assert [len(one.texts) for one in execution.read_portions(erasure)] == [3, 3, 1]
        sizes = [[len(uids) for _, uids in one.list_batches()] for one in execution.read_portions(erasure)]
        assert sizes == [[2, 1], [2, 1], [1, 1]]  # the last one is the session
        assert ERASURES.finish_pending() == 1
        assert Session.objects.get(key="other").summary == "\n".join(["[erased]"] * 7)
        assert tables_with(WORD) == set()
