"""Templates are compiled when a page first shows them: what is wrong in one is found here instead."""

from pathlib import Path

import pytest
from django.template import engines
from django.template.loader import get_template

ENGINE = engines["django"].engine
FOLDER = Path(ENGINE.dirs[0])
NAMES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))


def test_every_template_can_be_compiled() -> None:
    for name in NAMES:
        assert get_template(name)


@pytest.mark.parametrize("kind", ["tags", "filters"])
def test_no_library_that_every_page_uses_hides_a_name_of_another(kind: str) -> None:
    names = [name for library in ENGINE.template_builtins for name in getattr(library, kind)]
    assert sorted({name for name in names if names.count(name) > 1}) == []
