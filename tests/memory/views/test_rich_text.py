"""Markdown on one line: code and bold are shown, marks of blocks are not, and nothing becomes a tag."""

import pytest

from memory.templatetags.day1 import inline_code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use `make check` **always**.", "Use <code>make check</code> <strong>always</strong>."),
        ("2**3**4 and a ** b ** c", "2**3**4 and a ** b ** c"),
        ("# Deploys\nRun **from main**.", "Deploys\nRun <strong>from main</strong>."),
        ("Before\n```sh\nmake\n```\nafter", "Before\nmake\nafter"),
        ("`<b>` **<i>x</i>**", "<code>&lt;b&gt;</code> <strong>&lt;i&gt;x&lt;/i&gt;</strong>"),
        ("#1 is a number, `half", "#1 is a number, `half"),
        ("**Run `make`**, *never* by hand", "<strong>Run <code>make</code></strong>, <em>never</em> by hand"),
        ("*.py, *.js, 2 * 3 and int *p, *q", "*.py, *.js, 2 * 3 and int *p, *q"),
    ],
)
def test_a_line_of_markdown(text: str, shown: str) -> None:
    assert inline_code(text) == shown
