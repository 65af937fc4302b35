"""What may be done with commits."""

from memory.answers import commits as shapes
from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.revert import RevertEngine
from memory.engines.fields.common import STATED
from memory.models import Commit
from memory.operations.base import Answer, Resource, Row

COMMITS = Resource("commits", "commit", row=Row("commit_id", "pk", "uuid"), model=Commit, origin=STATED)
COMMITS.add(
    "retrieve",
    CommitEngine().get_commit,
    "Read a commit",
    Answer(shapes.CommitDetailShape, shapes.commit_detail),
)
COMMITS.add(
    "revert",
    RevertEngine().revert_commit,
    "Undo a commit",
    Answer(shapes.CommitShape, shapes.commit, codes=(201,)),
    body="StatedInput",
    about="The caller.",
)
