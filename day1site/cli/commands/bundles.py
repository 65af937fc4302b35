"""The commands on bundles and on the keys that sign them."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from day1site.cli.declared_fields import field_option
from day1site.cli.invocation import Invocation
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_rows
from day1site.cli.parameters import argument, branch_option, drop_empty, option, switch
from day1site.cli.transport.rest import Answer

MAX_FILE_BYTES = 16 * 1024 * 1024  # the server takes less, and says so
GROUP = Noun("bundle", "day1 bundle create payments --branch main")
bundle_argument = argument("bundle_id", "ID")


@GROUP.action("create", "Make a bundle of what a branch shows.", "day1 bundle create payments --branch main")
@argument("name", "NAME")
@branch_option
@field_option("bundle", "description")
@switch("--include-unverified", help="take unverified facts too; private and invalidated ones never are")
@switch("--conversations", help="with conversations, which a bundle of verified facts leaves out")
@switch("--no-conversations", help="without conversations")
@switch("--no-relations", help="without relations")
@switch("--unsigned", help="do not sign it")
@switch("--dry-run", help="say what would go along, and store nothing")
def create(run: Invocation, **options: Any) -> None:
    turned = {"include_unverified": "only_verified", "no_conversations": "conversations"}
    turned |= {"no_relations": "relations", "unsigned": "sign"}
    body = {turned[name]: False for name in turned if options.pop(name)}
    body = {**drop_empty(options), **body}
    row = run.open_client().call("bundles.create", **body)
    signed = ", signed" if row["signature"] else ""
    name = row["id"] or "would be made:"
    counts = ", ".join(f"{kind}: {count}" for kind, count in row["counts"].items())
    run.show_line(row, f"{name}\t{row['name']} v{row['version']}, {counts}{signed}")


GROUP.add_list(
    "bundles.list",
    "List bundles, the newest first.",
    "day1 bundle list --name payments",
    cells={
        "facts": lambda row: row["counts"].get("facts", 0),
        "signed": lambda row: bool(row["signature"]),
    },
    empty="No bundle here.",
)
GROUP.add_operation("bundles.retrieve", "Show what a bundle holds.", "day1 bundle show 0197…")


@GROUP.action("export", "Write the document of a bundle to a file.", "day1 bundle export 0197… payments.json")
@bundle_argument
@argument("file", "FILE", required=False, default="-")
def export(run: Invocation, bundle_id: str, file: str) -> None:
    data = run.open_client().call("bundles.export", bundle_id=bundle_id)
    text = json.dumps(data, ensure_ascii=False) + "\n"
    if file == "-":
        sys.stdout.write(text)
    else:
        Path(file).write_text(text, encoding="utf-8")
        note(f"{file}: {data['name']} v{data['version']}, sha256 {data['sha256']}")


@GROUP.action(
    "upload",
    "Import the document of a bundle from a file.",
    "day1 bundle upload payments.json --dry-run",
)
@argument("file", "FILE")
@option("--branch", "branch", metavar="NAME", help="default: bundle/NAME/vN, which is made of main")
@switch("--dry-run", help="say what it would do, and write nothing")
@switch("--require-trusted", help="refuse what nobody trusted has signed")
@option("--name", "name", metavar="NAME", help="keep it under another name")
@switch("--keep-only", help="keep it, and import nothing yet")
def upload(run: Invocation, file: str, **options: Any) -> None:
    query = {name: value for name, value in drop_empty(options).items() if value is not False}
    if not query.pop("keep_only", False):
        query["import"] = True
    found = run.open_client().transport.request("POST", "/bundles/upload", query, read_document(file))
    run.show(found, print_upload)


def read_document(file: str) -> Any:
    """Return the JSON object of a file. Raises UsageError."""
    return parse_document(file, read_bytes(file))


def read_bytes(file: str) -> bytes:
    """Return the content of a file, as far as a request can hold it. Raises UsageError."""
    try:
        with sys.stdin.buffer if file == "-" else open(file, "rb") as stream:
            return stream.read(MAX_FILE_BYTES)
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}") from None


def parse_document(file: str, content: str | bytes) -> dict[str, Any]:
    """Return the JSON object of a file's content. Raises UsageError, which names the file."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise click.UsageError(f"{file} is no JSON document.")
    return data


def print_upload(found: Answer) -> None:
    if found["dropped"] and not found["report"]:
        note(f"Not known here and dropped: {', '.join(found['dropped'])}")
    if row := found["bundle"]:
        print(f"{row['id']}\t{row['name']} v{row['version']}, kept")
    if found["report"]:
        print_report(found["report"])


def print_report(report: Answer) -> None:
    """Print what an import did, or would do."""
    print(f"{'would import' if report['dry_run'] else 'imported'} on {report['branch']}, {report['trust']}")
    counts = [{"kind": kind, **count} for kind, count in report["counts"].items()]
    print_rows(counts, "kind", "new", "duplicate", "refused")
    for warning in report["warnings"]:
        note(warning)
    for one in report["refused"]:
        note(f"{one['kind']} {one['id']}: {one['reason']}")


GROUP.add_operation(
    "bundles.import_stored",
    "Import a stored bundle on a branch.",
    "day1 bundle import 0197… --branch main --dry-run",
    name="import",
    show=print_report,
)
GROUP.add_deletion("bundles", "a bundle", "bundles", "0197…", "--name payments")


# ---- keys ------------------------------------------------------------------------------------------


@GROUP.action("key", "Show the public key with which the project signs.", "day1 bundle key --new")
@switch("--new", help="make one, or a new one in its place")
def show_key(run: Invocation, new: bool) -> None:
    row = run.open_client().call("signing-key.create" if new else "signing-key.list")
    run.show_line(row, row["public_key"])


GROUP.add_operation(
    "trusted-keys.create",
    "Trust the key of somebody else.",
    "day1 bundle trust Acme MCowBQYD…",
    name="trust",
    line="{name}\t{public_key}",
)


@GROUP.operation(
    "trusted-keys.list", "List the keys that the project trusts.", "day1 bundle trusted", name="trusted"
)
def print_trusted(found: Answer) -> None:
    print_rows(found["results"], "name", "key=public_key", "by=created_by")


GROUP.add_operation(
    "trusted-keys.destroy",
    "Trust a key no more.",
    "day1 bundle distrust Acme",
    name="distrust",
    line="{name}\ttrusted no more",
)
