"""What may be done with questions for a person."""

from curation.answers import review as shapes
from curation.engines.review.review_queue import REVIEW_FILTERS, ReviewEngine
from curation.models import ReviewItem
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row

engine = ReviewEngine()
ROW = Answer(shapes.QuestionShape, shapes.review_shape)

REVIEW_ITEMS = Resource("review-items", "review-item", row=Row("item_id", "pk", "uuid"), model=ReviewItem)
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
    Answer(shapes.ResolvedShape, shapes.resolved_shape),
    body="ResolveInput",
    about="The answer to a question.",
    example={"decision": "keep_both", "reason": "Two caches."},
    origin=STATED,
)
