"""The daily ageing of all branches of the projects that asked for it."""

import logging

from memory.actors import Actor
from memory.engines.facts.ageing.engine import AgeingEngine
from memory.exceptions import Conflict, Day1Error, DirectWritesRefused
from memory.models import Branch, Project

MAX_COMMITS = 100  # of one branch in one day
REFUSALS = (Conflict, DirectWritesRefused)  # a merge request is open, or a policy forbids it

logger = logging.getLogger(__name__)


def age_projects() -> int:
    """Age the branches of each project with ``age_facts``; return how many facts were archived."""
    projects = Project.objects.filter(age_facts=True).order_by("pk")
    return sum(age_project(project) for project in projects)


def age_project(project: Project) -> int:
    """Age the branches of a project; one that refuses is left for another day."""
    actor = Actor(project.pk, "system", label="ageing", scopes=frozenset({"curate"}), surface="worker")
    live = Branch.objects.live().filter(project=project, read_only=False)
    done = 0
    for name in live.order_by("pk").values_list("name", flat=True):
        try:
            done += age_branch(actor, name)
        except REFUSALS:
            continue
        except Day1Error as error:
            logger.warning("Ageing of %s in %s: %s", name, project.slug, error.text)
    return done


def age_branch(actor: Actor, name: str) -> int:
    """Archive what has aged on a branch, commit by commit; return how many."""
    done = 0
    for _ in range(MAX_COMMITS):
        report = AgeingEngine().run_ageing(actor=actor, branch_name=name)
        done += report.count
        if not report.remaining:
            break
    return done
