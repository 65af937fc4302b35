"""False alarms of the redaction in ordinary code and prose, and its time as a ratio to cutting words.

  .venv/bin/python -m bench.redaction [--show] [FOLDER ...]
  git show 89a980f4:memory/redaction.py > before.py
  .venv/bin/python -m bench.redaction --before before.py

Without folders it reads the standard library, Django and the docs of this project. ``--show`` prints each
place for a person to judge. Exit status 1 when a folder has more than five in 10,000 lines.
With ``--before`` it takes 480 characters of each kind of text, in turns with a module that has
``redact_tokens``, as the one of that commit; the medians of 41 turns. Each text is taken as it is, and with a
year at its end: what has no word with a digit, no = and no quotes is not searched for names.
"""

import argparse
import itertools
import re
import runpy
import statistics
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import django

from memory.redaction.spans import reveal_text
from memory.redaction.texts import find_secrets, redact_anew

MAX_ALARMS = 5  # in 10,000 lines
MAX_FILE_CHARACTERS = 1_000_000
ENDINGS = (".py", ".md", ".js", ".css", ".html", ".txt", ".rst", ".toml", ".yaml", ".yml", ".json")
WORDS = re.compile(r"\w+")
SHOWN = 40  # characters before a place
FOLDERS = (Path(sysconfig.get_path("stdlib")), Path(django.__file__).parent, Path("docs"))
TURNS, CALLS, TEXT_LENGTH = 41, 20, 480
ENDINGS_OF_TEXTS = ("", " (2024)")
TEXTS = {
    "English": "We deploy a new release every Friday at three in the afternoon. All migrations must have run"
    " in the staging environment before; when one fails, we go back. The script needs 20 GB of disk. ",
    "German": "Wir veröffentlichen jeden Freitag um drei Uhr eine neue Fassung. Alle Änderungen müssen zuvor"
    " in der Prüfumgebung gelaufen sein; schlägt eine fehl, so kehren wir zurück – das Skript braucht"
    " 20 GB. ",
    "Russian": "Мы выпускаем новую версию каждую пятницу в три часа дня. Все изменения базы данных должны"
    " сначала пройти в тестовой среде; если что-то не удалось, мы возвращаемся. Нужно 20 ГБ. ",
    "Chinese": "我们在每周五下午三点部署新版本，所有数据库迁移都必须先在测试环境里"
    "运行一遍；如果失败，就回滚到上一个版本。部署脚本会检查磁盘空间"
    "（至少20吉字节），然后才开始复制文件：请不要在周末运行它！",
    "Japanese": "毎週金曜日の午後三時に新しいバージョンをデプロイします。"
    "データベースの移行は、必ず先にテスト環境で実行してください。"
    "失敗した場合は、前のバージョンに戻します（容量は20GB以上）！",
    "Chinese with names": "用户登录的密码由管理员重置，缓存的密钥存放在服务器中；令牌每30天更换一次。",
    "mixed": "部署使用 docker compose，配置文件在 deploy/compose.yaml；运行 `make deploy` 之前先检查"
    " PostgreSQL 15 的版本，然后调用 GET /api/v1/health，返回 200 才算成功（超时 30 秒）。",
    "code": "def copy_files(source: Path, target: Path) -> int:\n"
    "    for file in sorted(source.rglob('*.py')):\n"
    "        (target / file.relative_to(source)).write_bytes(file.read_bytes())\n    return len(files)\n\n",
}


def main() -> None:
    options = arguments()
    if options.before:
        compare_times(runpy.run_path(str(options.before))["redact_tokens"])
        return
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


def compare_times(before: Callable[[str], str]) -> None:
    """Print the microseconds of each kind of text, before and now."""
    for kind, ending in itertools.product(TEXTS, ENDINGS_OF_TEXTS):
        text = (TEXTS[kind] * TEXT_LENGTH)[: TEXT_LENGTH - len(ending)] + ending
        turns = [(time_call(before, text), time_call(redact_anew, text)) for _ in range(TURNS)]
        old, new = map(statistics.median, zip(*turns, strict=True))
        print(f"{kind}{ending}: {old:.0f} µs before, {new:.0f} µs now, {new / old:.2f} times")


def time_call(redact: Callable[[str], str], text: str) -> float:
    began = time.process_time()
    for _ in range(CALLS):
        redact(text)
    return (time.process_time() - began) / CALLS * 1e6


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
    parser.add_argument("--before", type=Path, help="the module to compare the time with")
    return parser.parse_args()


if __name__ == "__main__":
    main()
