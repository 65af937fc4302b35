"""The rules by which sessions are learned from: what each one makes, and whether it is on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Field
from memory.engines.fields.types import Flag
from memory.engines.statements.personal_facts import PERSONAL
from memory.engines.versions.lookup import MAIN, find_branch
from memory.exceptions import NotFound
from memory.models import Fact, FactLink, Project

ENABLED = Field("enabled", Flag())
SPOKEN, OBSERVED = Fact.SourceType.CONSOLIDATION.value, Fact.SourceType.OBSERVATION.value


@dataclass(frozen=True)
class Rule:
    """A rule; its facts are those of this source and one of these categories."""

    name: str
    source_type: str
    categories: Sequence[str]


RULES = (
    Rule("decision", SPOKEN, ("decision",)),
    Rule("preference", SPOKEN, ("preference",)),
    Rule("personal", SPOKEN, sorted(PERSONAL)),
    Rule("stated", OBSERVED, ("decision", "insight")),
    Rule("repair", OBSERVED, ("bug_fix",)),
    Rule("command", OBSERVED, ("pattern",)),
)


@dataclass(frozen=True)
class RuleState:
    """A rule with its facts: how many there are, and how many of them are still searched."""

    rule: Rule
    is_on: bool
    facts: int
    searched: int

    @property
    def name(self) -> str:
        return self.rule.name


@retry_methods
class LearningEngine:
    def list_rules(self, *, actor: Actor, branch_name: str = MAIN) -> list[RuleState]:
        """Return all rules, with the facts that they made on a branch."""
        actor.require_scope("read", branch_name)
        off = set(Project.objects.get(pk=actor.project_id).rules_off)
        counts = _count_facts(actor, branch_name)
        return [_describe(rule, rule.name not in off, counts) for rule in RULES]

    def switch_rule(self, *, name: str, is_on: Annotated[bool, ENABLED], actor: Actor) -> RuleState:
        """Switch a rule on or off; what it made so far stays. Raises NotFound for another name.

        The key needs the branch main: a rule learns on every branch.
        """
        actor.require_scope("curate", MAIN)
        if name not in {rule.name for rule in RULES}:
            raise NotFound("There is no rule {name}.", name=name)
        with write_transaction():
            project = Project.objects.select_for_update().get(pk=actor.project_id)
            if is_on == (name in project.rules_off):
                others = [one for one in project.rules_off if one != name]
                project.rules_off = others if is_on else sorted([*others, name])
                project.save(update_fields=["rules_off"])
                record_entry(actor, "learning.on" if is_on else "learning.off", name)
        return next(one for one in self.list_rules(actor=actor) if one.name == name)


def choose_rule(category: str, to_type: str) -> str:
    """Return the name of the rule that makes facts of a category from messages or observations."""
    source = OBSERVED if to_type == FactLink.Target.OBSERVATION else SPOKEN
    return next(rule.name for rule in RULES if rule.source_type == source and category in rule.categories)


def _count_facts(actor: Actor, branch_name: str) -> dict[tuple[str, str, str], int]:
    """Return the number of facts by source, category and status."""
    lineage = find_branch(actor, branch_name).lineage()
    rows = Fact.objects.in_lineage(lineage).filter(source_type__in=(SPOKEN, OBSERVED)).rows()
    counted = rows.order_by().values_list("source_type", "category", "status").annotate(Count("pk"))
    return {(source, category, status): count for source, category, status, count in counted}


def _describe(rule: Rule, is_on: bool, counts: dict[tuple[str, str, str], int]) -> RuleState:
    own = {
        key: count
        for key, count in counts.items()
        if key[0] == rule.source_type and key[1] in rule.categories
    }
    searched = sum(count for (_, _, status), count in own.items() if status in Fact.SEARCHED)
    return RuleState(rule, is_on, sum(own.values()), searched)
