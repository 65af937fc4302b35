"""Saved views of the queue: each curator's own, and those that others share."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from curation.engines.queue.engine import parse_reasons
from curation.engines.queue.reasons import WORTH
from curation.models import SavedView
from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.access.work_handles import get_owner_name
from memory.engines.audit.trail import record_entry
from memory.engines.facts.filters import FactFilter
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import Conflict, NotFound, OwnerOnly

MAX_NAME_LENGTH, MAX_VIEWS = 100, 50
check_name = c.redact_stored(c.text_check(MAX_NAME_LENGTH, min_length=1))
TAKEN = _("A view of yours is called {name} already.")
TOO_MANY = _("You have {most} views: delete one first.")


@retry_methods
class SavedViewEngine:
    def save_view(
        self,
        *,
        name: str,
        actor: Actor,
        branch_name: str = MAIN,
        reasons: Collection[str] = (),
        filters: Mapping[str, Any] | None = None,
    ) -> SavedView:
        """Save what the actor looks at under a name of their own.

        Needs the scope curate. Raises Invalid, UnknownField, BranchNotFound, Conflict for a name that is
        taken.
        """
        actor.require_scope("curate", branch_name)
        find_branch(actor, branch_name)
        name = check_name("name", name.strip())
        chosen = parse_reasons(reasons)
        FactFilter.from_values(filters or {})
        own = SavedView.objects.filter(project=actor.project_id, owner=get_owner_name(actor))
        if own.count() >= MAX_VIEWS:
            raise Conflict(TOO_MANY, most=MAX_VIEWS)
        view = SavedView(
            project_id=actor.project_id,
            owner=get_owner_name(actor),
            owner_label=actor.label,
            name=name,
            branch="" if branch_name == MAIN else branch_name,
            reasons=[] if chosen == WORTH else [reason.value for reason in chosen],
            filters={key: value for key, value in (filters or {}).items() if value},
            created_at=timezone.now(),
        )
        store_view(view, actor, "view.save")
        return view

    def list_views(self, *, actor: Actor) -> list[SavedView]:
        """List the actor's own views and those that others share, by name. Needs the scope curate."""
        actor.require_scope("curate")
        seen = Q(owner=get_owner_name(actor)) | Q(shared=True)
        return list(SavedView.objects.filter(seen, project=actor.project_id))

    def rename_view(self, *, view_id: UUID, name: str, actor: Actor) -> SavedView:
        """Give a view another name. Raises NotFound, OwnerOnly for another's, Invalid, Conflict."""
        view = self._get_own(view_id, actor)
        view.name = check_name("name", name.strip())
        store_view(view, actor, "view.rename")
        return view

    def share_view(self, *, view_id: UUID, shared: bool, actor: Actor) -> SavedView:
        """Show a view to all curators of the project, or to its owner alone. Raises as rename_view does."""
        view = self._get_own(view_id, actor)
        view.shared = shared
        store_view(view, actor, "view.share")
        return view

    def delete_view(self, *, view_id: UUID, actor: Actor) -> None:
        """Delete a view. Raises NotFound, and OwnerOnly for another's."""
        view = self._get_own(view_id, actor)
        with transaction.atomic():
            record_entry(actor, "view.delete", str(view.pk))
            view.delete()

    def is_own(self, *, view: SavedView, actor: Actor) -> bool:
        """Return whether a view is the actor's own."""
        return view.owner == get_owner_name(actor)

    @staticmethod
    def _get_own(view_id: UUID, actor: Actor) -> SavedView:
        """Return a view of the actor's own. Raises OwnerOnly for one that is only shared with them."""
        actor.require_scope("curate")
        view = SavedView.objects.filter(pk=view_id, project=actor.project_id).first()
        is_own = view is not None and view.owner == get_owner_name(actor)
        if view is None or not (is_own or view.shared):
            raise NotFound()
        if not is_own:
            raise OwnerOnly(owner=view.owner_label)
        return view


def store_view(view: SavedView, actor: Actor, action: str) -> None:
    """Store a view with its audit entry. Raises Conflict for a name that is taken."""
    try:
        with transaction.atomic():
            view.save()
            record_entry(actor, action, str(view.pk), {"name": view.name, "shared": view.shared})
    except IntegrityError:
        raise Conflict(TAKEN, name=view.name) from None
