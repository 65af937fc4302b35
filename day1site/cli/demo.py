"""``day1 demo``: a memory to look at, and the way to be rid of it."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from day1site.cli.client import server
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.output import Output, note
from day1site.cli.store import open_store

# What is told of it, by the name of the model, as one and as many.
NAMES = {
    "Fact": ("fact", "facts"), "Version": ("version", "versions"), "FactLink": ("link", "links"),
    "Conversation": ("conversation", "conversations"), "Message": ("message", "messages"),
    "Observation": ("observation", "observations"), "Relation": ("relation", "relations"),
    "Session": ("session", "sessions"), "Branch": ("branch", "branches"), "Commit": ("commit", "commits"),
    "ApiKey": ("key", "keys"),
}  # fmt: skip

LOADED = """Loaded into the project demo: {counts}.
Half a year of a made-up team that builds a payment service; a running server gives it vectors.

  day1 search "why was a payout file sent twice?" --project demo
  day1 branch log --project demo
  day1 demo --remove    takes it away again"""


def demo(args: Namespace) -> None:
    if server():
        raise local_only("demo")
    if not args.remove and (args.yes or args.force):
        raise UsageError("--yes and --force go with --remove.")
    open_store(make=not args.remove)
    _remove(args) if args.remove else _load(args)


def _load(args: Namespace) -> None:
    from day1site.cli.local import DEFAULT, actor_for
    from day1site.demo import loading

    counts, new = loading.load(actor_for(args.project or DEFAULT))
    text = LOADED if new else "The demo is here already: {counts}. Nothing was changed."
    out = Output(args.format)
    answer = {"project": loading.SLUG, "loaded": new, "counts": counts}
    out.show(answer, lambda: out.line(text.format(counts=_counted(counts))))


def _remove(args: Namespace) -> None:
    from day1site.cli.local import DEFAULT, actor_for
    from day1site.demo import loading

    actor = actor_for(args.project or DEFAULT)
    counts, foreign = loading.look()
    note(f"The project demo holds {_counted(counts)}.")
    if foreign:
        note(f"Done in it by others: {loading.told(foreign)}.")
    if not (foreign and not args.force):  # refused anyway
        _ask(args.yes)
    gone = loading.remove(actor, force=args.force)
    out = Output(args.format)
    answer = {"project": loading.SLUG, "removed": True, "counts": gone}
    out.show(answer, lambda: out.line(f"Removed: {_counted(gone)}."))


def _ask(yes: bool) -> None:
    """Raises UsageError where nobody can be asked, CliError for every answer but yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("--yes is needed where nobody can be asked.")
    note("Remove all of it, its history too? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CliError("conflict", "Nothing was removed.")


def _counted(counts: Mapping[str, int]) -> str:
    found = [(counts.get(model, 0), names) for model, names in NAMES.items()]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, (one, many) in found if count)
