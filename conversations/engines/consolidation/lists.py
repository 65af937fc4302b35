"""Lists of rules in a prompt: "three rules: 1. … 2. … 3. …". Pure functions, no database.

The items of a list are of one kind. So where its heading says that they are rules, or most of them lay
something down by themselves, all of them do but those that ask, or order the moment; each is a statement.
"""

from collections.abc import Iterator
from typing import NamedTuple

from conversations.engines.consolidation.hearsay import is_hearsay
from conversations.engines.consolidation.lasting import is_passing
from conversations.engines.consolidation.phrases import PASSING, has_phrase, is_idle
from conversations.engines.consolidation.sentence_score import score_sentence
from conversations.engines.consolidation.sentences import END, MAX_SENTENCE_LENGTH, break_lists, drop_output
from memory.engines.search.answer_boost import ASKS
from memory.engines.statements.claims import cut, list_roots
from memory.patterns import lazy_pattern

MIN_ITEMS = 2
MAX_HEADING_LENGTH = 120
MIN_SCORE = 0.0  # log-odds of an item that lays something down by itself
ITEM = lazy_pattern(r"^\s*(?:[-*+•]\s+|\(?\d{1,2}[.)]\s+|\(?\d{1,2}[、．）]\s*)(\S.*)$")
CONTINUED = lazy_pattern(r"^(?:\t| {2,})\S")
NAMES_RULES = lazy_pattern(
    r"(?i)\b(?:rules?|conventions?|guidelines?|principles|polic(?:y|ies)|decisions?|decided|agreed"
    r"|from now on|going forward|remember|keep in mind|house style|preferences"
    r"|regeln?|konventionen|vereinbart|beschlossen|festgelegt|ab (?:jetzt|sofort)|künftig|merke? dir"
    r"|règles?|désormais|dorénavant|à partir de maintenant|retiens|décidé"
    r"|reglas?|normas?|a partir de (?:ahora|agora)|recuerda|decidi(?:do|mos)|convenciones"
    r"|regras?|lembra|convenções)\b|规则|规矩|约定|规范|记住|原则|以后|决定|ルール|規約|決まり|今後|これから|覚えて|方針|決定"
)
# What a list is of that lays nothing down, however its items sound ("never loads on mobile").
NAMES_WORK = lazy_pattern(
    r"(?i)\b(?:findings?|issues?|bugs?|problems?|to-?dos?|tasks?|steps|plan|fix(?:es)?|feedback|results?|errors?"
    r"|changes|questions?|fehler|probleme?|aufgaben|schritte|erreurs?|problèmes?|étapes|tâches|errores"
    r"|problemas?|pasos|tareas|erros|tarefas|passos)\b|问题|任务|步骤|计划|問題|手順|タスク"
)
# What a heading says of any list of rules; other words name what they are about.
COMMON = frozenset(
    cut(word)
    for word in """rule rules convention conventions guideline guidelines principles policy policies decisions
    decided agreed thing things point points few some one two three four five six seven repo repository
    project
    code codebase team house style general basic remember please note keep mind from now on going forward
    following these those our my here preferences let's make sure always quick short
    regeln regel dinge drei vier zwei ein paar dieses repo projekt ab jetzt künftig bitte merk dir für
    règles règle choses trois quatre projet dépôt désormais reglas regla cosas tres proyecto normas
    regras regra coisas três projeto""".split()
)


COMMON_DENSE = lazy_pattern(
    r"[几三两四五六]|[条个点]|以下|下面|我们|项目|仓库|[请这的是,，のをはに]|いくつか|プロジェクト|リポジトリ|ください|今日から"
)


class RuleList(NamedTuple):
    """The items of a list, and the line above it."""

    heading: str
    items: tuple[str, ...]

    def lays_down(self, is_working: bool) -> bool:
        """Return whether its items are rules: the heading says so or, unless an agent works, most of them."""
        head = self.heading.rstrip(" :：")
        if any(one.search(self.heading) for one in (ASKS, PASSING)) or is_hearsay(head) or is_passing(head):
            return False
        if NAMES_RULES.search(head):
            return True
        telling = [one for one in self.items if has_phrase(one) or score_sentence(one) >= MIN_SCORE]
        is_work = is_working or NAMES_WORK.search(head)
        return not is_work and len(telling) >= MIN_ITEMS and 2 * len(telling) > len(self.items)

    def list_rules(self) -> Iterator[str]:
        """Yield the items that lay something down, with what the heading says that they are about."""
        head = self.heading.rstrip(" :：")
        named = COMMON_DENSE.sub("", NAMES_RULES.sub("", head))
        is_named = NAMES_RULES.search(head) and set(list_roots(named.lower())) - COMMON
        for item in self.items:
            if not is_idle(item):
                text = f"{head}: {item}" if is_named else item
                yield text if len(text) <= MAX_SENTENCE_LENGTH else item[:MAX_SENTENCE_LENGTH]


def take_rules(text: str, is_working: bool) -> tuple[str, list[str]]:
    """Return a prompt without its lists of rules and their headings, and the rules."""
    rest: list[str] = []
    rules: list[str] = []
    for block in split_blocks(drop_output(break_lists(text))):
        if isinstance(block, str):
            rest.append(block)
            continue
        heading = next((line for line in reversed(rest) if line.strip()), "")
        before, last = split_heading(heading)
        found = RuleList(last, block)
        if len(block) >= MIN_ITEMS and found.lays_down(is_working):
            rules += found.list_rules()
            if last:
                while rest and not rest[-1].strip():
                    rest.pop()
                rest[-1] = before
        else:
            rest += block
    return "\n".join(rest), rules


def split_heading(line: str) -> tuple[str, str]:
    """Return what stands before the heading in the line above a list, and the heading: all of a short line,
    of another its last sentence, if that is short.
    """
    if len(line) <= MAX_HEADING_LENGTH:
        return "", line.strip()
    *before, last = END.split(line.strip())
    return (" ".join(before), last) if len(last) <= MAX_HEADING_LENGTH else (line, "")


def split_blocks(text: str) -> Iterator[str | tuple[str, ...]]:
    """Yield the lines of a text, and each list as the texts of its items; blank lines end no list."""
    items: list[str] = []
    for line in text.splitlines():
        if found := ITEM.match(line):
            items.append(" ".join(found[1].split()))
        elif items and CONTINUED.match(line):
            items[-1] += f" {line.strip()}"
        elif line.strip() or not items:
            if items:
                yield tuple(items)
                items = []
            yield line
    if items:
        yield tuple(items)
