"""The demo's project: filled from the story, looked at, and removed."""

from datetime import timedelta

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from day1site.demo.story import monday, steps
from day1site.demo.teller import SURFACE, Teller, actor_in
from memory.actors import Actor
from memory.engines.audit import record
from memory.engines.projects import ProjectEngine, count_rows, lock_branches
from memory.exceptions import Conflict, NotFound
from memory.models import AuditEntry, Project
from memory.models.nodes import next_rid
from memory.views.wording import DEEDS

SLUG, NAME = "demo", "Demo: Tidemark Pay"
BEGUN, LOADED = "demo.begin", "demo.load"
SILENCE = timedelta(seconds=10)  # a load that wrote nothing for so long was cut off
Counts = dict[str, int]


def load(actor: Actor) -> tuple[Counts, bool]:
    """Make the demo's project and fill it; returns its counts, and False where it was there already.

    Each act is a transaction, so that others write in between. What a load that was cut off has left goes
    first. Raises Conflict while another load runs, and when another project has the demo's name.
    """
    if present():
        project = _demo()
        if _acts(project).filter(action=LOADED).exists():
            return count_rows(project), False
        _clear(project, actor)
    project = _begin(actor)
    start = project.branches.get().created_at
    teller = Teller(project.pk)
    for step in steps(start):
        teller.tell(step)
    record(actor_in(project.pk, actor.label), LOADED, SLUG)
    return count_rows(project), True


def present() -> bool:
    """Whether the store has a project of the demo's name."""
    return Project.objects.filter(slug=SLUG).exists()


def look() -> tuple[Counts, Counts]:
    """What the demo holds, and what others did to its memory, by the name of the act.

    Raises NotFound where there is no demo, Conflict when another project has its name.
    """
    project = _demo()
    return count_rows(project), foreign(project)


def remove(actor: Actor, force: bool = False) -> Counts:
    """Take the demo out of the store; returns how many rows of each kind are gone.

    Raises NotFound, and Conflict when others wrote into it, unless ``force``.
    """
    next_rid.ready()
    with transaction.atomic():
        project = _demo()
        lock_branches(project)  # what is looked at now stays true until it is gone
        if (acts := foreign(project)) and not force:
            raise Conflict(
                "Others worked in the demo too ({acts}); --force removes what came of it.", acts=told(acts)
            )
        return ProjectEngine().remove_project(project=project, actor=actor)


def foreign(project: Project) -> Counts:
    """What people and agents did to the demo's memory beside its story. Keys hold no memory."""
    acts = AuditEntry.objects.filter(project=project).exclude(surface=SURFACE).exclude(actor_kind="system")
    acts = acts.exclude(action__startswith="key.").order_by("action")
    return dict(acts.values_list("action").annotate(count=Count("pk")))


def told(acts: Counts) -> str:
    """Acts in the words of the audit, with how often."""
    return ", ".join(f"{count} × {DEEDS.get(name, name)}" for name, count in acts.items())


# ---- pieces ----------------------------------------------------------------------------------------


def _demo() -> Project:
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        raise NotFound("The demo is not in this store.")
    if not _acts(project).filter(action=BEGUN).exists():
        raise Conflict("There is a project {slug} that is not the demo; it is left alone.", slug=SLUG)
    return project


def _acts(project: Project) -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(project=project, surface=SURFACE)


def _begin(actor: Actor) -> Project:
    next_rid.ready()
    with transaction.atomic():
        people = get_user_model().objects.filter(is_superuser=True, is_active=True)
        project = ProjectEngine().create_project(
            slug=SLUG, name=NAME, actor=actor, members=people, began=monday(timezone.now())
        )
        record(actor_in(project.pk, actor.label), BEGUN, SLUG)
    return project


def _clear(project: Project, actor: Actor) -> None:
    if _acts(project).filter(at__gt=timezone.now() - SILENCE).exists():
        raise Conflict(
            "The demo is being loaded at this moment: look again in {seconds} seconds.",
            seconds=SILENCE.seconds,
        )
    remove(actor)
