"""Loading, inspection and removal of the demo's project."""

from datetime import timedelta
from functools import partial

from django.contrib.auth import get_user_model
from django.db.models import Count, QuerySet
from django.utils import timezone

from day1site.demo.player import PROGRAM, SURFACE, Player, actor_in
from day1site.demo.presence import SLUG, is_present
from day1site.demo.script import find_start, steps
from memory.actors import Actor
from memory.engines.access.project_removal import count_rows
from memory.engines.access.projects import ProjectEngine, add_owners
from memory.engines.audit.trail import record_entry
from memory.exceptions import Conflict, NotFound
from memory.models import AuditEntry, Project
from memory.operations.action_labels import ACTION_LABELS

NAME = "Demo: Tidemark Pay"
BEGUN, LOADED = "demo.begin", "demo.load"
SILENCE = timedelta(seconds=10)  # a load without a write for so long was interrupted
Counts = dict[str, int]


def load(actor: Actor) -> tuple[Counts, bool]:
    """Create and fill the demo's project; return its counts, and False where it existed already.

    Each act is a transaction, so that others can write in between. Remains of an interrupted load are removed
    first. Raises Conflict while another load runs, and when another project has the demo's name.
    """
    if is_present():
        project = _demo()
        if _acts(project).filter(action=LOADED).exists():
            return count_rows(project), False
        _clear(project, actor)
    project = _begin(actor)
    start = project.branches.get().created_at
    player = Player(project.pk)
    for step in steps(start, timezone.now()):
        player.play_step(step)
    record_entry(actor_in(project.pk, actor.label), LOADED, SLUG)
    return count_rows(project), True


def load_counts() -> tuple[Counts, Counts]:
    """Return the demo's row counts, and the counts of others' actions in it.

    Raises NotFound where there is no demo, Conflict when another project has its name.
    """
    project = _demo()
    return count_rows(project), foreign(project)


def remove(actor: Actor, force: bool = False) -> Counts:
    """Remove the demo from the store; return how many rows of each kind were deleted.

    Raises NotFound, and Conflict when others wrote into it, unless ``force``.
    """
    check = partial(_check_removable, force=force)
    return (
        ProjectEngine()
        .remove_project(project_slug=_demo().slug, confirm=SLUG, actor=actor, check=check)
        .counts
    )


def foreign(project: Project) -> Counts:
    """Count the actions of others in the demo, by action. Keys are left out: they are no memory."""
    acts = AuditEntry.objects.filter(project=project).exclude(surface=SURFACE).exclude(actor_kind="system")
    acts = acts.exclude(actor_label=PROGRAM).exclude(action="project.create")
    acts = acts.exclude(action__startswith="key.").order_by("action")
    return dict(acts.values_list("action").annotate(count=Count("pk")))


def format_counts(acts: Counts) -> str:
    """Return actions in the words of the audit pages, with their counts."""
    return ", ".join(f"{count} × {ACTION_LABELS.get(name, name)}" for name, count in acts.items())


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
    def prepare(project: Project) -> None:
        add_owners(project, get_user_model().objects.filter(is_superuser=True, is_active=True))
        record_entry(actor_in(project.pk, actor.label), BEGUN, SLUG)

    began = find_start(timezone.now())
    made = ProjectEngine().create_project(slug=SLUG, name=NAME, actor=actor, began=began, prepare=prepare)
    return made.project


def _check_removable(project: Project, force: bool) -> None:
    """Refuse a demo that others worked in, unless ``force``. Raises NotFound, Conflict."""
    _demo()  # another removal may have ended since
    if (acts := foreign(project)) and not force:
        raise Conflict(
            "Others worked in the demo too ({acts}); --force removes what came of it.",
            acts=format_counts(acts),
        )


def _clear(project: Project, actor: Actor) -> None:
    if _acts(project).filter(at__gt=timezone.now() - SILENCE).exists():
        raise Conflict(
            "The demo is being loaded at this moment: look again in {seconds} seconds.",
            seconds=SILENCE.seconds,
        )
    remove(actor)
