"""Texts as they were meant: paragraphs, lists, headings, code and bold of Markdown, everything escaped first.

No link, picture or tag of a text is taken over: a memory is what somebody said, not a page of ours.
"""

import re
from collections.abc import Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Code, bold, italics; a star that stands for something else (*.py, 2 * 3) begins and ends no word.
INLINE = re.compile(
    r"`([^`\n]+)`"
    r"|(?<![\w*])\*\*(?=\S)((?:`[^`\n]+`|[^*`\n])+)(?<=\S)\*\*(?![\w*])"
    r"|(?<![\w*])\*(?=[\w`])((?:`[^`\n]+`|[^*`\n])+)(?<=[\w`.!?:)])\*(?![\w*.])"
)
MARKS = re.compile(r"^#{1,6}\s+|^ {0,3}(?:```|~~~).*\n?", re.MULTILINE)  # of headings and blocks of code
FENCE = re.compile(r"^ {0,3}(```|~~~)")
ITEM = re.compile(r"^\s{0,6}(?:[-*+]|(\d{1,4})[.)])\s+(.*)")
HEADING = re.compile(r"^#{1,6}\s+(.*)")


def render_rich_text(text: str) -> SafeString:
    """Return a text as HTML."""
    return mark_safe("".join(render_blocks(text.splitlines())))  # escaped line by line


def render_blocks(lines: list[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        if fence := FENCE.match(line):
            end = find_end(lines, place + 1, fence[1])
            yield f"<pre><code>{escape(chr(10).join(lines[place + 1 : end]))}</code></pre>"
            place = end + 1
        elif item := ITEM.match(line):
            end = count_while(lines, place, ITEM)
            name = "ol" if item[1] else "ul"
            items = (ITEM.sub(r"\2", one) for one in lines[place:end])
            yield f"<{name}>{''.join(f'<li>{render_line(one)}</li>' for one in items)}</{name}>"
            place = end
        elif heading := HEADING.match(line):
            yield f"<p><strong>{render_line(heading[1])}</strong></p>"
            place += 1
        else:
            end = find_paragraph_end(lines, place)
            if text := "<br>\n".join(render_line(one) for one in lines[place:end]):
                yield f"<p>{text}</p>"
            place = max(end, place + 1)


def render_line(line: str) -> str:
    return INLINE.sub(render_mark, escape(line))


def render_mark(found: re.Match[str]) -> str:
    code, bold, italic = found.groups()
    if code:
        return f"<code>{code}</code>"
    name, inner = ("strong", bold) if bold else ("em", italic)
    return f"<{name}>{INLINE.sub(render_mark, inner)}</{name}>"


def render_inline(text: str) -> SafeString:
    """Return a text on one line as HTML: code and bold of Markdown, without the marks of its blocks."""
    return mark_safe(
        render_line(text if isinstance(text, SafeString) else MARKS.sub("", text))
    )  # escaped there


def find_end(lines: list[str], place: int, fence: str) -> int:
    return next((n for n in range(place, len(lines)) if lines[n].lstrip().startswith(fence)), len(lines))


def count_while(lines: list[str], place: int, pattern: re.Pattern[str]) -> int:
    return next((n for n in range(place, len(lines)) if not pattern.match(lines[n])), len(lines))


def find_paragraph_end(lines: list[str], place: int) -> int:
    ends = (FENCE, ITEM, HEADING)
    for number in range(place, len(lines)):
        line = lines[number]
        if not line.strip() or any(pattern.match(line) for pattern in ends):
            return number
    return len(lines)
