"""The engine of dreaming: a run reads a branch and opens a merge request; its undo."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from django.utils import timezone

from conversations.engines.consolidation.engine import find_open_branch, find_run, require_undoable
from conversations.engines.consolidation.extraction import ModelCosts
from conversations.engines.consolidation.report import CREATED, ConsolidationReport, Evidence, RunChange
from conversations.engines.consolidation.report import build_report as build_stored_report
from conversations.engines.consolidation.runs import drop_run, mark_undone, open_run, set_values
from conversations.models import ConsolidationRun
from curation.engines.dreaming.reflections import MAX_EXCERPT, Reflection, build_reflection, replace_essence
from curation.engines.dreaming.rules import PREFIX, DreamRules, read_rules
from curation.engines.dreaming.source import DreamSource, read_source
from curation.engines.dreaming.writing import commit_reflections, drop_known, find_replaced
from memory.actors import Actor
from memory.conf import conf
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.models import model_in_force
from memory.engines.fields.facts import ESSENCE_LENGTH
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.gates import run_gate
from memory.engines.merging.recall_gate import MergeRecall
from memory.engines.merging.recall_gate import measure_recall as measure_merge
from memory.engines.merging.request_previews import build_options
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.support.model_budgets import paid_by
from memory.engines.support.similarity import extract_numbers
from memory.engines.versions.commits import lock_branch
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import find_policy
from memory.exceptions import Conflict, Day1Error, Invalid, ProviderNonsense
from memory.models import Branch, Fact, MergeRequest, Project
from memory.providers import chat
from memory.providers.chat import iterate_objects
from memory.providers.openai_server import find_configured
from memory.providers.prompts import build_prompt
from memory.redaction import redact_all
from memory.texts import cut_line

FOLDER = Path(__file__).parents[2] / "prompts"
PROMPT = "reflect-1"
MAX_ANSWER = 8_000  # characters of an answer that are read
MIN_LENGTH = 10


def write_sentences(reflections: Sequence[Reflection], costs: ModelCosts) -> list[Reflection]:
    """Return the reflections with the sentences of the model, as far as it answers; rules do the rest."""
    server, _problem = find_configured(chat.get_judge)
    if server is None or not conf().consolidation_budget:
        return list(reflections)
    found = []
    for one in reflections:
        sentence = "" if costs.note else ask_model(server, one, costs)
        found.append(replace_essence(one, sentence) if sentence else one)
    return found


def ask_model(server: chat.ChatServer, one: Reflection, costs: ModelCosts) -> str:
    """Return one sentence of the model, "" for none that may be used; note why it is asked no more."""
    pieces = [("", cut_line(fact.fact_text, 2 * MAX_EXCERPT)) for fact in one.members]
    answer = costs.ask(server, build_prompt(FOLDER / f"{PROMPT}.txt", pieces))
    try:
        return parse_sentence(answer, one) if answer is not None else ""
    except ProviderNonsense as error:
        costs.give_up(error)
        return ""


def parse_sentence(text: str, one: Reflection) -> str:
    """Return the sentence of an answer; "" where it names a number that no member has. Raises
    ProviderNonsense for an answer of another form.
    """
    found = [item["summary"] for item in iterate_objects(text[:MAX_ANSWER]) if "summary" in item]
    if len(found) != 1 or not isinstance(found[0], str):
        raise ProviderNonsense(reason="it has no summary")
    sentence = redact_all(" ".join(found[0].split()))
    known = {number for fact in one.members for number in extract_numbers(fact.fact_text)}
    is_invented = not set(extract_numbers(sentence)) <= known
    return "" if is_invented or not MIN_LENGTH <= len(sentence) <= ESSENCE_LENGTH else sentence


MAX_CYCLES_AHEAD = 1_000_000  # of a given cycle: every later one has to be at it or beyond
MAX_REFLECTIONS = 80  # of one commit, with their links
MORE_WAIT = "{count} more groups wait for the next run."
RECALL = "Recall among the first {k}: {before:.2f} before, {after:.2f} after, of {count} questions."
NO_RECALL = "Recall before and after was not measured ({error})."
WAITING = "Merge request {number} of an earlier run is open: {count} new groups wait for it."
Level, State = ConsolidationRun.Level, ConsolidationRun.State
logger = logging.getLogger(__name__)


@dataclass
class Dream:
    """What a run proposes, and what it says besides."""

    source: DreamSource
    reflections: Sequence[Reflection] = ()
    notes: list[str] = field(default_factory=list)


class DreamEngine:
    """Runs of dreaming. Each takes ``dry_run``, which reads alone and asks no model."""

    def consolidate(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        dry_run: bool = False,
        current_cycle: int | None = None,
        rules: DreamRules | None = None,
    ) -> ConsolidationReport:
        """Propose a reflection for each group of observations that are alike in meaning.

        Raises Invalid for a cycle that goes backwards, Conflict while another run has the branch,
        BranchNotFound, BranchArchived, BranchReadOnly, scope and branch refusals.
        """
        branch = find_open_branch(actor, branch_name)
        cycle = check_cycle(branch, current_cycle)
        rules = rules or read_rules(branch.project)
        if dry_run:
            return preview_run(branch, find_dream(branch, rules, cycle), cycle, actor)
        with open_run(branch, Level.DREAMING, branch.name, actor) as run:
            run.cycle, run.read_to = cycle, branch.head_at
            propose_dream(find_dream(branch, rules, cycle), run, build_system_actor(actor))
        return build_stored_report(run)

    def undo_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationRun:
        """Reject the run's merge request, or revert its merge; archive its branch.

        Raises NotFound, IllegalTransition for a run that still runs, was undone or changed nothing, and
        Conflict with the ids that later work changed, scope and branch refusals: the revert of a merge needs
        the scope merge.
        """
        run = find_run(actor, run_id)
        actor.require_scope("curate", run.branch.name)
        system = build_system_actor(actor)
        with write_transaction():
            run = ConsolidationRun.objects.select_for_update().get(pk=run.pk)
            require_undoable(run)
            withdraw_proposal(run, actor, system)
            mark_undone(run, actor)
        return run


# ---- pieces ----------------------------------------------------------------------------------------


def build_system_actor(actor: Actor) -> Actor:
    """Return the server's own actor, so that whoever started a run may approve what it proposes."""
    return Actor(actor.project_id, "system", label="day1", scopes=frozenset({"admin"}), surface=actor.surface)


