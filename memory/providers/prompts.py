"""Prompts: versioned files; stored text stands in them between fences that it cannot close."""

import secrets
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from memory.providers.chat import Message


@cache
def read_prompt(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip()


def build_prompt(
    file: Path, pieces: Iterable[tuple[str, str]], note: str = "", **words: str
) -> list[Message]:
    """Return the rules of a file, and stored texts, each below what it is, between fences.

    ``words`` take the places of their names in the rules; ``note`` follows the texts.
    """
    fence = f"==={secrets.token_hex(12)}==="  # no stored text can know it
    parts = [f"{f'{fence} {title}'.strip()}\n{text}\n{fence} end" for title, text in pieces]
    rules = read_prompt(file)
    for name, text in {"fence": fence, **words}.items():
        rules = rules.replace(f"{{{name}}}", text)
    return [Message("system", rules), Message("user", "\n\n".join(parts) + note)]
