"""What may be done with policies; the one in force on a branch is an operation of branches."""

from memory.answers.policies import PolicyShape, render, render_written
from memory.engines.access.policies import PolicyEngine
from memory.engines.fields.base import Use
from memory.engines.fields.policies import POLICY
from memory.models import BranchPolicy
from memory.operations.base import GONE, Answer, Resource, Row

engine = PolicyEngine()
ROW = Answer(PolicyShape, render)

POLICIES = Resource("policies", "policy", row=Row("pattern", "pattern", pattern=".+?"), model=BranchPolicy)
POLICIES.add("list", engine.list_policies, "List policies by pattern", ROW)
POLICIES.add("retrieve", engine.get_entry, "Read the policy of a pattern", ROW)
POLICIES.add(
    "partial_update",
    engine.set_policy,
    "Set rules of a policy, or make one",
    Answer(PolicyShape, render_written, lambda done: done[1]),
    body="PolicyInput",
    about="Rules of a policy; what is not given stays as it is.",
    fields=POLICY.select_fields(Use.UPDATE),
)
POLICIES.add("destroy", engine.delete_policy, "Delete a policy", GONE)
