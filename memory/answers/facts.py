"""What is answered of facts and their links: a shape is declared once, for OpenAPI and its renderer."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.commits import CommitShape, commit
from memory.answers.declared_serializers import AnswerShape, declare_answer, declare_fields
from memory.answers.rendering import as_text, build_renderer
from memory.engines.facts.bulk_actions import DONE, REFUSED, UNCHANGED, Report
from memory.engines.facts.tags import TagCounts
from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.engines.fields.links import LINK
from memory.engines.search.engine import REASONS, Explanation, SearchResult
from memory.models import Fact


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
    id = s.UUIDField(source="fact.uid")
    created = s.BooleanField(help_text="False when the same text was there already.")
    status = s.ChoiceField(
        choices=Fact.Status.choices, source="fact.status", help_text="created: it became a proposal."
    )


class BulkShape(s.Serializer):
    results = WrittenIdShape(many=True)
    commit = CommitShape(allow_null=True, help_text="null when nothing was new.")


class TagCountShape(s.Serializer):
    tag = s.CharField()
    count = s.IntegerField(help_text="Facts that have it.")


class TagsShape(s.Serializer):
    tags = TagCountShape(many=True, help_text="The most frequent first.")
    more = s.BooleanField(help_text="Whether there are others.")


class UpdatedIdShape(s.Serializer):
    id = s.UUIDField(source="uid")
    version = s.IntegerField(help_text="The one that it had, where nothing was changed.")
    status = s.ChoiceField(choices=Fact.Status.choices)


class BulkUpdateShape(s.Serializer):
    results = UpdatedIdShape(many=True)
    commit = CommitShape(allow_null=True, help_text="null when nothing was changed.")


@declare_fields(FACT.select_fields(Use.VERSION))
class VersionShape(AnswerShape):
    """One version of a fact, with the commit that made it."""

    deleted = s.BooleanField(help_text="True for the version that says: deleted here.")
    commit = CommitShape(allow_null=True)


LinkShape = declare_answer(LINK, "A link, as visible on the requested branch.")


class HitShape(s.Serializer):
    fact = FoundFactShape()
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
    incomplete = s.BooleanField(
        help_text="Whether texts are still being indexed: their words alone find them."
    )
    note = s.CharField(help_text="Where nothing is known: that, and what is nearest; else empty.")
    branches = s.ListField(child=s.CharField(), help_text="The branches that were searched.")
    next = s.CharField(allow_null=True, help_text="The cursor of the next page; null at the end.")
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


fact = build_renderer(FactShape, "branch")
found_fact = build_renderer(FoundFactShape, "branch")
_version = build_renderer(VersionShape, "branch", "commit")
link = build_renderer(LinkShape, "branch")
bulk_shape = build_renderer(BulkShape)
bulk_update_shape = build_renderer(BulkUpdateShape)
_hit = build_renderer(HitShape, "fact")
_found = build_renderer(FoundShape, "results")
_explanation = build_renderer(ExplanationShape, "fact")
_report = build_renderer(ReportShape, "new_fact_id")


def version_shape(row: Any, branch: str) -> dict[str, Any]:
    return _version(row, branch=branch, commit=commit(row.commit) if row.commit else None)


def new_fact_shape(row: Fact | None) -> dict[str, Any]:
    return {"new_fact_id": as_text(row.uid) if row else None}


def report_shape(done: Report) -> dict[str, Any]:
    return _report(done, **new_fact_shape(done.new_fact))


def tags_shape(found: TagCounts) -> dict[str, Any]:
    return {"tags": [{"tag": tag, "count": count} for tag, count in found.tags], "more": found.more}


def found_shape(answer: SearchResult) -> dict[str, Any]:
    hits = [_hit(one, fact=found_fact(one.fact, branch=one.branches[0])) for one in answer.hits]
    return _found(answer, results=hits)


def explanation_shape(answer: Explanation, branch: str) -> dict[str, Any]:
    return _explanation(answer, fact=fact(answer.fact, branch=branch) if answer.fact else None)
