"""What a source wrote: a session, an agent, a key or an import."""

from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, UUIDField, Value

from curation.models import Handoff, Quarantine
from memory.db.bulk_sql import insert_selected
from memory.engines.support import validation as c
from memory.engines.versions.kinds import models_by_kind
from memory.exceptions import Invalid, NotFound
from memory.models import ApiKey, AuditEntry, BranchedModel, Commit, HiddenVersion, Session

Source = Quarantine.Source
BUNDLE_IMPORT = "bundle.import"
IMPORT_KINDS = ("fact.import", BUNDLE_IMPORT)
IMPORT_GAP = timedelta(hours=1)  # between two commits of one import
COLUMNS = {Source.SESSION: "session_id", Source.AGENT: "agent_id"}  # of rows and of commits
CHECK_TARGET = c.text_check(200, min_length=1)
CACHE_SIZE = 64
ROTATION = "key.rotate"


def list_active(project_id: UUID) -> list[Quarantine]:
    """Return the quarantines of a project that are not released."""
    return list(Quarantine.objects.filter(project=project_id, released_at=None))


def find_label(project_id: UUID, source: str, target: str) -> str:
    """Return what people call a source. Raises Invalid, NotFound for a key or an import that is not there,
    and for a session or an agent of which nothing is known.
    """
    c.one_of(Source.values)("source", source)
    CHECK_TARGET("target", target)
    if source == Source.KEY:
        key = ApiKey.objects.filter(project=project_id, pk=c.parse_uuid("target", target)).first()
        if key is None:
            raise NotFound("There is no key with this id.", field="target")
        return key.label
    if source == Source.IMPORT:
        return find_import(project_id, target).message or "import"
    if not is_known(project_id, Source(source), target):
        raise NotFound("Nothing is known of {name} here.", name=target, field="target")
    return target


def is_known(project_id: UUID, source: Source, target: str) -> bool:
    """Return whether there is a session or agent of this name: in a row, a commit, a handoff or a key."""
    own = {COLUMNS[source]: target}
    named = {"key": target} if source == Source.SESSION else own
    rows: list[QuerySet] = [
        Session.objects.filter(project=project_id, **named),
        Commit.objects.filter(branch__project=project_id, **own),
        Handoff.every.filter(project=project_id, **own),
    ]
    rows += [ApiKey.objects.filter(project=project_id, **own)] if source == Source.AGENT else []
    rows += [
        model._base_manager.filter(branch__project=project_id, **own) for model in models_by_kind().values()
    ]
    return any(one.exists() for one in rows)


def find_import(project_id: UUID, target: str) -> Commit:
    """Return the commit of an import. Raises NotFound, Invalid for a commit of another kind."""
    commits = Commit.objects.filter(branch__project=project_id, pk=c.parse_uuid("target", target))
    if (found := commits.first()) is None:
        raise NotFound("There is no commit with this id.", field="target")
    if found.kind not in IMPORT_KINDS:
        raise Invalid("This commit is no import.", field="target")
    return found


def select_commits(quarantine: Quarantine) -> QuerySet[Commit]:
    """Return the commits that a source made."""
    commits = Commit.objects.filter(branch__project=quarantine.project_id)
    if quarantine.source == Source.KEY:
        return commits.filter(actor_kind="key", actor_id__in=list_keys(quarantine))
    if quarantine.source == Source.IMPORT:
        return select_run(find_import(quarantine.project_id, quarantine.target))
    return commits.filter(**{COLUMNS[Source(quarantine.source)]: quarantine.target})


def select_run(commit: Commit) -> QuerySet[Commit]:
    """Return the commits of an import, of which the given one is a part: no gap is longer than an hour."""
    same = Commit.objects.filter(
        branch=commit.branch_id,
        kind=commit.kind,
        message=commit.message,
        actor_kind=commit.actor_kind,
        actor_id=commit.actor_id,
    )
    times = list(same.order_by("at").values_list("at", flat=True))
    first = last = times.index(commit.at)
    while first and times[first] - times[first - 1] <= IMPORT_GAP:
        first -= 1
    while last + 1 < len(times) and times[last + 1] - times[last] <= IMPORT_GAP:
        last += 1
    return same.filter(at__gte=times[first], at__lte=times[last])


def hide_own(quarantine: Quarantine) -> int:
    """Hide what the source wrote, in statements whose number does not grow with it; return how much."""
    commits = select_commits(quarantine)
    branches = list(commits.order_by().values_list("branch", flat=True).distinct())
    count = 0
    for kind, model in models_by_kind().items():
        for rows in select_rows(model, quarantine, commits, branches):
            count += hide_versions(quarantine, kind, rows)
    return count


