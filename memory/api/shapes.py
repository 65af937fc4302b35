"""What answers look like: each shape declared once, for OpenAPI and for ``renderer``, which makes answers."""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any

from rest_framework import serializers as s

from memory.engines.actions import DONE, REFUSED, UNCHANGED, Report
from memory.engines.explain import SAYINGS, Explanation
from memory.engines.pages import Page
from memory.engines.review import Resolved
from memory.engines.search import Found, Hit
from memory.models import Fact, FactAssessment, FactLink, ReviewItem, Vector

Render = Callable[..., dict[str, Any]]


# ---- shapes ----------------------------------------------------------------------------------------


class FactShape(s.Serializer):
    """A fact, as the branch that was asked for shows it."""

    id = s.UUIDField(source="uid")
    branch = s.CharField(help_text="The branch that it was read through.")
    version = s.IntegerField(help_text="Grows by one with each change; the ETag begins with it.")
    fact_text = s.CharField()
    essence = s.CharField(help_text="The line that goes into a prompt.")
    category = s.CharField()
    kind = s.ChoiceField(choices=Fact.Kind.choices)
    priority = s.ChoiceField(choices=Fact.Priority.choices)
    status = s.ChoiceField(choices=Fact.Status.choices)
    confidence = s.FloatField()
    confirmation_count = s.IntegerField(help_text="Independent sources that said the same.")
    access_count = s.IntegerField()
    last_accessed_at = s.DateTimeField(allow_null=True)
    verification_status = s.ChoiceField(choices=FactAssessment.Status.choices)
    verified_at = s.DateTimeField(allow_null=True)
    verified_by = s.CharField()
    parent_id = s.UUIDField(allow_null=True, help_text="The fact that this one replaces.")
    source_type = s.ChoiceField(choices=Fact.SourceType.choices)
    source_id = s.CharField()
    source = s.CharField()  # type: ignore[assignment]
    origin = s.ChoiceField(choices=Fact.Origin.choices)
    visibility = s.ChoiceField(choices=Fact.Visibility.choices)
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    created_cycle = s.IntegerField()
    updated_cycle = s.IntegerField()
    valid_from = s.DateTimeField(allow_null=True)
    valid_until = s.DateTimeField(allow_null=True)
    expires_at = s.DateTimeField(allow_null=True)
    pinned = s.BooleanField()
    tags = s.ListField(child=s.CharField())
    metadata = s.DictField()
    embedding_state = s.ChoiceField(choices=[*Vector.State.choices, ("off", "Off")])
    embedding_model = s.CharField()
    content_hash = s.CharField(help_text="SHA-256 of the text.")
    created_at = s.DateTimeField()
    updated_at = s.DateTimeField()


class WrittenShape(FactShape):
    """A fact as stored; ``created`` is false when the same text was there already."""

    created = s.BooleanField()


class WrittenIdShape(s.Serializer):
    id = s.UUIDField()
    created = s.BooleanField(help_text="False when the same text was there already.")


class CommitShape(s.Serializer):
    """A commit: every change belongs to one."""

    id = s.UUIDField()
    seq = s.IntegerField(help_text="Its number on its branch.")
    at = s.DateTimeField()
    kind = s.CharField()
    message = s.CharField()
    actor_kind = s.CharField()
    actor_label = s.CharField()
    surface = s.CharField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    added = s.IntegerField()
    changed = s.IntegerField()
    removed = s.IntegerField()


class BulkShape(s.Serializer):
    results = WrittenIdShape(many=True)
    commit = CommitShape(allow_null=True, help_text="null when nothing was new.")


# What stands beside the history is no part of a version.
BESIDE = frozenset(
    {"confirmation_count", "access_count", "last_accessed_at", "embedding_state", "embedding_model"}
    | {"verification_status", "verified_at", "verified_by"}
)


class VersionShape(FactShape):
    """One version of a fact, with the commit that made it."""

    deleted = s.BooleanField(help_text="True for the version that says: deleted here.")
    commit = CommitShape(allow_null=True)

    def get_fields(self) -> dict[str, s.Field]:
        return {name: field for name, field in super().get_fields().items() if name not in BESIDE}


