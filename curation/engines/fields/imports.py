"""The fields of imports from other products, and of the records that one brings."""

from django.utils.translation import gettext_lazy as _

from curation.models import MemoryImport
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import END_USER, answered_time
from memory.engines.fields.facts import FACT, TEXT_BYTES
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    ListOf,
    LongText,
    Moment,
    ObjectList,
    Record,
    Reference,
    TagList,
    Text,
    Whole,
)

# What a doctor finds of a record, in the order of its report.
JUNK, DUPLICATE, ECHO, HOSTILE = "junk", "duplicate", "echo", "hostile"
SECRET, STALE, CONTRADICTORY, UNSOURCED = "secret", "stale", "contradictory", "unsourced"
FINDING_WORDS = (
    (JUNK, _("Says nothing that lasts")),
    (DUPLICATE, _("Nearly says what another says")),
    (ECHO, _("Repeats what a memory told")),
    (HOSTILE, _("Gives orders to an agent")),
    (SECRET, _("Had a secret, taken out")),
    (STALE, _("Its product says that it holds no more")),
    (CONTRADICTORY, _("Another says otherwise")),
    (UNSOURCED, _("Names no source")),
)
FINDINGS = tuple(name for name, _word in FINDING_WORDS)
MAX_BRANCH = TagList.max_length - max(len(f":{name}") for name in FINDINGS)  # a finding's tag begins with it
LEFT_OUT = (JUNK, DUPLICATE, ECHO, HOSTILE)  # of a merge request, unless somebody wants them
# What a fact has as its record has it.
FACT_FIELDS = ("user_id", "app_id", "created_at", "valid_from", "valid_until", "expires_at", "confidence")
MAX_RECORDS = 500  # of one request, and of one commit
MAX_EDGES = 1000
MAX_BROKEN = 1000  # that a finished import names
ID_LENGTH = 500

RECORD = (
    Field("id", Reference(ID_LENGTH, 1), "Its id at its product.", required=True),
    Field("text", LongText(TEXT_BYTES), "What it says.", required=True),
    Field("kind", Reference(100), "What the product calls its kind; it becomes the category."),
    Field("created_at", Moment(), null=True),
    Field("updated_at", Moment(), null=True),
    Field("author", Text(200), "Who said or wrote it."),
    Field("session", Text(200), "Where it was said."),
    Field("origin", Text(500), "The document or the program that it is of."),
    *END_USER,
    Field("tags", TagList()),
    Field("confidence", FACT["confidence"].type, null=True),
    Field("valid_from", Moment(), null=True),
    Field("valid_until", Moment(), null=True),
    Field("expires_at", Moment(), null=True),
    Field("ended", Flag(), "Whether its product holds it for deleted, replaced or over."),
    Field("metadata", JSONObject()),
)
END = Reference(ID_LENGTH, 1)
LINK = Record(
    "ImportLinkInput",
    "A link between two records.",
    (
        Field("from", END, "The id of a record at its product.", required=True),
        Field("to", END, required=True),
        Field("type", Reference(100), "What the product calls it."),
    ),
)
RECORDS = Field(
    "records",
    ListOf(Record("ImportRecordInput", "One memory of another product.", RECORD), 0, MAX_RECORDS),
    "At most 500.",
)
LINKS = Field("links", ListOf(LINK, 0, MAX_EDGES), "Links between records that have come.")
RELATIONS = Field(
    "relations",
    ObjectList(4 * 1024 * 1024),
    "Edges between entities: source_entity, relation_type, target_entity, valid_from, valid_until.",
)
SKIPPED = Field("skipped", JSONObject(), "Why records were not sent, and how many.")
BROKEN = Field("broken", ObjectList(1024 * 1024), "Places that could not be read: file, line, reason.")
RUN = Field(
    "run",
    Whole(),
    "The run that the counts named when it began: where another has begun since, this one is refused.",
    null=True,
)
TITLE = Field("title", Text(200), "Of the merge request.", option=Option("of the merge request"))
WITHOUT = Field(
    "without",
    ListOf(Choice([(name, name) for name in FINDINGS])),
    "What is left out: junk, duplicate, echo and hostile when it is not given.",
    label=_("Leave out"),
    form_choices=FINDING_WORDS,
    option=Option("leave out what has this finding, as often as wanted", metavar="FINDING"),
)

IMPORT = Noun(
    "import",
    Field("id", Identifier(), use=READ),
    Field(
        "product",
        Choice(MemoryImport.Product.choices),
        "What wrote the file.",
        READ | Use.CREATE,
        required=True,
        label=_("Product"),
    ),
    Field("file", Text(200), "Its name, without the folder.", READ | Use.CREATE, label=_("File")),
    Field(
        "branch",
        Reference(MAX_BRANCH),
        "Where its facts stand; import/PRODUCT-FILE when it is not given, which is made of main.",
        READ | Use.CREATE,
        attribute="branch.name",
        label=_("Branch"),
    ),
    Field("state", Choice(MemoryImport.State.choices), use=READ, label=_("State")),
    Field(
        "counts",
        JSONObject(),
        use=READ,
        answer_help="What became of the records of the last run, and how many.",
    ),
    Field("request", Identifier(), use=READ, null=True, answer_help="The merge request of the rest."),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    answered_time("updated_at"),
    commands=("imports", "what other products remembered, with a doctor's report"),
)
IMPORT_FILTERS = IMPORT.filtered_by(
    one_of("product", Choice(MemoryImport.Product.choices), "Of this product.", option=Option(checked=True)),
    one_of("state", Choice(MemoryImport.State.choices), "In this state.", option=Option(checked=True)),
)
