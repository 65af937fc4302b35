"""The commands on projects: their settings, and for who keeps the server all of them, with templates."""

import json
import sys
import time
from typing import Any

from day1site.cli.client import Client, server_url
from day1site.cli.declared_fields import field_options
from day1site.cli.errors import CliError, UsageError
from day1site.cli.invocation import Invocation, read_text
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs
from day1site.cli.parameters import OneOf, argument, option, switch
from day1site.cli.transport.local_store import DEFAULT_PROJECT
from day1site.cli.transport.rest import NULL, Answer

GROUP = Noun("project", "day1 project show", default="show")
FLAGS = (
    "redact_secrets",
    "age_facts",
    "consolidate_agents",
    "propose_reflections",
    "dream_allow_zero_confirmation",
)
TRUTHS = OneOf(("true", "false"))
NULLABLE = ("least_evidence", "stale_after_days", "fact_budget", "member_limit", "user_fact_limit")
POLL_SECONDS = 1.0
slug_argument = argument("slug", "SLUG")

GROUP.add_list(
    "projects.list",
    "List projects by slug: all of them on the local store and for a key of the server.",
    "day1 project list --name acme",
    empty="No project.",
)


@GROUP.action("show", "Show the settings of a project.", "day1 project show", "day1 project show acme")
@argument("slug", "SLUG", required=False)
def show(run: Invocation, slug: str | None) -> None:
    client = run.open_client(of_server=True)
    run.show(client.call("projects.retrieve", project_slug=find_slug(run, client, slug)))


def find_slug(run: Invocation, client: Client, slug: str | None) -> str:
    """Return the slug that is named, else that of the only project or of the local store's default."""
    if slug or run.project:
        return slug or run.project
    rows = client.call("projects.list", limit=2)["results"]
    if len(rows) == 1 or not server_url():
        return str(rows[0]["slug"]) if len(rows) == 1 else DEFAULT_PROJECT
    raise UsageError("This key knows several projects: name one.")


@GROUP.action(
    "create",
    "Make a project: with a template, settings, members and a first key.",
    "day1 project create acme --name Acme --template support --member vera:maintainer",
    "day1 project create acme --key-scope write",
)
@slug_argument
@option("--name", metavar="TEXT", help="what people call it; default: the slug")
@option("--template", metavar="NAME", help="what it begins with")
@option("--member", "members", metavar="NAME[:ROLE]", multiple=True, help="an account that becomes a member")
@option("--member-limit", metavar="N", type=int, help="how many members it may have")
@option("--key-scope", metavar="SCOPE", multiple=True, help="make a first key with this scope")
def create(
    run: Invocation, slug: str, members: tuple[str, ...], key_scope: tuple[str, ...], **fields: Any
) -> None:
    values = {name: value for name, value in fields.items() if value is not None}
    values |= {"members": [read_member(one) for one in members]} if members else {}
    values |= {"key": {"scopes": list(key_scope)}} if key_scope else {}
    client = run.open_client(makes_store=True, of_server=True)
    run.show(client.call("projects.create", slug=slug, **values), print_new)


def read_member(text: str) -> dict[str, str]:
    name, _colon, role = text.partition(":")
    return {"username": name, **({"role": role} if role else {})}


def print_new(row: Answer) -> None:
    print(row["slug"])
    if row["token"]:
        print(row["token"])
        note("This is the only time that the token is shown.")


@GROUP.action(
    "rename",
    "Give a project another slug: pages at the old one lead to it, REST and --project know only the new one.",
    "day1 project rename acme acme-support",
)
@slug_argument
@argument("new", "NEW")
def rename(run: Invocation, slug: str, new: str) -> None:
    client = run.open_client(of_server=True)
    row = client.call("projects.partial_update", project_slug=slug, slug=new)
    run.show_line(row, f"{slug}\t{row['slug']}")


@GROUP.action(
    "delete",
    "Remove a project with all that it holds: memory, history, keys, members and trail.",
    "day1 project delete acme",
    "day1 project delete acme --confirm acme",
)
@slug_argument
@option("--confirm", metavar="SLUG", help="the slug once more, where nobody can be asked")
@switch("--no-wait", help="do not wait until a server has taken it away")
def delete(run: Invocation, slug: str, confirm: str | None, no_wait: bool) -> None:
    client = run.open_client(of_server=True)
    typed = ask_slug(client, slug) if confirm is None else confirm
    done = client.call("projects.destroy", project_slug=slug, confirm=typed)
    while done["state"] == "removing" and not no_wait:
        time.sleep(POLL_SECONDS)
        done = look_again(client, done)
    run.show_line(done, f"{slug}\t{done['state']}\t{done['removed']} of {done['rows']} rows")


