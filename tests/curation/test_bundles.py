"""Bundles: what one takes of a branch, its seals, its import into another project, and its erasure."""

import json
from dataclasses import replace
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from curation.engines.bundles.document import compute_sha256, dump_canonical
from curation.engines.bundles.engine import KnowledgeBundleEngine, load_document
from curation.engines.bundles.importing import ImportReport
from curation.engines.bundles.keys import BundleKeyEngine, check_signature, sign_document
from curation.engines.quarantine.engine import QuarantineEngine
from curation.models import Bundle, SigningKey
from memory.actors import Actor, local_actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    Conflict,
    DirectWritesRefused,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    TooLarge,
)
from memory.models import AuditEntry, Branch, Commit, Fact, FactAssessment, FactLink, Project, Relation
from tests.curation.test_handoffs import key_actor, write_fact

engine, keys = KnowledgeBundleEngine(), BundleKeyEngine()
pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
CLOCK, CAUSE = "The clock is two minutes ahead.", "The cause is the battery."
QUESTION = "Why is the clock of the gateway wrong?"
TARGET = "bundle/clocks/v1"


@pytest.fixture
def knowledge(actor: Actor, main: Branch) -> dict[str, Any]:
    """Return memories of main: two verified facts with a link, a conversation, a relation, and what stays."""
    clock, cause = (
        write_fact(actor, CLOCK, branch="main", confidence=0.9),
        write_fact(actor, CAUSE, branch="main"),
    )
    talk = ConversationEngine().create_conversation(title="Debug", actor=actor)
    said = MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content=QUESTION, thinking="Hm.", actor=actor
    )
    LinkEngine().write_link(from_id=clock.uid, to_id=cause.uid, link_type="DEPENDS_ON", actor=actor)
    LinkEngine().write_link(
        from_id=clock.uid, to_id=said.uid, to_type="message", link_type="MESSAGE_OF", actor=actor
    )
    relation = (
        RelationEngine()
        .write_relation(source_entity="gateway", relation_type="uses", target_entity="clock", actor=actor)
        .relation
    )
    write_fact(actor, "Perhaps it is the cable.", verdict="", branch="main")
    write_fact(actor, "It is the moon.", verdict="invalidated", branch="main")
    write_fact(actor, "My own note.", branch="main", visibility="private")
    return {"clock": clock, "cause": cause, "talk": talk, "message": said, "relation": relation}


@pytest.fixture
def bundle(actor: Actor, knowledge: Any) -> Bundle:
    return engine.create_bundle(
        name="clocks", description="What we know of clocks.", conversations=True, actor=actor
    )


@pytest.fixture
def other(other_project: Project) -> Actor:
    return local_actor(other_project.pk)


def document(bundle: Bundle) -> dict[str, Any]:
    return json.loads(bundle.bundle_data)


def reseal(data: dict[str, Any]) -> dict[str, Any]:
    data = {name: value for name, value in data.items() if name not in ("sha256", "signature")}
    return data | {"sha256": compute_sha256(data)}


def bring(actor: Actor, data: Any, **options: Any) -> ImportReport:
    """Upload a document and import it."""
    report = engine.upload_bundle(document=data, imports=True, actor=actor, **options)[1]
    assert report is not None
    return report


def rows(model: Any, actor: Actor, branch: str = TARGET) -> list[Any]:
    return list(model.objects.on(Branch.objects.get(project=actor.project_id, name=branch)))


def texts(actor: Actor, branch: str = TARGET) -> set[str]:
    return {fact.fact_text for fact in rows(Fact, actor, branch)}


# ---- making ----------------------------------------------------------------------------------------


def test_a_bundle_takes_what_may_leave(bundle: Bundle) -> None:
    data = document(bundle)
    assert [fact["fact_text"] for fact in data["content"]["facts"]] == [CLOCK, CAUSE]
    counts = {"facts": 2, "conversations": 1, "links": 2, "relations": 1, "messages": 1}
    assert (bundle.counts, bundle.left_out) == (counts, {"private": 1, "unverified": 1})
    assert (data["format"], data["schema_version"], data["version"]) == ("day1-bundle", 1, 1)
    assert "Hm." not in bundle.bundle_data
    assert "local" not in bundle.bundle_data.replace("local_", "")  # nobody's key, session or agent
    assert (data["sha256"], bundle.sha256) == (compute_sha256(data),) * 2
    assert (bundle.signature, bundle.redacted) == ("", 0)


@pytest.mark.parametrize(
    ("chosen", "count"),
    [({}, 0), ({"only_verified": False}, 1), ({"conversations": True}, 1)],
)
def test_conversations_go_along_where_they_are_asked_for_or_unverified_facts_do(
    actor: Actor, knowledge: Any, chosen: dict[str, bool], count: int
) -> None:
    told = engine.create_bundle(name="clocks", dry_run=True, actor=actor, **chosen)
    assert (told.counts["conversations"], told.pk, Bundle.objects.count()) == (count, None, 0)


