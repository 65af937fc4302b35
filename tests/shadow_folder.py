"""A folder as a stranger may have it: files named like modules that Day1 imports, and like settings."""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

OURS = ("memory", "conversations", "curation", "analytics", "day1site", "bench", "tests", "manage")
SETTINGS = ("settings", "local_settings", "celeryconfig", "sitecustomize", "usercustomize", "conftest")
# Without an import: what it would import is shadowed too.
SHADOW = "open(__file__ + '.executed', 'w').close()\nraise ImportError('a file of the current folder')\n"
FILES = {
    ".env": "DAY1_DATA_DIR=/nowhere\nDAY1_EMBEDDER=nonsense\nDJANGO_SETTINGS_MODULE=settings\n",
    "pytest.ini": "[pytest]\naddopts = --nonsense\n",
    "pyproject.toml": "[tool.uv]\nindex-url = 'http://127.0.0.1:9/'\n",
}


def make_shadows(folder: Path) -> None:
    """Put a file into a folder for each top-level module of Python, of Day1 and of what it depends on."""
    names = {*sys.stdlib_module_names, *packages_distributions(), *OURS, *SETTINGS}
    for name in names:
        (folder / f"{name.replace('/', '_')}.py").write_text(SHADOW)
    for name, text in FILES.items():
        (folder / name).write_text(text)


def list_executed(folder: Path) -> list[str]:
    """Return the names of the modules of such a folder that were run."""
    return sorted(path.name.removesuffix(".py.executed") for path in folder.glob("*.executed"))
