"""The Chinese pages: no text stays in English by oversight, and the compiled catalogue is current."""

import gettext
import re
import shutil
import string
import subprocess
import sys
from ast import literal_eval
from datetime import date
from pathlib import Path

import pytest
from django.test import Client
from django.utils.formats import date_format
from django.utils.translation import get_language, override, pgettext
from django.utils.translation import gettext as translated

from conversations.engines.conversations import ConversationEngine
from memory.actors import local_actor
from memory.exceptions import BranchArchived, Invalid
from memory.views.text.error_text import error_sentence
from tests.memory.views.conftest import browser, person
from tests.up_process import ROOT, environment

CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"
QUOTED = r'((?:".*"\n)+)'
ENTRY = re.compile(rf"(?:msgctxt {QUOTED})?msgid {QUOTED}(?:msgid_plural {QUOTED})?msgstr(?:\[0\])? {QUOTED}")
NO_SOURCE = {".git", ".venv", "data", "node_modules"}


def text(quoted: str) -> str:
    return "".join(literal_eval(line) for line in quoted.splitlines())


def entries(folder: Path) -> list[tuple[str, str, str, str]]:
    """Parse a catalogue: of each entry the context, the English text, its plural and the translation."""
    found = ENTRY.findall((folder / "django.po").read_text() + "\n")
    return [
        (text(where), text(said), text(many), text(here)) for where, said, many, here in found if text(said)
    ]


def written(folder: Path) -> dict[str, str]:
    """Return translations by English text, prefixed by its context as in gettext."""
    return {"\4".join(filter(None, (where, said))): here for where, said, _, here in entries(folder)}


def compiled() -> dict[str, str]:
    with (CATALOGUE / "django.mo").open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # nothing else lists the texts
    return {(key[0] if isinstance(key, tuple) else key): value for key, value in catalogue.items() if key}


def holes(said: str) -> set[str]:
    """Return the placeholders of a text."""
    braces = {name for _, name, _, _ in string.Formatter().parse(said) if name}
    return braces | set(re.findall(r"%(?:\(\w+\))?[sd]", said))


def test_every_text_is_translated() -> None:
    assert [said for said, here in written(CATALOGUE).items() if not here.strip()] == []
    assert len(written(CATALOGUE)) > 500


def test_a_translation_has_the_values_of_its_text() -> None:
    """Compare with the plural where there is any: Chinese has one form, which says the number."""
    wrong = {said: here for _, said, many, here in entries(CATALOGUE) if holes(many or said) != holes(here)}
    assert wrong == {}


def test_the_compiled_catalogue_is_the_written_one() -> None:
    assert compiled() == written(CATALOGUE)


@pytest.mark.slow
def test_the_catalogue_has_every_text_of_the_source(tmp_path: Path) -> None:
    if not shutil.which("xgettext"):
        pytest.skip(
            "NO GETTEXT: xgettext is missing, so new texts were not looked for. apt-get install gettext"
        )
    copy = shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(*NO_SOURCE))
    command = [sys.executable, "manage.py", "makemessages", "-l", "zh_Hans"]
    subprocess.run(command, cwd=copy, env=environment(), check=True, capture_output=True)
    new = written(copy / "locale" / "zh_Hans" / "LC_MESSAGES")
    assert sorted(new.keys() ^ written(CATALOGUE).keys()) == []


def test_an_engines_refusal_is_said_in_the_readers_language() -> None:
    with override("zh-hans"):
        assert error_sentence(BranchArchived(name="task/a")) == "分支 task/a 已归档，不接受写入：请先恢复它。"
        assert (
            error_sentence(Invalid("expires_at is in the past.", field="expires_at"))
            == "expires_at 已经过去。"
        )
        assert error_sentence(Invalid("not in {any} catalogue", any="no")) == "not in no catalogue"
    assert error_sentence(BranchArchived(name="a")) == BranchArchived(name="a").text


def test_pages_follow_the_choice_and_the_browser_and_the_api_neither(project) -> None:
    client = browser(person("vera", project))
    said = {"Accept-Language": "zh-CN,zh;q=0.9"}
    assert '<html lang="zh-hans"' in client.get("/p/test/", headers=said).content.decode()
    chosen = client.post("/language", {"language": "en", "next": "/p/test/"})
    assert chosen.headers["Location"] == "/p/test/"
    assert '<html lang="en"' in client.get("/p/test/", headers=said).content.decode()
    refused = Client().get("/api/v1/facts", headers=said)
    assert refused.json()["detail"] == "A valid API key is needed."
    assert "Content-Language" not in refused.headers


def test_a_word_of_two_senses_has_two_words(project) -> None:
    """Check contexts: a validity and a checkbox, a fact and a conversation need different words."""
    said = {"Accept-Language": "zh-hans"}
    client = browser(person("mira", project, "maintainer"))
    keys = client.get("/p/test/keys", headers=said).content.decode()
    assert '<option value="" selected>永不过期</option>' in keys
    assert "<h2>智能体的密钥</h2>" in keys
    ConversationEngine().create_conversation(title="Talk", actor=local_actor(project.pk))
    talks = client.get("/admin/p/test/conversations", headers=said).content.decode()
    assert '<option value="active">进行中</option>' in talks
    with override("zh-hans"):
        assert (pgettext("holds", "Valid"), translated("valid")) == ("有效期", "有效")
        assert (pgettext("means", "by"), translated("by")) == ("按", "由")


def test_the_language_of_a_page_ends_with_it(project) -> None:
    client = browser(person("vera", project))
    for path, status in (("/p/test/", 200), ("/p/test/nothing", 404), ("/admin/p/test/keys", 403)):
        page = client.get(path, headers={"Accept-Language": "zh-hans"})
        assert (page.status_code, page.headers["Content-Language"]) == (status, "zh-hans")
        assert get_language() == "en"


@pytest.mark.django_db
def test_an_unknown_language_changes_nothing() -> None:
    client = Client()
    client.post("/language", {"language": "tlh", "next": "/login"})
    assert '<html lang="en"' in client.get("/login").content.decode()


@pytest.mark.parametrize(
    ("english", "other_word"),
    [
        ("agent", r"代理(?!对)"),  # but a surrogate pair
        ("verif", "验证"),
        ("recall", "回忆"),
        ("consolidat", "整合"),
        ("eras", "[抹擦]除"),
        ("verdict", "结论|裁定"),
        ("judge", "评判模型|评判者"),
    ],
)
def test_a_term_has_one_chinese_word(english: str, other_word: str) -> None:
    said = {
        message: text for message, text in written(CATALOGUE).items() if re.search(english, message, re.I)
    }
    assert [text for text in said.values() if re.search(other_word, text)] == []


def test_the_day_of_a_feed_is_written_in_chinese() -> None:
    with override("zh-hans"):
        assert (
            date_format(date(2026, 11, 27), pgettext("format of a day", "l, j F Y"))
            == "2026年11月27日 星期五"
        )
