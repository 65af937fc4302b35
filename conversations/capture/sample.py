"""A sample session: a short scene of a made-up program, through the capture that real programs use."""

import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from conversations.capture.engine import IngestEngine
from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.learning import learn_running, load_consolidator
from memory.engines.versions.lookup import find_branch
from memory.exceptions import Conflict
from memory.models import Branch, Fact, Session

PROGRAM = "sample-agent"
REPOSITORY = "example.com/sample/shop"  # no real session works there, so none is told of it
PREFIX = "sample-"  # begins the keys of its sessions
MAX_FACTS = 100
ATTEMPTS, WAIT_SECONDS = 20, 0.1  # a worker may be learning from the same session


@dataclass(frozen=True)
class Scene:
    """A session: what the person says, what the agent answers, and whether a fact comes of it."""

    prompt: str
    answer: str
    teaches: bool = True


SCENES = (
    Scene(
        "We decided: invoices are rendered with WeasyPrint. The gateway listens on port 9443."
        " Never cache prices in the browser.",
        "Noted. The invoice is rendered with WeasyPrint now, and `make test` passes.",
    ),
    Scene("The gateway listens on port 8443 now, no longer 9443.", "The port is changed in `gateway.toml`."),
    Scene(
        "Send the invoice of order 7 through the gateway.",
        "Sent over port 8443; the invoice was rendered with WeasyPrint.",
        teaches=False,
    ),
)


class SampleEngine:
    def play(self, *, actor: Actor, branch_name: str) -> list[str]:
        """Play the scenes as sessions, each told what those before it taught; return the sessions' keys.

        Raises Conflict while a sample is there, and where sessions teach nothing; QuotaExceeded, scope and
        branch refusals.
        """
        actor.require_scope("curate", branch_name)
        branch = find_branch(actor, branch_name)
        if load_consolidator() is None:
            raise Conflict("Nothing is learned from sessions on this server, so a sample would show nothing.")
        if self.list_facts(branch):
            raise Conflict("A sample session is here already.")
        name = f"{PREFIX}{uuid4().hex[:8]}"
        keys = [f"{name}-{number}" for number in range(1, len(SCENES) + 1)]
        for key, scene in zip(keys, SCENES, strict=True):
            play_scene(scene, key, actor, branch)
        return keys

    def remove(self, *, actor: Actor, branch_name: str) -> int:
        """Delete the facts that samples taught on a branch; return how many. The history keeps them.

        Raises scope and branch refusals.
        """
        actor.require_scope("curate", branch_name)
        facts = self.list_facts(find_branch(actor, branch_name))
        for fact in facts:
            FactEngine().delete_fact(fact_id=fact.uid, actor=actor, branch_name=branch_name)
        return len(facts)

    def list_facts(self, branch: Branch) -> list[Fact]:
        """Return the facts that samples taught, as a branch has them; without a sample with one query."""
        rows = Session.objects.filter(project=branch.project_id, key__gte=PREFIX, key__lt=f"{PREFIX}~")
        keys = list(rows.filter(project_path=REPOSITORY).values_list("key", flat=True))
        return list(Fact.objects.on(branch).filter(session_id__in=keys).newest(MAX_FACTS)) if keys else []


def play_scene(scene: Scene, key: str, actor: Actor, branch: Branch) -> None:
    """Play a session: its start is told what memory knows; what it teaches is there before the next."""
    turn = {"prompt_id": f"{key}-1"}
    ingest([build_event("SessionStart", key, source="startup")], actor, branch)
    ingest([build_event("UserPromptSubmit", key, prompt=scene.prompt, **turn)], actor, branch)
    ingest([build_event("Stop", key, last_assistant_message=scene.answer, **turn)], actor, branch)
    session = Session.objects.get(project=actor.project_id, key=key)
    if scene.teaches:
        learn(session, branch)
    ingest([build_event("SessionEnd", key, reason="exit")], actor, branch)


def build_event(name: str, key: str, **fields: Any) -> dict[str, Any]:
    about = {"client": PROGRAM, "root": REPOSITORY}
    return {"hook_event_name": name, "session_id": key, "cwd": "/srv/shop", "day1": about, **fields}


def ingest(events: list[dict[str, Any]], actor: Actor, branch: Branch) -> None:
    IngestEngine().ingest(events=events, actor=actor, branch_name=branch.name, client=PROGRAM, answered=True)


def learn(session: Session, branch: Branch) -> None:
    for _ in range(ATTEMPTS):
        learn_running(session.pk)
        if Fact.objects.on(branch).filter(session_id=session.key).exists():
            return
        time.sleep(WAIT_SECONDS)
