"""What has standing in a repository, for files that tell everybody: verified, or decided by a person."""

from typing import Annotated

from django.utils import timezone

from memory.actors import Actor
from memory.db.united import read_together
from memory.engines.fields.base import Field
from memory.engines.fields.types import Text
from memory.engines.sessions.lines import is_from_file
from memory.engines.sessions.relevant import Entry, choose_order, list_relevant, plan_relevant
from memory.engines.versions.branch_access import holds_untrusted
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Conflict, Invalid
from memory.models import Fact, FactAssessment, Session
from memory.redaction import count_marks

MAX_STATEMENTS = 100
OF_REPOSITORY = Field("repository", Text(1000), "As its hooks name it, such as github.com/acme/shop.")


def list_standing(
    *, actor: Actor, branch_name: str = MAIN, repository: Annotated[str, OF_REPOSITORY] = ""
) -> list[Entry]:
    """Return at most 100 entries of a repository that have standing, in the order in which they were said.

    Needs the scope read. Raises Invalid without a repository, Conflict where the branch holds what nobody has
    taken over yet, such as an import, BranchNotFound, scope and branch refusals.
    """
    actor.require_scope("read", branch_name)
    branch = find_branch(actor, branch_name)
    path = str(OF_REPOSITORY.check("repository", repository))
    if not path:
        raise Invalid("{field} is needed.", field="repository")
    session = Session(project_id=actor.project_id, branch=branch, project_path=path)
    lineage, now = branch.lineage(), timezone.now()
    if holds_untrusted(lineage):
        raise Conflict("What {name} holds was not taken over yet: propose and merge it.", name=branch.name)
    newest = plan_relevant(session, lineage, now)
    read_together(newest.statements)
    found = [entry for entry in list_relevant(session, lineage, now, newest) if has_standing(entry)]
    best = choose_order(found, now)[:MAX_STATEMENTS]
    return sorted(best, key=lambda entry: (entry.at, entry.fact.uid))


def has_standing(entry: Entry) -> bool:
    """Return whether everybody in the repository may be told an entry as what holds.

    Nothing of an end user, nothing private, nothing that something newer contests, and nothing from which a
    secret was taken; and no task, which is over one day.
    """
    fact = entry.fact
    is_contested = entry.doubted is not None or entry.newer is not None
    is_open = fact.status == Fact.Status.ACTIVE and fact.kind != Fact.Kind.TASK
    is_private = bool(fact.user_id) or fact.visibility == Fact.Visibility.PRIVATE
    is_trusted = is_verified(fact) or (entry.is_persons and entry.is_decided)
    is_usable = not is_from_file(fact) and not count_marks(fact.fact_text)
    return entry.is_own and is_open and is_trusted and is_usable and not (is_contested or is_private)


def is_verified(fact: Fact) -> bool:
    return fact.verification_status == FactAssessment.Status.VERIFIED