def check_cycle(branch: Branch, cycle: int | None) -> int:
    """Return the cycle of a run: the branch's own, or one that is given. Raises Invalid."""
    runs = ConsolidationRun.objects.filter(branch=branch, level=Level.DREAMING, cycle__isnull=False)
    runs = runs.exclude(state__in=[State.FAILED, State.UNDONE])
    last = runs.order_by("-cycle").values_list("cycle", flat=True).first() or 0
    known = max(branch.cycle, last)
    if cycle is None:
        return known
    if cycle < known:
        text = "current_cycle may not go backwards: {branch} is at {known}."
        raise Invalid(text, branch=branch.name, known=known, field="current_cycle")
    if cycle > known + MAX_CYCLES_AHEAD:
        text = "current_cycle is too far ahead: {branch} is at {known}; at most {most} more are taken."
        values = {"branch": branch.name, "known": known, "most": MAX_CYCLES_AHEAD}
        raise Invalid(text, **values, field="current_cycle")
    return cycle


def find_dream(branch: Branch, rules: DreamRules, cycle: int) -> Dream:
    """Return the reflections that no run has proposed yet. No provider is asked, and nothing is locked."""
    source = read_source(branch, rules, cycle)
    dream = Dream(source, notes=list(source.notes))
    own = [one for one in source.clusters if any(fact.branch_id == branch.pk for fact in one.members)]
    found = drop_known(branch, [build_reflection(branch, one) for one in own])
    if found and (pending := find_pending(branch)):
        dream.notes.append(WAITING.format(number=pending.number, count=len(found)))
        return dream
    if len(found) > MAX_REFLECTIONS:
        dream.notes.append(MORE_WAIT.format(count=len(found) - MAX_REFLECTIONS))
    dream.reflections = find_replaced(branch, found[:MAX_REFLECTIONS])
    return dream