def select_rows(
    model: type[BranchedModel], quarantine: Quarantine, commits: QuerySet[Commit], branches: list[int]
) -> Iterator[Any]:
    """Yield querysets of the versions that a source made; what a merge copied keeps its maker."""
    # In this order: MatrixOne's planner loses the column of an INSERT … SELECT with the key on the left.
    made = model._base_manager.filter(vid=F("rid"))
    for branch in branches:
        yield made.filter(branch=branch, seq_from__in=commits.filter(branch=branch).values("seq"))
    if column := COLUMNS.get(Source(quarantine.source)):
        yield made.filter(branch__project=quarantine.project_id, **{column: quarantine.target})


def hide_versions(quarantine: Quarantine, kind: str, rows: QuerySet) -> int:
    """Hide versions that are not hidden by this quarantine yet; return how many were not."""
    known = HiddenVersion.objects.filter(quarantine=quarantine.pk, vid=OuterRef("vid"))
    values = (
        rows.filter(~Exists(known))
        .order_by()
        .annotate(
            hidden_by=Value(quarantine.pk, UUIDField()),
            of_project=Value(quarantine.project_id, UUIDField()),
            of_kind=Value(kind, CharField()),
        )
    )
    columns = ("quarantine", "project", "kind", "uid", "vid")
    names = ("hidden_by", "of_project", "of_kind", "uid", "vid")
    return insert_selected(HiddenVersion, columns, values.values_list(*names))


def is_own(quarantine: Quarantine, commit: Any, row: BranchedModel) -> bool:
    """Return whether the source makes a row of a commit that is being written."""
    column = COLUMNS.get(Source(quarantine.source))
    is_named = column is not None and getattr(row, column) == quarantine.target
    return is_named or is_by_source(quarantine, commit)


def is_by_source(quarantine: Quarantine, commit: Any) -> bool:
    """Return whether the source makes a commit that is being written."""
    actor = commit.actor
    if quarantine.source == Source.KEY:
        return bool(actor.kind == "key" and actor.id in list_keys(quarantine))
    if quarantine.source == Source.IMPORT:
        return continues_import(quarantine, commit)
    column = COLUMNS.get(Source(quarantine.source))
    return column is not None and bool(getattr(actor, column) == quarantine.target)


def continues_import(quarantine: Quarantine, commit: Any) -> bool:
    """Return whether a commit that is being written is a further part of an import."""
    begun = find_import(quarantine.project_id, quarantine.target)
    own = (commit.branch.pk, commit.kind, commit.message, commit.actor.kind, commit.actor.id)
    if own != (begun.branch_id, begun.kind, begun.message, begun.actor_kind, begun.actor_id):
        return False
    newest = select_run(begun).latest("at")
    return bool(commit.at - newest.at <= IMPORT_GAP)


def select_sessions(quarantine: Quarantine) -> QuerySet[Session]:
    """Return the sessions of a source, with those in which it made commits: their summaries tell of it."""
    commits = select_commits(quarantine)
    if quarantine.source == Source.IMPORT:
        return Session.objects.none()
    named = commits.exclude(session_id="").values("session_id")
    own = {Source.SESSION: Q(key=quarantine.target), Source.AGENT: Q(agent_id=quarantine.target)}
    rows = Session.objects.filter(project=quarantine.project_id)
    return rows.filter(own.get(Source(quarantine.source), Q(pk=None)) | Q(key__in=named))


# ---- keys --------------------------------------------------------------------------------------------


def list_keys(quarantine: Quarantine) -> set[str]:
    """Return the ids of a quarantined key, of what rotations made of it, and of those before it in grace."""
    keys = {key.prefix: key for key in ApiKey.objects.filter(project=quarantine.project_id)}
    former = load_rotations(quarantine.project_id, len(keys))
    (prefix,) = (one for one, key in keys.items() if key.pk == UUID(quarantine.target))
    found = [prefix]
    while prefix := former.get(prefix, ""):
        ends = (keys[prefix].revoked_at, keys[prefix].expires_at)
        if any(end and end <= quarantine.created_at for end in ends):
            break
        found.append(prefix)
    for one in found:  # it grows meanwhile
        found += [new for new, old in former.items() if old == one and new in keys and new not in found]
    return {str(keys[one].pk) for one in found}


@lru_cache(CACHE_SIZE)
def load_rotations(project_id: UUID, key_count: int) -> dict[str, str]:
    """Return the prefix of each key that a rotation made, with that of the one before it.

    A rotation changes the number of keys, so that no kept answer lacks one.
    """
    rows = AuditEntry.objects.filter(project=project_id, action=ROTATION).values_list("target", "detail")
    return {new: detail["rotated_from"] for new, detail in rows}
