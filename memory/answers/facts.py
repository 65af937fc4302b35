"""Response serializers: each shape is declared once, for OpenAPI and for ``renderer``."""

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any

from rest_framework import serializers as s

from memory.answers.declared_serializers import AnswerShape, declare_fields
from memory.engines.branches.commit_titles import count_kinds
from memory.engines.facts.bulk_actions import DONE, REFUSED, UNCHANGED, Report
from memory.engines.fields.base import Use
from memory.engines.fields.branches import BRANCH
from memory.engines.fields.facts import FACT
from memory.engines.fields.keys import KEY
from memory.engines.fields.links import LINK
from memory.engines.search.engine import SearchResult
from memory.engines.search.explain import REASONS, Explanation
from memory.engines.search.ranked import Hit
from memory.engines.support.pagination import Page
from memory.models import Fact

Render = Callable[..., dict[str, Any]]


# ---- shapes ----------------------------------------------------------------------------------------


@declare_fields(FACT.select_fields(Use.ANSWER))
class FactShape(AnswerShape):
    """A fact, as visible on the requested branch."""


class FoundFactShape(FactShape):
    """A fact among the results of a search: no field has more than 8,000 characters."""

    truncated = s.ListField(
        child=s.CharField(),
        help_text="Fields that were longer: a text is cut with a mark, an object or list is empty."
        " All of it is read by id.",
    )


class WrittenShape(FactShape):
    """A fact as stored; ``created`` is false when the same text existed already."""

    created = s.BooleanField()


class WrittenIdShape(s.Serializer):
    id = s.UUIDField()
    created = s.BooleanField(help_text="False when the same text was there already.")
    status = s.ChoiceField(choices=Fact.Status.choices, help_text="created: it became a proposal.")


class CommitShape(s.Serializer):
    """A commit: every change belongs to one."""

    id = s.UUIDField()
    seq = s.IntegerField(help_text="Its number on its branch.")
    at = s.DateTimeField()
    kind = s.CharField()
    message = s.CharField()
    actor_kind = s.CharField()
    actor_id = s.CharField(help_text="Of the key or user: labels may be those of several.")
    actor_label = s.CharField()
    surface = s.CharField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    added = s.IntegerField()
    changed = s.IntegerField()
    removed = s.IntegerField()


class TitledCommitShape(CommitShape):
    """A commit with its title: what a person or an agent wrote, else what changed."""

    title = s.CharField()


class CommitDetailShape(TitledCommitShape):
    """A commit with its branch, and how many changes of each kind it made."""

    branch = s.CharField(source="branch.name")
    counts = s.DictField(child=s.IntegerField(), help_text="Of facts, verdicts, confirmations, answers, …")


class BulkShape(s.Serializer):
    results = WrittenIdShape(many=True)
    commit = CommitShape(allow_null=True, help_text="null when nothing was new.")


@declare_fields(FACT.select_fields(Use.VERSION))
class VersionShape(AnswerShape):
    """One version of a fact, with the commit that made it."""

    deleted = s.BooleanField(help_text="True for the version that says: deleted here.")
    commit = CommitShape(allow_null=True)


@declare_fields(LINK.select_fields(Use.ANSWER))
class LinkShape(AnswerShape):
    """A link, as visible on the requested branch."""


class HitShape(s.Serializer):
    fact = FactShape()
    score = s.FloatField()
    signals = s.DictField(child=s.FloatField(), help_text="The parts of the score, by name.")
    branches = s.ListField(child=s.CharField(), help_text="The branches searched that show it.")
    evidence = s.FloatField(help_text="How likely it answers the query, between 0 and 1, for any query.")


class FoundShape(s.Serializer):
    results = HitShape(many=True)
    signals_used = s.ListField(child=s.CharField())
    recipe = s.CharField()
    took_ms = s.FloatField()
    evidence = s.FloatField(help_text="The best of all that is found; 0 without any.")
    known = s.BooleanField(help_text="Whether that reaches the project's least; else nothing is known.")
    note = s.CharField(help_text="Where nothing is known: that, and what is nearest; else empty.")
    branches = s.ListField(child=s.CharField(), help_text="The branches that were searched.")
    # The answer's ``context`` hides the serializer's own, which the REST framework allows.
    context = s.CharField(allow_null=True, help_text="With max_tokens: lines for a prompt, or the note.")  # type: ignore[assignment]
    tokens = s.IntegerField(allow_null=True, help_text="What the context costs; with max_tokens.")


class ExplanationShape(s.Serializer):
    found = s.BooleanField()
    reason = s.ChoiceField(choices=[(name, name) for name in REASONS])
    message = s.CharField()
    position = s.IntegerField(allow_null=True)
    score = s.FloatField(allow_null=True)
    signals = s.DictField(child=s.FloatField())
    details = s.DictField()
    fact = FactShape(allow_null=True)


@declare_fields(BRANCH.select_fields(Use.ANSWER))
class BranchShape(AnswerShape):
    """A branch."""