def find_pending(branch: Branch) -> MergeRequest | None:
    """Return the open request of an earlier run."""
    rows = MergeRequest.objects.filter(project=branch.project_id, target=branch, slot__isnull=False)
    return rows.filter(source__name__startswith=PREFIX, source__archived_at=None).first()


def preview_run(branch: Branch, dream: Dream, cycle: int, actor: Actor) -> ConsolidationReport:
    """Return what a run would propose, by rules; nothing is stored."""
    run = ConsolidationRun(
        project_id=branch.project_id,
        branch=branch,
        level=Level.DREAMING,
        target=branch.name,
        state=State.PARTIAL if dream.notes else State.DONE,
        note=" ".join(dream.notes)[:500],
        observations=len(dream.source.facts),
        created=len(dream.reflections),
        cycle=cycle,
        started_at=timezone.now(),
        finished_at=timezone.now(),
        created_by=actor.label[:200],
    )
    run.dry_run = True
    return ConsolidationReport(run, [preview_fact(one) for one in dream.reflections])


def preview_fact(one: Reflection) -> RunChange:
    fact = Fact(uid=one.uid, **{k: v for k, v in one.build_fields().items() if k != "repository"})
    evidence = [Evidence("fact", member.uid, member.essence) for member in one.members]
    return RunChange(CREATED, fact, evidence)


def propose_dream(dream: Dream, run: ConsolidationRun, actor: Actor) -> None:
    """Write the reflections on a branch of the run's own, and ask to merge it."""
    costs = ModelCosts()
    with paid_by(actor.project_id):
        reflections = write_sentences(dream.reflections, costs)
    notes = [*dream.notes, *([costs.note] if costs.note else [])]
    run.observations, run.note = len(dream.source.facts), " ".join(notes)[:500]
    run.calls, run.model = costs.calls, costs.model
    run.input_tokens, run.output_tokens = costs.input_tokens, costs.output_tokens
    if any(one.is_models for one in reflections):
        run.mode, run.prompt = ConsolidationRun.Mode.LLM, PROMPT
    if not reflections:
        return
    if request := store_proposal(reflections, run, dream.source.model, actor):
        try:
            run.recall = measure_recall(request)
        except Exception as error:  # the request stands, and whoever merges has the gate run again
            logger.exception("The recall gate of the merge request %s could not be run", request.number)
            text = NO_RECALL.format(error=type(error).__name__)
            run.note = " ".join([*notes, text])[:500]


@retry_transaction
def store_proposal(
    reflections: Sequence[Reflection], run: ConsolidationRun, model: str, actor: Actor
) -> MergeRequest | None:
    """Write the reflections, open their request and name it in the row of the run: all or nothing, so that
    no proposal is left that no run knows.
    """
    request = None
    with write_transaction():
        lock_branch(actor, run.branch.name)  # an erasure lists its targets before or after, not meanwhile
        branch = create_branch(run, actor)
        values = commit_reflections(branch, reflections, run, model, actor)
        if values["commits"]:
            request = open_request(branch, run, values["created"], actor)
            values["merge_request"] = request.number
            ConsolidationRun.objects.filter(pk=run.pk).update(merge_request=request.number)
        else:
            BranchManager().archive_branch(name=branch.name, actor=actor)
    set_values(run, values)
    return request


def create_branch(run: ConsolidationRun, actor: Actor) -> Branch:
    name = f"{PREFIX}{run.branch.name[:150].rstrip('/.')}/{run.started_at:%Y%m%d}-{run.pk.hex[-8:]}"
    purpose = "What a run of dreaming proposes."
    return BranchManager().create_reserved_branch(
        name=name, parent=run.branch.name, actor=actor, purpose=purpose
    )


