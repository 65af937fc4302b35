"""The commands on verification: a verdict of your own, a rating by the judge, batches, calibration."""

from typing import Any

from day1site.cli.client import Client
from day1site.cli.declared_fields import FILTERS, filter_options, split_filters
from day1site.cli.errors import UsageError
from day1site.cli.invocation import Invocation, command
from day1site.cli.names import FILTER_PREFIX
from day1site.cli.operation_commands import Noun
from day1site.cli.output import note, print_pairs, print_rows
from day1site.cli.parameters import (
    WHOLE,
    OneOf,
    argument,
    branch_option,
    drop_empty,
    expected_version_option,
    option,
    switch,
)
from day1site.cli.transport.rest import Answer
from day1site.cli.waiting import wait_for

VERDICTS = ("verified", "invalidated", "unverified")  # that a person gives
DONE_STATES = ("done", "stopped", "failed")

GROUP = Noun("verification", "day1 verification batch --limit 200", default="jobs")
fact_filters = filter_options("fact", FILTER_PREFIX, section=FILTERS, metavar="X")


@command(
    "verify",
    "Give your verdict on what a fact says now; without one the judge rates it by its evidence.",
    'day1 verify 0197… verified --reason "read the code"',
    "day1 verify 0197…",
)
@argument("id", "FACT_ID")
@argument(
    "verdict",
    "VERDICT",
    type=OneOf(VERDICTS),
    required=False,
    help=f"{', '.join(VERDICTS)}; default what the judge says",
)
@option("--reason", default="", metavar="TEXT", help="why, in words; with a verdict")
@branch_option
@expected_version_option
def verify(run: Invocation, id: str, branch: str, verdict: str | None, reason: str, **options: Any) -> None:
    client = run.open_client()
    where = {"fact_id": id, "branch": branch}
    if verdict:
        fact = client.call("facts.verify", verdict=verdict, reason=reason, **where, **options)
        run.show_line(fact, f"{fact['id']}\t{fact['verification_status']} on {branch}")
        return
    if reason:
        raise UsageError("--reason goes with a verdict of your own.")
    follow_job(client, client.call("facts.verify", **where, **options))
    row = client.call("facts.verification", **where)
    run.show(row, print_rating)


def follow_job(client: Client, job: Answer) -> Answer:
    """Wait for a job, and show how far it is; on a store without a server it is carried out here."""
    client.streams.carry_out("curation.verify", job["id"])
    return wait_for(client, "jobs.retrieve", job, DONE_STATES, "Verifying")


def print_rating(row: Answer) -> None:
    """Show what is known of a fact's verdict and its newest rating."""
    rating = row["rating"]
    print_pairs({"id": row["id"], "verdict": row["verification_status"], "by": row["verified_by"]})
    if rating is None:
        return
    by = rating["model"] if rating["method"] == "judge" else "the heuristic, which is no judgement"
    print_pairs({"rated by": by, "average": rating["average"], "gives": rating["verdict"]})
    print_rows(rating["scores"], "dimension", "score=value", "why=explanation")
    if rating["fallback"]:
        note(rating["fallback"])


@GROUP.action(
    "batch",
    "Verify facts of a branch: by default the newest that have no verdict.",
    "day1 verification batch --limit 200 --budget 200",
    "day1 verification batch --category decision --votes 3",
)
@branch_option
@option("--limit", type=WHOLE, metavar="N", help="at most so many facts; default 50")
@option("--budget", type=WHOLE, metavar="N", help="calls of the judge at most; default the server's")
@option("--votes", type=WHOLE, metavar="N", help="answers on each fact, 1 to 9; default the server's")
@switch("--again", help="also texts that were rated before")
@fact_filters
def start_batch(run: Invocation, branch: str, **options: Any) -> None:
    filters, rest = split_filters("fact", options)
    client = run.open_client()
    body = drop_empty({**rest, "filters": drop_empty(filters) or None})
    job = follow_job(client, client.call("verification.batch", branch=branch, **body))
    run.show(job, print_job)


def print_job(job: Answer) -> None:
    print_pairs(
        {
            "id": job["id"],
            "state": job["state"],
            "facts": f"{job['done']} of {job['total']} on {job['branch']}",
            **job["counts"],
            "calls of the judge": f"{job['calls']} of {job['budget']}",
            "tokens": f"{job['input_tokens']} read, {job['output_tokens']} written",
        }
    )
    if why := job["fallback"] or job["note"]:
        note(why)


GROUP.add_list(
    "jobs.list",
    "List the batches, the newest first.",
    "day1 verification jobs --limit 5",
    name="jobs",
    empty="No batch was begun yet.",
)
GROUP.add_operation(
    "jobs.retrieve",
    "Show how far a batch is.",
    "day1 verification job 0197…",
    name="job",
    show=print_job,
)


@GROUP.action(
    "summary", "Count the facts of a branch by verdict.", "day1 verification summary --branch task/login"
)
@branch_option
def summary(run: Invocation, branch: str) -> None:
    row = run.open_client().call("verification.summary", branch_name=branch)
    judge = row["judge"] or "none: the heuristic alone rates, which is no judgement"
    run.show(row, lambda _: print_pairs({**row["verification"], "judge": judge}))


@GROUP.action(
    "gate",
    "Say whether a branch passes the verification gate with what a merge would bring.",
    "day1 verification gate task/login",
    'day1 verification gate task/login --verify --reason "read all of them"',
)
@argument("source", "BRANCH")
@option("--into", metavar="NAME", help="the branch to merge into; default the parent")
@switch("--allow-unverified", help="only facts that were judged to be wrong stop it")
@switch("--verify", help="verify all facts that wait for it as a person who has read them, then check again")
@option("--reason", default="", metavar="TEXT", help="why, in words; with --verify")
def check_gate(
    run: Invocation, source: str, into: str | None, allow_unverified: bool, verify: bool, reason: str
) -> int:
    """End with status 1 where it does not pass."""
    if reason and not verify:
        raise UsageError("--reason goes with --verify.")
    client = run.open_client()
    body = drop_empty({"source_branch": source, "target_branch": into})
    body["require_verified"] = not allow_unverified
    row = client.call("verification.merge_gate", **body)
    while verify and row["verifiable"]:
        fields = drop_empty({"fact_ids": row["verifiable"], "reason": reason, "branch": source})
        done = client.call("facts.actions", action="verify", **fields)
        row = client.call("verification.merge_gate", **body)
        verify = any(one["outcome"] == "done" for one in done["results"])
    run.show(row, print_gate)
    return 0 if row["can_merge"] else 1


def print_gate(row: Answer) -> None:
    counts = {name: row[name] for name in VERDICTS}
    print_pairs({"passes": "yes" if row["can_merge"] else "no", "into": row["target"], **counts})
    for uid in row["offending"]:
        print(uid)
    if row["verifiable"]:
        note(f"Once you have read them: day1 verification gate {row['source']} --verify")


@GROUP.operation(
    "verification.calibration",
    "Compare the judge with people's verdicts.",
    "day1 verification calibration",
)
def print_calibration(found: Answer) -> None:
    for one in found["results"]:
        judge = f"{one['model']}, {one['prompt']}" if one["model"] else "all judges"
        print_pairs({"judge": judge, **{name: one[name] for name in ("pairs", "agreement", "kappa")}})
        if one["pairs"]:
            columns = list(one["table"])
            rows = [{"person said": person, **one["table"][person]} for person in columns]
            print_rows(rows, "person said", *columns)
