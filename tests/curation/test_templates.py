"""Templates: versions that never change, finding one for a task, branches that begin from one."""

from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Message
from curation.engines.templates.engine import TemplateEngine
from curation.engines.verification.engine import VerificationEngine
from curation.models import Template, TemplateUse, TemplateVersion
from memory.actors import Actor
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.topology import BranchTopologyEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import (
    BranchArchived,
    BranchExists,
    BranchForbidden,
    BranchNotFound,
    BranchReadOnly,
    Exists,
    IllegalTransition,
    Invalid,
    NotFound,
    ScopeMissing,
    UnknownField,
)
from memory.models import AuditEntry, Branch, Fact, Project, Relation
from tests.curation.test_handoffs import key_actor, write_fact

engine = TemplateEngine()
pytestmark = pytest.mark.django_db(transaction=True)  # a refusal rolls its transaction back
SOURCE, V1, V2 = "task/login", "template/bug-fix/v1", "template/bug-fix/v2"


@pytest.fixture
def source(actor: Actor, main: Branch) -> Branch:
    """Return a branch with a verified fact, a fact of main, a conversation and a relation."""
    write_fact(actor, "Deploys run from main.", branch="main")
    branch = BranchManager().create_branch(name=SOURCE, actor=actor)
    write_fact(actor, "The clock is two minutes ahead.", branch=SOURCE)
    talk = ConversationEngine().create_conversation(title="Debug", actor=actor, branch_name=SOURCE)
    MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content="Why?", actor=actor, branch_name=SOURCE
    )
    RelationEngine().write_relation(
        source_entity="gateway", relation_type="uses", target_entity="clock", actor=actor, branch_name=SOURCE
    )
    return branch


@pytest.fixture
def template(actor: Actor, source: Branch) -> Template:
    return engine.create_template(
        name="bug-fix",
        source_branch=SOURCE,
        task_types=["bug_fix", "Bug_Fix"],
        description="How faults of the login gateway are found.",
        actor=actor,
    )


def begin(actor: Actor, target: str, **options: Any) -> TemplateUse:
    return engine.instantiate_template(name="bug-fix", target_branch=target, actor=actor, **options).use


def texts(branch: str) -> set[str]:
    return {fact.fact_text for fact in rows(Fact, branch)}


def rows(model: Any, branch: str) -> QuerySet:
    return model.objects.on(Branch.objects.get(name=branch))


def list_rows() -> list[int]:
    models = (Template, TemplateVersion, TemplateUse, Branch, AuditEntry)
    return [model._base_manager.count() for model in models]


def find(actor: Actor, **options: Any) -> list[str]:
    return [one.template.name for one in engine.find_template(actor=actor, **options)]


# ---- versions --------------------------------------------------------------------------------------


def test_a_version_holds_what_its_source_held(actor: Actor, template: Template) -> None:
    assert (template.version, template.task_types, template.used) == (1, ["bug_fix"], 0)
    (version,) = engine.get_template(name="bug-fix", actor=actor).versions
    assert (version.branch.name, version.source.name, version.source_seq) == (V1, SOURCE, 5)
    assert (version.fact_count, version.conversation_count, version.relation_count) == (2, 1, 1)
    write_fact(actor, "Later.", branch=SOURCE)
    assert texts(V1) == {"Deploys run from main.", "The clock is two minutes ahead."}


def test_it_is_made_of_a_point_of_the_past(actor: Actor, source: Branch) -> None:
    engine.create_template(name="old", source_branch=SOURCE, at=0, actor=actor)
    assert texts("template/old/v1") == {"Deploys run from main."}


def test_no_commit_changes_a_version(actor: Actor, template: Template) -> None:
    fact = next(iter(rows(Fact, V1)))
    on = {"branch_name": V1, "actor": actor}
    before = list_rows()
    with pytest.raises(BranchReadOnly):
        write_fact(actor, "New.", branch=V1)
    with pytest.raises(BranchReadOnly):
        FactEngine().update_fact(fact_id=fact.uid, updates={"category": "bug_fix"}, **on)
    with pytest.raises(BranchReadOnly):
        FactEngine().set_verification(fact_id=fact.uid, verdict="invalidated", reason="no", **on)
    with pytest.raises(BranchReadOnly):
        VerificationEngine().verify_batch(**on)
    with pytest.raises(BranchReadOnly):
        RelationEngine().write_relation(source_entity="a", relation_type="b", target_entity="c", **on)
    write_fact(actor, "Elsewhere.", branch=SOURCE, verdict="")
    with pytest.raises(BranchReadOnly):
        MergeEngine().merge_branch(source=SOURCE, target=V1, actor=actor)
    assert (list_rows()[:4], Branch.objects.get(name=V1).head) == (before[:4], 0)