@declare_fields(KEY.select_fields(Use.ANSWER))
class KeyShape(AnswerShape):
    """A key; its token is not in it."""


class NewKeyShape(KeyShape):
    """A new key. The token is returned once; it is null in the answer to a repeated request."""

    token = s.CharField(allow_null=True)


class OutcomeShape(s.Serializer):
    """The outcome for one fact."""

    id = s.UUIDField(source="fact_id")
    outcome = s.ChoiceField(choices=[DONE, UNCHANGED, REFUSED])
    code = s.CharField(help_text="Why it was refused, as in an error.")
    message = s.CharField()


class ReportShape(s.Serializer):
    """The outcome for each fact, in the order of the request."""

    results = OutcomeShape(many=True)
    commit = CommitShape(
        allow_null=True, help_text="Reverting it undoes the action; null when nothing changed."
    )
    new_fact_id = s.UUIDField(allow_null=True, help_text="The fact with the new text in their place.")
    created = s.BooleanField(help_text="Whether that fact was written; false when it was there already.")


class ProblemShape(s.Serializer):
    """A problem (RFC 9457), with a stable ``code``."""

    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField()
    code = s.CharField()
    field = s.CharField(required=False, help_text="Which input is at fault, where one is.")
    # The answer's ``data`` hides the serializer's own, which the REST framework allows.
    data = s.DictField(required=False, help_text="What the sentence is made of, for programs.")  # type: ignore[assignment]


# ---- rendering -------------------------------------------------------------------------------------


def format_time(value: datetime | None) -> str | None:
    """Format a time as ISO 8601 in UTC with microseconds and Z."""
    return None if value is None else value.isoformat(timespec="microseconds").replace("+00:00", "Z")


def as_text(value: Any) -> str | None:
    return None if value is None else str(value)


CONVERT: dict[type[s.Field], Callable[[Any], Any]] = {s.DateTimeField: format_time, s.UUIDField: as_text}


def build_renderer(shape: type[s.Serializer], *elsewhere: str) -> Render:
    """Return a function that renders a row by a shape; ``elsewhere`` are fields passed by name.

    Serializers would take twenty times as long, and a page has a hundred rows.
    """
    fields = shape().get_fields()
    plan = [
        (name, attrgetter(field.source or name), CONVERT.get(type(field)))
        for name, field in fields.items()
        if name not in elsewhere
    ]
    start = dict.fromkeys(fields)  # keeps the declared order

    def render_row(row: Any, **payload: Any) -> dict[str, Any]:
        found: dict[str, Any] = {**start, **payload}
        for name, read, convert in plan:
            found[name] = convert(read(row)) if convert else read(row)
        return found

    return render_row


fact = build_renderer(FactShape, "branch")
found_fact = build_renderer(FoundFactShape, "branch")
_version = build_renderer(VersionShape, "branch", "commit")
commit = build_renderer(CommitShape)
titled_commit = build_renderer(TitledCommitShape)
_commit_detail = build_renderer(CommitDetailShape, "counts")
link = build_renderer(LinkShape, "branch")
_branch = build_renderer(BranchShape, "parent")
key = build_renderer(KeyShape)
outcome = build_renderer(OutcomeShape)


def commit_detail(row: Any) -> dict[str, Any]:
    return _commit_detail(row, counts=count_kinds(row.tally))


def version_shape(row: Any, branch: str) -> dict[str, Any]:
    return _version(row, branch=branch, commit=commit(row.commit) if row.commit else None)


def new_fact_shape(row: Fact | None) -> dict[str, Any]:
    return {"new_fact_id": as_text(row.uid) if row else None}


def report_shape(done: Report) -> dict[str, Any]:
    results = [outcome(one) for one in done.results]
    return {
        "results": results,
        "commit": done.commit and commit(done.commit),
        **new_fact_shape(done.new_fact),
        "created": done.created,
    }


def branch_shape(row: Any) -> dict[str, Any]:
    return _branch(row, parent=row.parent.name if row.parent else None)


def hit_shape(one: Hit) -> dict[str, Any]:
    return {
        "fact": found_fact(one.fact, branch=one.branches[0]),
        "score": one.score,
        "signals": one.signals,
        "branches": list(one.branches),
        "evidence": one.evidence,
    }


def found_shape(answer: SearchResult) -> dict[str, Any]:
    return {
        "results": [hit_shape(one) for one in answer.hits],
        "signals_used": list(answer.signals_used),
        "recipe": answer.recipe,
        "took_ms": answer.took_ms,
        "evidence": answer.evidence,
        "known": answer.known,
        "note": answer.note,
        "branches": list(answer.branches),
        "context": answer.context,
        "tokens": answer.tokens,
    }


def explanation_shape(answer: Explanation, branch: str) -> dict[str, Any]:
    plain = {name: getattr(answer, name) for name in ExplanationShape().get_fields() if name != "fact"}
    return {**plain, "fact": fact(answer.fact, branch=branch) if answer.fact else None}


def page_shape(batch: Page, render: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    return {"results": [render(row) for row in batch.results], "next": batch.next, "previous": batch.previous}
