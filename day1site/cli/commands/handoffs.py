"""The commands on handoffs."""

from day1site.cli.operation_commands import Noun
from day1site.cli.output import print_pairs, print_rows
from day1site.cli.transport.rest import Answer

MADE = 'day1 handoff create --from task/login/ada --to task/login/bob --instructions "Mend the clock."'
GROUP = Noun("handoff", MADE)

GROUP.add_operation(
    "handoffs.create",
    "Hand work over to another agent or session: facts, messages and what is said of them.",
    MADE,
    line="{id}\thanded over to {target_branch}, facts: {fact_count}, messages: {message_count}",
)
GROUP.add_list(
    "handoffs.list",
    "List handoffs, the newest first.",
    "day1 handoff list --state pending",
    cells={"text": lambda row: row["context_summary"][:100]},
    empty="No handoff here.",
)


@GROUP.operation("handoffs.retrieve", "Show a handoff with its packet.", "day1 handoff show 0197…")
def print_handoff(row: Answer) -> None:
    parts = ("facts", "conversations", "handoff_id")
    print_pairs({name: value for name, value in row.items() if name not in parts})
    if row["facts"]:
        print_rows(row["facts"], "fact=id", "category", "verification=verification_status", "text=essence")
    messages = [
        {**message, "title": one["title"], "text": message["content"][:300]}
        for one in row["conversations"]
        for message in one["messages"]
    ]
    if messages:
        print_rows(messages, "conversation=title", "role", "text")


GROUP.add_operation(
    "handoffs.accept",
    "Accept a handoff: sessions that start on its branch begin with it.",
    "day1 handoff accept 0197…",
    line="{id}\t{state}, on {target_branch}",
)
GROUP.add_operation(
    "handoffs.reject",
    "Reject a handoff with a reason.",
    'day1 handoff reject 0197… --reason "The cause is unknown."',
    line="{id}\t{state}",
)
GROUP.add_deletion("handoffs", "a handoff", "handoffs", "0197…", "--state rejected")
