"""Terms: written once, read by everybody."""

from typing import Annotated, Any, Unpack

from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Field, Use
from memory.engines.fields.terms import TERM
from memory.engines.fields.types import Text
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.exceptions import Exists, Invalid
from memory.models.terms import Term

CHECKS = TERM.field_checks(Use.CREATE)
STARTING = Field("starting", Text(60), "Terms that begin so.")


@retry_methods
class TermEngine:
    def write_term(self, *, actor: Actor, **fields: Any) -> Term:
        """Write a term down. Raises Invalid, UnknownField, Exists."""
        actor.require_scope("write")
        values = c.validate(fields, CHECKS)
        for name in CHECKS.keys() - values.keys():
            raise Invalid("{field} is needed.", field=name)
        with write_transaction():
            if Term.objects.filter(project=actor.project_id, name=values["name"]).exists():
                raise Exists("A term {name} exists already.", name=values["name"], field="name")
            term = Term.objects.create(project_id=actor.project_id, created_at=timezone.now(), **values)
            record_entry(actor, "term.write", term.name)
        return term

    def list_terms(
        self, *, actor: Actor, starting: Annotated[str, STARTING] = "", **paging: Unpack[Paging]
    ) -> Page[Term]:
        """List the project's terms, the newest first."""
        actor.require_scope("read")
        terms = Term.objects.filter(project=actor.project_id, name__startswith=starting)
        return paginate(terms, "-id", **paging)
