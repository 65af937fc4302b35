"""The page of ageing: what would go and why, the run and its undo, and the settings of the project."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from memory.engines.facts.ageing.engine import (
    AgedFact,
    AgeingEngine,
    AgeingPreview,
    AgeingReport,
    find_reasons,
)
from memory.engines.facts.ageing.rules import AgeingRules, Reason
from memory.engines.support.usage import UsageEngine
from memory.models import AgedVersion, Fact
from memory.operations.ageing import AGEING
from memory.operations.facts import FACTS
from memory.views.access.project_settings import SettingsPage, change_settings
from memory.views.facts.bulk import read_tick
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import BEHAVIOUR, add_setting
from memory.views.frame.panels import FACT_PANELS
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action
from memory.views.generic.filter_tokens import refuse_unknown
from memory.views.store.store_state import describe_stored

ageing_engine = AgeingEngine()
usage_engine = UsageEngine()
MAX_RUNS = 5  # on the page; all are in the log of the branch
REASON_TITLES: dict[str, Any] = {
    Reason.EXPIRED.value: lazy("Expired"),
    Reason.TIME_TO_LIVE.value: lazy("Past its days"),
    Reason.STALE.value: lazy("Stale"),
    Reason.OVER_BUDGET.value: lazy("Over the budget"),
}
KEPT_TITLES: dict[str, Any] = {
    "pinned": lazy("pinned"),
    "verified": lazy("verified by a person in the last 180 days"),
    "question": lazy("expected by a saved question"),
    "merge_request": lazy("changed by an open merge request"),
    "handoff": lazy("in an open handoff"),
    "review": lazy("part of an open question"),
    "restored": lazy("brought back after an ageing"),
}


def tell_run(done: AgeingReport) -> str:
    """Return what a run archived, and what it left."""
    texts = [ngettext("%(n)s fact is archived.", "%(n)s facts are archived.", done.count) % {"n": done.count}]
    if changed := done.changed_meanwhile:
        text = ngettext(
            "%(n)s changed since it was shown, and is left.",
            "%(n)s changed since they were shown, and are left.",
            changed,
        )
        texts.append(text % {"n": changed})
    if done.remaining:
        texts.append(_("%(n)s are left for another run.") % {"n": done.remaining})
    return " ".join(texts)


@add_page("ageing", "ageing")
class Ageing(SettingsPage):
    """What has aged on a branch, each row to accept or exclude, with the runs and the settings."""

    template_name = "ageing.html"
    section = "ageing"
    title = lazy("Ageing")
    warns = ("chosen", "all", "pin")
    actions = {
        "chosen": Action(AGEING["run"], tell_run, undo="commit"),
        "all": Action(AGEING["run"], tell_run, undo="commit"),
        "pin": Action(
            FACTS["actions"], lazy("Pinned: ageing leaves it alone."), takes=("tick",), undo="commit"
        ),
        **change_settings("age_facts", "stale_after_days", "fact_budget", "category_ttl_days"),
    }
    extra_context = {
        "drawing": "clock",
        "none_fits": lazy("Nothing has aged for this reason."),
        "show_all": lazy("All reasons"),
        "none_yet": lazy(
            "Nothing to archive: no fact that may go is expired, past its days, stale or over the budget."
        ),
    }

    @property
    def chosen(self) -> list[str]:
        """Return the reasons in the address."""
        return [reason for reason in self.request.GET.getlist("reason") if reason in REASON_TITLES]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        refuse_unknown(self.request, [], ["reason"])
        where: dict[str, Any] = {"actor": self.reader.actor, "branch_name": self.reader.branch.name}
        chosen = self.chosen
        found = ageing_engine.preview_ageing(**where, reasons=chosen, **self.paging())
        runs = ageing_engine.list_runs(**where, limit=MAX_RUNS)
        usage = usage_engine.get_usage(actor=self.reader.actor)
        return super().get_context_data(
            found=found,
            page=found.page,
            rows=describe_rows(found),
            chosen=chosen,
            filtered=bool(chosen),
            tabs=[(value, title, found.counts[value]) for value, title in REASON_TITLES.items()],
            kept=[(KEPT_TITLES[code], count) for code, count in found.kept.items()],
            share=min(1.0, found.total / found.rules.budget) if found.rules.budget else None,
            runs=[(run, describe_counts(run.reasons)) for run in runs],
            own_id=self.reader.actor.id,
            stored=describe_stored(usage),
            is_full=bool(usage.find_full()),
            may_run=self.reader.allowed_now["curate"] and found.blocked_by is None,
            **kwargs,
        )

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        """Archive the ticked facts, or all that aged but those whose tick was taken away; or pin a fact."""
        post = self.request.POST
        ticked = dict(map(read_tick, post.getlist("fact")))
        match name:
            case "chosen":
                values |= {"fact_ids": list(ticked), "expected_versions": ticked}
            case "all":
                shown = dict(map(read_tick, post.getlist("shown")))
                left = [uid for uid in shown if uid not in ticked]
                values |= {"exclude": left, "reasons": self.chosen, "expected_versions": shown}
            case "pin":
                uid, version = read_tick(values.pop("tick"))
                values |= {"action": "pin", "fact_ids": [uid], "expected_versions": {uid: version}}
        done = super().carry_out(name, values)
        if name == "pin" and (error := done.results[0].error):
            raise error
        return done


def describe_rows(found: AgeingPreview) -> list[tuple[AgedFact, str, str]]:
    """Return the facts of the page, each with its reason as a sentence and the value of its tick."""
    return [
        (
            one,
            describe_reason(one.reason, one.fact.category, found.rules),
            f"{one.fact.uid}:{one.fact.version}",
        )
        for one in found.page
    ]


def describe_reason(reason: str, category: str, rules: AgeingRules) -> str:
    """Return why a fact goes, in the reader's language."""
    if reason == Reason.TIME_TO_LIVE and (days := rules.ttl_days.get(category)):
        text = ngettext(
            "older than the %(n)s day of %(category)s", "older than the %(n)s days of %(category)s", days
        )
        return text % {"n": days, "category": category}
    if reason == Reason.STALE and (days := rules.stale_after_days):
        text = ngettext("not used for %(n)s day", "not used for %(n)s days", days)
        return text % {"n": days}
    return str(REASON_TITLES[reason]).lower()


def describe_counts(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{REASON_TITLES[reason]}: {number}" for reason, number in counts.items())


def load_archiving(reader: ViewContext, fact: Fact) -> AgedVersion | None:
    """Return why ageing archived a fact, for its page; None where it did not."""
    row = find_reasons([fact]).get(fact.uid) if fact.status == Fact.Status.ARCHIVED else None
    if row is not None:
        row.title = REASON_TITLES[row.reason]
    return row


def describe_ageing(reader: ViewContext) -> Any:
    """Return whether facts are archived by themselves, for the overview of the settings."""
    return _("on, every night") if reader.project.age_facts else _("off: nothing is archived by itself")


FACT_PANELS.add("fact/archiving.html", load_archiving)
add_setting(
    "ageing",
    lazy("Ageing"),
    "clock",
    "z",
    scope="curate",
    group=BEHAVIOUR,
    order=40,
    describe=describe_ageing,
)
