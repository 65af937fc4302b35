"""The fields of an item: a fact that stands under a namespace and a key."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import NO_USE, READ, Field, Noun, Option, Use
from memory.engines.fields.common import (
    EXPECTED_VERSION,
    KEY_LENGTH,
    NAMESPACE_LENGTH,
    answered_branch,
    answered_id,
    answered_time,
    owner_fields,
)
from memory.engines.fields.facts import FACT, TEXT_BYTES
from memory.engines.fields.types import Choice, Flag, JSONValue, ListOf, LongText, Record, Reference, Whole

MAX_SECONDS = 10 * 366 * 24 * 3600
MAX_CALLS = 1000
SEARCH_TYPES = ("hybrid", "keyword", "vector")

NAMESPACE = Field(
    "namespace",
    Reference(NAMESPACE_LENGTH, 1),
    "Segments with slashes between them, such as users/ada.",
    required=True,
    label=_("Namespace"),
)
KEY = Field("key", Reference(KEY_LENGTH, 1), "Without a slash.", required=True, label=_("Key"))
VALUE = Field(
    "value",
    JSONValue(),
    "Any JSON, at most 64 KiB; it is stored as it is given, or refused.",
    NO_USE,
    required=True,
    null=True,
    label=_("Value"),
    option=Option("JSON; what is none is a text", metavar="JSON"),
)
SEARCHED_TEXT = Field(
    "text",
    LongText(TEXT_BYTES, blank=True),
    "What is searched of it; the value itself when it is not given.",
    attribute="fact_text",
    answer_help="What is searched of it.",
    option=Option("what is searched of it; default: the value"),
)
EMBED = Field(
    "embed",
    Flag(),
    "True by default; false: it gets no vector, and words alone find it.",
    option=Option("with a vector, or without: then words alone find it"),
)
TTL = Field(
    "ttl",
    Whole(1, MAX_SECONDS),
    "Seconds until it is gone, from now on.",
    null=True,
    option=Option("seconds until it is gone", metavar="SECONDS"),
)
ONLY_NEW = Field(
    "only_new",
    Flag(),
    "412 where an item stands there already, as with If-None-Match: *.",
    option=Option("only where nothing stands there yet"),
)
ONLY_PRESENT = Field(
    "only_present",
    Flag(),
    "412 where no item stands there, as with If-Match: *.",
    option=Option("only where something stands there already"),
)
RENEW = Field(
    "renew", Flag(), "Begin its ttl anew; needs the scope write.", option=Option("begin its ttl anew")
)
PREFIX = Field(
    "prefix",
    Reference(NAMESPACE_LENGTH),
    "A namespace: its items and those of all below it.",
    option=Option("of this namespace and of all below it", metavar="PATH"),
)
ENDS = PREFIX.with_traits(help="The first segments of a namespace; * is any segment.")
SUFFIX = Field("suffix", Reference(NAMESPACE_LENGTH), "The last segments of a namespace; * is any segment.")
DEPTH = Field("depth", Whole(1, 256), "So many segments of each namespace.", null=True)
WHERE = Field(
    "where",
    JSONValue(16 * 1024),
    'Conditions on the value and metadata, as JSON: {"value.status": "open", "metadata.size": {"gte": 3}},'
    " with eq, ne, gt, gte, lt, lte, in and contains.",
    null=True,
    option=Option('conditions, such as \'{"value.status": "open"}\'', metavar="JSON"),
)
MANY = Field("limit", Whole(1, 1000), "So many results.")
OFFSET = Field("offset", Whole(0, 10_000), "How many are left out before the first.")
# What an item has as every fact, beside what makes it an item.
FACT_FIELDS = tuple(
    FACT[name].with_traits(use=READ)
    for name in ("category", "confidence", "visibility", "tags", "metadata", "source", "repository")
)
FACT_NAMES = (*(one.name for one in FACT_FIELDS), "expires_at")
EXPIRES = FACT["expires_at"].with_traits(use=READ)

ITEM = Noun(
    "item",
    answered_id(),
    answered_branch(),
    FACT["version"].with_traits(use=READ),
    NAMESPACE.with_traits(use=READ, help=""),
    KEY.with_traits(use=READ, help=""),
    VALUE.with_traits(use=READ, help="", answer_help="As it was put."),
    SEARCHED_TEXT.with_traits(use=READ),
    FACT["status"].with_traits(use=READ),
    *FACT_FIELDS,
    EXPIRES,
    *owner_fields(),
    answered_time("created_at"),
    answered_time("updated_at"),
    commands=("items", "keep values under keys"),
)

OPERATIONS = ("put", "get", "delete", "search", "namespaces")
OPERATION = Field("op", Choice([(one, one) for one in OPERATIONS]), required=True)
CALL = Record(
    "ItemCallInput",
    "One of many calls: put, get and delete name an item, search and namespaces a prefix.",
    (
        OPERATION,
        *(one.as_optional() for one in (NAMESPACE, KEY, VALUE)),
        SEARCHED_TEXT,
        EMBED,
        TTL,
        ONLY_NEW,
        ONLY_PRESENT,
        RENEW,
        *(one.with_traits(use=Use.CREATE) for one in FACT_FIELDS),
        EXPIRES.with_traits(use=Use.CREATE),
        PREFIX,
        SUFFIX,
        DEPTH,
        EXPECTED_VERSION.with_traits(help="Of a put or a delete: only while the item is at this version."),
        Field("query", Reference(8000), "What is looked for; without it items come in their order."),
        Field("search_type", Choice([(one, one) for one in SEARCH_TYPES]), "Of a query; hybrid by default."),
        WHERE,
        MANY,
        OFFSET,
    ),
)
CALLS = Field(
    "calls",
    ListOf(CALL, 1, MAX_CALLS),
    "At most 1,000, of them 50 searches and lists of namespaces. What is read is what stood before the"
    " writes, which are one commit; of several writes of one key the last counts.",
    required=True,
)