def test_a_conversation_in_which_nothing_was_said_stays(actor: Actor, knowledge: Any) -> None:
    ConversationEngine().create_conversation(title="Empty", actor=actor)
    bundle = engine.create_bundle(name="clocks", conversations=True, actor=actor)
    assert [talk["title"] for talk in document(bundle)["content"]["conversations"]] == ["Debug"]


def test_what_it_takes_can_be_chosen(actor: Actor, knowledge: Any) -> None:
    made = engine.create_bundle(
        name="clocks", only_verified=False, conversations=False, relations=False, actor=actor
    )
    counts = {"facts": 3, "conversations": 0, "links": 1, "relations": 0, "messages": 0}
    assert (made.counts, made.left_out) == (counts, {"private": 1})


def test_a_newer_version_is_another_bundle(actor: Actor, bundle: Bundle) -> None:
    again = engine.create_bundle(name="clocks", conversations=True, actor=actor)
    assert (again.version, Bundle.objects.count()) == (2, 2)
    assert [one.version for one in engine.list_bundles(actor=actor, name="clocks").results] == [2, 1]
    assert engine.export_bundle(bundle_id=bundle.pk, actor=actor) == bundle.bundle_data


def test_secrets_are_taken_out(actor: Actor, project: Project, main: Branch) -> None:
    Project.objects.filter(pk=project.pk).update(redact_secrets=False)
    fact = write_fact(actor, "Log in.", branch="main")
    Fact.objects.all_versions().filter(uid=fact.uid).update(
        fact_text="Log in with password=hunter2hunter2 now.", metadata={"token": "correcthorsebattery"}
    )
    made = engine.create_bundle(name="secrets", only_verified=False, actor=actor)
    assert (made.redacted, "hunter2" in made.bundle_data, "correcthorse" in made.bundle_data) == (
        2,
        False,
        False,
    )
    assert bring(actor, document(made), dry_run=True).counts["facts"]["duplicate"] == 1


def test_secrets_are_taken_out_of_its_description_too(actor: Actor, main: Branch) -> None:
    made = engine.create_bundle(
        name="secrets", description="Log in with password=hunter2hunter2", actor=actor
    )
    assert "hunter2" not in made.bundle_data + made.description


def test_the_checksum_is_of_values_not_of_their_spelling(bundle: Bundle) -> None:
    data = document(bundle)
    shuffled = json.loads(json.dumps(dict(reversed(list(data.items()))), indent=4))
    assert compute_sha256(shuffled) == data["sha256"]
    assert dump_canonical({"b": 1.0, "a": [0.5, "é"]}) == '{"a":[0.5,"é"],"b":1}'.encode()


def test_a_signature_is_by_the_projects_key(actor: Actor, bundle: Bundle) -> None:
    with pytest.raises(Conflict):
        engine.create_bundle(name="clocks", sign=True, actor=actor)
    key = keys.make_signing_key(actor=actor)
    signed = engine.create_bundle(name="clocks", conversations=True, actor=actor)
    assert (signed.public_key, bool(signed.signature)) == (key.public_key, True)
    check_signature(load_document(signed))
    assert engine.create_bundle(name="clocks", sign=False, actor=actor).signature == ""
    row = SigningKey.objects.get()
    assert row.private_key.startswith("gAAAA")  # encrypted
    assert row.private_key not in signed.bundle_data