class VerificationShape(s.Serializer):
    id = s.UUIDField(source="uid")
    version = s.IntegerField()
    verification_status = s.ChoiceField(choices=FactAssessment.Status.choices)
    verified_at = s.DateTimeField(allow_null=True)
    verified_by = s.CharField()
    method = s.ChoiceField(
        choices=[*FactAssessment.Method.choices, ("", "None")], source="verification_method"
    )
    reason = s.CharField(source="verification_reason")


class LinkShape(s.Serializer):
    id = s.UUIDField(source="uid")
    branch = s.CharField()
    version = s.IntegerField()
    from_id = s.UUIDField()
    to_id = s.UUIDField()
    to_type = s.ChoiceField(choices=FactLink.Target.choices)
    link_type = s.ChoiceField(choices=FactLink.Type.choices)
    weight = s.FloatField()
    valid_from = s.DateTimeField(allow_null=True)
    valid_until = s.DateTimeField(allow_null=True)
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    created_at = s.DateTimeField()


class HitShape(s.Serializer):
    fact = FactShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")
    branches = s.ListField(child=s.CharField(), help_text="The branches searched that show it.")


class FoundShape(s.Serializer):
    results = HitShape(many=True)
    signals_used = s.ListField(child=s.CharField())
    recipe = s.CharField()
    took_ms = s.FloatField()
    branches = s.ListField(child=s.CharField(), help_text="The branches that were searched.")
    context = s.CharField(allow_null=True, help_text="The essences, for a prompt; with max_tokens.")  # type: ignore[assignment]
    tokens = s.IntegerField(allow_null=True, help_text="What the context costs; with max_tokens.")


class ExplanationShape(s.Serializer):
    found = s.BooleanField()
    reason = s.ChoiceField(choices=[(name, name) for name in SAYINGS])
    message = s.CharField()
    position = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True)
    signals = s.DictField(child=s.FloatField())
    details = s.DictField()
    fact = FactShape(allow_null=True)


class BranchShape(s.Serializer):
    name = s.CharField()
    parent = s.CharField(allow_null=True)  # type: ignore[assignment]
    fork_seq = s.IntegerField(help_text="The seq of the parent that it starts from.")
    depth = s.IntegerField()
    head = s.IntegerField(help_text="The seq of its newest commit.")
    head_at = s.DateTimeField()
    cycle = s.IntegerField()
    purpose = s.CharField()
    created_at = s.DateTimeField()
    created_by = s.CharField()
    archived_at = s.DateTimeField(allow_null=True)


class KeyShape(s.Serializer):
    id = s.UUIDField()
    label = s.CharField()  # type: ignore[assignment]
    prefix = s.CharField(help_text="The part of the token that may be shown.")
    scopes = s.ListField(child=s.CharField())
    branch_patterns = s.ListField(child=s.CharField())
    agent_id = s.CharField()
    default_branch = s.CharField(help_text="Where MCP works when a call names no branch; empty is main.")
    rate_per_minute = s.IntegerField()
    created_at = s.DateTimeField()
    created_by = s.CharField()
    expires_at = s.DateTimeField(allow_null=True)
    last_used_at = s.DateTimeField(allow_null=True)
    revoked_at = s.DateTimeField(allow_null=True)


class NewKeyShape(KeyShape):
    """A key just made. The token is told once; it is null when the request was sent again."""

    token = s.CharField(allow_null=True)


class ReviewShape(s.Serializer):
    id = s.UUIDField()
    branch = s.CharField(source="branch.name")
    kind = s.ChoiceField(choices=ReviewItem.Kind.choices)
    status = s.ChoiceField(choices=ReviewItem.Status.choices)
    fact_id = s.UUIDField()
    other_id = s.UUIDField()
    score = s.FloatField()
    resolution = s.CharField()
    details = s.DictField()
    created_at = s.DateTimeField()
    resolved_at = s.DateTimeField(allow_null=True)
    resolved_by = s.CharField()


class QuestionShape(ReviewShape):
    """A question with its two facts as its branch shows them now; null where it does not."""

    fact = FactShape(allow_null=True)
    other = FactShape(allow_null=True)


class ResolvedShape(QuestionShape):
    """A question with its answer. Reverting the commit opens it again."""

    commit = CommitShape()
    new_fact_id = s.UUIDField(allow_null=True, help_text="The fact that was written in the place of both.")