def ask_slug(client: Client, slug: str) -> str:
    """Have a person type the slug. Raises UsageError where nobody can be asked."""
    row = client.call("projects.retrieve", project_slug=slug)
    if not sys.stdin.isatty():
        raise UsageError("--confirm is needed where nobody can be asked.")
    note(f"Remove {row['name']} with all its memory and history? Type {row['slug']}:")
    return sys.stdin.readline().strip()


def look_again(client: Client, done: Answer) -> Answer:
    """Return how far a removal has come."""
    try:
        removal = client.call("projects.retrieve", project_slug=done["slug"])["removal"]
    except CliError as error:
        if error.code != "not_found":
            raise
        return {**done, "state": "removed", "removed": done["rows"]}
    return {**done, "removed": removal["removed"]}


GROUP.add_list(
    "project-templates.list",
    "List templates of projects.",
    "day1 project templates",
    name="templates",
    columns=("name", "made=created_at", "by=created_by"),
    empty="No template of projects.",
)


@GROUP.action(
    "save-template",
    "Keep what a project has as a template: settings, policies, instructions and members.",
    "day1 project save-template support --from acme",
    'day1 project save-template support --parts \'{"settings": {"age_facts": true}}\'',
)
@argument("name", "NAME")
@option("--from", "source", metavar="SLUG", help="take what this project has")
@option("--parts", metavar="JSON", help="parts that are given; - reads them from standard input")
def save_template(run: Invocation, name: str, source: str | None, parts: str | None) -> None:
    client = run.open_client(of_server=True)
    row = client.call("project-templates.create", name=name, project=source, **read_parts(parts))
    run.show_line(row, row["name"])


def read_parts(text: str | None) -> dict[str, Any]:
    """Return the parts that are given as JSON. Raises UsageError."""
    try:
        parts = json.loads(read_text(text)) if text else {}
    except ValueError:
        raise UsageError("--parts is no JSON.") from None
    if not isinstance(parts, dict) or {"name", "project"} & parts.keys():
        raise UsageError("--parts must be an object of parts, such as settings or policies.")
    return parts


GROUP.add_operation(
    "project-templates.retrieve",
    "Show a template of projects.",
    "day1 project show-template support",
    name="show-template",
    show=print_pairs,
)
GROUP.add_operation(
    "project-templates.destroy",
    "Delete a template: projects made with it stay as they are.",
    "day1 project delete-template support",
    name="delete-template",
    line="{name}\tdeleted",
)
GROUP.add_list(
    "server.trail",
    "List what was done with projects, their templates and keys of the server; it outlives them.",
    "day1 project trail --action project.remove",
    name="trail",
    columns=("at", "action", "target", "by=actor_label", "kind=actor_kind"),
    empty="Nothing was done yet.",
)


@GROUP.action(
    "set",
    "Change settings of the project: what is not given stays as it is.",
    "day1 project set --least-evidence 0.2",
    "day1 project set --redact-secrets true",
    "day1 project set --stale-after-days 180 --fact-budget 20000 --age-facts true",
    "day1 project set --propose-reflections true --dream-min-size 4 --consolidate-agents true",
)
@field_options("project")
@switch("--no-least-evidence", help="the least that was measured for the embedder")
@switch("--no-stale-after-days", help="facts never become stale")
@switch("--no-fact-budget", help="a branch may have any number of facts in use")
@switch("--no-member-limit", help="it may have any number of members")
@switch("--no-user-fact-limit", help="an end user may have any number of facts")
@option("--redact-secrets", type=TRUTHS, help="whether secrets are taken out of what is written")
@option("--age-facts", type=TRUTHS, help="whether facts age every day by themselves")
@option("--consolidate-agents", type=TRUTHS, help="whether what agents learned twice is merged every night")
@option("--propose-reflections", type=TRUTHS, help="whether reflections are proposed every night")
@option("--dream-allow-zero-confirmation", type=TRUTHS, help="whether dreaming reads what nobody confirmed")
def set_settings(run: Invocation, **options: Any) -> None:
    emptied = [name for name in NULLABLE if options.pop(f"no_{name}")]
    settings = {name: value for name, value in options.items() if value is not None}
    settings |= {name: settings[name] == "true" for name in FLAGS if name in settings}
    for name in emptied:
        if name in settings:
            flag = name.replace("_", "-")
            raise UsageError(f"--no-{flag} and --{flag} exclude each other.")
        settings[name] = NULL
    client = run.open_client(makes_store=True, of_server=True)
    row = client.call("projects.partial_update", project_slug=find_slug(run, client, None), **settings)
    run.show(row)