def test_a_restore_of_the_store_leaves_versions_alone(
    actor: Actor, template: Template, copies_open: None
) -> None:
    snapshot = SnapshotManager().create_store_snapshot(name="before", actor=actor)
    write_fact(actor, "Later.", branch="main", verdict="")
    SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=actor)
    assert (texts("main"), len(texts(V1))) == ({"Deploys run from main."}, 2)


def test_an_erasure_reaches_versions(actor: Actor, template: Template) -> None:
    fact = rows(Fact, V1).get(fact_text__startswith="The clock")
    ErasureEngine().erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)
    assert texts(V1) == {"Deploys run from main.", "[erased]"}


def test_an_update_keeps_the_former_version(actor: Actor, template: Template) -> None:
    write_fact(actor, "The cause is the battery.", branch=SOURCE)
    done = engine.update_template(name="bug-fix", new_source=SOURCE, description="Clocks.", actor=actor)
    assert (done.version, done.description, done.task_types) == (2, "Clocks.", ["bug_fix"])
    assert (len(texts(V1)), len(texts(V2))) == (2, 3)
    found = engine.diff_template(name="bug-fix", before=1, after=2, actor=actor)
    assert [(one.change, one.after.fact_text) for one in found.page.results] == [
        ("added", "The cause is the battery.")
    ]
    back = engine.diff_template(name="bug-fix", before=2, after=1, actor=actor)
    assert [one.change for one in back.page.results] == ["removed"]


def test_a_version_of_which_no_work_could_begin_is_refused(actor: Actor, template: Template) -> None:
    """Each renewal by the branch that began from the version before goes two levels deeper."""
    name = SOURCE
    for n in range(2, 8):
        name = f"task/round-{n}"
        engine.instantiate_template(name="bug-fix", target_branch=name, actor=actor)
        engine.update_template(name="bug-fix", new_source=name, actor=actor)
    engine.instantiate_template(name="bug-fix", target_branch="task/last", actor=actor)
    with pytest.raises(Invalid, match="is 15 levels below main, 14 is the most"):
        engine.update_template(name="bug-fix", new_source="task/last", actor=actor)
    assert Template.objects.get(name="bug-fix").version == 7
    assert engine.update_template(name="bug-fix", new_source=name, actor=actor).version == 8


def test_branches_of_versions_are_not_archived(actor: Actor, template: Template, without_gates: None) -> None:
    MergeEngine().merge_branch(source=SOURCE, actor=actor)
    report = BranchTopologyEngine().auto_archive(actor=actor, dry_run=False)
    assert {one.branch.name: one.kept for one in report.results}.get(V1) in (None, "template")
    assert Branch.objects.get(name=V1).archived_at is None


# ---- beginning from one ----------------------------------------------------------------------------


def test_a_branch_holds_all_of_it(actor: Actor, template: Template) -> None:
    use = begin(actor, "task/mobile")
    assert (use.branch.parent.name, use.version.number, use.outcome) == (V1, 1, "open")
    assert texts("task/mobile") == texts(V1)
    assert [row.content for row in rows(Message, "task/mobile")] == ["Why?"]
    assert rows(Relation, "task/mobile").get().source_entity == "gateway"
    found = SearchEngine().search(query="clock", branch_name="task/mobile", actor=actor)
    assert [hit.fact.fact_text for hit in found.hits] == ["The clock is two minutes ahead."]
    write_fact(actor, "Mobile clocks are right.", branch="task/mobile")
    assert (len(texts("task/mobile")), len(texts(V1))) == (3, 2)


def test_merging_it_brings_what_main_lacks(actor: Actor, template: Template, without_gates: None) -> None:
    begin(actor, "task/mobile")
    write_fact(actor, "Mobile clocks are right.", branch="task/mobile")
    MergeEngine().merge_branch(source="task/mobile", actor=actor)
    assert texts("main") == texts("task/mobile")
    again = MergeEngine().preview_merge(source=SOURCE, actor=actor)
    assert not any(counts["applied"] or counts["conflict"] for counts in again.plan.counts.values())


