"""Figures for operators where the disk takes no files: a process serves on, and counts nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory import metrics
from tests.systems import needs_fork
from tests.up_process import ROOT

COUNT = """
import os, resource, sys
from pathlib import Path
import django
django.setup()
from memory import metrics

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # as on a disk that has no more
metrics.start(folder)
for number in range(500):
    metrics.add("day1_http_requests", method="GET", route=f"/{number}", status=200)
print(metrics.render(())[0].decode().count("day1_http_requests_total{"))
print(*sorted({os.stat(file).st_blocks * 512 >= file.stat().st_size for file in folder.glob("*")}))
"""


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize(("limit", "counted"), [(2**22, "500\nTrue\n"), (2**20, "0\n\n")])
def test_files_are_on_the_disk_before_they_are_counted_in(tmp_path: Path, limit: int, counted: str) -> None:
    words = [sys.executable, "-c", COUNT, str(tmp_path / "metrics"), str(limit)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "day1site.settings.test"}
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, counted), done.stderr


def test_a_folder_that_cannot_be_made_counts_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    metrics.start(tmp_path / "file" / "metrics")
    assert "Nothing is counted" in caplog.text
    assert metrics.find_metric("day1_commits") is None
