"""Words by which people say that something changes, in seven languages; those of a subject are never here."""

import re

from memory.engines.support.revision_rules import FILLERS
from memory.words import STOP_WORDS


def compile_all(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


_PHRASE = r"([^\s,;:.!?()]+(?: [^\s,;:.!?()]+){0,4})"  # a phrase
_DENSE = r"([^,，;；。、()（）\s]{1,20}?)"

# Words that connect others, besides those of English and its common verbs.
FUNCTION_WORDS = (
    STOP_WORDS
    | FILLERS
    | frozenset(
        """
    yes yeah yep nope okay hey hi hello thanks thank lets im id ill ive were youre theyre thats whats theres
    aint
    ever never none without wait scratch forget scrap ditch drop dump dropping forgetting nevermind mind
    disregard
    ignore matter said told say saying tell earlier before rule rules decision thing things stuff please
    kindly
    guys plan course really just simply plain plainly maybe enough instead rather anyway also too only all
    after
    would should could shall must will may might let us one ones every each always everywhere everything
    remember note write writes written prefer prefers like likes love want wants wanting think
    thought mean meant
    changed correct myself mistake wrong
    back better best new old day today tomorrow yesterday later soon next last same other another
    stays stay lasts
    times time once twice hundred than then there here with without via per using out off away
    der die das den dem des ein eine einen einem einer eines und oder aber doch nicht kein keine keinen keinem
    keiner nie niemals immer nur noch mehr ab jetzt sofort bitte mal wir ich du ihr sie er es man uns mich mir
    ist sind war wird werden wurde haben hat hatte habe nehmen nimm nutzen nutze benutzen verwenden verwende
    können kann soll sollen muss müssen darf dürfen machen macht mach für von vom zu zum zur in im an am auf
    aus
    bei mit ohne nach vor über unter statt anstatt anstelle dass daß was wie so auch schon wieder nun lieber
    ach
    dauert dauern gilt gelten bleibt bleiben
    nein ja vergiss vergesst gesagt sagte regel entschieden heute doch als wenn
    le la les un une des du de et ou mais ne pas plus jamais toujours on nous je tu vous il elle ils elles ce
    cette ces que qui dans pour par sur avec sans au aux en est sont était sera utilise utilisons utiliser
    utilisez faut maintenant désormais fait enfin plutôt lieu oublie oubliez dit règle finalement non oui
    merci dure durent passe passent doit doivent reste restent
    s'il plaît
    el los las una unos unas y o pero no nunca siempre ya más usa usamos usar use uses usáis para por con sin
    del al
    es son era será se me te lo que quien en ahora partir adelante mejor olvida olvídate dije dicho regla sí
    vale
    finalmente vez lugar nada deja hay debe deben pasa pasan dura duran queda quedan
    os as um uma uns umas e ou mas não nao sempre já mais usamos usem para com sem do da dos das no na nos
    nas ao
    dura duram fica ficam passa passam deve devem
    são foi será agora partir vez esquece esqueça disse regra sim melhor afinal
    了 的 是 在 用 使 改 换 成 为 把 将 从 到 要 请 都 也 就 我 们 你 咱 不
    别 没 勿 再 以 后 现 今 起 一 律 统
    决 定 应 该 必 须 可 能 说 过 关 于 忘
    """.split()
    )
)

# The same in several languages, of what rules are often about.
_SAME = (
    "english englisch anglais inglés inglês 英语 英文 英語",
    "german deutsch allemand alemán alemão 德语 德文",
    "french französisch français francés francês 法语",
    "spanish spanisch espagnol español espanhol 西班牙语",
    "chinese chinesisch chinois chino chinês 中文 汉语",
    "monday mondays montag montags lundi lunes segunda-feira 周一 星期一",
    "tuesday tuesdays dienstag dienstags mardi martes terça-feira 周二 星期二",
    "wednesday wednesdays mittwoch mittwochs mercredi miércoles quarta-feira 周三 星期三",
    "thursday thursdays donnerstag donnerstags jeudi jueves quinta-feira 周四 星期四",
    "friday fridays freitag freitags vendredi viernes sexta-feira 周五 星期五",
    "tab tabs tabulatoren tabulator tabulations tabulaciones",
    "space spaces leerzeichen espaces espacios espaços 空格",
    "max maximum maximal cap limit máximo 上限",
)
SYNONYMS = {word: words.split()[0] for words in _SAME for word in words.split()}

# How many seconds, bytes and so on a unit has; what is not named counts things.
_TIMES = {
    0.001: "ms msec millisecond milliseconds millis millisekunden millisecondes milisegundos 毫秒 ミリ秒",
    1: "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒钟 秒間",
    60: "m min mins minute minutes minuten minuto minutos 分钟 分 分間",
    3600: "h hr hrs hour hours std stunde stunden heure heures hora horas 小时 時間",
    86400: "d day days tag tage tagen jour jours día días dia dias 天 日 日間",
    604800: "w week weeks woche wochen semaine semaines semana semanas 周 週間",
    2592000: "month months monat monate monaten mois mes meses mês 个月 ヶ月 か月",
    31536000: "y year years jahr jahre jahren an ans année années año años ano anos 年 年間",
}
_SIZES = {1: "b byte bytes", 1e3: "kb kib", 1e6: "mb mib", 1e9: "gb gib", 1e12: "tb tib"}
UNIT_FACTORS: dict[str, tuple[str, float]] = {
    unit: (kind, float(factor))
    for kind, units in (
        ("time", _TIMES),
        ("size", _SIZES),
        ("share", {1: "% percent prozent"}),
        ("clock", {1: "uhr am pm 点 时 時"}),
        ("length", {1: "px pt em rem"}),
        ("place", {1: "st nd rd th"}),
    )
    for factor, names in units.items()
    for unit in names.split()
}
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve",
    "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "un dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "um dois três quatro cinco seis sete oito nove dez onze doze",
)
# What begins a phrase as well ("no one", "eine Tabelle") is no number here.
NUMBER_WORDS = {
    word: at for names in _NUMBERS for at, word in enumerate(names.split(), 1) if at > 1 and word != "once"
}

