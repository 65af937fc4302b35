"""Appearance of the admin: unfold with the colours of static/day1/tokens.css, as on the other pages."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.functional import lazy

asset = lazy(static, str)

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Day1",
    "SITE_HEADER": "Day1",
    "SITE_URL": reverse_lazy("front"),
    "SITE_ICON": asset("day1/icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "href": asset("day1/icon.svg"), "type": "image/svg+xml"}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": [asset("day1/admin.css")],
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "base": {
            "50": "#f6f7f7",
            "100": "#eceef0",
            "200": "#dfe2e5",
            "300": "#c5cad0",
            # Used on both light and dark backgrounds.
            "400": "#737b85",
            "500": "#59616b",
            "600": "#3f464e",
            "700": "#31373e",
            "800": "#23282d",
            "900": "#15181b",
            "950": "#0f1113",
        },
        "primary": {
            "50": "#f0f6fc",
            "100": "#e1edf8",
            "200": "#c4daf0",
            "300": "#a8cbec",
            "400": "#9ac3ee",
            "500": "#8cbcec",
            "600": "#245a8d",
            "700": "#1e4c78",
            "800": "#193f63",
            "900": "#14324f",
            "950": "#0d2236",
        },
        "font": {
            "subtle-light": "#59616b",
            "subtle-dark": "#a0a9b3",
            "default-light": "#31373e",
            "default-dark": "#d3d8dd",
            "important-light": "#15181b",
            "important-dark": "#f2f3f3",
        },
    },
}
