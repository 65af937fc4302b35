"""What may be done with questions for a person."""

from typing import Any

from rest_framework import serializers as s

from curation.engines.review.review_queue import REVIEW_FILTERS, Resolved, ReviewEngine
from curation.models import ReviewItem
from memory.answers.commits import CommitShape, commit
from memory.answers.facts import FactShape, fact, new_fact_shape
from memory.answers.rendering import build_renderer
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row


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
    """A question with its two facts as visible on its branch now; null where they are not."""

    fact = FactShape(allow_null=True)
    other = FactShape(allow_null=True)


class ResolvedShape(QuestionShape):
    """A question with its answer. Reverting the commit opens it again."""

    commit = CommitShape()
    new_fact_id = s.UUIDField(allow_null=True, help_text="The fact that was written in the place of both.")


_review = build_renderer(QuestionShape, "fact", "other")


def review_shape(row: Any) -> dict[str, Any]:
    name = row.branch.name
    both = {end: one and fact(one, branch=name) for end, one in (("fact", row.fact), ("other", row.other))}
    return _review(row, **both)


def resolved_shape(done: Resolved) -> dict[str, Any]:
    return {**review_shape(done.item), "commit": commit(done.commit), **new_fact_shape(done.new_fact)}


engine = ReviewEngine()
ROW = Answer(QuestionShape, review_shape)

REVIEW_ITEMS = Resource(
    "review-items", "review-item", row=Row("item_id", "pk", "uuid"), model=ReviewItem, origin=STATED
)
REVIEW_ITEMS.add(
    "list",
    engine.list_items,
    "What waits for a person, newest first",
    ROW,
    filters=REVIEW_FILTERS,
)
REVIEW_ITEMS.add("retrieve", engine.get_item, "Read a question", ROW)
REVIEW_ITEMS.add(
    "resolve",
    engine.resolve_item,
    "Answer a question",
    Answer(ResolvedShape, resolved_shape),
    body="ResolveInput",
    about="The answer to a question.",
    example={"decision": "keep_both", "reason": "Two caches."},
)
