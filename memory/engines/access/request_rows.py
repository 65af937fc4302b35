"""The rows that nearly every request asks for, read with its key in one statement."""

from memory.db.companions import Absence, Companion, fetch_with
from memory.engines.versions.lookup import MAIN
from memory.models import ApiKey, Branch, BranchPolicy, Project, ProjectUsage, VectorClock

OWN_BRANCH = f"CASE {{t}}.default_branch WHEN '' THEN '{MAIN}' ELSE {{t}}.default_branch END"
OF_KEY = (
    Companion(Project, {"id": "{t}.project_id"}, lambda key: {"id": key.project_id}),
    Companion(ProjectUsage, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Companion(VectorClock, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Absence(BranchPolicy, {"project": "{t}.project_id"}, lambda key: {"project": key.project_id}),
    Companion(
        Branch,
        {"project": "{t}.project_id", "name": OWN_BRANCH},
        lambda key: {"project": key.project_id, "name": key.default_branch or MAIN},
    ),
)


def read_key(prefix: str) -> ApiKey | None:
    """Return the key of a prefix; what its request asks for next is noted."""
    return fetch_with(ApiKey, OF_KEY, prefix=prefix)
