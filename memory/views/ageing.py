"""The page of ageing: what would go and why, the run and its undo, and the settings of the project."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from memory.engines.facts.ageing.engine import AgedFact, AgeingEngine, AgeingPreview, find_reasons
from memory.engines.facts.ageing.rules import AgeingRules, Reason
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.support.usage import UsageEngine
from memory.exceptions import Day1Error, Invalid
from memory.models import AgedVersion, Fact, Project
from memory.views.bulk import read_tick
from memory.views.error_text import error_sentence
from memory.views.fact_actions import build_undo_url
from memory.views.fact_panels import add_fact_panel
from memory.views.filter_tokens import refuse_unknown
from memory.views.flash import flash_success, flash_warning
from memory.views.frames import add_page
from memory.views.navigation import Section, add_section
from memory.views.project_settings import SAVE, SettingsPage
from memory.views.store_state import describe_stored
from memory.views.view_context import ViewContext

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


class AgeingForm(forms.Form):
    """The settings of ageing; the engine checks them."""

    age_facts = forms.BooleanField(
        label=lazy("Archive every day what has aged"),
        required=False,
        help_text=lazy("Otherwise only the buttons of this page and the command archive."),
    )
    stale_after_days = forms.IntegerField(
        label=lazy("Stale after days"),
        required=False,
        help_text=lazy(
            "Facts of priority P3 and P4 that nobody recalled, changed or confirmed. Empty: never."
        ),
    )
    fact_budget = forms.IntegerField(
        label=lazy("Facts of a branch"),
        required=False,
        help_text=lazy("Over it those of the least worth go. Empty: any number."),
    )
    category_ttl_days = forms.CharField(
        label=lazy("Days to live by category"),
        required=False,
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "placeholder": "error: 30"}),
        help_text=lazy("One category a line, with a colon and the days since a fact was last changed."),
    )

    def clean_category_ttl_days(self) -> dict[str, int]:
        lines = [line for line in self.cleaned_data["category_ttl_days"].splitlines() if line.strip()]
        return dict(map(parse_days, lines))


def parse_days(line: str) -> tuple[str, int]:
    """Parse a category and its days. Raises ValidationError."""
    category, _colon, days = line.rpartition(":")
    try:
        return category.strip(), int(days)
    except ValueError:
        text = _("“%(line)s” is no category with its days, such as error: 30.") % {"line": line.strip()}
        raise forms.ValidationError(text) from None


@add_page("ageing", "ageing")
class Ageing(SettingsPage):
    """What has aged on a branch, each row to accept or exclude, with the runs and the settings."""

    template_name = "ageing.html"
    section = "ageing"
    title = lazy("Ageing")
    settings_form = AgeingForm
    extra_context = {
        "drawing": "clock",
        "none_fits": lazy("Nothing has aged for this reason."),
        "show_all": lazy("All reasons"),
        "none_yet": lazy(
            "Nothing to archive: no fact that may go is expired, past its days, stale or over the budget."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        refuse_unknown(self.request, [], ["reason"])
        where: dict[str, Any] = {"actor": self.reader.actor, "branch_name": self.reader.branch.name}
        chosen = [reason for reason in self.request.GET.getlist("reason") if reason in REASON_TITLES]
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

    def describe_settings(self, project: Project) -> dict[str, Any]:
        lines = [f"{category}: {days}" for category, days in project.category_ttl_days.items()]
        return {**super().describe_settings(project), "category_ttl_days": "\n".join(lines)}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.POST.get("do") == SAVE:
            return self.save_settings(request)
        try:
            if "pin" in request.POST:
                self.pin_fact(request, request.POST["pin"])
            else:
                self.run_ageing(request)
        except (Invalid, Day1Error) as error:
            if error.status in (403, 404):
                raise
            flash_warning(request, error_sentence(error))
        return redirect(self.reader.url("ageing", reason=request.GET.getlist("reason")))

    def run_ageing(self, request: HttpRequest) -> None:
        """Archive the ticked facts, or all that aged but those whose tick was taken away."""
        ticked = dict(map(read_tick, request.POST.getlist("fact")))
        options: dict[str, Any] = {"fact_ids": ticked, "expected_versions": ticked}
        if request.POST.get("do") == "all":
            shown = dict(map(read_tick, request.POST.getlist("shown")))
            reasons = [reason for reason in request.GET.getlist("reason") if reason in REASON_TITLES]
            left = [uid for uid in shown if uid not in ticked]
            options = {"exclude": left, "reasons": reasons, "expected_versions": shown}
        done = ageing_engine.run_ageing(**self.reader.write_args, **options)
        text = ngettext("%(n)s fact is archived.", "%(n)s facts are archived.", done.count) % {
            "n": done.count
        }
        if changed := done.changed_meanwhile:
            text += " " + ngettext(
                "%(n)s changed since it was shown, and is left.",
                "%(n)s changed since they were shown, and are left.",
                changed,
            ) % {"n": changed}
        if done.remaining:
            text += " " + _("%(n)s are left for another run.") % {"n": done.remaining}
        flash_success(request, text, build_undo_url(self.reader, done.commit))

    def pin_fact(self, request: HttpRequest, ticked: str) -> None:
        uid, version = read_tick(ticked)
        report = ActionEngine().apply_action(
            action="pin", fact_ids=[uid], expected_versions={uid: version}, **self.reader.write_args
        )
        if error := report.results[0].error:
            raise error
        flash_success(
            request, _("Pinned: ageing leaves it alone."), build_undo_url(self.reader, report.commit)
        )


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


add_fact_panel("fact/archiving.html", load_archiving)
add_section(Section("ageing", lazy("Ageing"), "clock", "z", scope="curate", order=40, place="settings"))