def test_an_older_version_can_be_chosen(actor: Actor, template: Template) -> None:
    write_fact(actor, "Later.", branch=SOURCE)
    engine.update_template(name="bug-fix", new_source=SOURCE, actor=actor)
    assert begin(actor, "task/a").version.number == 2
    assert begin(actor, "task/b", version=1).version.number == 1
    assert (len(texts("task/a")), len(texts("task/b"))) == (3, 2)


def test_a_use_in_a_workspace(actor: Actor, template: Template, copies_open: None) -> None:
    made = engine.instantiate_template(
        name="bug-fix", target_branch="task/mobile", isolation="database", actor=actor
    )
    assert made.workspace is not None
    assert (made.workspace.name, made.workspace.state) == ("task/mobile", "open")
    assert made.workspace.points[str(made.use.branch_id)] == [0, False]


def test_without_the_copy_nothing_counts(actor: Actor, template: Template, copies_open: None) -> None:
    engine.instantiate_template(name="bug-fix", target_branch="x/a", isolation="database", actor=actor)
    Branch.objects.filter(name="x/a").update(name="x/b")  # the workspace keeps its name
    with pytest.raises(Exists):
        engine.instantiate_template(name="bug-fix", target_branch="x/a", isolation="database", actor=actor)
    assert TemplateUse.objects.count() == 1
    assert Branch.objects.get(name="x/a").archived_at


# ---- outcomes --------------------------------------------------------------------------------------


def test_the_end_of_a_task_is_an_outcome(actor: Actor, template: Template) -> None:
    tasks = TaskEngine()
    for name in ("won", "lost"):
        tasks.create_task(name=name, actor=actor)
        begin(actor, f"task/{name}/start")
    begin(actor, "elsewhere")
    begin(actor.with_origin(task_id="won"), "named")
    tasks.complete_task(task="won", actor=actor)
    tasks.cancel_task(task="lost", actor=actor)
    found = engine.get_template(name="bug-fix", actor=actor)
    assert {one.branch.name: one.outcome for one in found.uses} == {
        "task/won/start": "success",
        "task/lost/start": "failure",
        "elsewhere": "open",
        "named": "success",
    }
    assert (found.template.used, found.template.succeeded, found.template.failed) == (4, 2, 1)
    engine.record_outcome(name="bug-fix", branch_name="elsewhere", outcome="failure", actor=actor)
    assert engine.get_template(name="bug-fix", actor=actor).template.failed == 2


# ---- finding ---------------------------------------------------------------------------------------


@pytest.fixture
def others(actor: Actor, template: Template) -> None:
    for name, types, text in (
        ("release", ["release"], "How a version of the shop is released to customers."),
        ("bug-fix-2", ["BUG_FIX"], "How crashes of the mobile app are found."),
    ):
        engine.create_template(name=name, task_types=types, description=text, actor=actor)


def test_the_kind_of_work_comes_first(actor: Actor, others: None) -> None:
    query = {"task_type": "Release", "description": "Crashes of the mobile app."}
    assert find(actor, **query, limit=3)[:2] == ["release", "bug-fix-2"]


def test_then_the_meaning(actor: Actor, others: None) -> None:
    assert find(actor, task_type="bug_fix", description="Faults of the login gateway.") == ["bug-fix"]
    assert find(actor, task_type="bug_fix", description="Crashes of the mobile app.") == ["bug-fix-2"]
    assert find(actor, description="Crashes of the mobile app.", limit=3) == ["bug-fix-2"]


def test_then_success_then_the_newest(actor: Actor, others: None) -> None:
    assert find(actor, task_type="bug_fix", limit=5) == ["bug-fix-2", "bug-fix"]
    begin(actor, "task/a")
    engine.record_outcome(name="bug-fix", branch_name="task/a", outcome="success", actor=actor)
    assert find(actor, task_type="bug_fix", limit=5) == ["bug-fix", "bug-fix-2"]


def test_nothing_fits(actor: Actor, others: None) -> None:
    assert find(actor, task_type="cooking") == []
    assert find(actor, description="Cooking soup for the mobile kitchen.") == []
    with pytest.raises(Invalid):
        engine.find_template(actor=actor, description="  ")


