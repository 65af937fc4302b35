"""A repository has one name, however its remote or its folder is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from day1site.hooks.client import capture
from memory.repository_names import normalise_repository

SHOP = "github.com/acme/shop"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("git@github.com:acme/shop.git", SHOP),
        ("https://github.com/acme/shop.git", SHOP),
        ("https://me:token@GitHub.com/acme/shop/", SHOP),
        ("ssh://git@github.com:22/acme/shop.git/", SHOP),
        (" me:token@github.com/acme/shop ", SHOP),
        ("GitHub.com/acme/shop.git", SHOP),
        ("ssh://git@git.example.com:2222/acme/shop.git", "git.example.com/acme/shop"),
        ("git.example.com:2222/acme/shop", "git.example.com/acme/shop"),
        ("git@host:/srv/shop.git", "host/srv/shop"),
        ("/srv/shop/", "/srv/shop"),
        ("/srv/git/shop.git", "/srv/git/shop.git"),
        ("~/shop/", "~/shop"),
        ("C:\\code\\shop\\", "C:\\code\\shop"),
        ("C:/code/shop", "C:/code/shop"),
        ("shop/", "shop"),
        ("/", "/"),
        ("*", "*"),
        ("", ""),
    ],
)
def test_a_repository_has_one_name(written: str, name: str) -> None:
    assert normalise_repository(written) == name


@given(st.text(alphabet="ab.:/@\\~-*2 git", max_size=30))
def test_a_name_is_its_own_name(written: str) -> None:
    name = normalise_repository(written)
    assert normalise_repository(name) == name


@pytest.mark.parametrize(
    "remote",
    [
        "git@github.com:acme/shop.git",
        "https://me:token@GitHub.com/acme/shop",
        "ssh://git@github.com:22/acme/shop/",
    ],
)
def test_what_hooks_tell_is_the_same_repository(remote: str) -> None:
    assert normalise_repository(capture.plain_address(remote)) == normalise_repository(remote) == SHOP
