"""A project with a row of every kind that routes, tools and pages name."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import ReplayBatch
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.engines.bundles.keys import BundleKeyEngine
from curation.engines.handoffs.engine import HandoffEngine
from curation.engines.imports.engine import ImportEngine
from curation.engines.quarantine.engine import QuarantineEngine
from curation.engines.scoring.engine import ScoringEngine
from curation.engines.templates.engine import TemplateEngine
from curation.engines.verification.engine import VerificationEngine
from curation.models import ReviewItem
from memory.actors import Actor, local_actor
from memory.engines.access.connections import ConnectionEngine
from memory.engines.access.invitations import InvitationEngine
from memory.engines.access.keys import KeyEngine
from memory.engines.access.members import build_member_actor
from memory.engines.access.oauth_clients import OAuthClientEngine
from memory.engines.access.policies import PolicyEngine
from memory.engines.access.webhooks import WebhookEngine
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine
from memory.engines.facts.ageing.engine import AgeingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.items.engine import ItemEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.store.workspaces import WorkspaceEngine
from memory.models import Membership, Project
from tests.memory.views.test_merge_request_pages import TASK, conflicting

OTHER = "task/other"


def build_rows(project: Project) -> dict[str, Any]:
    """Build the rows, by somebody else than those who will use them; return what names them."""
    actor = local_actor(project.pk, label="builder").with_origin(session_id="s1", agent_id="ada")
    PolicyEngine().set_policy(pattern="main", gates=[], actor=actor)
    return {
        "slug": project.slug,
        "pattern": "main",
        "rule": "decision",
        "n": 1,
        "agent": "ada",
        **build_memory(project, actor),
        **build_run(actor),
        **build_work(actor),
        **build_store(project, actor),
    }


def build_memory(project: Project, actor: Actor) -> dict[str, Any]:
    facts = FactEngine()
    fact, other, old, gone = (
        facts.write_fact(fact_text=f"The {word} token lives for a day.", actor=actor).fact
        for word in ("first", "second", "old", "erased")
    )
    link = LinkEngine().write_link(from_id=fact.uid, to_id=other.uid, link_type="ASSOCIATED", actor=actor)
    talk = ConversationEngine().create_conversation(actor=actor)
    said = [{"role": "user", "content": "Where do tokens live?"}]
    (message,) = MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    replays = [
        ReplayEngine().create_replay(conversation_id=talk.uid, message_id=message.uid, actor=actor)
        for _ in range(2)
    ]
    batch = ReplayBatch.objects.create(
        project=project, branch=project.branches.get(name="main"), start="first", created_at=timezone.now()
    )
    scoring = ScoringEngine().start_scoring(conversation_id=talk.uid, actor=actor)
    seen = ObservationEngine().write_observation(observation_type="insight", summary="A token.", actor=actor)
    edge = RelationEngine().write_relation(
        source_entity="hub", relation_type="knows", target_entity="token", actor=actor
    )
    item = ReviewItem.objects.create(
        project=project,
        branch=project.branches.get(name="main"),
        kind="near_duplicate",
        fact_id=fact.uid,
        other_id=other.uid,
        score=0.9,
        pair="p",
    )
    erasure = ErasureEngine().erase(
        scope="fact", target=str(gone.uid), confirm=project.slug, drop_copies=True, actor=actor
    )
    facts.write_fact(fact_text="It is over.", expires_at="2026-01-01T00:00:00Z", actor=actor)
    run = AgeingEngine().run_ageing(actor=actor)
    assert run.commit is not None
    return {
        "aged": run.commit.pk,
        "fact": fact.uid,
        "other": other.uid,
        "old": old.uid,
        "fact_version": fact.version,
        "link": link.uid,
        "conversation": talk.uid,
        "message": message.uid,
        "replay": replays[0].pk,
        "batch": batch.pk,
        "scoring": scoring.pk,
        "rated": "conversation",
        "replay_2": replays[1].pk,
        "observation": seen.uid,
        "relation": edge.relation.uid,
        "session": "s1",
        "item": item.pk,
        "erasure": erasure.pk,
        "commit": project.branches.get(name="main").commits.order_by("seq")[0].pk,
    }


def build_run(actor: Actor) -> dict[str, Any]:
    """Build a run over a session that decided something."""
    actor = actor.with_origin(session_id="s8")
    talk = ConversationEngine().create_conversation(actor=actor)
    said = [{"role": "user", "content": "We decided to rotate the keys monthly."}]
    MessageEngine().write_messages(conversation_id=talk.uid, messages=said, actor=actor)
    SessionManager().end_session(session_id="s8", actor=actor)
    report = ConsolidationEngine().consolidate_session(session_id="s8", actor=actor)
    return {"run": report.run.pk, "learned": report.changes[0].fact.uid}


def build_work(actor: Actor) -> dict[str, Any]:
    (conflict,) = conflicting(actor, 1)
    BranchManager().create_branch(name=OTHER, actor=actor)
    FactEngine().write_fact(fact_text="Only elsewhere.", branch_name=OTHER, actor=actor)
    request = MergeRequestEngine().list_requests(actor=actor).results[0]
    tasks = TaskEngine()
    task, task_2 = (
        tasks.create_task(name=name, objectives=["Look."], actor=actor).task
        for name in ("Tidy up", "Clean up")
    )
    tasks.join_task(task=task.slug, actor=actor)
    handoffs = HandoffEngine()
    handoff, handoff_2 = (handoffs.create_handoff(include_unverified=True, actor=actor) for _ in range(2))
    imports = ImportEngine()
    made, made_2 = (imports.begin_import(product="mem0", file=name, actor=actor) for name in ("a", "b"))
    imports.write_records(
        import_id=made_2.pk, records=[{"id": "1", "text": "Keys are rotated monthly."}], actor=actor
    )
    imports.finish_import(import_id=made_2.pk, actor=actor)
    template = TemplateEngine().create_template(name="clear", actor=actor)
    for name in ("eve", "zoe"):
        KeyEngine().create_key(label=name, scopes=["read"], agent_id=name, actor=actor)
    quarantine = QuarantineEngine().create_quarantine(source="agent", target="eve", actor=actor)
    job = VerificationEngine().verify_batch(actor=actor)
    question, _ = QuestionEngine().expect_fact(
        text="Who lives?", fact_id=conflict.uid, actor=actor, branch_name="main"
    )
    return {
        "name": TASK,
        "other_name": OTHER,
        "request": request.pk,
        "number": request.number,
        "conflict": conflict.uid,
        "decision": {"id": str(conflict.uid), "choice": "source"},
        "task": task.slug,
        "task_2": task_2.slug,
        "handoff": handoff.pk,
        "handoff_2": handoff_2.pk,
        "import": made_2.pk,
        "import_2": made.pk,
        "template": template.name,
        "quarantine": quarantine.pk,
        "job": job.pk,
        "question": question.pk,
        "eval": EvalEngine().start_eval(actor=actor).pk,
    }


def build_store(project: Project, actor: Actor) -> dict[str, Any]:
    key, _token = KeyEngine().create_key(label="victim", scopes=["read"], actor=actor)
    ItemEngine().put_item(namespace="n", key=str(key.pk), value=1, actor=actor)
    bundles, keys = KnowledgeBundleEngine(), BundleKeyEngine()
    public_key = keys.make_signing_key(actor=actor).public_key
    keys.trust_key(name="friend", public_key=public_key, actor=actor)
    bundle = bundles.create_bundle(name="clear", conversations=True, actor=actor)
    invitation, _secret = InvitationEngine().create_invitation(actor=actor)
    member = Membership.objects.create(project=project, user=User.objects.create_user("seen"))
    for name, role in (("chief", Membership.Role.OWNER), ("boss", Membership.Role.MAINTAINER)):
        Membership.objects.create(project=project, user=User.objects.create_user(name), role=role)
    User.objects.create_user("stranger")
    return {
        "bundle": bundle.pk,
        "document": json.loads(bundles.export_bundle(bundle_id=bundle.pk, actor=actor)),
        "public_key": public_key,
        "friend": "friend",
        "key": key.pk,
        "connection": connect_program(member),
        "webhook": make_webhook(actor),
        "namespace": "n",
        "tenant": "acme",
        "invitation": invitation.pk,
        "member": "seen",
        "boss": "boss",
        "snapshot": SnapshotManager().create_snapshot(name="before", actor=actor).pk,
        "workspace": WorkspaceEngine().create_workspace(name="bench", actor=actor).pk,
    }


def make_webhook(actor: Actor) -> Any:
    """Make a webhook that did not take an event; return its id."""
    webhook, _secret = WebhookEngine().create_webhook(url="https://example.com/day1", actor=actor)
    webhook.failures.create(position=1, kind="fact.write", reason="late", failed_at=timezone.now())
    return webhook.pk


def connect_program(member: Membership) -> Any:
    """Connect a program for a member; return the id of the connection."""
    engine, back = ConnectionEngine(), "https://a.example/back"
    client = OAuthClientEngine().register_client(metadata={"redirect_uris": [back]})
    code = engine.open_connection(
        actor=build_member_actor(member, member.user, "web"),
        client=client,
        scope="read",
        resource="",
        redirect_uri=back,
        code_challenge="c" * 43,
    )
    connection = engine.take_code(code=code, client_id=client.client_id)
    assert connection
    assert engine.give_tokens(connection=connection)
    return connection.pk


def fill(value: Any, rows: dict[str, Any]) -> Any:
    """Return a value of the tables with the scene's rows in it."""
    if isinstance(value, dict):
        return {name: fill(one, rows) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [fill(one, rows) for one in value]
    if not isinstance(value, str):
        return value
    whole = rows.get(value.strip("{}")) if value.startswith("{") else None
    return whole if isinstance(whole, dict) else value.format(**rows)