def test_a_task_is_told_of_the_best(actor: Actor, others: None) -> None:
    tasks = TaskEngine()
    assert tasks.create_task(name="A", task_type="bug_fix", actor=actor).suggested_template == "bug-fix-2"
    named = tasks.create_task(name="Faults of the login gateway", actor=actor)
    assert named.suggested_template == "bug-fix"
    assert tasks.create_task(name="Cook soup", actor=actor).suggested_template is None
    engine.deprecate_template(name="bug-fix-2", actor=actor)
    assert tasks.create_task(name="B", task_type="bug_fix", actor=actor).suggested_template == "bug-fix"


@pytest.mark.slow
def test_a_model_finds_by_meaning(actor: Actor, others: None, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
    assert find(actor, description="the smartphone application keeps dying") == ["bug-fix-2"]


# ---- refusals --------------------------------------------------------------------------------------


def test_what_is_refused(actor: Actor, template: Template, other_project: Project) -> None:
    before = list_rows()
    for name in ("", "find", "A", "../x", "a/b", "a\n", "é", "x" * 101, "a..b"):
        with pytest.raises(Invalid):
            engine.create_template(name=name, actor=actor)
    with pytest.raises(Exists):
        engine.create_template(name="bug-fix", actor=actor)
    with pytest.raises(BranchNotFound):
        engine.create_template(name="new", source_branch="nowhere", actor=actor)
    with pytest.raises(UnknownField):
        engine.create_template(name="new", actor=actor, colour="red")
    with pytest.raises(Invalid):
        engine.create_template(name="new", task_types=["x"] * 21, actor=actor)
    with pytest.raises(BranchExists):
        begin(actor, SOURCE)
    with pytest.raises(Invalid):
        begin(actor, "Not A Name")
    with pytest.raises(Invalid):
        begin(actor, "task/new", isolation="box")
    with pytest.raises(NotFound):
        begin(actor, "task/new", version=9)
    with pytest.raises(NotFound):
        engine.record_outcome(name="bug-fix", branch_name="main", outcome="success", actor=actor)
    with pytest.raises(Invalid):
        engine.record_outcome(name="bug-fix", branch_name="main", outcome="open", actor=actor)
    with pytest.raises(NotFound):
        engine.get_template(name="bug-fix", actor=key_actor(other_project))
    assert list_rows()[:4] == [*before[:3], before[3]]


def test_a_deprecated_one_takes_no_uses(actor: Actor, template: Template) -> None:
    done = engine.deprecate_template(name="bug-fix", reason="Old.", actor=actor)
    assert (done.state, done.reason) == ("deprecated", "Old.")
    with pytest.raises(IllegalTransition):
        begin(actor, "task/new")
    with pytest.raises(IllegalTransition):
        engine.deprecate_template(name="bug-fix", actor=actor)
    assert find(actor, task_type="bug_fix") == []
    renewed = engine.update_template(name="bug-fix", new_source="main", actor=actor)
    assert (renewed.state, renewed.reason, renewed.version) == ("active", "", 2)


def test_an_archived_version_takes_no_uses(actor: Actor, template: Template) -> None:
    Branch.objects.filter(name=V1).update(archived_at=timezone.now())
    with pytest.raises(BranchArchived):
        begin(actor, "task/new")


def test_who_may(actor: Actor, project: Project, template: Template) -> None:
    reader, writer = key_actor(project, scopes=["read"]), key_actor(project)
    bound = key_actor(project, branch_patterns=["task/*"])
    with pytest.raises(ScopeMissing):
        engine.create_template(name="new", actor=reader)
    with pytest.raises(ScopeMissing):
        begin(reader, "task/new")
    with pytest.raises(ScopeMissing):
        engine.update_template(name="bug-fix", new_source="main", actor=writer)
    with pytest.raises(ScopeMissing):
        engine.deprecate_template(name="bug-fix", actor=writer)
    with pytest.raises(ScopeMissing):
        begin(writer, "task/new", isolation="database")
    with pytest.raises(BranchForbidden):
        begin(bound, "task/new")
    with pytest.raises(BranchForbidden):
        engine.get_template(name="bug-fix", actor=bound)
    assert engine.list_templates(actor=bound).results == []
    assert find(bound, task_type="bug_fix") == []
    assert [one.name for one in engine.list_templates(actor=reader).results] == ["bug-fix"]
    own = engine.create_template(name="own", source_branch=SOURCE, actor=writer)
    assert engine.may_change(template=own, actor=writer)
    assert not engine.may_change(template=template, actor=writer)
    wide = key_actor(project, branch_patterns=["task/*", "template/*"])
    assert begin(wide, "task/new").branch.name == "task/new"