NEGATIONS = compile_all(
    r"\b(?:no|not|never|none|nothing|nobody|nor|without|cannot|dont|doesnt|didnt|isnt|arent|wont|cant"
    r"|shouldnt|stop|avoid)\b|n't\b",
    r"\b(?:nicht|nichts|kein\w*|nie|niemals|ohne)\b",
    r"\b(?:ne|sans)\b|\bn'(?=\w)",
    r"\b(?:pas|jamais|aucune?|plus de)\b",
    r"\b(?:no|nunca|jamás|sin|ningún|ninguna?|tampoco)\b",
    r"\b(?:não|nao|nunca|sem|nenhuma?)\b",
)
NEGATIONS_DENSE = re.compile(
    r"(?<!差)不(?![同过仅但错断])|(?<![特区类分级性识个])别(?![名的人])|没(?!收)|[勿莫]|禁止|无需|避免"
    r"|(?<!少)ない(?!と)|ません|やめ"
)
# What turns down the words of another, or of a habit, and says nothing of the subject.
NO_NEGATION = re.compile(
    r"^\W*(?:(?:oh|ah|wait|hm+),? )?(?:no|nope|nein|non|não|nao|nicht so)\b(?: (?:wait|sorry|no"
    r"|actually)\b)*[,;:.]|\b(?:no (?:more|less|fewer|later|longer) than|not only|not just|(?:don't|dont"
    r"|do not|never) forget|why not|(?:is not|isn't|isnt|not) enough|if not|or not|no matter|not sure"
    r"|nicht nur|no solo|no sólo|não só|pas seulement)\b|[,;]\s?(?:and )?not\b[^,;]*|,\s?(?:nicht|pas|no"
    r"|não)\s[^,;]*|不是.{1,12}而是"
)

