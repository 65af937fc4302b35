"""The audit at the desk: read only, and filtered by what was done, in words."""

import re

import pytest

from memory.views.wording import DEEDS
from tests.memory.admin.conftest import HOME
from tests.memory.admin.test_desk_facts import page

pytestmark = pytest.mark.django_db(transaction=True)
AUDIT = f"{HOME}audit"


def offered(html):
    return dict(re.findall(r'<option value="([^"]*)"(?: selected)?>([^<]*)<', html))


def shown(html):
    return dict(re.findall(r'title="([a-z.]+)">([^<]+)</a>', html))


def test_it_is_read_only_and_filtered(maintainer, write):
    write("one")
    html = page(maintainer, f"{AUDIT}?action=fact.write")
    assert html.count("<tr>") == 2
    assert 'method="post"' not in html.split("<main")[1].split("</main>")[0]
    assert "No entry fits." in page(maintainer, f"{AUDIT}?action=fact.update")


def test_it_offers_every_action_in_the_words_of_its_list(maintainer, write):
    write("one")
    html = page(maintainer, AUDIT)
    assert shown(html) == {"fact.write": "wrote a fact"}
    assert offered(html) == {"": "any", **{name: str(word) for name, word in DEEDS.items()}}
    assert len(set(offered(html).values())) == len(DEEDS) + 1


def test_it_offers_them_in_chinese(maintainer, write):
    write("one")
    html = maintainer.get(AUDIT, headers={"accept-language": "zh-hans"}).content.decode()
    assert shown(html) == {"fact.write": "写入一条事实"}
    assert offered(html)["fact.write"] == "写入一条事实"
    assert [word for word in offered(html).values() if re.search("[A-Za-z]", word)] == []


def test_an_action_that_an_address_asks_for_stays_chosen(maintainer, write):
    write("one")
    for action in ("fact.write", "of-an.older-time"):
        assert f'<option value="{action}" selected>' in page(maintainer, f"{AUDIT}?action={action}")
    html = page(maintainer, f"{AUDIT}?action=of-an.older-time")
    assert (offered(html)["of-an.older-time"], "No entry fits." in html) == ("of-an.older-time", True)
