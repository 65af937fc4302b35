"""The first level of learning: what one session decided and repaired becomes facts, by rule."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from conversations.models import Message
from memory.actors import Actor
from memory.db.rerun import rerunning
from memory.engines.commits import CommitWriter, committing
from memory.engines.consolidation import rules
from memory.engines.fact_batch import FactBatch
from memory.engines.observing import COMMANDS, WRITERS, cut, subject
from memory.models import Fact, FactLink, Observation, RecallLog, Session

MOST = 5000  # messages and observations of one session that are looked at
STEPS = 5  # between a failure and its repair that are told
STATED = frozenset({Observation.Type.DECISION, Observation.Type.INSIGHT})
CONFIDENCE = 0.7
T, Link = Observation.Type, FactLink.Type


@dataclass(frozen=True)
class Finding:
    """A fact to be, and the message or observation that it comes from."""

    text: str
    category: str
    source: UUID
    to_type: str

    def fact(self) -> dict[str, Any]:
        observed = self.to_type == FactLink.Target.OBSERVATION
        kind = Fact.SourceType.OBSERVATION if observed else Fact.SourceType.CONSOLIDATION
        return {
            "fact_text": self.text, "category": self.category, "confidence": CONFIDENCE,
            "source_type": kind.value, "source_id": str(self.source),
        }  # fmt: skip

    def link(self, fact: Fact) -> FactLink:
        observed = self.to_type == FactLink.Target.OBSERVATION
        kind = Link.DERIVED_FROM if observed else Link.CONSOLIDATED_FROM
        return FactLink(
            from_id=fact.uid, to_id=self.source, to_type=self.to_type, link_type=kind,
            session_id=fact.session_id, task_id=fact.task_id, agent_id=fact.agent_id,
        )  # fmt: skip


@rerunning
class SessionConsolidation:
    """Named by DAY1["consolidator"]."""

    def consolidate_session(self, *, session: Session, actor: Actor) -> int:
        """Facts from a session's decisions and repairs; returns how many are new. What was consumed once
        is left alone, whatever became of its fact; what Day1 itself told the session is not learned."""
        actor.require("write", session.branch.name)
        with committing(actor, session.branch.name, "consolidate.session") as commit:
            found = _unconsumed(commit, [*_said(commit, session), *_observed(commit, session)])
            told = _told(session, commit)
            news = [finding for finding in found if not rules.says(told, finding.text)]
            return _write(commit, news, actor) if news else 0


def _said(commit: CommitWriter, session: Session) -> Iterator[Finding]:
    rows = commit.visible(Message).filter(session_id=session.key)
    for row in rows.filter(role__in=[Message.Role.USER, Message.Role.ASSISTANT]).lowest(MOST, "uid"):
        for lesson in rules.lessons(row.content, row.role == Message.Role.USER):
            yield Finding(lesson.text, lesson.category, row.uid, FactLink.Target.MESSAGE)


def _observed(commit: CommitWriter, session: Session) -> Iterator[Finding]:
    rows = commit.visible(Observation).narrowed(session_id=session.key).lowest(MOST, "uid")
    for place, row in enumerate(rows):
        if row.observation_type in STATED:
            yield Finding(row.summary, row.observation_type, row.uid, FactLink.Target.OBSERVATION)
        elif row.observation_type == T.DISCOVERY and (text := _repair(rows, place)):
            yield Finding(text, "bug_fix", row.uid, FactLink.Target.OBSERVATION)


def _repair(rows: Sequence[Observation], place: int) -> str:
    """What was done between a failure and the success of the same call; "" where it was nothing."""
    worked = rows[place]
    failed = next((at for at in range(place) if rows[at].uid == worked.parent_id), None)
    if failed is None:
        return ""
    between = [row for row in rows[failed + 1 : place] if row.input_hash != worked.input_hash]
    steps = [_step(row) for row in between if row.outcome == Observation.Outcome.SUCCESS]
    done = list(dict.fromkeys(step for step in steps if step))[-STEPS:]
    if not done:
        return ""
    return rules.repair(_called(rows[failed]), _reason(rows[failed]), done)


def _step(row: Observation) -> str:
    if row.tool_name in WRITERS or row.tool_name in COMMANDS:
        return cut(row.summary.partition(". Result:")[0], 300)
    return ""


def _called(row: Observation) -> str:
    try:
        given = json.loads(row.raw_input)
    except ValueError:
        given = row.raw_input
    about = subject(given) if row.tool_name in COMMANDS else f"{row.tool_name} {subject(given)}"
    return cut(" ".join(about.split()), 300)


def _reason(row: Observation) -> str:
    """The last line of an error says the most."""
    lines = [line.strip() for line in row.summary.partition("Result:")[2].splitlines() if line.strip()]
    return cut(lines[-1].rstrip(".") if lines else "no reason given", 300)


# ---- what is not learned -----------------------------------------------------------------------------


def _unconsumed(commit: CommitWriter, found: Sequence[Finding]) -> list[Finding]:
    sources = list({finding.source for finding in found})
    consumed: set[UUID] = set()
    for start in range(0, len(sources), 500):
        links = commit.visible(FactLink).filter(
            Q(link_type=Link.DERIVED_FROM) | Q(link_type=Link.CONSOLIDATED_FROM),
            to_id__in=sources[start : start + 500],
        )
        consumed |= {row.to_id for row in links.gather()}
    return [finding for finding in found if finding.source not in consumed]


def _told(session: Session, commit: CommitWriter) -> list[str]:
    """What Day1 told this session: at its start, and in answer to its searches."""
    recalls = RecallLog.objects.filter(project=session.project_id, session_id=session.key)
    ids = {UUID(uid) for recall in recalls.order_by("-id")[:500] for uid in recall.fact_ids}
    texts: list[str] = session.context.splitlines()
    wanted = sorted(ids)
    for start in range(0, len(wanted), 500):
        facts = commit.visible(Fact).filter(uid__in=wanted[start : start + 500]).gather()
        texts += [fact.fact_text for fact in facts]
    return texts


def _write(commit: CommitWriter, found: Sequence[Finding], actor: Actor) -> int:
    batch = FactBatch([finding.fact() for finding in found], actor, Fact.Status.ACTIVE, deduplicate=True)
    written = batch.write(commit)
    links = {}
    for finding, result in zip(found, written, strict=True):
        links[(result.fact.uid, finding.source)] = finding.link(result.fact)
    commit.add(list(links.values()))
    return sum(result.created for result in written)
