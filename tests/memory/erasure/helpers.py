"""A session that repeats one word in every column that can hold it, and a search of all files for it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Fact, IdempotencyRecord, RecallLog, Session, Vector
from memory.models.vectors import vector_slot
from tests import databases

ERASURES, BRANCHES = ErasureEngine(), BranchManager()
WORD = "quokkaberylwort"  # nothing else in a store contains it
SESSION = "session-to-erase"
FACTS, MESSAGES, CONVERSATIONS = FactEngine(), MessageEngine(), ConversationEngine()
OBSERVATIONS, RELATIONS, SESSIONS = ObservationEngine(), RelationEngine(), SessionManager()


def write_everything(actor: Actor, word: str = WORD, session: str = SESSION) -> dict[str, Any]:
    """Write one memory of each kind, with the word in each of its columns."""
    SESSIONS.create_session(session_id=session, actor=actor, agent_id="ada")
    actor = actor.with_origin(session_id=session, agent_id="ada")
    fact = FACTS.write_fact(
        actor=actor,
        fact_text=f"The vault opens with {word} at night, {'x' * 6000}",
        essence=f"Vault: {word}",
        category=f"cat {word}",
        source=f"by {word}",
        tags=[word],
        metadata={"key": {"deep": word}},
    ).fact
    conversation = CONVERSATIONS.create_conversation(actor=actor, title=f"About {word}")
    message = MESSAGES.write_message(
        actor=actor,
        conversation_id=conversation.uid,
        role="assistant",
        content=f"I found {word} in the log.",
        thinking=f"Hm, {word}.",
        tool_calls=[{"name": "Bash", "input": {"command": f"grep {word}"}}],
        metadata={"note": word},
    )
    observation = OBSERVATIONS.write_observation(
        actor=actor,
        observation_type="discovery",
        tool_name="Bash",
        summary=f"grep found {word}",
        raw_input=f"grep {word} *",
        raw_output=f"a.txt: {word}",
        metadata={"note": word},
    )
    relation = RELATIONS.write_relation(
        actor=actor,
        source_entity=f"vault {word}",
        relation_type=f"opens {word}",
        target_entity=f"door {word}",
        properties={"how": word},
    ).relation
    SESSIONS.end_session(session_id=session, actor=actor, summary=f"We opened it with {word}.")
    return {
        "fact": fact,
        "conversation": conversation,
        "message": message,
        "observation": observation,
        "relation": relation,
    }


def files_with(word: str) -> dict[str, int]:
    """Return how often each file of the store's folder has the word, in any spelling of its letters."""
    folder = Path(str(connection.settings_dict["NAME"])).parent
    needles = [word.lower().encode(), word.lower().encode("utf-16-le")]
    found = {}
    for path in folder.rglob("*"):
        content = databases.read_file(path).lower() if path.is_file() else b""
        if count := sum(content.count(needle) for needle in needles):
            found[path.name] = count
    return found


def prepare_traces(actor: Actor) -> None:
    """Repeat the word beside the memories: in answers, searches, contexts, questions, a verdict, a commit."""
    fact = FACTS.list_facts(actor=actor).results[0]
    FACTS.set_verification(fact_id=fact.uid, verdict="verified", actor=actor, reason=f"I saw {WORD}")
    other = FACTS.write_fact(actor=actor, fact_text="Another").fact
    FACTS.set_verification(
        fact_id=other.uid, verdict="verified", actor=actor, reason=f"as {fact.essence} says"
    )
    common = {"project_id": actor.project_id}
    IdempotencyRecord.objects.create(
        slot="a", request_hash="b", status=201, body=str(fact.uid) + WORD, **common
    )
    RecallLog.objects.create(
        at=timezone.now(), branch="main", query=f"The log: I found {WORD} in the log.", surface="x", **common
    )
    RecallLog.objects.create(
        at=timezone.now(),
        branch="main",
        query=f"the {WORD} token",
        fact_ids=[str(fact.uid)],
        surface="x",
        **common,
    )
    context = (
        f"- Vault: {WORD} [general, unverified, 2026-01-01, {fact.uid}]\nSession before (2026, x): {WORD}"
    )
    Session.objects.create(
        key="later",
        parent_session=SESSION,
        branch_id=fact.branch_id,
        started_at=timezone.now() - timedelta(hours=1),
        context=context,
        **common,
    )
    ReviewItem.objects.create(
        branch_id=fact.branch_id,
        kind="near_duplicate",
        fact_id=fact.uid,
        other_id=other.uid,
        pair="p",
        score=0.9,
        details={"text": WORD},
        **common,
    )
    message = f"note: {fact.fact_text}"[:400]
    fact.branch.commits.filter(seq=1).update(message=message)


def tables_with(word: str) -> set[str]:
    """Return every column of every table that holds the word."""
    found = set()
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.CharField | models.TextField) and model._meta.managed:
                values = model._base_manager.values_list(field.attname, flat=True)
                if any(word in str(value).lower() for value in values):
                    found.add(f"{model.__name__}.{field.attname}")
    return found


def add_vector(project: Any, fact: Fact) -> None:
    slot = vector_slot(project.pk, "m", fact.content_hash)
    Vector.objects.create(
        slot=slot,
        project=project,
        model="m",
        content_hash=fact.content_hash,
        next_try=timezone.now(),
        state="ready",
    )


def read_epoch(project: Any) -> int:
    from memory.models import VectorClock

    return VectorClock.objects.get_or_create(project=project)[0].epoch


def read_head(branch: Any) -> int:
    branch.refresh_from_db()
    return int(branch.head)
