"""A bundle is uploaded in the browser: the report comes first, the file stays chosen, then it is imported."""

import json
from pathlib import Path
from typing import Any

import pytest

from curation.engines.bundles.document import compute_sha256

FACT = {"id": "01890000-0000-7000-8000-000000000001", "fact_text": "Batteries of clocks last a year."}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a document that somebody else has made, and not signed."""
    head = {"format": "day1-bundle", "schema_version": 1, "name": "batteries", "version": 1}
    data = head | {"content": {"facts": [FACT | {"verification_status": "verified"}]}}
    path = tmp_path / "batteries.json"
    path.write_text(json.dumps(data | {"sha256": compute_sha256(data)}))
    return path


def test_a_report_comes_before_the_import(open_page: Any, file: Path, tmp_path: Path) -> None:
    view = open_page("/p/default/bundles/upload")
    page = view.page
    (tmp_path / "none.json").write_text("no document")
    page.set_input_files("#file", str(tmp_path / "none.json"))
    page.get_by_role("button", name="Show what it would write").click()
    page.get_by_text("The file is no JSON document.").wait_for()
    page.set_input_files("#file", str(file))
    page.get_by_role("button", name="Show what it would write").click()
    page.get_by_text("its facts arrive as unverified").wait_for()
    assert page.get_by_text("The file is no JSON document.").count() == 0
    page.get_by_role("button", name="Import 1 memory").click()
    page.get_by_text("1 memory was imported.").wait_for()
    assert page.url.endswith("/p/default/branches/bundle/batteries/v1")
