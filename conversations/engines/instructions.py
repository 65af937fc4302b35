"""What a project wants remembered: its instructions and categories, version by version."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conversations.models import Instructions
from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Choice, ListOf, Pattern, Text
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid
from memory.models import Project
from memory.patterns import lazy_pattern

FILE = Path(__file__).parents[1] / "prompts" / "presets.toml"
Preset = Instructions.Preset
MAX_TEXT_LENGTH = 4000
MAX_CATEGORIES = 30
CATEGORY = lazy_pattern(r"[^\W\d_][\w -]{0,49}\Z")
# What no instructions change: secrets are not noted, and records are no orders.
_NOTES = (
    r"(?:note[zr]?|remember|store|keep|save|record|include|merke?n?|speicher\w*|notier\w*|behalt\w*|retiens"
    r"|retenez|retenir|garde[zs]?|enregistre[zs]?|rec(?:uerda|orda)\w*|guard[ae]\w*|anot[ae]\w*|apunt[ae]\w*"
    r"|lembre\w*|grave|salv[ae]|registr[ae])\b"
)
ASKS_SECRETS = lazy_pattern(
    rf"(?i)\b{_NOTES}"
    r"(?:(?!\b(?:no|not|never|except|without|don't|nie|kein\w*|nicht|jamais|pas|nunca)\b)[^.;\n]){0,80}"
    r"\b(?:pass(?:words?|phrases?|codes?)(?! (?:manager|polic|reset|hash|length))|secrets?|api[ -]?keys?"
    r"|private keys?|credentials?|access tokens?|pins?"
    r"|cvv|card numbers?|passw[oö]rt\w*|kennw[oö]rt\w*|mots? de passe|contraseñas?|senhas?)\b"
    r"|(?:记住|保存|记录)(?:(?!不)[^。]){0,20}(?:密码|密钥|口令)|(?:パスワード|秘密鍵).{0,10}(?:記録|覚え|保存)"
)
DENIED = lazy_pattern(
    r"(?i)\b(?:never|not|don't|do not|nie|niemals|nicht|jamais|nunca|não)\W+(?:\w+\W+){0,2}"
    rf"{_NOTES}|(?:不要|不)(?:记住|保存|记录)"
)
IGNORES_RULES = lazy_pattern(
    r"(?i)\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:rules?|instructions?|above|prompts?|fences?|limits?)\b"
    r"|\b(?:ignoriere|vergiss)\b.{0,40}\b(?:regeln|anweisungen)\b|\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\brègles\b"
    r"|\bignora\w*\b.{0,40}\b(?:reglas|regras|instruc\w+)\b|忽略.{0,10}(?:规则|指令)|\{fence\}"
)
SECRETS_REFUSED = "Secrets are never remembered, so instructions cannot ask for them: “{part}”."
RULES_REFUSED = "Instructions say what is noted; the rules of the prompt stay as they are: “{part}”."


@cache
def load_presets() -> Mapping[str, dict[str, Any]]:
    """Return text and categories of the presets, by name."""
    found = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: {**one, "text": one["text"].strip()} for name, one in found.items()}


PRESET = Field(
    "preset",
    Choice([(name, name) for name in (*sorted(load_presets()), Preset.OWN.value)], (Preset.OWN.value,)),
    null=True,
    label=_("What the project is for"),
    form_help=_("Another one brings its words and categories."),
    form_choices=Preset.choices,
    option=Option(f"text and categories for {', '.join(load_presets())}", checked=True),
)
TEXT = Field(
    "text",
    Text(MAX_TEXT_LENGTH),
    null=True,
    label=_("What is to be remembered"),
    form_help=_("For a language model, where one is set; rules find the same whatever stands here."),
    form_rows=6,
    option=Option("what a language model is told to note; - reads it from standard input"),
)
CATEGORIES = Field(
    "categories",
    ListOf(Pattern(50, regex="^[A-Za-z][A-Za-z0-9_ -]*$"), 1, MAX_CATEGORIES),
    "Each a word or a few, of any script.",
    null=True,
    label=_("Categories"),
    form_help=_("Separated by commas."),
    option=Option("one of all categories in which it is noted; several times", "--category", "TEXT"),
)


@retry_methods
class InstructionsEngine:
    def get_instructions(self, *, actor: Actor) -> Instructions:
        """Return the instructions that hold; those of the preset coding, numbered 0, where none were set."""
        actor.require_scope("read")
        return find_instructions(actor.project_id)

    def set_instructions(
        self,
        *,
        actor: Actor,
        preset: Annotated[str, PRESET] = "",
        text: Annotated[str | None, TEXT] = None,
        categories: Annotated[Sequence[str] | None, CATEGORIES] = None,
    ) -> tuple[Instructions, bool]:
        """Store a new version of the instructions; return those that hold now, and whether they are new: what
        equals those that held stores none.

        A preset brings its text and categories; without one, what is not given stays as it is. Needs the
        scope curate on main: what is remembered concerns every branch. Raises Invalid, also for a text that
        asks for secrets or to ignore the rules.
        """
        actor.require_scope("curate", MAIN)
        requested = check_fields(preset, text, categories)
        with write_transaction():
            Project.objects.select_for_update().get(pk=actor.project_id)
            before = find_instructions(actor.project_id)
            made = merge_fields(before, requested)
            if describe(made) == describe(before):
                return before, False
            made.number, made.created_by = before.number + 1, actor.label[:200]
            made.save(force_insert=True)
            record_entry(actor, "instructions.set", str(made.number), describe(made))
        return made, True

    def list_versions(self, *, actor: Actor, **paging: Unpack[Paging]) -> Page[Instructions]:
        """List the versions, the newest first."""
        actor.require_scope("read")
        rows = Instructions.objects.filter(project=actor.project_id)
        return paginate(rows, "-number", **paging)


def find_instructions(project_id: UUID) -> Instructions:
    """Return the instructions of a project that hold."""
    found = Instructions.objects.filter(project=project_id).first()
    return found or build_preset(Preset.CODING, project_id=project_id, number=0)


def build_preset(name: str, **fields: Any) -> Instructions:
    return Instructions(preset=name, created_at=timezone.now(), **load_presets()[name], **fields)


def merge_fields(before: Instructions, requested: Mapping[str, Any]) -> Instructions:
    """Return a new version: what is requested, over the preset that is named or else what holds."""
    preset = requested.get("preset") or before.preset
    base = load_presets().get(
        requested.get("preset", ""), {"text": before.text, "categories": before.categories}
    )
    values = {name: requested.get(name, base[name]) for name in ("text", "categories")}
    known = load_presets().get(preset)
    return Instructions(
        project_id=before.project_id,
        preset=preset if known and known["text"] == values["text"] else Preset.OWN,
        created_at=timezone.now(),
        **values,
    )


def describe(one: Instructions) -> dict[str, Any]:
    return {"preset": one.preset, "text": one.text, "categories": list(one.categories)}


def check_fields(preset: str, text: str | None, categories: Sequence[str] | None) -> dict[str, Any]:
    """Return the fields that are given. Raises Invalid."""
    requested: dict[str, Any] = {}
    if preset:
        requested["preset"] = PRESET.check("preset", preset)
    if text is not None:
        requested["text"] = check_text(text)
    if categories is not None:
        requested["categories"] = check_categories(categories)
    return requested


def check_text(text: str) -> str:
    """Return instructions without blanks around. Raises Invalid."""
    text = str(c.text_check(MAX_TEXT_LENGTH)("text", text)).strip()
    for pattern, refusal in ((ASKS_SECRETS, SECRETS_REFUSED), (IGNORES_RULES, RULES_REFUSED)):
        found = pattern.search(text)
        if found and not (pattern is ASKS_SECRETS and is_denied(text, found)):
            raise Invalid(refusal, field="text", part=found.group()[:80])
    return text


def is_denied(text: str, found: re.Match[str]) -> bool:
    """Return whether the sentence of a find says that something is not to be noted."""
    start = max(text.rfind(end, 0, found.start()) for end in ".;\n") + 1
    return bool(DENIED.search(text[start : found.end()]))


def check_categories(categories: Any) -> list[str]:
    """Return names of categories, each once, as facts have them. Raises Invalid."""
    if not isinstance(categories, list | tuple) or not 1 <= len(categories) <= MAX_CATEGORIES:
        raise Invalid("{field} must be a list of 1 to {most} names.", field="categories", most=MAX_CATEGORIES)
    names = [c.text_check(50)("categories", one).strip().lower() for one in categories]
    for name in names:
        if not CATEGORY.match(name):
            raise Invalid("A category is a word or a few, such as bug_fix.", field="categories")
    return list(dict.fromkeys(names))
