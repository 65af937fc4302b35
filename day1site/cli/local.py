"""The client of the local store: engines, as the local user of one project, over the surface "cli"."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from day1site.cli import shapes
from day1site.cli.client import Answer, Export, Given, Importer
from day1site.cli.errors import CliError
from day1site.cli.local_capture import LocalCapture
from day1site.cli.points import point
from memory.actors import Actor, local_actor
from memory.engines import cleaning as c
from memory.engines.branches import BranchManager
from memory.engines.facts import FactEngine
from memory.engines.filters import FactFilter
from memory.engines.keys import KeyEngine
from memory.engines.snapshots import SnapshotManager
from memory.engines.workspaces import WorkspaceEngine
from memory.models import Project

DEFAULT = "default"


class LocalClient(LocalCapture):
    def __init__(self, project: str = "") -> None:
        self.actor = actor_for(project or DEFAULT)
        self.facts, self.branches, self.keys = FactEngine(), BranchManager(), KeyEngine()
        self.snapshots, self.workspaces = SnapshotManager(), WorkspaceEngine()

    # ---- facts -----------------------------------------------------------------------------------

    def write_fact(self, branch: str, fields: Given) -> Answer:
        written = self.facts.write_fact(actor=self.actor, branch_name=branch, **fields)
        return shapes.fact(written.fact, branch=branch, created=written.created)

    def search(self, query: str, branches: Sequence[str], wish: Given, filters: Given) -> Answer:
        from memory.engines.search import SearchEngine

        how: dict[str, Any] = {**_wish(wish), "filters": FactFilter.of(filters), "actor": self.actor}
        if len(branches) > 1 or "*" in branches[0]:
            found = SearchEngine().search_cross_branch(query=query, branch_names=branches, **how)
        else:
            found = SearchEngine().search(query=query, branch_name=branches[0], **how)
        return shapes.found(found)

    def explain(self, fact_id: str, query: str, branch: str, wish: Given, filters: Given) -> Answer:
        from memory.engines.explain import ExplainEngine

        answer = ExplainEngine().explain(
            query=query, fact_id=_id(fact_id), actor=self.actor, branch_name=branch,
            filters=FactFilter.of(filters), **_wish(wish),
        )  # fmt: skip
        return shapes.explanation(answer, branch)

    def list_facts(self, branch: str, filters: Given, paging: Given) -> Answer:
        page = self.facts.list_facts(
            actor=self.actor, branch_name=branch, filters=FactFilter.of(filters), **_wish(paging)
        )
        return shapes.page(page, lambda row: shapes.fact(row, branch=branch))

    def get_fact(self, fact_id: str, branch: str, at: str | None) -> Answer:
        fact = self.facts.get_fact(fact_id=_id(fact_id), actor=self.actor, branch_name=branch, at=point(at))
        return shapes.fact(fact, branch=branch)

    def related(self, fact_id: str, branch: str, how: Given) -> Answer:
        from memory.engines.related import RelatedEngine

        found = RelatedEngine().related(
            fact_id=_id(fact_id), actor=self.actor, branch_name=branch, **_wish(how)
        )
        return shapes.relatives(found, branch)

    def history(self, fact_id: str, branch: str, paging: Given) -> Answer:
        page = self.facts.history(fact_id=_id(fact_id), actor=self.actor, branch_name=branch, **paging)
        return shapes.page(page, lambda row: shapes.version(row, branch))

    def change_fact(self, action: str, fact_id: str, branch: str, fields: Given) -> Answer | None:
        name = "old_fact_id" if action == "supersede" else "fact_id"
        engines: dict[str, Callable[..., Any]] = {
            "archive": self.facts.archive_fact,
            "restore": self.facts.restore_fact,
            "delete": self.facts.delete_fact,
            "supersede": self.facts.supersede_fact,
            "verify": self.facts.set_verification,
        }
        fact = engines[action](**{name: _id(fact_id)}, actor=self.actor, branch_name=branch, **fields)
        return shapes.fact(fact, branch=branch) if fact is not None else None

    # ---- branches and keys -----------------------------------------------------------------------

    def create_branch(self, fields: Given) -> Answer:
        made = self.branches.create_branch(actor=self.actor, **{**fields, "at": point(fields.get("at"))})
        return shapes.branch(made)

    def list_branches(self, archived: bool, paging: Given) -> Answer:
        page = self.branches.list_branches(actor=self.actor, archived=archived, **paging)
        return shapes.page(page, shapes.branch)

    def log(self, name: str, paging: Given) -> Answer:
        return shapes.page(self.branches.log(name=name, actor=self.actor, **paging), shapes.commit)

    def diff(self, name: str, how: Given, paging: Given) -> Answer:
        asked = {"kind" if n == "type" else n: v for n, v in {**how, **paging}.items()}
        points: dict[str, Any] = {n: point(asked.pop(n)) for n in ("at", "against_at") if n in asked}
        found = self.branches.diff(name=name, actor=self.actor, **asked, **points)
        return shapes.diff(found, asked.get("kind", "fact"))

    def stats(self, name: str) -> Answer:
        return shapes.stats(self.branches.stats(name=name, actor=self.actor))

    def archive_branch(self, name: str) -> Answer:
        return shapes.branch(self.branches.archive_branch(name=name, actor=self.actor))

    def restore_branch(self, name: str) -> Answer:
        return shapes.branch(self.branches.restore_branch(name=name, actor=self.actor))

    # ---- snapshots and workspaces ----------------------------------------------------------------

    def create_snapshot(self, store: bool, fields: Given) -> Answer:
        told = {"actor": self.actor, "name": fields["name"], "description": fields.get("description", "")}
        if store:
            return shapes.snapshot(self.snapshots.create_store_snapshot(**told))
        where = {"branch_name": fields.get("branch", "main"), "at": point(fields.get("at"))}
        return shapes.snapshot(self.snapshots.create_snapshot(**told, **where))

    def list_snapshots(self, which: Given, paging: Given) -> Answer:
        how = {"kind": which.get("kind", ""), "branch_name": which.get("branch", "")}
        return shapes.page(self.snapshots.list_snapshots(actor=self.actor, **how, **paging), shapes.snapshot)

    def restore_snapshot(self, snapshot_id: str, dry_run: bool) -> Answer:
        given: dict[str, Any] = {"snapshot_id": _id(snapshot_id), "actor": self.actor}
        return shapes.restore(self.snapshots.restore_snapshot(**given, dry_run=dry_run))

    def drop_snapshot(self, snapshot_id: str) -> None:
        self.snapshots.drop_snapshot(snapshot_id=_id(snapshot_id), actor=self.actor)

    def get_window(self) -> Answer:
        return {"days": self.snapshots.get_window(actor=self.actor)}

    def keep_window(self, days: int) -> Answer:
        return {"days": self.snapshots.keep_window(days=days, actor=self.actor)}

    def create_workspace(self, fields: Given) -> Answer:
        return shapes.workspace(self.workspaces.create_workspace(actor=self.actor, **fields))

    def list_workspaces(self, which: Given, paging: Given) -> Answer:
        page = self.workspaces.list_workspaces(actor=self.actor, **which, **paging)
        return shapes.page(page, shapes.workspace)

    def use_workspace(self, action: str, workspace_id: str) -> Answer:
        given: dict[str, Any] = {"workspace_id": _id(workspace_id), "actor": self.actor}
        if action == "drop":
            return shapes.workspace(self.workspaces.drop_workspace(**given))
        engine = self.workspaces
        work = engine.diff_workspace if action == "diff" else engine.promote_workspace
        return shapes.workspace_diff(work(**given))

    def follow(self, asked: Given) -> Iterator[Answer]:
        from day1site.cli.following import looked_for

        return looked_for(self.actor, **asked)

    # ---- keys ------------------------------------------------------------------------------------

    def create_key(self, fields: Given) -> Answer:
        expires = c.moment("expires_at", fields.get("expires_at"))
        key, token = self.keys.create_key(actor=self.actor, **{**fields, "expires_at": expires})
        return {**shapes.key(key), "token": token}

    def list_keys(self, paging: Given) -> Answer:
        return shapes.page(self.keys.list_keys(actor=self.actor, **paging), shapes.key)

    def revoke_key(self, key_id: str) -> Answer:
        return shapes.key(self.keys.revoke_key(key_id=_id(key_id), actor=self.actor))

    # ---- files -----------------------------------------------------------------------------------

    def importer(self, branch: str, message: str) -> Importer:
        from memory.engines.transfer import FactImport

        return FactImport(actor=self.actor, branch_name=branch, message=message)

    def export(self, branch: str, at: str | None, private: bool) -> Export:
        from memory.engines.transfer import count_facts, export_facts

        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch, "at": point(at)}
        found = export_facts(**where, include_private=private)
        rows = (
            (_whole(fact, branch), [shapes.link(link, branch=branch) for link in links])
            for fact, links in found
        )
        return count_facts(**where), rows


def actor_for(slug: str, surface: str = "cli") -> Actor:
    """The local user in a project. Raises CliError when there is none with this slug."""
    project = Project.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)[:20]) or "none"
        raise CliError("not_found", f"There is no project {slug} in this store; there is: {known}.")
    return local_actor(project, surface=surface)


def _wish(given: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, "at": point(given["at"])} if given.get("at") is not None else dict(given)


def _id(text: str) -> UUID:
    return c.identifier("id", text)


def _whole(fact: Any, branch: str) -> Answer:
    """A fact with what only a file needs: the status that an archived one goes back to."""
    held = {"held_status": fact.held_status} if fact.held_status else {}
    return {**shapes.fact(fact, branch=branch), **held}
