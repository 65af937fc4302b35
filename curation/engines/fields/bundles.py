"""The fields of bundles, and of the keys that projects trust."""

import re

from django.utils.translation import gettext_lazy as _

from curation.models import Bundle
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import BRANCH, DRY_RUN, answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Flag, Identifier, JSONObject, Pattern, Reference, Text, Whole
from memory.engines.support.validation import refuse_secret
from memory.exceptions import Invalid

NAME_PATTERN = r"^[a-z0-9]+([._-][a-z0-9]+)*$"
NAME_LENGTH, DESCRIPTION_LENGTH = 100, 2000
CREATE = READ | Use.CREATE | Use.OPTION

IMPORT_BRANCH = BRANCH.with_traits(
    help="By default bundle/NAME/vN, which is made of main.",
    label=_("Into branch"),
    option=Option("default: bundle/NAME/vN, which is made of main", metavar="NAME"),
)
DRY_IMPORT = DRY_RUN.with_traits(
    type=Flag(in_words=True),
    help="true tells what it would do, and writes nothing.",
    option=Option("say what it would do, and write nothing"),
)
DRY_MAKING = DRY_RUN.with_traits(
    type=Flag(in_words=True),
    help="true tells what would go along, and stores nothing.",
    option=Option("say what would go along, and store nothing"),
)
REQUIRE_TRUSTED = Field(
    "require_trusted",
    Flag(in_words=True),
    "true refuses a bundle that nobody trusted has signed.",
    option=Option("refuse what nobody trusted has signed"),
)

BUNDLE = Noun(
    "bundle",
    Field("id", Identifier(), use=READ, answer_null=True, answer_help="null for a dry run."),
    Field(
        "name",
        Pattern(NAME_LENGTH, regex=NAME_PATTERN),
        "a–z and 0–9, with single '.', '_' or '-' between them; a newer version has the same.",
        READ | Use.CREATE | Use.FORM,
        required=True,
        label=_("Bundle"),
        form_label=_("Name"),
        form_help=_("a–z and 0–9, with '.', '_' or '-' between them. A newer version has the same name."),
    ),
    Field("version", Whole(), use=READ, label=_("Version")),
    Field(
        "description",
        Text(DESCRIPTION_LENGTH),
        "What it is about, up to 2,000 characters.",
        CREATE | Use.FORM,
        label=_("Description"),
        form_rows=3,
        option=Option("what it is about"),
    ),
    Field("origin", Choice(Bundle.Origin.choices), use=READ, label=_("Origin")),
    Field(
        "source_branch",
        Reference(200),
        use=READ,
        label=_("From branch"),
        answer_help="Where it was made, in this project or another.",
    ),
    Field(
        "only_verified",
        Flag(),
        "True by default: unverified facts are left out; invalidated and private ones always are.",
        CREATE,
        label=_("Verified facts only"),
        option=Option("false takes unverified facts too", "--only-verified"),
    ),
    Field(
        "conversations",
        Flag(),
        "With conversations and their messages; by default where unverified facts are taken too.",
        Use.CREATE,
        label=_("With conversations"),
    ),
    Field("relations", Flag(), "True by default: with relations.", Use.CREATE, label=_("With relations")),
    Field(
        "sign",
        Flag(),
        "Sign it with the project's key; by default when there is one. Refused without one.",
        Use.CREATE,
        label=_("Signed"),
    ),
    Field("counts", JSONObject(), use=READ, answer_help="How many memories of each kind."),
    Field("left_out", JSONObject(), use=READ, answer_help="Why facts are not in it, and how many."),
    Field("redacted", Whole(), use=READ, answer_help="Secrets that were taken out of its texts."),
    Field("size", Whole(), use=READ, answer_help="Bytes of the document."),
    Field("sha256", Reference(64), use=READ, answer_help="Of the canonical document without its seals."),
    Field("signature", Reference(100), use=READ, answer_help="Ed25519, in base64; empty without one."),
    Field("public_key", Reference(50), use=READ, answer_help="Of who signed it."),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
)
BUNDLE_FILTERS = BUNDLE.filtered_by(
    one_of("name", Reference(NAME_LENGTH), "The versions of this name.", option=Option("its versions")),
    one_of("origin", Choice(Bundle.Origin.choices), "Made here, or uploaded.", option=Option(checked=True)),
)

TRUSTED_KEY = Noun(
    "trusted_key",
    Field(
        "name",
        Reference(100, 1),
        "Whose key it is.",
        READ | Use.CREATE,
        required=True,
        label=_("Whose key"),
    ),
    Field(
        "public_key",
        Reference(100, 1),
        "An Ed25519 public key: 32 bytes in base64.",
        READ | Use.CREATE,
        required=True,
        label=_("Public key"),
        option=Option(metavar="KEY"),
    ),
    Field("created_by", Reference(200), use=READ),
    answered_time("created_at"),
)


def check_slug(name: str, text: str, pattern: str) -> str:
    """Check a name of a bundle or a template, which is part of addresses and branches. Raises Invalid."""
    if not re.fullmatch(pattern, text):
        raise Invalid("{field} is made of a–z and 0–9, with single '.', '_' or '-' between them.", field=name)
    refuse_secret(name, text)
    return text
