"""What may be done with facts and their links; searches stand in memory/api."""

from operator import attrgetter
from typing import Any

from memory.answers import facts as shapes
from memory.answers.related import RelativesShape, relatives_shape
from memory.engines.facts.batch import WriteResult
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.facts.short_ids import find_fact_id
from memory.engines.facts.tags import TagEngine
from memory.engines.facts.updates import FIELDS, UpdateEngine
from memory.engines.fields import facts as f
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.fields.links import LINK
from memory.engines.search.related import RelatedEngine
from memory.engines.support.ordering import BY_AGE
from memory.models import Fact
from memory.operations.base import GONE, Answer, Resource, Row


def render_written(written: WriteResult, branch: str) -> dict[str, Any]:
    """Return a fact as stored, and whether it was made now."""
    return shapes.fact(written.fact, branch=branch, created=written.created)


engine, link_engine = FactEngine(), LinkEngine()
ROW = Answer(shapes.FactShape, shapes.fact, takes=("branch",))
WRITTEN = Answer(shapes.WrittenShape, render_written, attrgetter("created"), takes=("branch",))
TEXT = {"fact_text": "Access tokens expire after 15 minutes.", "category": "security", "tags": ["auth"]}
MOVE: dict[str, Any] = {"body": "MoveInput", "about": "The branch and the caller.", "origin": STATED}

FACTS = Resource("facts", "fact", row=Row("fact_id", "pk", find=find_fact_id), model=Fact, origin=STATED)
FACTS.add(
    "create",
    engine.write_fact,
    "Write a fact",
    WRITTEN,
    body="FactInput",
    about="One fact to store.",
    fields=(*f.CONTENT, *f.CREATED),
    example=TEXT,
    waits=True,
    serves_end_users=True,
)
FACTS.add(
    "list",
    engine.list_facts,
    "List facts, newest first",
    ROW,
    filters=FACT_FILTERS,
    order=BY_AGE,
    serves_end_users=True,
)
FACTS.add_read(
    "tags",
    TagEngine().list_tags,
    "The tags of facts, and how many have each",
    Answer(shapes.TagsShape, shapes.tags_shape),
    of_row=False,
    filters=FACT_FILTERS,
    serves_end_users=True,
)
FACTS.add(
    "bulk",
    engine.write_facts,
    "Write up to 1,000 facts, all or none",
    Answer(shapes.BulkShape, shapes.bulk_shape, lambda done: done.commit is not None),
    of_row=False,
    body="FactsInput",
    about="Up to 1,000 facts: one commit, all or none.",
    without=("kind",),
    example={"facts": [TEXT]},
    serves_end_users=True,
    waits=True,
)
FACTS.add(
    "bulk_update",
    UpdateEngine().update_facts,
    "Correct up to 1,000 facts, all or none",
    Answer(shapes.BulkUpdateShape, shapes.bulk_update_shape),
    verb="patch",
    path="bulk",
    of_row=False,
    body="FactUpdatesInput",
    about="Up to 1,000 facts and their changes: one commit, all or none.",
    example={"facts": [{"id": "0198a1b2-0000-7000-8000-000000000001", "confidence": 0.9}]},
    waits=True,
    serves_end_users=True,
)
FACTS.add(
    "actions",
    ActionEngine().apply_action,
    "Do something to up to 1,000 facts",
    Answer(shapes.ReportShape, shapes.report_shape),
    of_row=False,
    body="ActionInput",
    about="An action, and the facts to apply it to.",
    example={"action": "archive", "fact_ids": ["0198a1b2-0000-7000-8000-000000000001"]},
)
FACTS.add("retrieve", engine.get_fact, "Read a fact", ROW, serves_end_users=True)
FACTS.add(
    "partial_update",
    engine.update_fact,
    "Correct a fact",
    ROW,
    body="FactUpdateInput",
    about="The fields to change; the rest stays.",
    fields=FIELDS,
    example={"confidence": 0.9},
    waits=True,
    serves_end_users=True,
)
FACTS.add("destroy", engine.delete_fact, "Delete a fact on this branch", GONE, serves_end_users=True)
FACTS.add(
    "supersede",
    engine.replace_fact,
    "Replace a fact by a new one",
    WRITTEN,
    of_row="old_fact_id",
    body="SupersedeInput",
    about="The new fact. Omitted fields are copied from the old one.",
    fields=tuple(field for field in (*f.CONTENT, *f.CREATED) if field.name not in ("fact_text", "parent_id")),
    example={"new_fact_text": "Access tokens expire after 30 minutes."},
    waits=True,
    serves_end_users=True,
)
FACTS.add("archive", engine.archive_fact, "Retire a fact", ROW, **MOVE, serves_end_users=True)
FACTS.add("restore", engine.restore_fact, "Bring an archived fact back", ROW, **MOVE, serves_end_users=True)
FACTS.add_read(
    "history",
    engine.list_versions,
    "Every version, newest first",
    Answer(shapes.VersionShape, shapes.version_shape, takes=("branch",)),
    without=("at",),
    serves_end_users=True,
)
FACTS.add_read(
    "related",
    RelatedEngine().find_related,
    "Facts that have to do with a fact",
    Answer(RelativesShape, relatives_shape, takes=("branch",)),
)
FACTS.add_read(
    "links",
    link_engine.list_links,
    "The links from and to a fact",
    Answer(shapes.LinkShape, shapes.link, takes=("branch",)),
)
FACTS.add(
    "add_link",
    link_engine.write_link,
    "Link a fact to another",
    Answer(shapes.LinkShape, shapes.link, takes=("branch",), codes=(201,)),
    path="links",
    of_row="from_id",
    body="LinkInput",
    about="The other end of a link, and its type.",
    fields=LINK.select_fields(Use.CREATE),
)
FACTS.add(
    "remove_link",
    link_engine.delete_link,
    "Take a link away",
    GONE,
    verb="delete",
    path="links/<uuid:link_id>",
    of_row="from_id",
)
