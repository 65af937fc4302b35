"""Player of the demo's story: each act runs through the engines at its own time in the past."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.capture.engine import IngestEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Message
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.review.near_duplicates import NearDuplicateEngine
from curation.engines.review.pair_answers import ReviewAnswers
from curation.engines.templates.engine import TemplateEngine
from curation.engines.verification.engine import VerificationEngine
from day1site.demo.script import Step
from memory.actors import Actor
from memory.engines.access.key_use import note_use
from memory.engines.access.keys import KeyEngine
from memory.engines.access.policies import PolicyEngine
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.sessions.learning import load_consolidator, system_actor
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.sessions.tool_calls import extract_output
from memory.engines.versions.lookup import find_branch
from memory.models import ApiKey, Fact, Observation

LEAD = "Mira Sandoval"  # of the team
SURFACE = "demo"  # identifies its commits and audit entries
PROGRAM = "Claude Code of the demo"  # and this those that come as events of a program
LINK = ("from", "link_type", "to")
EDGE = {"from": "source_entity", "is": "relation_type", "to": "target_entity"}
MODEL = "minilm-l6-int8"  # the model that scored the near duplicates of the story
PAUSE = timedelta(minutes=3)  # between two acts of a step
TURN = timedelta(seconds=80)  # between two turns of a conversation
SPOKEN = (Message.Role.USER, Message.Role.ASSISTANT)
NOTED = (Observation.Type.DECISION, Observation.Type.INSIGHT)
TurnList = list[Mapping[str, Any]]


def actor_in(project_id: UUID, label: str, kind: str = "local", key: str = "") -> Actor:
    """Return an actor of the story in the demo's project; an agent acts as with its key."""
    return Actor(project_id, kind, key, label, scopes=frozenset({"admin"}), surface=SURFACE)


