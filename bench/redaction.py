"""False alarms of the redaction in ordinary code and prose, and its time as a ratio to cutting words.

  .venv/bin/python -m bench.redaction [--show] [FOLDER ...]

Without folders it reads the standard library, Django and the docs of this project. ``--show`` prints each
place for a person to judge. Exit status 1 when a folder has more than five in 10,000 lines.
"""

import argparse
import re
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import django

from memory.redaction.spans import reveal_text
from memory.redaction.texts import find_secrets

MAX_ALARMS = 5  # in 10,000 lines
MAX_FILE_CHARACTERS = 1_000_000
ENDINGS = (".py", ".md", ".js", ".css", ".html", ".txt", ".rst", ".toml", ".yaml", ".yml", ".json")
WORDS = re.compile(r"\w+")
SHOWN = 40  # characters before a place
FOLDERS = (Path(sysconfig.get_path("stdlib")), Path(django.__file__).parent, Path("docs"))


def main() -> None:
    options = arguments()
    alarms = [measure_folder(folder, show=options.show) for folder in options.folders]
    sys.exit(max(alarms) > MAX_ALARMS)


def measure_folder(folder: Path, *, show: bool) -> float:
    """Print the figures of a folder; return its false alarms in 10,000 lines."""
    lines, kinds, seconds, words = 0, Counter[str](), 0.0, 0.0
    for file, text in read_files(folder):
        began = time.process_time()
        plain = reveal_text(text)
        places = find_secrets(plain).merge()
        middle = time.process_time()
        WORDS.findall(text)
        lines, seconds, words = (
            lines + text.count("\n"),
            seconds + middle - began,
            words + time.process_time() - middle,
        )
        for start, end, kind in places:
            kinds[kind] += 1
            if show:
                print(
                    f"{file}: {kind}: {plain[max(0, start - SHOWN) : start]!r} {plain[start:end][:SHOWN]!r}"
                )
    alarms = 10_000 * kinds.total() / max(lines, 1)
    print(f"{folder}: {lines} lines, {kinds.total()} places, {alarms:.2f} in 10,000 lines; {dict(kinds)}")
    print(f"{seconds / max(words, 0.001):.1f} times as long as to cut the text into words")
    return alarms


def read_files(folder: Path) -> Iterator[tuple[Path, str]]:
    for file in sorted(folder.rglob("*")):
        if file.suffix not in ENDINGS or "site-packages" in file.relative_to(folder).parts:
            continue
        try:
            text = file.read_text()
        except (OSError, UnicodeDecodeError):
            continue
        if len(text) <= MAX_FILE_CHARACTERS:
            yield file, text


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    parser.add_argument("--show", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
