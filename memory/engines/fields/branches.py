"""The fields of a branch."""

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.common import answered_time
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Flag, Pattern, Reference, TagList, Text, Whole

TOOL = Use.TOOL_ANSWER
CREATE = READ | TOOL | Use.CREATE | Use.TOOL_CREATE
DETAIL = READ | Use.CREATE | Use.UPDATE | Use.OPTION  # what people keep about a branch
MAX_TTL_DAYS = 3650
# No segment is a dot, and no two dots follow each other.
BRANCH_NAME = r"^(?!(.*/)?\.(/|$))(?!.*\.\.)[a-z0-9._-]+(/[a-z0-9._-]+)*$"

BRANCH = Noun(
    "branch",
    Field(
        "name",
        Pattern(200, regex=BRANCH_NAME),
        "Segments of a–z, 0–9, '.', '_' and '-', with '/' between them.",
        CREATE,
        required=True,
        label=_("Name"),
        form_help=_("a–z, 0–9, '.', '_', '-' in segments between '/'"),
        tool_help="A path of a–z, 0–9, '.', '_', '-', such as task/fix-login.",
    ),
    Field(
        "parent",
        Reference(200, 1),
        "main when it is not given.",
        CREATE,
        answer_null=True,
        label=_("Forked from"),
        form_label=_("Parent"),
        option=Option("default main", metavar="NAME"),
        tool_help="Where it begins; default: the branch in use.",
    ),
    Field(
        "fork_seq",
        Whole(),
        use=READ,
        label=_("At commit"),
        answer_help="The seq of the parent that it starts from.",
    ),
    Field("depth", Whole(), use=READ),
    Field("head", Whole(), use=READ | TOOL, answer_help="The seq of its newest commit."),
    answered_time("head_at", TOOL),
    Field("cycle", Whole(), use=READ),
    Field(
        "purpose",
        Text(500),
        use=CREATE | Use.UPDATE | Use.OPTION,
        label=_("Purpose"),
        tool_help="What it is for, up to 500 characters.",
        option=Option("what it is for"),
    ),
    Field(
        "owner",
        Text(200),
        "Who answers for it: a person, a team or an agent.",
        DETAIL,
        label=_("Owner"),
        form_help=_("Who answers for it"),
        option=Option("who answers for it", metavar="NAME"),
    ),
    Field(
        "ttl_days",
        Whole(1, MAX_TTL_DAYS),
        "It expires so many days after its last change; null: never.",
        DETAIL,
        null=True,
        label=_("Days to live"),
        form_help=_("It expires so many days after its last change; empty: never"),
        option=Option("it expires so many days after its last change", "--ttl-days"),
    ),
    Field(
        "tags",
        TagList(),
        "At most 50, of at most 100 characters.",
        DETAIL,
        label=_("Tags"),
        form_help=_("With commas between them"),
        option=Option("a tag, several times for several", "--tag"),
    ),
    Field(
        "ahead",
        Whole(),
        use=READ | TOOL,
        label=_("Ahead"),
        answer_help="Its own commits that no merge has brought to the parent; of main, all.",
    ),
    Field(
        "behind",
        Whole(),
        use=READ | TOOL,
        label=_("Behind"),
        answer_help="Commits of the parent since the fork that no merge has brought here.",
    ),
    Field("read_only", Flag(), use=READ, answer_help="It takes no commits: fork it."),
    answered_time("created_at"),
    Field("created_by", Reference(200), use=READ),
    answered_time("archived_at", null=True),
)
BRANCH_FILTERS = BRANCH.filtered_by(
    one_of("archived", Flag(), "true lists archived branches too.", option=Option("archived ones too")),
    one_of(
        "name",
        Reference(200),
        "Branches whose names have this part.",
        option=Option("whose names have this part", metavar="PART"),
    ),
    one_of(
        "owner", Reference(200), "Branches of this owner.", option=Option("of this owner", metavar="NAME")
    ),
    one_of("tag", Reference(100), "Branches with this tag.", option=Option("with this tag", metavar="TAG")),
)
