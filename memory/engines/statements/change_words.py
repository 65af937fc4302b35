"""Words by which people say that something changes, in seven languages; those of a subject are never here."""

from memory.engines.statements.revision_rules import FILLERS
from memory.patterns import lazy_pattern, lazy_patterns
from memory.words import STOP_WORDS

_PHRASE = r"([^\s,;:.!?()]+(?: [^\s,;:.!?()]+){0,4})"  # a phrase
_DENSE = r"([^,，;；。、()（）\s]{1,20}?)"

# Words that connect others, besides those of English and its common verbs.
FUNCTION_WORDS = (
    STOP_WORDS
    | FILLERS
    | frozenset(
        """
    yes yeah yep nope okay hey hi hello thanks thank lets im id ill ive were youre theyre thats whats theres
    aint feel keep keeps keeping
    ever never none without wait scratch forget scrap ditch drop dump dropping forgetting nevermind mind
    disregard svp stp pls plz ignore matter said told say saying tell earlier before rule rules decision
    thing things stuff please kindly btw tbh imo fyi ppl thx cuz rn lol
    guys plan course really just simply plain plainly maybe enough instead rather anyway also too only all
    after would should could shall must will may might let us one ones every each always everywhere everything
    remember note write writes written prefer prefers like likes love want wants wanting think
    thought mean meant changed correct myself mistake wrong
    back better best new old day today tomorrow yesterday later soon next last same other another
    stays stay lasts
    everyone everybody else
    times time once twice hundred than then there here with without via per using out off away
    der die das den dem des ein eine einen einem einer eines und oder aber doch nicht kein keine keinen keinem
    keiner nie niemals immer nur noch mehr ab jetzt sofort bitte mal wir ich du ihr sie er es man uns mich mir
    ist sind war wird werden wurde haben hat hatte habe nehmen nimm nutzen nutze benutzen verwenden verwende
    können kann soll sollen muss müssen darf dürfen machen macht mach für von vom zu zum zur in im an am auf
    aus bei mit ohne nach vor über unter statt anstatt anstelle dass daß was wie so auch schon wieder nun
    lieber ach só sólo solo seulement
    dauert dauern gilt gelten bleibt bleiben läuft laufen beträgt betragen
    erhöhe erhöhen erhöht senke senken setze setzen stelle stellen wechseln wechsle verkürzen verlängern
    nein ja vergiss vergesst gesagt sagte regel entschieden heute doch als wenn
    le la les un une des du de et ou mais ne pas plus jamais toujours on nous je tu vous il elle ils elles ce
    cette ces que qui dans pour par sur avec sans au aux en est sont était sera utilise utilisons utiliser
    utilisez faut maintenant désormais fait enfin plutôt lieu oublie oubliez dit règle finalement non oui
    merci dure durent à passe passent doit doivent reste restent
    augmente augmentez baisse baissez réduis réduisez mets mettez change changez
    s'il plaît
    el los las una unos unas y o pero no nunca siempre ya más usa usamos usar use uses usáis para por con sin
    del al
    es son era será se me te lo que quien en va van vamos ser ahora partir adelante mejor olvida olvídate
    dije dicho regla sí vale
    favor finalmente vez lugar nada deja hay debe deben pasa pasan dura duran queda quedan
    sube subimos baja bajamos aumenta cambia cambiamos pon reduce
    os as um uma uns umas e ou mas não nao sempre já mais usamos usem para pra pro com sem do da dos das no
    na nos nas ao
    dura duram fica ficam passa passam deve devem
    são foi será vai vão vamos ser em numa num pelo pela agora partir vez esquece esqueça disse regra sim
    aumente muda mude mudamos sobe baixa diminui diminua coloca bota reduz
    melhor afinal
    了 的 是 在 用 使 改 换 成 为 把 将 从 到 要 请 都 也 就 我 们 你 咱 不
    别 没 勿 再 以 后 现 今 起 一 律 统 写
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
    "monday mondays montag montags lundi lunes segunda-feira 周一 星期一 月曜日",
    "tuesday tuesdays dienstag dienstags mardi martes terça terça-feira 周二 星期二 火曜日",
    "wednesday wednesdays mittwoch mittwochs mercredi miércoles quarta quarta-feira 周三 星期三 水曜日",
    "thursday thursdays donnerstag donnerstags jeudi jueves quinta quinta-feira 周四 星期四 木曜日",
    "friday fridays freitag freitags vendredi viernes sexta sexta-feira 周五 星期五 金曜日",
    "tab tabs tabulatoren tabulator tabulations tabulaciones",
    "space spaces leerzeichen espaces espacios espaços 空格",
    "max maximum maximal maximale cap limit höchstens máximo 上限 最多 至多",
    "min minimum minimal minimale least mindestens mínimo 最少 至少",
    "direct directly straight directement direkt directamente diretamente",
    "manual manually hand manuell manuelle manuellen händisch manuel manuelle mano mão 手动 手動 手工",
    "automatic automatically automated automatisch automatique automatiquement automático 自动 自動",
)
SYNONYMS = {word: words.split()[0] for words in _SAME for word in words.split()}

# The least or the most of something: no part of a subject, but both may hold.
LOWER = lazy_pattern(
    r"\b(?:at least|min(?:imum|imal\w*)?|no less|mindestens|au moins|al menos|m[ií]nimo|pelo menos)\b"
    r"|至少|最少|不少于|以上"
)
UPPER = lazy_pattern(
    r"\b(?:at most|max(?:imum|imal\w*)?|no more than|up to|höchstens|bis zu|au plus|jusqu'à|m[áa]ximo|hasta"
    r"|até|limit|cap)\b|最多|至多|不超过|以下|以内"
)
NEGATIONS = lazy_patterns(
    r"\b(?:no|not|never|none|nothing|nobody|nor|without|cannot|dont|doesnt|didnt|isnt|arent|wont|cant"
    r"|shouldnt|stop|avoid|forbidden|prohibited)\b|n't\b",
    r"\b(?:nicht|nichts|kein\w*|nie|niemals|ohne|verboten)\b",
    r"\b(?:ne|sans)\b|\bn'(?=\w)",
    r"\b(?:pas|jamais|aucune?|plus de|interdite?s?)\b",
    r"\b(?:no|nunca|jamás|sin|ningún|ninguna?|tampoco|prohibid[oa]s?)\b",
    r"\b(?:não|nao|nunca|sem|nenhuma?|proibid[oa]s?)\b",
)
NEGATIONS_DENSE = lazy_pattern(
    r"(?<!差)不(?![同过仅但错断])|(?<![特区类分级性识个])别(?![名的人])|没(?!收)|[勿莫]|禁止|无需|避免"
    r"|(?<!少)ない(?!と)|ません|やめ"
)
# What turns down the words of another, or of a habit, and says nothing of the subject.
NO_NEGATION = lazy_pattern(
    r"^\W*(?:(?:oh|ah|wait|hm+),? )?(?:no|nope|nein|non|não|nao|nicht so)\b(?: (?:wait|sorry|no"
    r"|actually)\b)*[,;:.]|\b(?:no (?:more|less|fewer|later|longer) than|not only|not just|(?:don't|dont"
    r"|do not|never) forget|why not|(?:is not|isn't|isnt|not) enough|if not|or not|no matter|not sure"
    r"|(?:nicht|nie) mehr als|pas plus d[e']|no más de|não mais (?:de|que)|nicht nur|no solo|no sólo"
    r"|não só|pas seulement)\b|\s(?:and|but) (?:we|i|you|they|it"
    r"|nobody) (?:never|don't|do not"
    r"|won't|can't)\b.*|[,;]\s?(?:and )?not\b[^,;]*|[,;]\s?(?:and |but )?never(?: \S+){1,2}(?=[,;.]|$)"
    r"|,\s?(?:nicht|pas|no"
    r"|não)\s[^,;]*"
    r"|(?<!\bis)(?<!\bare)(?<!\bdo)(?<!does)(?<!must)(?<!should)(?<!may)"
    r"(?<!can)(?<!will)(?<!was)(?<!were)\snot \S+(?=$|[,;])|不是.{1,12}而是"
    # "in the" of Portuguese, before words that follow no denial in English or Spanish.
    r"|\bno (?:(?!são\b)\w*[ãõçêôâ]\w*|\w+[óá]rio|cofre|servidor|c[óo]digo|ambiente|arquivo|ficheiro|banco"
    r"|in[íi]cio|fim|topo|domingo|sábado|nosso|projeto|painel|navegador|lugar|mesmo|sistema|nome|dia|ano)\b"
)

# A word that gives up what stands behind it, or in front of it.
GIVES_UP = lazy_patterns(
    rf"\b(?<!'t )(?<!dont )(?<!not )(?<!never )(?:forget(?: about)?|never ?mind(?: about)?|scrap|scratch"
    rf"|ditch|dump|drop(?:ped|ping)?|abandon(?:ed)?|retired?|got rid of|get rid of|stop(?:ped)? using"
    rf"|done with|decided against|no longer(?: us\w+| need\w*| want)?|no more|instead of|in place of"
    rf"|rather than|away from|out with|never again|split(?:ting)?(?: up)?|rip(?:ped|ping)? out|t(?:ore|orn"
    rf"|earing) out|removed|kill(?:ed|ing)?|cancel(?:l?ed|l?ing)|kick(?:ed)? out|thr(?:ew|own|owing) out"
    rf"|switch(?:ed|ing)? off|turn(?:ed|ing)? off|swap(?=.{{1,40}} (?:for|with) )"
    rf"|replac(?:e|es|ing))\s(?!than\b){_PHRASE}",
    rf"\b{_PHRASE}\s(?:is|are|was|were)\s(?:overkill|a (?:bad idea|mistake)|the wrong choice)\b",
    rf"\b(?:we|i|let's|lets)?\s?(?:are|'re)?\s?(?:moved?|moving|switch\w*|migrat\w*"
    rf"|chang\w*)\s[^,;.]{{0,60}}?\b(?:off(?: of)?|from|away from)\s{_PHRASE}",
    rf"\b(?:don't|dont|do not|doesn't|not|never)\s(?:use|using|do|need|want)\s{_PHRASE}",
    rf"\b{_PHRASE}\s(?:is|are|'s|gets?|got)\s(?:being )?(?:out|gone|dead|dropped|history|retired|cancelled"
    rf"|off the table|removed|deleted|deprecated|abandoned|sunset|killed|axed|closed|shut down"
    rf"|switched off|turned off|decommissioned|terminated|eol|end of life|unsupported"
    rf"|no longer used|no more)\b",
    rf"(?:^|[,;]\s?){_PHRASE}\s(?:nicht mehr|no more|no longer|plus jamais|ya no|não mais|nunca mais"
    rf"|never again|out|raus|fuera|fora|dehors|died|dies|morreu|murió|starb)(?=$|[,;.])",
    rf"\b{_PHRASE}\s(?:left|quit|resigned|has left|can go|had to go)\b",
    rf"\btook over (?:completely )?from\s{_PHRASE}",
    rf"\b(?:migr|pass|bascul|mud|camb|troc)\w*\s(?:\w+ )?d[eo]\s{_PHRASE}(?=\s(?:à|vers|a|para|pra)\s)",
    rf"^\W*{_PHRASE}\s(?:não|nao|nein)(?=[,;.])",
    rf"\b{_PHRASE}\s(?:dégage|saute|vire)(?:nt)?(?=$|[,;.])",
    rf"\b(?:vergiss|vergesst|doch kein\w*|statt|anstatt|anstelle von|weg von|weg mit|schluss mit"
    rf"|nicht mehr(?: mit)?)\s{_PHRASE}",
    rf"\bkein\w*\s{_PHRASE}",
    rf"\b{_PHRASE}\s(?:ist|sind|fliegt|fliegen|fällt|fallen|kommt|kommen)\s(?:jetzt |damit |nun )?(?:raus|weg"
    rf"|gestrichen|gestorben|geschichte|passé|vom tisch|tot|abgeschafft|abgeschaltet|abgekündigt)\b",
    rf"\b{_PHRASE}\s(?:wollen|müssen|werden|will|muss) (?:wir|ich)\s(?:wieder )?los(?:werden|haben)?\b",
    rf"\b(?:ersetz\w+|tausch\w+|raus mit|verzichten auf)\s{_PHRASE}",
    rf"\b(?:oublie|oubliez|laisse tomber|laissez tomber|au lieu de|plutôt que|abandonn\w+|(?<!pas )plus de"
    rf"|fini|finalement pas d[eu']|arrêt(?:e[sz]?|ons)(?: avec)?|vir(?:e|ez|ons)|lâch(?:e|ez|ons)"
    rf"|quitt(?:e|ez|ons)|remplac\w+|débarrass\w+ d[e'])\s?{_PHRASE}",
    rf"\b{_PHRASE}(?:,? c'est|\s(?:est|sont))\s(?:fini|terminé|mort|abandonn|supprim|enterré)",
    rf"\bn'utilis\w+ plus\s{_PHRASE}",
    rf"\b(?:olvida|olvídate de|olvidad|en lugar de|en vez de|nada de|deja(?: de usar)?|dejamos(?: de usar)?"
    rf"|ya no(?: us\w+)?|quit(?:a|amos|ad)|descart\w+|reempla\w+|sustitu\w+|deshac\w+ de|fuera"
    rf"|adiós a)\s{_PHRASE}",
    rf"\b{_PHRASE}\s(?:queda|quedan|está|están)\s(?:fuera|descartad|eliminad|obsolet)",
    rf"\b(?:esquece|esqueça|em vez de|no lugar de|nada de|larg(?:a|amos|ar)|deix(?:a|amos|ar"
    rf"|em)(?: de (?:usar|lado))?|não (?:vamos |se )?us\w+ mais|chega de|livrar d[eo]|tir(?:a|amos|ar)"
    rf"|troc(?:a|amos|ar)|substitu\w+)\s{_PHRASE}",
    rf"\b{_PHRASE}\s(?:já era|(?:está|tá|ficou|foi)\s(?:fora|descartad|cancelad|removid))",
    rf"(?:不再|弃用|停用|放弃|别|不要|不)(?:使用|用|再用)?\s?{_DENSE}\s?(?:了|[,，。;；]|$)",
    rf"(?:忘了|忘掉)\s?{_DENSE}\s?(?:[,，。;；]|$)",
    rf"(?:从|把|将)\s?{_DENSE}\s?(?:到|改|换|迁|切|替)",
    rf"(?:代替|取代|替换|替代|取消|去掉|淘汰)(?:了|掉)?\s?{_DENSE}\s?(?:了|[,，。;；]|$)",
    rf"(?:^|[,，。;；]){_DENSE}\s?(?:不用了|不要了|去掉|取消|废弃|弃用|淘汰|下线|停止维护)",
    rf"\s?{_DENSE}\s?(?:は|を|の使用は?)(?:もう)?(?:やめ|使わない|使いません|廃止|なし|外し)",
    rf"\s?{_DENSE}\s?から[^、。]{{1,20}}(?:に|へ)(?:変|移|切)",
    rf"\s?{_DENSE}\s?(?:ではなく|じゃなくて|の代わりに)",
)
# Said at the start, of a value alone.
FORGETS = lazy_pattern(
    r"^\W*(?:(?:ok|okay|actually|no|oh|well|please)\W+)?(?:forget|scrap|scratch|ditch|no more|vergiss|kein"
    r"|doch kein|oublie|olvida|nada de|esquece|别用|不用|不要)"
)
TURNS_DOWN = lazy_patterns(
    rf"[,;]\s?(?:and |but )?(?:never|no)\s{_PHRASE}",
    rf"\bnot\s(?!only\b|just\b){_PHRASE}",
    rf"[,;]\s?(?:und )?nicht\s(?!nur\b){_PHRASE}",
    rf"[,;]\s?(?:et )?(?:pas|non)\s{_PHRASE}",
    rf"[,;]\s?(?:y |e )?(?:no|não)\s{_PHRASE}",
    rf"(?:而不是|不是|不用)\s?{_DENSE}\s?(?:了|[,，。;；]|$)",
)
# Something is said to change; weaker than what gives up a value, as it may be another thing's.
CHANGES = lazy_pattern(
    r"\b(?:now|(?:from|since) (?:now|here|today|\w+day|\w+ on)\b|as of|henceforth|renam|going forward"
    r"|no longer|no more(?! than)|any ?more|instead|rather than|switch"
    r"|chang(?!elog)|mov(?:e|ing)|migrat|bump|raise|lower|increas|decreas|reduc|replac|revert|back to"
    r"|again|actually"
    r"|upgrad|downgrad|after all|make (?:it|that|them|the)|make|turns? out|enough|too \w{3,}|^then\b"
    r"|asks? for|goes? (?:to|up|down)|on second thought|thinking about|scratch|forget|then$|becomes?\b"
    r"|devient|deviennent|wird zu|pasa a ser|vira\b|muy\b|trop\b|demasiado|demais|zu (?:teuer|langsam|groß"
    r"|klein|laut|lang|kurz|viel)|jetzt"
    r"|ab (?:sofort|heute|morgen|\w+tag)\b|nur noch|reicht|hoch|suffit|mont(?:e|ez|er)\b|basta|chega|genügt"
    r"|künftig|doch|stattdessen|lieber|ach nein|nicht mehr|umgest(?:ellt|ieg)|geändert|erhöh|wechsel|runter"
    r"|rauf|setz|stell|senk|verkürz|verlänger|désormais"
    r"|maintenant|finalement|plutôt|en fait|dorénavant|pass(?:e[sz]?|ons|er) (?:\w+ ){0,4}à|mett?(?:re|ez"
    r"|s|ons)\b|augment|rédui|baiss|ahora|a partir de|mejor|better|besser|mieux|wants"
    r"|en realidad|ya no|cambi|pasamos a|finalmente|al final|agora|afinal|na verdade|melhor|mud|passamos a"
    r"|sub(?:e|imos|ir)\b|baj(?:a|amos|ar)\b|pon(?:lo|er|emos)?\b|aument|sob(?:e|em)\b|baix|diminu"
    r"|coloc|troc|set (?:\S+ ){1,5}to|drop(?:ped|ping)? (?:\S+ ){0,5}to|cut (?:\S+ ){1,5}to|(?:up|down) to"
    r"|longer|shorter)"
    r"|改|换|太(?!好|棒)|挪到|作废|收回|不再|现在|以后|今后|升级|提高|降|调整|迁移|切换|还是|别用|变|変更"
    r"|设成|设为|调|提到|减|增|缩短|延长|足够|够了"
    r"|やっぱり|やはり|今後|これから|代わり|に統一|にして|上げ|下げ|増や|減ら|延ば|すぎ"
)
# Somebody takes back what was said before, without saying which of it.
CORRECTS = lazy_pattern(
    r"^\W*(?:no|nope|nein|non|não|nao),\s(?!no\b|thanks?\b|danke|merci|gracias|obrigad)|\b(?:actually,? no"
    r"|no,? wait|wait,? no|correct(?:ion"
    r"| myself)|change of plan|chang(?:ed|e) (?:my|our) mind|after all|come back on|came back (?:to|on)"
    r"|thinking about .{1,40} again|i have thought|what i (?:told|said)|scrap what|on second thought|is void"
    r"|i was wrong|my mistake|my bad|that was wrong|turned out|we talked it over|korrektur|anders überlegt"
    r"|war ein irrtum|war falsch|changé d'avis|cambi\w+ de (?:idea|opinión)|mud\w+ de ideia|me equivoqué"
    r"|je me suis trompé)\b|想了想|改主意|说错|还是|更正|やっぱり|やはり|訂正"
)
# What is corrected, where somebody says it.
CORRECTED_TOPIC = lazy_pattern(
    r"\b(?:change of plan|chang(?:ed|e) (?:my|our) mind|correct(?:ion)?(?: myself)?|thinking again"
    r"|have thought|anders überlegt|changé d'avis|cambi\w+ de (?:idea|opinión)|mud\w+ de ideia) (?:on|about"
    r"|regarding|for|to|with|bei|wegen|sur|sobre) ([^,;.!?:]{1,60})"
)
# Who may: one alone, or everybody.
ALONE = lazy_pattern(r"\b(?:only|nobody but|no one but|nur|seulement|solo|só)\b|只有|只能")
ANYBODY = lazy_pattern(
    r"\b(?:any(?:body|one)|every(?:body|one)|all of us|jeder|alle|tout le monde|todos|todo (?:o |el )?mundo"
    r"|cualquiera|qualquer um|n'importe qui)\b|任何人|大家|所有人"
)
# What one may do, and what one has to.
OPTIONAL = lazy_pattern(
    r"\b(?:optional|voluntary|only where|freiwillig|nur wo|facultati\w+|opcional|si besoin|se quiser)\b"
    r"|可选|可不|任意"
)
OBLIGED = lazy_pattern(
    r"\b(?:must|required?|mandatory|compulsory|ha(?:s|ve) to|pflicht|muss|müssen|verpflichtend|obligatoire"
    r"|doit|doivent|obligat[óo]ri[oa]|obrigatóri[oa]|debe[ns]?|deve[m]?)\b|必须|必填|必須"
)
# What holds for each of a kind, as against some alone.
EVERY = lazy_pattern(
    r"\b(?:all|every(?! \d)|each|jede[mnrs]?|alle[mnr]?|tou(?:s|tes)|tod[ao]s|cada)\b|所有|全部|すべて|全て"
)
ALSO = lazy_pattern(r"\b(?:as well|too|also|auch|aussi|también|também)\b")
# Where, when or on which condition something holds.
SCOPES = lazy_pattern(
    r"\b(?:on(?! (?:a|ne|est|va|peut|doit|fait|met|garde|passe|utilise|reste|prend|ferme|veut)\b)|in|at"
    r"|during|when|while|if|unless|except(?: for| in| on)?|until|for|bei|am|im|während|wenn"
    r"|außer|pendant|quand|sauf|durante|cuando|excepto|salvo|quando|exceto)\s(?=([^,;.]{1,60}))"
)
# That something does not hold everywhere.
EXCEPTS = lazy_pattern(
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
_TOPIC = r"([^,;.!?:]{3,60}?)"
_KIND = r"(?:thing|rule|decision|idea|policy|requirement|convention|restriction|limit|ban)"
_VOID = (
    r"(?:(?:'s|is|was|are|were) (?:all )?(?:a mistake|a bad idea|wrong|nonsense|over|off|gone|dead"
    r"|obsolete|history"
    r"|void|cancelled|(?:no longer|not) (?:true|valid|needed|required|necessary|a thing|the case"
    r"|in force)(?! until))"
    r"|(?:isn't|aren't) (?:true|valid|needed|required|necessary|a thing|the case)\b"
    r"|(?:no longer|doesn't|don't|does not) (?:holds?|appl(?:y|ies)|counts?|matters?)\b|can go\b)"
)
_ABOUT_DE = r"(?:mit(?: de[nmr])?|zu[mr]?|über(?: die| das| den)?|von|wegen)"
_VOID_DE = (
    r"(?:(?:gilt|gelten|stimmt|zählt) (?:so )?nicht mehr|(?:brauch\w+|müss\w+) (?:wir|ihr|du|es"
    r"|man) (?:jetzt )?nicht mehr"
    r"|(?:ist|sind) (?:jetzt )?(?:hinfällig|überholt|erledigt|aufgehoben|vom tisch|gestrichen"
    r"|nicht mehr (?:nötig|gültig))"
    r"|(?:vergessen|streichen) wir(?: wieder)?|lassen wir(?: (?:wieder|sein|weg|fallen|bleiben))?(?=$|[,;.])"
    r"|(?:kannst|könnt) (?:du|ihr) (?:wieder )?(?:vergessen"
    r"|streichen|ignorieren))"
)
_VOID_FR = (
    r"(?:(?:ne |n')?(?:vaut|tient|s'applique|est|compte)(?:nt)? plus(?: (?:vrai|valable|nécessaire"
    r"|d'actualité)\w*)?"
    r"|est (?:caduque|annulée?|levée?|obsolète))"
)
_VOID_ES = (
    r"(?:ya no (?:vale|aplica|se aplica|sirve|rige|es (?:así|cierto|válid[oa]|necesari[oa]))"
    r"|queda (?:anulad|sin efecto))"
)
_VOID_PT = r"(?:(?:já )?não (?:vale|se aplica|conta|é) mais|caiu|está (?:anulad|revogad))"
WITHDRAWS = lazy_patterns(
    rf"\b(?:forget|disregard|ignore|scratch|scrap|drop|never ?mind|nvm|take back|i take back"
    rf"|cancel)(?: about)? {_OBJECT}{_ABOUT}([^,;:.!?]+)",
    rf"^\W*(?:\w+\W+){{0,2}}(?:forget|ignore|drop|never ?mind|nvm|cancel|scrap|skip)(?: about)? (?:the"
    rf"|that|our|my) {_TOPIC} {_KIND}\b",
    rf"\b(?:the|that|this|our) {_TOPIC} {_KIND}\s?{_VOID}",
    rf"\b(?:the|that|this|our) {_KIND}{_ABOUT}(?:the |our )?{_TOPIC}\s?{_VOID}",
    rf"\b(?:no need (?:for|to)|(?:you|we|they) (?:(?:don't|do not) (?:have to|need(?: to)?)|needn't))"
    rf" {_TOPIC} (?:any ?more|any longer)\b",
    rf"^\W*(?:\w+\W+){{0,2}}{_TOPIC} (?:is|are) (?:no longer (?:needed|required|necessary|mandatory)"
    rf"|not (?:needed|required|necessary|mandatory)"
    rf" (?:any ?more|any longer))\b",
    r"\b(?:vergiss|vergesst|ignorier\w*|streich\w*)(?: bitte)?,? (?:was (?:ich|wir) (?:dir |euch )?(?:über"
    r"|zu|zum|zur"
    rf"|von|wegen)|die (?:regel|sache|vorgabe) {_ABOUT_DE}|das mit(?: de[nmr])?)\s([^,;:.!?]+?)"
    r"(?: gesagt\b.*| erzählt\b.*| geschrieben\b.*|$|:)",
    rf"\b(?:das|die (?:regel|sache|vorgabe|geschichte)) {_ABOUT_DE} {_TOPIC} {_VOID_DE}",
    rf"\bdie {_TOPIC}[- ]?(?:regel|vorgabe|pflicht|sache|geschichte|idee) {_VOID_DE}",
    r"\b(?:oublie[sz]?|ignore[sz]?|laisse[sz]? tomber)(?:-le)? (?:ce que (?:j'ai|je t'ai|je vous ai|on a) dit"
    r"|l[ae] (?:règle|histoire|truc|consigne)) (?:sur|à propos d|concernant|pour|d)(?:e la|e l'|es|u"
    r"|e)?\s?([^,;:.!?]+)",
    rf"\b(?:la|le|cette|ce) (?:règle|consigne|limite|truc) (?:sur|concernant|pour|d)(?:e la|e l'|es|u"
    rf"|e)?\s?{_TOPIC} {_VOID_FR}",
    rf"\b(?:plus besoin d[e']|plus la peine d[e'])\s?{_TOPIC}(?=$|[,;.!?])",
    r"\b(?:olvid\w+|ignora\w*)(?: de)? (?:lo que (?:te |os )?(?:dije|he dicho)|lo|la (?:regla|norma)|el tema)"
    r" (?:sobre|de|del|acerca de)\s([^,;:.!?]+)",
    rf"\b(?:lo|la (?:regla|norma)|el tema) (?:de|del|sobre)\s{_TOPIC} {_VOID_ES}",
    rf"\bya no (?:hace falta|hay que|es necesario)\s{_TOPIC}(?=$|[,;.!?])",
    r"\b(?:esque\w+|ignor\w+) (?:o que (?:eu )?(?:te )?(?:disse|falei)|a regra|o lance|aquilo|a história)"
    r" (?:sobre|de|do|da|dos|das)\s([^,;:.!?]+)",
    rf"\b(?:a regra|o lance|aquilo|isso) (?:sobre|de|do|da|dos|das)\s{_TOPIC} {_VOID_PT}",
    rf"\bnão (?:precis\w+|é preciso|é necessário) mais\s{_TOPIC}(?=$|[,;.!?])",
    r"(?:忘了|忘掉|忽略|别管|不用管)(?:我)?(?:之前|刚才|上次)?(?:说的?|讲的)?(?:关于"
    r"|有关)([^,，。!！]+?)(?:的(?:话"
    r"|规则|事|决定)?)?[,，。!！]?$",
    r"(?:忘了|忘掉|忽略|别管|不用管|取消|去掉|废除|撤销)([^,，。!！]{2,20}?)(?:的|这|那)(?:条|个"
    r"|件)?(?:规矩|规则|规定|要求|约定|限制"
    r"|事|说法)(?:吧|了)?[,，。!！]?$",
    r"^([^,，。!！]{1,12}?)(?:那个|那条|这条|的(?=规|要求|限制))(?:规则|规定|要求|限制)?我?(?:收回|作废"
    r"|取消|失效|不(?:再)?(?:算数?|适用|用管|需要))(?:了)?(?=[,，。]|$)",
    r"^([^,，。!！]{2,20}?)(?:(?:不再?适用|不算数|作废|失效|无效)了|不再适用)(?=[,，。]|$)",
    r"(?:不用再|不必再|不需要再|没必要再)([^,，。!！了]{2,20})了?(?=[,，。]|$)",
    r"([^,、。!！]+?)(?:について(?:言った|話した|の(?:件|話))(?:こと)?|(?:という"
    r"|[のうくすつぬむぐぶるたい])(?:件|話|ルール|決まり|方針"
    r"|約束))(?:は|を)?(?:もう)?(?:忘れ|なし|取り消|撤回|無効|廃止|やめ)",
    r"([^,、。!！]{2,30}?)(?:は|が)?もう(?:不要|必要ない|必要ありません|しなくて(?:も)?(?:いい|よい|大丈夫))",
)
OPPOSITES = (
    "dark light|tabs spaces|tab space|always never|upper lower|uppercase lowercase|single double"
    "|ascending descending"
    "|left right|with without|sync async|public private|local remote|net gross|true false|first last|on off"
    "|enable disable|enabled disabled|allow forbid|allowed forbidden|daily weekly|weekly monthly"
    "|camelcase snake_case|metric imperial|merge rebase|hell dunkel|netto brutto|clair sombre|claro oscuro"
    "|singular plural"
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
    "camelcase snake_case kebab-case pascalcase camel snake kebab pascal キャメルケース スネークケース",
    "english german french spanish portuguese chinese japanese italian",
    "monday tuesday wednesday thursday friday saturday sunday",
)
ADDS = lazy_pattern(
    r"\b(?:supports?|allow|accept|include|exclude|ignore|block|ban)s?\b|支持|允许|屏蔽|忽略|接受"
)  # of many
NAMED_NUMBER = lazy_pattern(r"\b([^\W\d_]{3,}) (?=\d)")  # "edition 2024"
WITH = lazy_pattern(r"\b(?:with|mit|avec|con|com) (?:the |an? )?(\w+)")
WITHOUT = lazy_pattern(r"\b(?:without|ohne|sans|sin|sem) (?:the |an? |any )?(\w+)")
# Words by which a person says once more what holds.
SAYING = STOP_WORDS - {"not", "no", "nor", "only", "before", "after", "above", "below", "over", "under"} | {
    *"use using prefer please always again told remember said stick keep like must want".split()
}
# That something ends, and that something is allowed.
CEASES = lazy_pattern(
    r"\b(?:no longer|any ?more|any longer|no more(?! than)|stop(?:ped)?|nicht mehr|kein\w* .{0,30}mehr"
    r"|n[e'].{1,30} plus\b"
    r"|ya no|não .{0,30}mais|nunca mais)\b|不再|不用再|不需要再|もう.{0,20}(?:ない|ません)|(?<!不)不.{1,12}了"
)
PERMITS = lazy_pattern(
    r"\b(?:you|we|they|i) (?:can|may)\b|\b(?:it's|is|are) (?:ok|okay|fine|allowed)\b|\b(?:kannst|könnt"
    r"|können|darf|darfst"
    r"|dürfen|dürft|erlaubt|peux|peut|pouvez|autorisé|puedes?|pueden|podemos|permitido|pode|podem|podemos"
    r"|liberado)\b"
    r"|可以|允许|てもいい|てよい|構いません"
)
