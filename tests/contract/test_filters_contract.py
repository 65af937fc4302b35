"""Substring filters on every backend: case matters for tags, and there are no wildcards."""

import pytest
from django.db.models import F
from django.utils import timezone

from memory.actors import Actor
from memory.engines.facts.filters import FactFilter
from memory.engines.versions.lookup import find_branch
from memory.models import Commit, Fact, Project, Session
from tests.memory.test_branches import some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)

TAGS = (
    "Auth",
    "auth",
    "AUTH",
    "10%",
    "10x",
    "a_b",
    "axb",
    "A_b",
    "%",
    "_",
    "a%b",
    "a.b",
    "[a",
    "(a+b)",
    "[a_b",
    "[axb",
    'say "hi"',
    'say "Hi"',
    "it's",
    "It's",
    "back\\slash",
    "backslash",
    "back\\",
    "\\%",
    "\\_",
    "a\\_b",
    "C:\\d",
    "日本",
    "日",
    "本",
    "Ärger",
    "ärger",
    "ñ",
    "Ñ",
    "😀",
    "x'; --",
    "^a$",
    "{}",
    "?",
    "*",
)


@pytest.fixture
def actor() -> Actor:
    return some_actor()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_tag_is_itself_alone_wherever_it_stands(actor: Actor, place: int) -> None:
    others = ["first", "second"]
    for n, tag in enumerate(TAGS):
        write(actor, f"fact {n}", tags=[*others[:place], tag, *others[place:]])
    branch = find_branch(actor, "main")
    rows = Fact.objects.on(branch)
    lineage = branch.lineage()
    for n, tag in enumerate(TAGS):
        found = (
            FactFilter.from_values({"tags": [tag]}).apply(rows, lineage).values_list("fact_text", flat=True)
        )
        assert list(found) == [f"fact {n}"], tag
        both = FactFilter.from_values({"tags": [tag, "second"]}).apply(rows, lineage)
        assert both.count() == 1
    assert FactFilter.from_values({"tags": ["Second"]}).apply(rows, lineage).count() == 0


PARTS = ("10%", "a_b", "A.B", "[a", "[a_b", "(a+b)", "it's", "\\", "\\_", "日本", '"', "*", "slash")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_text_in_any_case(actor: Actor, part: str) -> None:
    write(actor, *[f"<{tag}> {n}" for n, tag in enumerate(TAGS)])
    found = Fact.objects.on(find_branch(actor, "main")).filter(fact_text__icontains=part)
    expected = {f"<{tag}> {n}" for n, tag in enumerate(TAGS) if part.lower() in tag.lower()}
    assert set(found.values_list("fact_text", flat=True)) == expected


@pytest.mark.parametrize("part", [*PARTS, "a_", "b", "%", "\\%", "😀"])
def test_how_a_text_begins_and_ends(actor: Actor, part: str) -> None:
    """Use the ORM's case-insensitive lookups, since SQLite ignores case."""
    write(actor, *TAGS)
    rows = Fact.objects.on(find_branch(actor, "main"))
    for name, holds in (("istartswith", str.startswith), ("iendswith", str.endswith), ("iexact", str.__eq__)):
        found = set(rows.filter(**{f"fact_text__{name}": part}).values_list("fact_text", flat=True))
        assert found == {tag for tag in TAGS if holds(tag.lower(), part.lower())}, name
    assert rows.filter(fact_text__startswith=F("fact_text")).count() == rows.count()


def test_many_rows_are_changed_at_once_to_no_time(project: Project) -> None:
    now = timezone.now()
    Session.objects.bulk_create(
        Session(project=project, key=key, branch=project.branches.get(), started_at=now, active_at=now)
        for key in ("a", "b")
    )
    rows = list(Session.objects.all())
    for row in rows:
        row.active_at = None
    assert Session.objects.bulk_update(rows, ["active_at", "key"]) == 2
    assert list(Session.objects.values_list("active_at", flat=True)) == [None, None]


def test_a_list_and_one_value_of_a_column_mean_both(project: Project) -> None:
    write(some_actor(project), "A commit.")
    rows = Commit.objects.filter(branch__project=project, seq=1)
    assert rows.filter(seq__in=[1]).count() == 1
    assert rows.filter(seq__in=[1, 2]).count() == 1
    assert rows.filter(seq__in=[2, 3]).count() == 0
    assert rows.exclude(seq__in=[1, 2]).count() == 0