def open_request(branch: Branch, run: ConsolidationRun, created: int, actor: Actor) -> MergeRequest:
    title = f"Dreaming: {created} reflection{'s'[: created != 1]} of {run.observations} observations"
    return MergeRequestEngine().create_request(
        source=branch.name, target=run.branch.name, title=title, description=f"Run {run.pk}", actor=actor
    )


def measure_recall(request: MergeRequest) -> str:
    """Run the recall gate on a request, whatever the target's policy asks for; return what it says."""
    options = build_options(MergeRequest.objects.get(pk=request.pk))
    plan = load_plan(options, options.points)
    policy = find_policy(request.project_id, request.target.name)
    result = run_gate("recall", plan, options, policy)
    figures = describe_figures(measure_merge(options.points, options, lambda: plan))
    return f"{result.state}: {result.reason} {figures}"[:500].strip()


def describe_figures(recall: MergeRecall) -> str:
    """Return how much of what is expected searches find before and after; "" without questions."""
    figures = recall.figures
    if not figures["scored"]:
        return ""
    before, after = figures["before"], figures
    return RECALL.format(k=recall.k, count=figures["scored"], before=before["recall"], after=after["recall"])


def withdraw_proposal(run: ConsolidationRun, actor: Actor, system: Actor) -> None:
    """Close the run's request, or revert it as who may merge; archive its branch. Raises ScopeMissing."""
    engine = MergeRequestEngine()
    request = engine.get_request(request_id=run.merge_request or 0, actor=system)
    if request.state == MergeRequest.State.MERGED:
        actor.require_scope("merge", run.branch.name)
        engine.revert_request(request_id=request.pk, actor=system)
    elif request.slot is not None:
        engine.reject_request(request_id=request.pk, actor=system, reason="The run was undone.")
    BranchManager().archive_branch(name=request.source.name, actor=system)


# ---- every night -------------------------------------------------------------------------------------


def dream_projects() -> int:
    """Dream on main of each project with ``propose_reflections``; return how many runs were made."""
    return sum(map(dream_project, Project.objects.filter(propose_reflections=True).order_by("pk")))


def dream_project(project: Project) -> bool:
    """Dream on main of a project, where a run is due; one that is refused is left for another night."""
    branch = Branch.objects.live().filter(project=project, name=MAIN, read_only=False).first()
    rules = read_rules(project)
    if branch is None or not is_due(branch, rules):
        return False
    actor = Actor(project.pk, "system", label="dreaming", scopes=frozenset({"curate"}), surface="worker")
    before = find_last(branch)
    try:
        run = DreamEngine().consolidate(actor=actor, branch_name=branch.name, rules=rules).run
    except Conflict:  # another run is at it
        return False
    except Day1Error as error:
        logger.warning("Dreaming on %s of %s: %s", branch.name, project.slug, error.text)
        return False
    if before and before.read_to == run.read_to and not run.created:  # it says what the last one said
        drop_run(run)
        return False
    return True


def is_due(branch: Branch, rules: DreamRules) -> bool:
    """Return whether a run may find something new: the branch has gone on for the cycles that the project
    wants since the last run that ended, no request of an earlier run is open, and there is an embedder.
    """
    if not model_in_force() or find_pending(branch):
        return False
    last = find_last(branch)
    if last is None:
        return True
    if last.state == State.DONE and last.read_to == branch.head_at:
        return False
    return check_cycle(branch, None) - (last.cycle or 0) >= rules.every_n_cycles


def find_last(branch: Branch) -> ConsolidationRun | None:
    """Return the last run that ended."""
    runs = ConsolidationRun.objects.filter(branch=branch, level=Level.DREAMING, cycle__isnull=False)
    return runs.exclude(finished_at=None).exclude(state=State.FAILED).order_by("-pk").first()
