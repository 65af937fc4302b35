"""The icon font has the icons that unfold names, and no others."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import unfold
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

UNFOLD = Path(unfold.__file__).parent
HERE = settings.BASE_DIR / "static" / "day1" / "symbols"
IN_TEMPLATES = (r"material-symbols-outlined[^>]*>\s*([a-z_0-9]+)\s*<", r'icon="([a-z_0-9]+)"')
IN_STYLES = r'content:"([a-z_0-9]+)"'


def named() -> Iterator[str]:
    for path in UNFOLD.rglob("templates/**/*.html"):
        for pattern in IN_TEMPLATES:
            yield from re.findall(pattern, path.read_text())
    yield from re.findall(IN_STYLES, (UNFOLD / "static/unfold/css/styles.css").read_text())


def test_every_icon_that_unfold_names_is_in_the_font() -> None:
    """Detect new icons after an update of unfold: docs/pages.md explains how to make the font."""
    assert sorted(set(named())) == (HERE / "names.txt").read_text().split()


@pytest.mark.django_db
def test_the_lists_of_the_server_load_this_font_alone() -> None:
    User.objects.create_superuser("boss")
    client = Client()
    client.force_login(User.objects.get())
    html = client.get("/admin/auth/user/").content.decode()
    assert "day1/symbols/symbols.css" in html
    assert "unfold/fonts" not in html
