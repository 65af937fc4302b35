"""A copy of the project in a folder of its own, for tests that change the code."""

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import up_process
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("memory", "conversations", "curation", "analytics", "day1site", "templates", "static", "locale")
SURFACES = Path(__file__).with_name("surfaces.py")
RUN_SURFACES = f"import django, runpy; django.setup(); runpy.run_path({str(SURFACES)!r}, run_name='__main__')"
Step = tuple[Any, ...]  # the name of a function of surfaces.py, and its arguments


def name_next_migration(name: str) -> str:
    """Return the path of the migration of memory that makemigrations would write under a name."""
    newest = max(file.name for file in (ROOT / "memory" / "migrations").glob("0*.py"))
    return f"memory/migrations/{int(newest[:4]) + 1:04}_{name}.py"


class ProjectCopy:
    """A copy of the code, whose commands and surfaces may be called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in FOLDERS:  # with what is compiled already
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "manage.py", folder)  # by it the settings know a checkout
        up_process.prepared(folder / "data")
        (folder / "docs").mkdir()
        shutil.copy(ROOT / "docs" / "concepts.md", folder / "docs")

    def write_derived_files(self, migration: str) -> None:
        """Write a migration of this name, and the fields of the command line."""
        calls = f"c('makemigrations', 'memory', name={migration!r}, verbosity=0); c('write_fields')"
        imports = "import django; django.setup(); from django.core.management import call_command as c"
        self._run(["-c", f"{imports}; {calls}"])

    def call(self, steps: dict[str, Step]) -> dict[str, Any]:
        """Return the status and the answer of each call, all in one process."""
        answers = json.loads(self._run(["-c", RUN_SURFACES], json.dumps(list(steps.values()))))
        return dict(zip(steps, answers, strict=True))

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands once in a file."""
        file = self.folder / name
        text = file.read_text()
        assert text.count(old) == 1, (name, old)
        file.write_text(text.replace(old, new))

    def add_text(self, name: str, text: str) -> None:
        """Add a text to the end of a file, which may be new."""
        file = self.folder / name
        file.write_text((file.read_text() if file.exists() else "") + text)

    def list_changes(self) -> set[str]:
        """Return the files that were added or changed."""
        names = {file.relative_to(self.folder) for file in self.folder.rglob("*") if file.is_file()}
        sources = {name for name in names if "__pycache__" not in name.parts and name.parts[0] != "data"}
        return {str(name) for name in sources if not self._is_same(name)}

    def _is_same(self, name: Path) -> bool:
        return (ROOT / name).exists() and filecmp.cmp(ROOT / name, self.folder / name, shallow=False)

    def _run(self, words: list[str], payload: str = "") -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(self.folder),
            "PYTHONWARNINGS": "ignore",
            "DAY1_NO_BOOTSTRAP": "1",
            "DAY1_DATA_DIR": str(self.folder / "data"),
            "DJANGO_SETTINGS_MODULE": "day1site.settings.dev",
        }
        command = [sys.executable, *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            input=payload,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
