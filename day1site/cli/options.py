"""The options that several commands have."""

import argparse
import json
from typing import Any

Parser = argparse.ArgumentParser

STATUSES = ("created", "active", "done", "superseded", "archived")
INCLUDE = ("superseded", "archived", "created", "expired", "outdated", "invalidated")


def json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"not a JSON object: {text}")
    return value


def branch(parser: Parser, many: bool = False) -> None:
    if many:
        parser.add_argument(
            "--branch", action="append", metavar="NAME",
            help="default main; several times, or a pattern such as 'task/*', searches them all",
        )  # fmt: skip
    else:
        parser.add_argument("--branch", default="main", metavar="NAME", help="default main")


def at(parser: Parser) -> None:
    parser.add_argument(
        "--at", metavar="POINT", help="as it was then: a seq, a commit's id or a time such as 2026-05-01"
    )


def paging(parser: Parser, all_pages: bool = True) -> None:
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, 1 to 100; default 50")
    parser.add_argument(
        "--cursor", metavar="TEXT", help="where the page before said that the next one begins"
    )
    if all_pages:
        parser.add_argument("--all", action="store_true", help="every page, one after the other")


def who(parser: Parser) -> None:
    for name in ("session", "agent", "task"):
        parser.add_argument(f"--{name}", dest=f"{name}_id", metavar="ID", help=f"the {name} that says it")


def content(parser: Parser) -> None:
    """The fields of a fact; what the store takes, it says itself."""
    add = parser.add_argument
    add("--category", metavar="NAME", help="such as decision, bug_fix, preference; default general")
    add("--kind", metavar="KIND", help="OBSERVATION (default), BELIEF, TASK, OUTPUT_DRAFT, NOTE")
    add("--priority", metavar="P", help="P1 to P4; default P3")
    add("--confidence", type=float, metavar="X", help="0 to 1; default 0.7")
    add("--essence", metavar="TEXT", help="the line that goes into a prompt; default: the first sentence")
    add("--tag", dest="tags", action="append", metavar="TAG", help="as often as wanted")
    add("--metadata", type=json_object, metavar="JSON", help='such as \'{"file": "auth.py"}\'')
    add("--source", metavar="TEXT", help="where it comes from, in words")
    add("--source-id", metavar="ID", help="and its id there")
    add("--valid-from", metavar="TIME", help="since when it is true in the world")
    add("--valid-until", metavar="TIME", help="until when")
    add("--expires-at", metavar="TIME", help="from then on no search finds it")
    add("--visibility", metavar="NAME", help="private, selective (default), public")
    add("--origin", metavar="NAME", help="EXPERIENCE (default), SEEDED_LLM, DISTILLED_LLM")
    add("--pinned", action="store_true", default=None, help="keep it at hand")


def filters(parser: Parser) -> None:
    group = parser.add_argument_group("filters, each as often as wanted where several values make sense")

    def add(flag: str, name: str, text: str, **how: Any) -> None:
        group.add_argument(flag, dest=f"filter_{name}", action="append", metavar="X", help=text, **how)

    add("--category", "category", "one of these categories")
    add("--kind", "kind", "one of these kinds")
    group.add_argument("--status", dest="filter_status", action="append", choices=STATUSES, metavar="STATUS",
                       help=f"one of {', '.join(STATUSES)}")  # fmt: skip
    add("--priority", "priority", "one of these priorities")
    add("--tag", "tags", "all of these tags")
    add("--session", "session_id", "written in one of these sessions")
    add("--agent", "agent_id", "written by one of these agents")
    add("--task", "task_id", "written for one of these tasks")
    for flag, text in (
        ("verification", "unverified, verified or invalidated"),
        ("created-after", "stored at this time or later"),
        ("created-before", "stored before this time"),
        ("valid-at", "true in the world at this time"),
    ):
        name = "verification_status" if flag == "verification" else flag.replace("-", "_")
        group.add_argument(f"--{flag}", dest=f"filter_{name}", metavar="X", help=text)
    group.add_argument(
        "--min-confidence", dest="filter_min_confidence", type=float, metavar="X", help="0 to 1"
    )


def wish(parser: Parser) -> None:
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, 1 to 100; default 10")
    parser.add_argument(
        "--type", dest="search_type", choices=("hybrid", "keyword", "vector"), help="default hybrid"
    )
    parser.add_argument("--recipe", metavar="NAME", help="how the parts of the score are mixed")
    parser.add_argument(
        "--include", action="append", choices=INCLUDE, metavar="STATE",
        help=f"what is left out otherwise: {', '.join(INCLUDE)}",
    )  # fmt: skip
    at(parser)


def expecting(parser: Parser) -> None:
    parser.add_argument(
        "--expected-version", type=int, metavar="N", help="only if it is still at this version"
    )