# A word that gives up what stands behind it, or in front of it.
GIVES_UP = compile_all(
    rf"\b(?<!'t )(?<!dont )(?<!not )(?<!never )(?:forget(?: about)?|never ?mind(?: about)?|scrap|scratch"
    rf"|ditch|dump|drop(?:ped|ping)?|abandon(?:ed)?|retired?|got rid of|get rid of|stop(?:ped)? using"
    rf"|done with|decided against|no longer(?: us\w+| need\w*| want)?|no more|instead of|in place of"
    rf"|rather than|away from|out with|never again|replac(?:e|es|ing))\s(?!than\b){_PHRASE}",
    rf"\b(?:we|i|let's|lets)?\s?(?:are|'re)?\s?(?:moved?|moving|switch\w*|migrat\w*"
    rf"|chang\w*)\s[^,;.]{{0,60}}?\b(?:off(?: of)?|from|away from)\s{_PHRASE}",
    rf"\b(?:don't|dont|do not|doesn't|not|never)\s(?:use|using|do|need|want)\s{_PHRASE}",
    rf"\b{_PHRASE}\s(?:is|are|'s|gets?|got)\s(?:out|gone|dead|dropped|history|retired|cancelled"
    rf"|off the table)\b",
    rf"\b{_PHRASE}\s(?:left|quit|resigned|has left)\b",
    rf"\b(?:vergiss|vergesst|doch kein\w*|statt|anstatt|anstelle von|weg von|weg mit|schluss mit"
    rf"|nicht mehr(?: mit)?)\s{_PHRASE}",
    rf"\bkein\w*\s{_PHRASE}",
    rf"\b(?:oublie|oubliez|laisse tomber|laissez tomber|au lieu de|plutôt que|abandonn\w+|plus de"
    rf"|fini)\s{_PHRASE}",
    rf"\bn'utilis\w+ plus\s{_PHRASE}",
    rf"\b(?:olvida|olvídate de|olvidad|en lugar de|en vez de|nada de|deja(?: de usar)?|dejamos(?: de usar)?"
    rf"|ya no(?: us\w+)?)\s{_PHRASE}",
    rf"\b(?:esquece|esqueça|em vez de|no lugar de|nada de|larga|não usa\w* mais)\s{_PHRASE}",
    rf"(?:不再|弃用|停用|放弃|别|不要|不)(?:使用|用|再用)?\s?{_DENSE}\s?(?:了|[,，。;；]|$)",
    rf"(?:忘了|忘掉)\s?{_DENSE}\s?(?:[,，。;；]|$)",
    rf"从\s?{_DENSE}\s?(?:到|改|换|迁|切)",
    rf"\s?{_DENSE}\s?(?:は|を|の使用は?)(?:やめ|使わない|廃止)",
    rf"\s?{_DENSE}\s?(?:ではなく|じゃなくて|の代わりに)",
)
# Said at the start, of a value alone.
FORGETS = re.compile(
    r"^\W*(?:(?:ok|okay|actually|no|oh|well|please)\W+)?(?:forget|scrap|scratch|ditch|no more|vergiss|kein"
    r"|doch kein|oublie|olvida|nada de|esquece|别用|不用|不要)"
)
TURNS_DOWN = compile_all(
    rf"(?:^|[,;]\s?|\s[-–—]\s)(?:and |und |et |y |e )?not\s(?!only\b|just\b){_PHRASE}",
    rf"\bnot\s(?!only\b|just\b){_PHRASE}",
    rf"[,;]\s?(?:und )?nicht\s(?!nur\b){_PHRASE}",
    rf"[,;]\s?(?:et )?(?:pas|non)\s{_PHRASE}",
    rf"[,;]\s?(?:y |e )?(?:no|não)\s{_PHRASE}",
    rf"(?:而不是|不是|不用)\s?{_DENSE}\s?(?:了|[,，。;；]|$)",
)
# Something is said to change; weaker than what gives up a value, as it may be another thing's.
CHANGES = re.compile(
    r"\b(?:now|from now on|going forward|no longer|no more(?! than)|any ?more|instead|rather than|switch"
    r"|chang|mov(?:e|ing)|migrat|bump|raise|lower|increas|decreas|reduc|replac|revert|back to|again|actually"
    r"|upgrad|downgrad|after all|make (?:it|that|them|the)|make|turns? out|enough|too \w{3,}|^then\b"
    r"|asks? for|goes? (?:to|up|down)|on second thought|thinking about|scratch|forget|then$|jetzt|ab sofort"
    r"|künftig|doch|stattdessen|lieber|ach nein|nicht mehr|umgestellt|geändert|erhöh|wechsel|désormais"
    r"|maintenant|finalement|plutôt|en fait|dorénavant|passe[sz]? à|passons à|ahora|a partir de|mejor"
    r"|en realidad|ya no|cambi|pasamos a|finalmente|al final|agora|afinal|na verdade|melhor|mud|passamos a)"
    r"|改|换|太(?!好|棒)|挪到|作废|收回|不再|现在|以后|今后|升级|提高|降|调整|迁移|切换|还是|别用|变更|変更"
    r"|やっぱり|やはり|今後|これから|代わり"
)
# Somebody takes back what was said before, without saying which of it.
CORRECTS = re.compile(
    r"^\W*(?:no|nope|nein|non|não|nao),\s(?!no\b|thanks?\b|danke|merci|gracias|obrigad)|\b(?:correct(?:ion"
    r"| myself)|change of plan|chang(?:ed|e) (?:my|our) mind|after all|come back on|came back (?:to|on)"
    r"|thinking about .{1,40} again|i have thought|what i (?:told|said)|scrap what|on second thought|is void"
    r"|i was wrong|my mistake|my bad|that was wrong|turned out|we talked it over|korrektur|anders überlegt"
    r"|war ein irrtum|war falsch|changé d'avis|cambi\w+ de (?:idea|opinión)|mud\w+ de ideia|me equivoqué"
    r"|je me suis trompé)\b|想了想|改主意|说错|还是|更正|やっぱり|やはり|訂正"
)
# What is corrected, where somebody says it.
CORRECTED_TOPIC = re.compile(
    r"\b(?:change of plan|chang(?:ed|e) (?:my|our) mind|correct(?:ion)?(?: myself)?|thinking again"
    r"|have thought|anders überlegt|changé d'avis|cambi\w+ de (?:idea|opinión)|mud\w+ de ideia) (?:on|about"
    r"|regarding|for|to|with|bei|wegen|sur|sobre) ([^,;.!?:]{1,60})"
)
# Who may: one alone, or everybody.
ALONE = re.compile(r"\b(?:only|nobody but|no one but|nur|seulement|solo|só)\b|只有|只能")
ANYBODY = re.compile(
    r"\b(?:any(?:body|one)|every(?:body|one)|all of us|jeder|alle|tout le monde|todos)\b|任何人|大家|所有人"
)
ALSO = re.compile(r"\b(?:as well|too|also|auch|aussi|también|também)\b")
# Where, when or on which condition something holds.
SCOPES = re.compile(
    r"\b(?:on|in|at|during|when|while|if|unless|except(?: for| in| on)?|until|for|bei|am|im|während|wenn"
    r"|außer|pendant|quand|sauf|durante|cuando|excepto|salvo|quando|exceto)\s(?=([^,;.]{1,60}))"
)
# That something does not hold everywhere.
EXCEPTS = re.compile(
    r"\b(?:(?:but |only )?not (?:on|in|at|for|during|before|after|when|while)|except|unless|only (?:on|in|at"
    r"|for|during|when|if|after|before)|apart from|nicht (?:am|im|an|in|bei|für)|außer|nur (?:am|im|an|in|bei"
    r"|für)|sauf|sinon|seulement|excepto|salvo|solo|sólo|exceto|só)\b|除了|除非|只有|仅限|以外|だけ|を除"
)
# "Forget what I said about X": what is left of it is the topic.
_OBJECT = (
    r"(?:what (?:i|we) (?:have )?(?:said|told you|decided|wrote)(?: earlier| before| yesterday)?|(?:the|that"
    r"|my|our|this) (?:rule|decision|thing|bit|part|note|instruction|request|idea|preference|one))"
)
_ABOUT = r"(?: earlier| before)?(?: about| on| with| regarding| of| for| that)\s"
WITHDRAWS = re.compile(
    rf"\b(?:forget|disregard|ignore|scratch|scrap|drop|never ?mind|take back|i take back"
    rf"|cancel)(?: about)? {_OBJECT}{_ABOUT}"
    r"([^,;.!?]+)|\b(?:the|that|this|our) ([^,;.!?:]{3,40}?) (?:thing|rule|decision|idea|policy"
    r"|requirement)(?:'s| is| was) (?:all )?(?:a mistake|a bad idea|wrong|nonsense|over|off|gone|dead"
    r"|obsolete|history|void)\b|\b(?:vergiss|vergesst|ignorier\w*|streich\w*)(?: bitte)?,? (?:was (?:ich"
    r"|wir) (?:dir |euch )?(?:über|zu|zum|zur|von|wegen)|die regel (?:über|zu|zum|zur|mit)"
    r"|das mit)\s([^,;.!?]+?)(?: gesagt\b.*| erzählt\b.*| geschrieben\b.*|$)|\b(?:oublie[sz]?|ignore[sz]?"
    r"|laisse[sz]? tomber)(?:-le)? (?:ce que (?:j'ai|je t'ai|je vous ai|on a) dit|la règle) (?:sur"
    r"|à propos de|concernant|pour|de)\s?([^,;.!?]+)|\b(?:olvid\w+|ignora) (?:lo que (?:te )?dije"
    r"|lo que he dicho|la regla) (?:sobre|de|acerca de)\s([^,;.!?]+)|\b(?:esque\w+"
    r"|ignor\w+) (?:o que (?:eu )?(?:te )?(?:disse|falei)|a regra) (?:sobre|de|do|da)\s([^,;.!?]+)|(?:忘了"
    r"|忘掉|忽略|别管|不用管)(?:我)?(?:之前|刚才|上次)?(?:说的?|讲的)?(?:关于|有关)([^,，。!！]+?)(?:的(?:话"
    r"|规则|事|决定)?)?[,，。!！]?$|^([^,，。!！]{1,12}?)(?:那个|那条|这条|的规则)我?(?:收回|作废"
    r"|不算数?)(?:了)?(?=[,，。]|$)|([^,、。!！]+?)(?:について(?:言った|話した)こと|の(?:件|話"
    r"|ルール))は?(?:忘れて|なし|取り消)"
)
OPPOSITES = (
    "dark light|tabs spaces|tab space|always never|upper lower|uppercase lowercase|single double"
    "|ascending descending"
    "|left right|with without|sync async|public private|local remote|net gross|true false|first last|on off"
    "|enable disable|enabled disabled|allow forbid|allowed forbidden|daily weekly|weekly monthly"
    "|camelcase snake_case|metric imperial|merge rebase|hell dunkel|netto brutto|clair sombre|claro oscuro"
)
# Of each of these a thing has mostly one: another is a choice in its place.
CHOSEN = (
    "csv xls xlsx excel ods json jsonl ndjson yaml yml toml xml ini parquet avro pdf docx odt markdown",
    "png jpg jpeg webp avif svg gif tiff",
    "postgres postgresql mysql mariadb sqlite mongodb oracle",
    "redis memcached valkey",
    "kafka rabbitmq nats sqs",
    "npm yarn pnpm bun",
    "pip pipenv poetry uv conda",
    "react vue svelte angular",
    "jest vitest mocha jasmine",
    "pytest unittest nose",
    "cypress playwright selenium",
    "rest graphql grpc soap",
    "docker podman",
)
