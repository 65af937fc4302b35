"""Parts of texts as every backend must find them: case counts for tags, and no sign stands for others."""

import pytest

from memory.actors import Actor
from memory.engines.branches import find_branch
from memory.engines.filters import FactFilter
from memory.models import Fact
from tests.memory.test_branches import some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)

TAGS = (
    "Auth", "auth", "AUTH", "10%", "10x", "a_b", "axb", "A_b", "%", "_", "a%b", "a.b", "[a", "(a+b)",
    "[a_b", "[axb",
    'say "hi"', 'say "Hi"', "it's", "It's", "back\\slash", "backslash", "back\\", "\\%", "\\_",
    "a\\_b", "C:\\d", "日本", "日", "本", "Ärger", "ärger", "ñ", "Ñ", "😀", "x'; --", "^a$", "{}", "?", "*",
)  # fmt: skip


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
        found = FactFilter.of({"tags": [tag]}).apply(rows, lineage).values_list("fact_text", flat=True)
        assert list(found) == [f"fact {n}"], tag
        both = FactFilter.of({"tags": [tag, "second"]}).apply(rows, lineage)
        assert both.count() == 1
    assert FactFilter.of({"tags": ["Second"]}).apply(rows, lineage).count() == 0


PARTS = ("10%", "a_b", "A.B", "[a", "[a_b", "(a+b)", "it's", "\\", "\\_", "日本", '"', "*", "slash")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_text_in_any_case(actor: Actor, part: str) -> None:
    write(actor, *[f"<{tag}> {n}" for n, tag in enumerate(TAGS)])
    found = Fact.objects.on(find_branch(actor, "main")).filter(fact_text__icontains=part)
    expected = {f"<{tag}> {n}" for n, tag in enumerate(TAGS) if part.lower() in tag.lower()}
    assert set(found.values_list("fact_text", flat=True)) == expected
