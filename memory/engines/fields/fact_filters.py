"""The filters of lists and searches of facts."""

from memory.engines.fields.base import NO_USE, Option
from memory.engines.fields.facts import FACT
from memory.engines.fields.filters import any_of, in_namespace, learned_in, one_of, owned_by
from memory.engines.fields.types import Flag, Identifier, Moment, Number, Reference

FACT_FILTERS = FACT.filtered_by(
    any_of(
        FACT["category"],
        "Facts of one of these categories.",
        Reference(100, 1),
        tools=True,
        option=Option("one of these categories"),
    ),
    any_of(
        FACT["kind"],
        "Facts of one of these kinds.",
        tools=True,
        tool_item="A kind.",
        option=Option("one of these kinds"),
    ),
    any_of(
        FACT["status"],
        "Facts in one of these states of their life.",
        option=Option(metavar="STATUS", checked=True),
    ),
    any_of(
        FACT["session_id"],
        "Facts written in one of these sessions.",
        tools=True,
        option=Option("written in one of these sessions", "--session"),
    ),
    any_of(
        FACT["agent_id"],
        "Facts written by one of these agents.",
        tools=True,
        option=Option("written by one of these agents", "--agent"),
    ),
    any_of(
        FACT["task_id"],
        "Facts written for one of these tasks.",
        option=Option("written for one of these tasks", "--task"),
    ),
    *owned_by("Facts"),
    any_of(FACT["priority"], "Facts of one of these priorities.", option=Option("one of these priorities")),
    any_of(FACT["visibility"], "Facts of one of these visibilities.", use=NO_USE),
    any_of(FACT["source_type"], "Facts that came about in one of these ways.", use=NO_USE),
    any_of(
        FACT["source_id"], "Facts with one of these ids at their source.", option=Option("one of these ids")
    ),
    any_of(FACT["origin"], "Facts of one of these origins.", use=NO_USE),
    any_of(
        FACT["tags"],
        "Facts that have all of these tags.",
        Reference(100, 1),
        tools=True,
        option=Option("all of these tags", "--tag"),
    ),
    one_of(
        "tag_prefix", Reference(100), "Facts with a tag that begins so.", option=Option("a tag's beginning")
    ),
    one_of(
        "verification_status",
        FACT["verification_status"].type,
        "Facts with this verdict on what they say now.",
        tool_help="Only facts with this verdict.",
        option=Option("unverified, plausible, verified or invalidated", "--verification"),
    ),
    one_of(
        "min_confidence",
        Number(),
        "Facts with at least this confidence, 0 to 1.",
        tool_help="Only facts with at least this confidence.",
        option=Option("0 to 1"),
    ),
    one_of("max_confidence", Number(), "Facts with at most this confidence, 0 to 1.", use=NO_USE),
    one_of(
        "created_after",
        Moment(),
        "Facts stored at this time or later.",
        tools=True,
        option=Option("stored at this time or later"),
    ),
    one_of(
        "created_before",
        Moment(),
        "Facts stored before this time.",
        tools=True,
        option=Option("stored before this time"),
    ),
    one_of(
        "valid_at",
        Moment(),
        "Facts that were true at this time.",
        tools=True,
        option=Option("true in the world at this time"),
    ),
    one_of("valid_after", Moment(), "Facts that were still true after this time.", use=NO_USE),
    one_of("valid_before", Moment(), "Facts that were true already before this time.", use=NO_USE),
    one_of("pinned", Flag(), "Facts that are, or are not, pinned.", use=NO_USE),
    one_of(
        "own",
        Flag(),
        "true: facts that the branch has written itself; false: those that it shows of others.",
        option=Option("written on the branch itself"),
    ),
    one_of("parent_id", Identifier(), "The facts that replace the fact with this id.", use=NO_USE),
    in_namespace(),
    learned_in("Facts", option=Option("learned in this repository", metavar="NAME")),
)
