"""``day1 demo``: a memory to look at, and the way to be rid of it."""

import sys
from collections.abc import Mapping

from day1site.cli.client import server_url
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import note
from day1site.cli.parameters import switch
from day1site.cli.transport.local_store import find_actor, open_store

# What is counted, by the name of the model, as one and as many.
NAMES = {
    "Fact": ("fact", "facts"),
    "Version": ("version", "versions"),
    "FactLink": ("link", "links"),
    "Conversation": ("conversation", "conversations"),
    "Message": ("message", "messages"),
    "Observation": ("observation", "observations"),
    "Relation": ("relation", "relations"),
    "Session": ("session", "sessions"),
    "Branch": ("branch", "branches"),
    "Commit": ("commit", "commits"),
    "ApiKey": ("key", "keys"),
}

LOADED = """Loaded into the project demo: {counts}.
Half a year of a made-up team that builds a payment service; a running server gives it vectors.

  day1 search "why was a payout file sent twice?" --project demo
  day1 branch log --project demo
  day1 demo --remove    takes it away again"""


@command(
    "demo",
    "Load a memory to look at: half a year of a made-up team, in a project of its own.",
    "day1 demo",
    "day1 demo --remove",
)
@switch("--remove", help="take it out of the store again")
@switch("--yes", help="do not ask before it is removed")
@switch("--force", help="remove it with what others wrote into it, too")
def demo(run: Invocation, remove: bool, yes: bool, force: bool) -> None:
    if server_url():
        raise local_only("demo")
    if not remove and (yes or force):
        raise UsageError("--yes and --force go with --remove.")
    open_store(make=not remove)
    if remove:
        remove_demo(run, yes, force)
    else:
        load_demo(run)


def load_demo(run: Invocation) -> None:
    from day1site.demo import loader

    counts, new = loader.load(find_actor(run.project))
    text = LOADED if new else "The demo is here already: {counts}. Nothing was changed."
    answer = {"project": loader.SLUG, "loaded": new, "counts": counts}
    run.show_line(answer, text.format(counts=format_counts(counts)))


def remove_demo(run: Invocation, yes: bool, force: bool) -> None:
    from day1site.demo import loader

    actor = find_actor(run.project)
    counts, foreign = loader.load_counts()
    note(f"The project demo holds {format_counts(counts)}.")
    if foreign:
        note(f"Done in it by others: {loader.format_counts(foreign)}.")
    if not (foreign and not force):  # refused anyway
        confirm(yes)
    removed = loader.remove(actor, force=force)
    answer = {"project": loader.SLUG, "removed": True, "counts": removed}
    run.show_line(answer, f"Removed: {format_counts(removed)}.")


def confirm(yes: bool) -> None:
    """Ask a person. Raises UsageError where nobody can be asked, CliError for every answer but yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("--yes is needed where nobody can be asked.")
    note("Remove all of it, its history too? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CliError("conflict", "Nothing was removed.")


def format_counts(counts: Mapping[str, int]) -> str:
    rows = [(counts.get(model, 0), names) for model, names in NAMES.items()]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, (one, many) in rows if count)
