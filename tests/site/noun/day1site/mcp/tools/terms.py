"""Tools for terms: write, list."""

from day1site.mcp.tools.operations import declare_tool
from memory.operations.terms import TERMS

declare_tool(
    TERMS.operations["create"],
    "term_write",
    about="Keep what a word means in this project, so that nobody has to ask again.",
    key="term",
    after="term_list",
    scope="write",
    writes=True,
)
declare_tool(
    TERMS.operations["list"],
    "term_list",
    about="List the words of this project and what they mean, the newest first.",
    key="terms",
    after="term_write",
)