class OutcomeShape(s.Serializer):
    """What became of one fact."""

    id = s.UUIDField(source="fact_id")
    outcome = s.ChoiceField(choices=[DONE, UNCHANGED, REFUSED])
    code = s.CharField(help_text="Why it was refused, as in an error.")
    message = s.CharField()


class ReportShape(s.Serializer):
    """What became of each fact, in the order given."""

    results = OutcomeShape(many=True)
    commit = CommitShape(
        allow_null=True, help_text="Reverting it undoes the action; null when nothing changed."
    )
    new_fact_id = s.UUIDField(
        allow_null=True, help_text="The fact that was written in the place of the others."
    )


class ProblemShape(s.Serializer):
    """RFC 9457, with a stable ``code``."""

    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField()
    code = s.CharField()
    field = s.CharField(required=False, help_text="Which input is at fault, where one is.")
    data = s.DictField(required=False, help_text="What the sentence is made of, for programs.")  # type: ignore[assignment]


# ---- making answers --------------------------------------------------------------------------------


def when(value: datetime | None) -> str | None:
    """ISO 8601 in UTC with microseconds and Z."""
    return None if value is None else value.isoformat(timespec="microseconds").replace("+00:00", "Z")


def text_of(value: Any) -> str | None:
    return None if value is None else str(value)


CONVERT: dict[type[s.Field], Callable[[Any], Any]] = {s.DateTimeField: when, s.UUIDField: text_of}


def renderer(shape: type[s.Serializer], *elsewhere: str) -> Render:
    """A function from a row to its answer, read off the shape; ``elsewhere`` are fields given by name.

    Serializers would do the same twenty times slower, and a page has a hundred rows.
    """
    fields = shape().get_fields()
    plan = [
        (name, attrgetter(field.source or name), CONVERT.get(type(field)))
        for name, field in fields.items()
        if name not in elsewhere
    ]
    start = dict.fromkeys(fields)  # keeps the declared order

    def render(row: Any, **given: Any) -> dict[str, Any]:
        found: dict[str, Any] = {**start, **given}
        for name, read, convert in plan:
            found[name] = convert(read(row)) if convert else read(row)
        return found

    return render


fact = renderer(FactShape, "branch")
_version = renderer(VersionShape, "branch", "commit")
commit = renderer(CommitShape)
verification = renderer(VerificationShape)
link = renderer(LinkShape, "branch")
_branch = renderer(BranchShape, "parent")
key = renderer(KeyShape)
_review = renderer(QuestionShape, "fact", "other")
outcome = renderer(OutcomeShape)


def version(row: Any, branch: str) -> dict[str, Any]:
    return _version(row, branch=branch, commit=commit(row.commit) if row.commit else None)


def review(row: Any) -> dict[str, Any]:
    name = row.branch.name
    both = {end: one and fact(one, branch=name) for end, one in (("fact", row.fact), ("other", row.other))}
    return _review(row, **both)


def _new(row: Fact | None) -> dict[str, Any]:
    return {"new_fact_id": text_of(row.uid) if row else None}


def resolved(done: Resolved) -> dict[str, Any]:
    return {**review(done.item), "commit": commit(done.commit), **_new(done.new_fact)}


def report(done: Report) -> dict[str, Any]:
    results = [outcome(one) for one in done.results]
    return {"results": results, "commit": done.commit and commit(done.commit), **_new(done.new_fact)}


def branch(row: Any) -> dict[str, Any]:
    return _branch(row, parent=row.parent.name if row.parent else None)


def hit(one: Hit) -> dict[str, Any]:
    return {
        "fact": fact(one.fact, branch=one.branches[0]),
        "score": one.score,
        "signals": one.signals,
        "branches": list(one.branches),
    }


def found(answer: Found) -> dict[str, Any]:
    return {
        "results": [hit(one) for one in answer.hits],
        "signals_used": list(answer.signals_used),
        "recipe": answer.recipe,
        "took_ms": answer.took_ms,
        "branches": list(answer.branches),
        "context": answer.context,
        "tokens": answer.tokens,
    }


def explanation(answer: Explanation, branch: str) -> dict[str, Any]:
    plain = {name: getattr(answer, name) for name in ExplanationShape().get_fields() if name != "fact"}
    return {**plain, "fact": fact(answer.fact, branch=branch) if answer.fact else None}


def page(some: Page, render: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    return {"results": [render(row) for row in some.results], "next": some.next, "previous": some.previous}