def test_too_much_is_refused(actor: Actor, knowledge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curation.engines.bundles.reading.MAX_COMMIT_ROWS", 7)
    with pytest.raises(TooLarge):
        engine.create_bundle(name="clocks", conversations=True, actor=actor)
    monkeypatch.undo()
    monkeypatch.setattr("curation.engines.bundles.document.MAX_BYTES", 100)
    with pytest.raises(TooLarge):
        engine.create_bundle(name="clocks", conversations=True, actor=actor)
    assert Bundle.objects.count() == 0


# ---- importing -------------------------------------------------------------------------------------


def test_an_import_is_one_commit_on_a_branch_of_its_own(bundle: Bundle, other: Actor) -> None:
    report = bring(other, document(bundle))
    assert (report.branch_name, report.creates_branch, report.dry_run) == (TARGET, True, False)
    assert {kind: states["new"] for kind, states in report.counts.items()} == bundle.counts
    assert (report.trust.state, report.verified, report.reset) == ("unsigned", 0, 2)
    assert len(report.warnings) == 1
    branch = Branch.objects.get(project=other.project_id, name=TARGET)
    (commit,) = Commit.objects.filter(branch=branch)
    assert (commit.kind, commit, texts(other)) == ("bundle.import", report.commit, {CLOCK, CAUSE})
    fact = next(one for one in rows(Fact, other) if one.fact_text == CLOCK)
    assert (fact.source_type, fact.source, fact.confidence) == ("bundle_import", "bundle clocks v1", 0.7)
    assert rows(FactAssessment, other) == []
    (talk,), (said,) = rows(Conversation, other), rows(Message, other)
    assert (talk.title, talk.status, said.content, said.thinking) == ("Debug", "completed", QUESTION, "")
    assert said.conversation_id == talk.uid
    ends = {(link.link_type, link.from_id, link.to_id) for link in rows(FactLink, other)}
    cause = next(one for one in rows(Fact, other) if one.fact_text == CAUSE)
    assert ends == {("DEPENDS_ON", fact.uid, cause.uid), ("MESSAGE_OF", fact.uid, said.uid)}
    assert rows(Relation, other)[0].source_entity == "gateway"
    assert texts(other, "main") == set()


def test_a_dry_run_writes_nothing(bundle: Bundle, other: Actor) -> None:
    report = bring(other, document(bundle), dry_run=True)
    assert (report.dry_run, report.new_count, report.commit) == (True, 7, None)
    assert Bundle.objects.filter(project=other.project_id).count() == 0
    assert Branch.objects.filter(project=other.project_id).count() == 1


def test_a_second_import_finds_duplicates(bundle: Bundle, other: Actor) -> None:
    bring(other, document(bundle))
    again = bring(other, document(bundle))
    assert (again.commit, again.new_count) == (None, 0)
    assert {kind: states["duplicate"] for kind, states in again.counts.items()} == bundle.counts
    assert Bundle.objects.filter(project=other.project_id).count() == 1
    facts = [one for one in again.duplicates if one.kind == "facts"]
    assert {one.line for one in facts} == {CLOCK, CAUSE}
    assert all(one.existing_id for one in facts)


def test_the_store_that_made_it_has_all_of_it(actor: Actor, bundle: Bundle) -> None:
    report = engine.import_bundle(bundle_id=bundle.pk, branch_name="main", actor=actor)
    assert (report.new_count, report.commit) == (0, None)
    assert {kind: states["duplicate"] for kind, states in report.counts.items()} == bundle.counts
    known = {(one.kind, one.id): one.existing_id for one in report.duplicates if one.existing_id}
    assert all(uid == existing for (_, uid), existing in known.items())
    assert {kind for kind, _ in known} == {"facts", "conversations", "messages"}


def test_a_conversation_of_here_takes_no_message_from_elsewhere(actor: Actor, bundle: Bundle) -> None:
    data = document(bundle)
    (talk,) = data["content"]["conversations"]
    strange = {
        **talk["messages"][0],
        "id": "0197b3f0-0000-7000-8000-000000000001",
        "content": "It is the moon.",
    }
    talk["messages"] += [strange, talk["messages"][0], {"content": "No id."}]
    before = len(rows(Message, actor, "main"))
    report = bring(actor, reseal(data), branch_name="main", name="others")
    assert report.counts["messages"] == {"new": 0, "duplicate": 1, "refused": 3}
    reasons = [one.reason.split(":")[0] for one in report.refused if one.kind == "messages"]
    assert (reasons, report.commit) == (["unknown", "twice", "invalid"], None)
    assert len(rows(Message, actor, "main")) == before


def test_messages_of_a_refused_conversation_are_refused(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    data["content"]["conversations"] *= 2
    report = bring(other, reseal(data))
    assert report.counts["conversations"] == {"new": 1, "duplicate": 0, "refused": 1}
    assert report.counts["messages"] == {"new": 1, "duplicate": 0, "refused": 1}


def test_a_report_names_the_bundle_as_it_is_called_here(actor: Actor, other: Actor, bundle: Bundle) -> None:
    for who in (actor, other):
        for dry_run in (True, False):
            report = bring(who, document(bundle), name="watches", dry_run=dry_run)
            assert (report.name, report.version, report.branch_name) == ("watches", 1, "bundle/watches/v1")


def test_a_text_that_is_here_stays_as_it_is(bundle: Bundle, other: Actor) -> None:
    own = write_fact(other, CLOCK.upper(), verdict="", branch="main")
    report = bring(other, document(bundle), branch_name="main")
    assert report.counts["facts"] == {"new": 1, "duplicate": 1, "refused": 0}
    assert texts(other, "main") == {CLOCK.upper(), CAUSE}
    shown = FactEngine().get_fact(fact_id=own.uid, actor=other)
    assert (shown.confirmation_count, shown.verification_status) == (0, "unverified")


def test_a_trusted_signature_keeps_verdicts(actor: Actor, other: Actor, knowledge: Any) -> None:
    key = keys.make_signing_key(actor=actor)
    data = document(engine.create_bundle(name="clocks", only_verified=False, actor=actor))
    stranger = bring(other, data, dry_run=True)
    assert (stranger.trust.state, stranger.verified, stranger.reset) == ("unknown_signature", 0, 2)
    with pytest.raises(Conflict):
        bring(other, data, require_trusted=True)
    keys.trust_key(name="Acme", public_key=key.public_key, actor=other)
    report = bring(other, data, require_trusted=True)
    assert (report.trust.name, report.verified, report.reset, report.warnings) == ("Acme", 2, 0, [])
    found = {row.status for row in rows(FactAssessment, other)}
    facts = FactEngine().list_facts(branch_name=TARGET, actor=other).results
    assert found == {"verified"}
    assert {fact.fact_text: fact.verification_status for fact in facts} == {
        CLOCK: "verified",
        CAUSE: "verified",
        "Perhaps it is the cable.": "unverified",
    }
    clock = next(fact for fact in facts if fact.fact_text == CLOCK)
    assert (clock.confidence, clock.verified_by) == (0.9, "Acme, bundle clocks v1")
    keys.distrust_key(name="Acme", actor=other)
    assert bring(other, data, dry_run=True).trust.state == "unknown_signature"


def test_nobody_vouches_by_words(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    hostile = {"confidence": 1.0, "pinned": True, "session_id": "s1", "agent_id": "boss", "source": "CEO"}
    hostile |= {"confirmation_count": 99, "source_type": "manual", "kind": "REFLECTION"}
    data["content"]["facts"][0] |= hostile
    data["content"]["facts"][1] |= hostile | {"kind": "NOTE"}
    report = bring(key_actor(Project.objects.get(pk=other.project_id)), reseal(data))
    assert report.counts["facts"] == {"new": 1, "duplicate": 0, "refused": 1}
    assert report.refused[0].reason.startswith("reserved_value")
    (fact,) = rows(Fact, other)
    assert (fact.confidence, fact.pinned, fact.session_id, fact.agent_id) == (0.7, False, "", "")
    assert (fact.source, fact.source_type) == ("bundle clocks v1", "bundle_import")


def test_broken_items_do_not_stop_the_others(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    content = data["content"]
    content["facts"].append({"id": "x", "fact_text": "No id."})
    content["facts"].append({"fact_text": ""})
    content["conversations"].append({"id": "x", "messages": 3})
    content["conversations"][0]["messages"] += [3, {"id": None}, {"id": bundle.pk.hex, "role": "king"}]
    content["relations"].append({"source_entity": "a"})
    content["links"] += [{}, {"from_id": bundle.pk.hex, "to_id": bundle.pk.hex, "link_type": "ASSOCIATED"}]
    report = bring(other, reseal(data))
    refused = {kind: states["refused"] for kind, states in report.counts.items()}
    assert refused == {"facts": 2, "conversations": 1, "messages": 3, "links": 2, "relations": 1}
    assert {kind: states["new"] for kind, states in report.counts.items()} == bundle.counts


def test_a_stranger_says_nothing_of_a_fact_of_here(actor: Actor, other: Actor, bundle: Bundle) -> None:
    own = write_fact(other, CLOCK, branch="main")
    FactEngine().set_verification(fact_id=own.uid, verdict="verified", actor=other)
    data = document(bundle)
    clock, cause = (
        next(f["id"] for f in data["content"]["facts"] if f["fact_text"] == t) for t in (CLOCK, CAUSE)
    )
    link = {"from_id": clock, "to_id": cause, "link_type": "CONSOLIDATED_FROM"}
    back = {"from_id": cause, "to_id": clock, "link_type": "ASSOCIATED"}
    data["content"]["links"] += [link, back]
    report = bring(other, reseal(data), branch_name="main")
    assert report.counts["links"] == {"new": 1, "duplicate": 0, "refused": 3}
    assert {one.reason.split(":")[0] for one in report.refused} == {"untrusted"}
    ends = [(row.link_type, row.to_id) for row in rows(FactLink, other, "main")]
    assert ends == [("ASSOCIATED", own.uid)]
    made = keys.make_signing_key(actor=actor)
    keys.trust_key(name="us", public_key=made.public_key, actor=other)
    signed = document(engine.create_bundle(name="clocks", conversations=True, actor=actor))
    assert bring(other, signed, branch_name="main").counts["links"]["new"] == 2


def test_the_ends_of_a_link_are_of_their_kinds(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    (said,) = (link for link in data["content"]["links"] if link["to_type"] == "message")
    data["content"]["links"] += [
        {"from_id": said["to_id"], "to_id": said["from_id"], "link_type": "ASSOCIATED"},
        {**said, "to_type": "fact"},
        {**said, "to_id": said["from_id"]},
    ]
    assert bring(other, reseal(data)).counts["links"] == {"new": 2, "duplicate": 0, "refused": 3}


def test_a_newer_version_adds_what_is_new(actor: Actor, other: Actor, bundle: Bundle, knowledge: Any) -> None:
    bring(other, document(bundle), branch_name="main")
    MessageEngine().write_message(
        conversation_id=knowledge["talk"].uid, role="assistant", content="The battery.", actor=actor
    )
    write_fact(actor, "Batteries last a year.", branch="main")
    newer = engine.create_bundle(name="clocks", conversations=True, actor=actor)
    report = bring(other, document(newer), branch_name="main")
    assert {kind: states["new"] for kind, states in report.counts.items()} == {
        "facts": 1,
        "conversations": 0,
        "messages": 1,
        "links": 0,
        "relations": 0,
    }
    contents = [(row.sequence_num, row.content) for row in rows(Message, other, "main")]
    assert sorted(contents) == [(1, QUESTION), (2, "The battery.")]


def test_another_text_of_a_fact_that_is_here_is_refused(bundle: Bundle, other: Actor) -> None:
    bring(other, document(bundle), branch_name="main")
    newer = document(bundle) | {"version": 2}
    newer["content"]["facts"][0] |= {"fact_text": "The clock is right.", "essence": "The clock is right."}
    report = bring(other, reseal(newer), branch_name="main")
    assert report.counts["facts"] == {"new": 0, "duplicate": 1, "refused": 1}
    (one,) = [one for one in report.refused if one.kind == "facts"]
    assert (one.line, one.reason[:8], bool(one.existing_id)) == ("The clock is right.", "changed:", True)
    assert texts(other, "main") == {CLOCK, CAUSE}
    FactEngine().update_fact(fact_id=one.existing_id, updates={"fact_text": "My own words."}, actor=other)
    again = bring(other, document(bundle), branch_name="main", dry_run=True)
    assert again.counts["facts"] == {"new": 0, "duplicate": 2, "refused": 0}  # it had that text


def test_items_with_one_id_are_refused_but_for_the_first(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    content = data["content"]
    content["facts"].append(content["facts"][0] | {"fact_text": "Another."})
    content["conversations"].append(content["conversations"][0] | {"title": "Another."})
    content["conversations"][0]["messages"] *= 2
    report = bring(other, reseal(data))
    assert {kind: states["new"] for kind, states in report.counts.items()} == bundle.counts
    refused = {one.kind: one.reason[:6] for one in report.refused}
    assert refused == dict.fromkeys(("facts", "conversations", "messages"), "twice:")
    assert texts(other) == {CLOCK, CAUSE}


def test_a_proposal_stays_one(bundle: Bundle, other: Actor) -> None:
    waiting = FactEngine().write_fact(fact_text=CLOCK, propose=True, actor=other).fact
    report = bring(other, document(bundle), branch_name="main")
    assert report.counts["facts"] == {"new": 1, "duplicate": 1, "refused": 0}
    assert [one.reason[:9] for one in report.duplicates if one.kind == "facts"] == ["proposed:"]
    assert FactEngine().get_fact(fact_id=waiting.uid, actor=other).status == "created"


def test_what_was_invalidated_is_so_here(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    data["content"]["facts"][0] |= {"verification_status": "invalidated", "verification_method": ["x"]}
    bring(other, reseal(data))
    found = FactEngine().list_facts(branch_name=TARGET, actor=other).results
    assert {fact.fact_text: fact.verification_status for fact in found} == {
        CLOCK: "invalidated",
        CAUSE: "unverified",
    }


def test_an_import_can_be_undone_and_done_again(bundle: Bundle, other: Actor) -> None:
    report = bring(other, document(bundle), branch_name="main")
    assert report.commit is not None
    RevertEngine().revert_commit(commit_id=report.commit.pk, actor=other)
    assert (texts(other, "main"), rows(Message, other, "main")) == (set(), [])
    again = bring(other, document(bundle), branch_name="main")
    assert (again.new_count, texts(other, "main")) == (7, {CLOCK, CAUSE})
    assert [row.content for row in rows(Message, other, "main")] == [QUESTION]


def test_an_import_can_be_quarantined(bundle: Bundle, other: Actor) -> None:
    report = bring(other, document(bundle), branch_name="main")
    assert report.commit is not None
    quarantine = QuarantineEngine().create_quarantine(
        source="import", target=str(report.commit.pk), reason="Doubtful.", actor=other
    )
    assert texts(other, "main") == set()
    made = engine.create_bundle(name="own", only_verified=False, actor=other)
    assert sum(made.counts.values()) == 0
    QuarantineEngine().release_quarantine(quarantine_id=quarantine.pk, actor=other)
    assert texts(other, "main") == {CLOCK, CAUSE}


# ---- erasure ---------------------------------------------------------------------------------------


def erase(actor: Actor, kind: str, uid: Any) -> None:
    slug = Project.objects.get(pk=actor.project_id).slug
    ErasureEngine().erase(scope=kind, target=str(uid), confirm=slug, actor=actor)


def test_an_erasure_rewrites_bundles(actor: Actor, knowledge: Any) -> None:
    key = keys.make_signing_key(actor=actor)
    made = engine.create_bundle(name="clocks", conversations=True, actor=actor)
    erase(actor, "fact", knowledge["cause"].uid)
    made.refresh_from_db()
    data = document(made)
    assert [fact["fact_text"] for fact in data["content"]["facts"]] == [CLOCK]
    assert (made.counts["facts"], made.counts["links"], CAUSE in made.bundle_data) == (1, 1, False)
    assert made.sha256 == compute_sha256(data)
    assert made.public_key == key.public_key
    check_signature(load_document(made))


def test_what_was_erased_does_not_come_back(bundle: Bundle, other: Actor, knowledge: Any) -> None:
    data = document(bundle)
    bring(other, data)
    fact = next(one for one in rows(Fact, other) if one.fact_text == CAUSE)
    erase(other, "fact", fact.uid)
    erase(other, "match", QUESTION)
    kept = Bundle.objects.get(project=other.project_id)
    assert (CAUSE in kept.bundle_data, QUESTION in kept.bundle_data) == (False, False)
    report = bring(other, data, branch_name="main", name="again")
    assert report.counts["facts"] == {"new": 1, "duplicate": 0, "refused": 1}
    assert report.counts["messages"] == {"new": 0, "duplicate": 0, "refused": 1}
    assert texts(other, "main") == {CLOCK}
    assert rows(Message, other, "main") == []


def test_what_an_upload_holds_besides_stops_no_erasure(bundle: Bundle, other: Actor) -> None:
    data = document(bundle)
    fact = next(one for one in data["content"]["facts"] if one["fact_text"] == CAUSE)
    fact |= {"id": fact["id"].upper()}
    del data["description"]
    data["content"]["conversations"] += [{"id": "x", "messages": 3}, {"id": "y", "messages": [3]}]
    bring(other, reseal(data))
    mine = next(one for one in rows(Fact, other) if one.fact_text == CAUSE)
    (said,) = rows(Message, other)
    where = {"branch_name": TARGET, "actor": other}
    FactEngine().update_fact(fact_id=mine.uid, updates={"fact_text": "Edited."}, **where)
    erase(other, "fact", mine.uid)
    erase(other, "match", said.content)
    kept = json.loads(Bundle.objects.get(project=other.project_id).bundle_data)["content"]
    assert [one["fact_text"] for one in kept["facts"]] == [CLOCK]
    assert [talk["messages"] for talk in kept["conversations"]] == [[], 3, [3]]


def test_the_maker_gets_nothing_back_either(actor: Actor, bundle: Bundle, knowledge: Any) -> None:
    data = document(bundle)
    erase(actor, "fact", knowledge["cause"].uid)
    report = bring(actor, data, branch_name="main", name="again")
    assert report.counts["facts"] == {"new": 0, "duplicate": 1, "refused": 1}


# ---- refusals --------------------------------------------------------------------------------------


def test_where_it_may_arrive(actor: Actor, bundle: Bundle, project: Project) -> None:
    BranchManager().create_branch(name="old", actor=actor)
    BranchManager().archive_branch(name="old", actor=actor)
    BranchManager().create_branch(name="fixed", read_only=True, actor=actor)
    for dry_run in (True, False):
        with pytest.raises(BranchArchived):
            engine.import_bundle(bundle_id=bundle.pk, branch_name="old", dry_run=dry_run, actor=actor)
        with pytest.raises(Conflict):
            engine.import_bundle(bundle_id=bundle.pk, branch_name="fixed", dry_run=dry_run, actor=actor)
        with pytest.raises(NotFound):
            engine.import_bundle(bundle_id=bundle.pk, branch_name="no", dry_run=dry_run, actor=actor)


def test_a_guarded_branch_takes_none(actor: Actor, bundle: Bundle, project: Project) -> None:
    PolicyEngine().set_policy(pattern="main", direct_writes="propose", actor=actor)
    with pytest.raises(DirectWritesRefused):
        engine.import_bundle(bundle_id=bundle.pk, branch_name="main", actor=key_actor(project))


def test_strangers_do_not_climb_from_version_to_version(actor: Actor, other: Actor, bundle: Bundle) -> None:
    data = document(bundle)
    for version in (10_000, 9_000):
        engine.upload_bundle(document=reseal(data | {"version": version}), actor=other)
    with pytest.raises(Invalid, match="far ahead"):
        engine.upload_bundle(document=reseal(data | {"version": 10_001}), actor=other)
    made = engine.create_bundle(name="clocks", only_verified=False, actor=other)
    assert made.version == 10_001
    engine.upload_bundle(document=reseal(data | {"version": 20_001}), actor=other)
    with pytest.raises(Invalid, match="far ahead"):
        engine.upload_bundle(document=reseal(data | {"version": 20_002}), actor=other)


def test_a_name_and_version_are_of_one_document(actor: Actor, bundle: Bundle) -> None:
    data = reseal(document(bundle) | {"description": "Another."})
    with pytest.raises(Exists):
        engine.upload_bundle(document=data, actor=actor)
    kept = engine.upload_bundle(document=data, name="others", actor=actor).bundle
    assert kept is not None
    assert (kept.name, kept.version, kept.origin, kept.description) == ("others", 1, "uploaded", "Another.")
    assert json.loads(engine.export_bundle(bundle_id=kept.pk, actor=actor)) == data


def test_who_may(actor: Actor, project: Project, bundle: Bundle, other: Actor) -> None:
    reader, bound = key_actor(project, scopes=["read"]), key_actor(project, branch_patterns=["task/*"])
    data = document(bundle)
    with pytest.raises(ScopeMissing):
        engine.create_bundle(name="x", actor=reader)
    with pytest.raises(ScopeMissing):
        engine.import_bundle(bundle_id=bundle.pk, actor=reader)
    with pytest.raises(ScopeMissing):
        engine.upload_bundle(document=data, actor=reader)
    with pytest.raises(BranchForbidden):
        engine.create_bundle(name="x", actor=bound)
    with pytest.raises(BranchForbidden):
        engine.export_bundle(bundle_id=bundle.pk, actor=bound)
    with pytest.raises(BranchForbidden):
        bring(bound, data)
    assert engine.list_bundles(actor=bound).results == []
    with pytest.raises(NotFound):
        engine.get_bundle(bundle_id=bundle.pk, actor=other)
    for call in (keys.make_signing_key, lambda actor: keys.trust_key(name="a", public_key="b", actor=actor)):
        with pytest.raises(ScopeMissing):
            call(actor=key_actor(project, scopes=["merge"]))
    with pytest.raises(Invalid):
        keys.trust_key(name="a", public_key="AAAA", actor=actor)
    assert engine.export_bundle(bundle_id=bundle.pk, actor=reader) == bundle.bundle_data


# ---- unknown fields, deletion ----------------------------------------------------------------------


def add_unknown(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document with a field that nobody knows in each of its parts."""
    data = json.loads(json.dumps(data))
    content = data["content"]
    content["conversations"][0]["messages"][0]["mood"] = "grim"
    for kind in ("facts", "conversations", "links", "relations"):
        content[kind][0]["odd"] = {"deep": ["value"]}
    content["ghosts"] = [{"of": "a later version"}]
    return data | {"extra": "x" * 50, "counts": data["counts"] | {"ghosts": 1}}


UNKNOWN = ["content.ghosts", "conversations.odd", "counts.ghosts", "extra", "facts.odd", "links.odd"]
UNKNOWN += ["messages.mood", "relations.odd"]


def test_unknown_fields_are_dropped_and_named(bundle: Bundle, other: Actor) -> None:
    plain = document(bundle)
    data = reseal(add_unknown(plain))
    dry = engine.upload_bundle(document=data, dry_run=True, actor=other)
    kept, report, _ = engine.upload_bundle(document=data, imports=True, actor=other)
    assert kept is not None
    assert report is not None
    assert dry.dropped == list(report.dropped) == UNKNOWN
    assert report.warnings[-1] == f"These fields are not known here and were dropped: {', '.join(UNKNOWN)}."
    assert json.loads(engine.export_bundle(bundle_id=kept.pk, actor=other)) == reseal(plain)
    assert (kept.sha256, texts(other)) == (bundle.sha256, {CLOCK, CAUSE})
    again = engine.upload_bundle(document=data, actor=other)
    assert again.bundle == kept  # the same document is kept once


def test_the_names_of_dropped_fields_have_a_bound(bundle: Bundle, other: Actor) -> None:
    data = reseal(document(bundle) | {f"x{number:03}" + "y" * 200: 1 for number in range(300)})
    found = engine.upload_bundle(document=data, dry_run=True, actor=other)
    assert (len(found.dropped), max(map(len, found.dropped))) == (20, 80)
    assert found.report is not None
    assert found.report.warnings[-1].endswith(" and 280 more.")


def test_whose_signature_it_was_counts_for_a_document_that_lost_fields(actor: Actor, knowledge: Any) -> None:
    other = local_actor(Project.objects.create(name="Next", slug="next").pk)
    create_main(Project.objects.get(slug="next"))
    BundleKeyEngine().make_signing_key(actor=actor)
    data = add_unknown(document(engine.create_bundle(name="clocks", conversations=True, actor=actor)))
    data = {name: value for name, value in data.items() if name not in ("sha256", "signature")}
    signed = data | {"sha256": compute_sha256(data), "signature": sign_document(actor.project_id, data)}
    BundleKeyEngine().trust_key(name="them", public_key=signed["signature"]["public_key"], actor=other)
    kept = engine.upload_bundle(document=signed, actor=other).bundle
    assert kept is not None
    report = engine.import_bundle(bundle_id=kept.pk, require_trusted=True, actor=other)
    assert (report.trust.name, report.verified, kept.signature) == ("them", 2, "")
    assert "signature" not in document(kept)
    broken = signed | {"extra": "y"}
    with pytest.raises(Invalid, match="SHA-256"):
        engine.upload_bundle(document=broken, actor=other)


def test_a_deleted_bundle_is_gone_and_its_number_stays_taken(
    bundle: Bundle, actor: Actor, other: Actor
) -> None:
    data = document(bundle)
    bring(other, data)
    kept = Bundle.objects.get(project=other.project_id)
    engine.delete_bundle(bundle_id=kept.pk, actor=other)
    assert engine.list_bundles(actor=other).results == []
    for read in (engine.get_bundle, engine.export_bundle, engine.import_bundle, engine.delete_bundle):
        with pytest.raises(NotFound):
            read(bundle_id=kept.pk, actor=other)
    entry = AuditEntry.objects.get(project=other.project_id, action="bundle.delete")
    assert entry.detail == {"name": "clocks", "version": 1, "sha256": bundle.sha256}
    assert engine.restore_bundle(bundle_id=kept.pk, actor=other).bundle_data == kept.bundle_data
    assert [row.pk for row in engine.list_bundles(actor=other).results] == [kept.pk]
    with pytest.raises(IllegalTransition):
        engine.restore_bundle(bundle_id=kept.pk, actor=other)
    engine.delete_bundle(bundle_id=kept.pk, actor=other)
    found = engine.upload_bundle(document=data, actor=other).bundle  # the same document brings it back
    assert found is not None
    assert engine.get_bundle(bundle_id=found.pk, actor=other).pk == kept.pk
    engine.delete_bundle(bundle_id=kept.pk, actor=other, erase=True)
    with pytest.raises(NotFound):
        engine.restore_bundle(bundle_id=kept.pk, actor=other)
    assert Bundle.every.get(pk=kept.pk).bundle_data == ""
    assert {fact.source for fact in rows(Fact, other)} == {"bundle clocks v1"}
    assert engine.create_bundle(name="clocks", branch_name=TARGET, actor=other).version == 2
    with pytest.raises(Exists):
        engine.upload_bundle(document=reseal(data | {"description": "Another."}), actor=other)
    assert engine.upload_bundle(document=data, actor=other).bundle is not None


def test_deleting_needs_the_maker_or_a_curator(bundle: Bundle, actor: Actor) -> None:
    writer = replace(actor, kind="key", id="k", scopes=frozenset({"write"}))
    with pytest.raises(ScopeMissing):
        engine.delete_bundle(bundle_id=bundle.pk, actor=writer)
    with pytest.raises(ScopeMissing):
        engine.delete_bundle(bundle_id=bundle.pk, actor=replace(actor, scopes=frozenset({"read"})))
    assert engine.get_bundle(bundle_id=bundle.pk, actor=actor).bundle_data
    curator = replace(writer, scopes=frozenset({"curate"}))
    with pytest.raises(ScopeMissing):
        engine.delete_bundle(bundle_id=bundle.pk, actor=curator, erase=True)
    with pytest.raises(ScopeMissing):
        engine.delete_bundles(name="clocks", actor=writer)
    plan = engine.delete_bundles(name="clocks", actor=curator, dry_run=True)
    assert (plan.count, plan.ids) == (1, [str(bundle.pk)])
    assert engine.get_bundle(bundle_id=bundle.pk, actor=actor).bundle_data
    assert engine.delete_bundles(name="clocks", actor=curator).count == 1
    with pytest.raises(NotFound):
        engine.get_bundle(bundle_id=bundle.pk, actor=actor)