class Player:
    """Player of steps. Facts are identified by their names in the story."""

    def __init__(self, project_id: UUID) -> None:
        self.project_id = project_id
        self.ids: dict[str, UUID] = {}
        self.keys: dict[str, ApiKey] = {}  # of the agents
        self.facts, self.links = FactEngine(), LinkEngine()
        self.branches, self.sessions = BranchManager(), SessionManager()
        self.near, self.relations = NearDuplicateEngine(), RelationEngine()
        self.questions = QuestionEngine()
        self.requests, self.tasks = MergeRequestEngine(), TaskEngine()
        self.edges: dict[tuple[str, ...], UUID] = {}
        self.talks: dict[str, Sequence[Message]] = {}

    def play_step(self, step: Step) -> None:
        at = step.at
        for name, act in step.acts:
            for one in act if isinstance(act, list) and name not in ("write", "propose") else [act]:
                getattr(self, f"_{name}")(self._where(step, min(at, timezone.now())), one)
                at += PAUSE

    def _where(self, step: Step, at: datetime) -> dict[str, Any]:
        who = actor_in(self.project_id, step.by)
        if step.agent_id:
            key = self._find_key(step.agent_id)
            who = actor_in(self.project_id, step.by, "key", str(key.pk))
        origin = {"session_id": step.session_id, "task_id": step.task_id, "agent_id": step.agent_id}
        return {"actor": who.acting_at(at).with_origin(**origin), "branch_name": step.branch}

    def _find_key(self, agent: str) -> ApiKey:
        """Return the key of an agent, whose token nobody is told, so that none can come with it."""
        if agent not in self.keys:
            lead = actor_in(self.project_id, LEAD)
            key, _token = KeyEngine().create_key(label=agent, agent_id=agent, scopes=["write"], actor=lead)
            self.keys[agent] = key
            note_use(self.keys[agent], timezone.now())
        return self.keys[agent]

    # ---- acts ----------------------------------------------------------------------------------

    def _write(self, where: Mapping[str, Any], facts: list[dict[str, Any]], propose: bool = False) -> None:
        new = [self._fields(fact) for fact in facts]
        written = self.facts.write_facts(facts=new, propose=propose, **where)
        for fact, done in zip(facts, written.results, strict=True):
            if not done.created:
                raise RuntimeError(f"the story says {fact['id']} twice")
            self._name(fact["id"], done.fact.uid)

    def _propose(self, where: Mapping[str, Any], facts: list[dict[str, Any]]) -> None:
        self._write(where, facts, propose=True)

    def _again(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.write_fact(fact_text=self._read(where, name).fact_text, **where)

    def _change(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        self.facts.update_fact(fact_id=self.ids[act["id"]], updates=self._fields(act), **where)

    def _replace(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        fields = self._fields(act)
        old, text = self.ids[fields.pop("old")], fields.pop("fact_text")
        new = self.facts.supersede_fact(old_fact_id=old, new_fact_text=text, **fields, **where)
        self._name(act["id"], new.uid)

    def _link(self, where: Mapping[str, Any], act: Any) -> None:
        link = dict(act) if isinstance(act, dict) else dict(zip(LINK, act, strict=True))
        start, end = self.ids[link.pop("from")], self.ids[link.pop("to")]
        self.links.write_link(from_id=start, to_id=end, **link, **where)

    def _verified(self, where: Mapping[str, Any], act: dict[str, str], verdict: str = "verified") -> None:
        reason = act.get("reason", "")
        self.facts.set_verification(fact_id=self.ids[act["id"]], verdict=verdict, reason=reason, **where)

    def _wrong(self, where: Mapping[str, Any], act: dict[str, str]) -> None:
        self._verified(where, act, "invalidated")

    def _accept(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.update_fact(fact_id=self.ids[name], updates={"status": Fact.Status.ACTIVE}, **where)

    def _done(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.update_fact(fact_id=self.ids[name], updates={"status": Fact.Status.DONE}, **where)

    def _archive(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.archive_fact(fact_id=self.ids[name], **where)

    def _restore(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.restore_fact(fact_id=self.ids[name], **where)

    def _delete(self, where: Mapping[str, Any], name: str) -> None:
        self.facts.delete_fact(fact_id=self.ids[name], **where)

    def _alike(self, where: Mapping[str, Any], pair: tuple[str, str, float]) -> None:
        newer, older, score = pair
        ids: dict[str, Any] = {"fact_id": self.ids[newer], "other_id": self.ids[older]}
        self.near.ask_about(**ids, score=score, model=MODEL, **where)

    def _contradict(self, where: Mapping[str, Any], pair: list[str]) -> None:
        newer, older = (self._read(where, name) for name in pair)
        ReviewAnswers().ask_about(find_branch(where["actor"], where["branch_name"]), [(newer, older)])

    def _relate(self, where: Mapping[str, Any], act: Any) -> None:
        edge: dict[str, Any] = act if isinstance(act, dict) else dict(zip(EDGE, act, strict=True))
        fields = {EDGE.get(name, name): value for name, value in edge.items()}
        related = self.relations.write_relation(**fields, **where)
        self.edges[tuple(edge[name] for name in EDGE)] = related.relation.uid

    def _part(self, where: Mapping[str, Any], edge: list[str]) -> None:
        self.relations.close_relation(relation_id=self.edges[tuple(edge)], **where)

    def _talk(self, where: Mapping[str, Any], act: Mapping[str, Any]) -> None:
        self.talks[act["title"]] = replay_conversation(where, **act)

    def _question(self, where: Mapping[str, Any], act: Mapping[str, Any]) -> None:
        expected = [self.ids[name] for name in act["expected"]]
        self.questions.create_question(**{**act, "expected": expected}, **where)

    def _evaluate(self, where: Mapping[str, Any], act: Mapping[str, Any]) -> None:
        EvalEngine().start_eval(**act, **where)

    def _fork(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        self.branches.create_branch(actor=where["actor"], **act)

    def _merge_request(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        self.requests.create_request(actor=where["actor"], **act)

    def _agent_task(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        agents, fields = act["agents"], {key: one for key, one in act.items() if key != "agents"}
        made = self.tasks.create_task(actor=where["actor"], **fields).task
        for agent in agents:
            self.tasks.join_task(task=made.slug, agent_id=agent, actor=where["actor"])

    # ---- what is shared, hidden and checked ----------------------------------------------------

    def _handoff(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        fields = {key: one for key, one in act.items() if key not in ("facts", "answer")}
        ids = [str(self.ids[name]) for name in act["facts"]]
        made = HandoffEngine().create_handoff(actor=where["actor"], fact_ids=ids, **fields)
        if act.get("answer") == "accept":
            receiver = where["actor"].with_origin(agent_id=act["to_agent"])
            HandoffEngine().accept_handoff(handoff_id=made.pk, actor=receiver)

    def _template(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        TemplateEngine().create_template(actor=where["actor"], **act)

    def _use_template(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        TemplateEngine().instantiate_template(actor=where["actor"], **act)

    def _bundle(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        KnowledgeBundleEngine().create_bundle(**act, **where)

    def _quarantine(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        QuarantineEngine().create_quarantine(actor=where["actor"], **act)

    def _policy(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        PolicyEngine().set_policy(actor=where["actor"], **act)

    def _verify(self, where: Mapping[str, Any], limit: int) -> None:
        VerificationEngine().verify_batch(limit=limit, **where)

    def _replay(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        """Go on with a conversation after one of its messages as another model did, by hand."""
        after, actor, engine = self.talks[act["talk"]][act["turn"]], where["actor"], ReplayEngine()
        made = engine.create_replay(
            conversation_id=after.conversation_id, message_id=after.uid, model=act["model"], **where
        )
        messages = list(_messages(act["turns"], act["model"], actor.write_time()))
        MessageEngine().write_messages(conversation_id=made.conversation_id, messages=messages, **where)
        engine.complete_replay(replay_id=made.pk, actor=actor)

    def _program(self, where: Mapping[str, Any], act: dict[str, Any]) -> None:
        """Send the events of a session as its program does: it is told what memory knows of each prompt."""
        agent: Actor = where["actor"]
        actor, began = replace(agent, label=PROGRAM, bound_agent=agent.agent_id), agent.write_time()
        for index, event in enumerate(_list_events(actor.session_id, **act)):
            at = min(began + index * TURN, timezone.now())
            IngestEngine().ingest(events=[event], actor=actor.acting_at(at), answered=True)
        _learn(where["actor"])

    def _close_branch(self, where: Mapping[str, Any], name: str) -> None:
        self.branches.archive_branch(name=name, actor=where["actor"])

    def _end(self, where: Mapping[str, Any], summary: str) -> None:
        actor = where["actor"]
        self.sessions.end_session(session_id=actor.session_id, actor=actor, summary=summary)

    # ---- pieces --------------------------------------------------------------------------------

    def _read(self, where: Mapping[str, Any], name: str) -> Fact:
        return self.facts.get_fact(fact_id=self.ids[name], **where)

    def _fields(self, act: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: value for name, value in act.items() if name != "id"}
        if "text" in fields:
            fields["fact_text"] = fields.pop("text")
        if "parent" in fields:
            fields["parent_id"] = self.ids[fields.pop("parent")]
        return fields

    def _name(self, name: str, uid: UUID) -> None:
        if name in self.ids:
            raise RuntimeError(f"the story has two facts named {name}")
        self.ids[name] = uid


# ---- conversations -----------------------------------------------------------------------------------


def replay_conversation(
    where: Mapping[str, Any], title: str, model: str, turns: TurnList
) -> Sequence[Message]:
    """Store a conversation as hooks do, and return its messages; a tool result has an observation too.

    A turn is {user}, {assistant, thinking}, {tool, input, output}, {decision} or {insight}.
    """
    actor: Actor = where["actor"]
    talk = ConversationEngine().create_conversation(title=title, model=model, **where)
    messages = list(_messages(turns, model, actor.write_time()))
    written = MessageEngine().write_messages(conversation_id=talk.uid, messages=messages, **where)
    answers = iter([row for row in written if row.role == Message.Role.TOOL_RESULT])
    observed = list(_observations(turns, answers))
    if observed:
        ObservationEngine().write_observations(observations=observed, **where)
    _learn(actor)
    return written


def _messages(turns: TurnList, model: str, began: datetime) -> Iterator[dict[str, Any]]:
    for index, turn in enumerate(turns):
        at = {"said_at": began + index * TURN}
        for role in SPOKEN:
            if role in turn:
                by = {"model": model} if role == Message.Role.ASSISTANT else {}
                yield {"role": role, "content": turn[role], "thinking": turn.get("thinking", ""), **by, **at}
        if "tool" in turn:
            call = {"id": f"call_{index}", "name": turn["tool"], "input": turn["input"]}
            role, content = Message.Role.TOOL_RESULT, extract_output(turn["output"])
            yield {"role": role, "content": content, "tool_calls": [call], **at}


def _observations(turns: TurnList, answers: Iterator[Message]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        if "tool" in turn:
            call = {"tool_name": turn["tool"], "raw_input": turn["input"], "raw_output": turn["output"]}
            yield {**call, "message_id": next(answers).uid}
        for kind in NOTED:
            if kind in turn:
                yield {"observation_type": kind, "summary": turn[kind]}


def _list_events(session: str, cwd: str, repository: str, turns: TurnList) -> Iterator[dict[str, Any]]:
    """Yield the events of a session as Claude Code sends them."""
    sent = {"session_id": session, "cwd": cwd, "day1": {"client": "claude-code", "root": repository}}
    yield {**sent, "hook_event_name": "SessionStart", "source": "startup"}
    for number, turn in enumerate(turns):
        prompt = {**sent, "prompt_id": f"p{number}"}
        yield {**prompt, "hook_event_name": "UserPromptSubmit", "prompt": turn["prompt"]}
        yield {**prompt, "hook_event_name": "Stop", "last_assistant_message": turn["answer"]}


def _learn(actor: Actor) -> None:
    """Consolidate the session at its time in the story, so that a later worker finds nothing new."""
    engine = load_consolidator()
    session = SessionManager().get_session(session_id=actor.session_id, actor=actor)
    if engine is not None:
        who = replace(system_actor(session), surface=actor.surface).acting_at(actor.write_time())
        engine.consolidate_session(session=session, actor=who)
