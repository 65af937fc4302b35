"""The nightly run of dreaming, in the projects that asked for it."""

import logging

from conversations.engines.consolidation.runs import drop_run
from conversations.models import ConsolidationRun
from curation.engines.dreaming.engine import DreamEngine, check_cycle, find_pending
from curation.engines.dreaming.rules import DreamRules, read_rules
from memory.actors import Actor
from memory.engines.embedding.engine import model_in_force
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Conflict, Day1Error
from memory.models import Branch, Project

Level, State = ConsolidationRun.Level, ConsolidationRun.State
logger = logging.getLogger(__name__)


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
