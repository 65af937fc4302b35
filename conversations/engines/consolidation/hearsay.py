"""What a person tells of others and of documents, or means otherwise: no decision of its own. Pure functions,
no database.
"""

from memory.patterns import lazy_pattern

# What another said.
REPORTED = lazy_pattern(
    r"(?i)\b(?:says|(?<!i )said|claims?|according to|wondering|i wonder|torn between|thinking (?:aloud"
    r"|out loud)|(?:i|we) (?:have )?(?:heard|read)|rumou?r|apparently|supposedly|allegedly|ein kollege"
    r"|eine kollegin|meinte?n?|sagte?n?|angeblich|laut|il paraît|un collègue|selon|(?:dit|dice|diz"
    r"|dicen|dizem) que|según|un compañero|segundo o|um colega|hab(?:e|en)? gehört|entendu dire|he oído"
    r"|ouvi dizer|d'après|liest man)\b"
    r"|言って(?:い?た|い?る)|と書いて(?:ある|あった)|らしい|そうです|有人说|据说|听说|同事说|网上|文档里说|论文里说|注释里|师兄"
    r"|有(?:人|同[事志学]|朋友|领导)(?:建议|提议|觉得|认为)|师[傅父][^，。]{0,4}常?说"
    # "always say client" is no hearsay
    r"|(?<!ways )(?<!never )(?<!\bto )(?<!\bwe )(?<!not )(?<!n't )(?<!\bdont )(?<!please )(?<!must )"
    r"(?<!should )(?<!^)\bsay\b"
)
# What others only suggest, or decided for themselves.
SUGGESTED = lazy_pattern(
    r"(?i)^\W*(?:\w+ ){1,3}(?:says?|thinks?|reckons?|claims?|swears?|meint|sagt|findet|dit|pense|dice|piensa"
    r"|cree|diz|acha)\b.{0,12}\b(?:should|could|might|sollten?|könnten|müssten|devrait|devrions|pourrait"
    r"|deberíamos|podríamos|deveríamos|poderíamos)\b|\b(?:her|his|their) (?:team|company|firm"
    r"|group) (?:decided|agreed|chose|uses?|went)\b|隔壁.{0,6}说"
    r"|隔壁(?:公司|团队|部门)"
)
# What a document says; a rule about documents is one.
DOCUMENTED = lazy_pattern(
    r"(?i)\b(?:the|their|that|this) (?:\w+ ){0,2}(?:docs?|documentation|datasheet|paper|blog|runbook"
    r"|comments?|readme|wiki|article|guide|manual|tutorial)(?: (?:of|in|on) [\w. -]{1,30}?)?(?: (?:now|still"
    r"|also|only|even|already|just|\w+ly))? (?:says?|said|states?|recommends?|suggests?|mentions?|tells?"
    r"|describes?|insists?|calls?|has it|wants?|thinks?|promises?|implies|reads|warns?|advises?|claims?)\b"
    r"|\b(?:in der doku|im wiki|in der readme|im handbuch) steht\b|\bla doc(?:umentation)? dit\b"
    r"|\bla documentación dice\b|\ba documentação diz\b"
)
SETTLED = lazy_pattern(
    r"(?i)\b(?:so (?:we|let's|please|do|use)|let's|from now on|also|daher|donc|así que|então)\b|所以"
)
# What others say that has to be: it may change what was decided.
OBLIGES = lazy_pattern(
    r"(?i)\b(?:must|ha(?:s|ve) to|needs? to|not allowed|muss|müssen|darf nicht|dürfen nicht|doit|doivent"
    r"|debe|deben"
    r"|deve|devem)\b|必须|不得|しなければ|必ず"
)

# Nobody means what is said so.
SARCASTIC = lazy_pattern(
    r"(?i)\boh (?:lovely|fantastic|super)\b|\bna (?:super|prima|klasse|bravo)\b|\bherzlichen glückwunsch\b"
    r"|\bqu[eé] maravil(?:la|ha)\b|\b(?:génial|bravo|super|parfait|toll|prima|genial|perfecto|ótimo),?"
    r" (?:encore|un autre|noch ein|schon wieder|otr[oa]|outr[oa])\b|^\W*(?:na klar|klar|claro|bien sûr"
    r"|aber sicher),? (?:und|et|y|e)\b|\bliving the dream\b|太好了,?，?又"
    r"|真棒,?，?又|^\W*(?:oh|wow|ah)?,? ?(?:great|wonderful|fantastic|brilliant|lovely|joy), (?:another"
    r"|yet another|one more)\b|\boh (?:great|joy|wonderful|brilliant)\b|\byeah,? (?:right|sure)\b"
    r"|\bwhat could (?:possibly )?go wrong\b|\bsaid no ?(?:one|body) ever\b|^\W*(?:lol|lmao|rofl|haha+)\b"
    r"|\bwhoever wrote\b|\bwhat (?:nobody|no one) asked for\b"
    r"|\bjust what (?:i|we) (?:want|need)ed(?: \w+){0,3}\W*$|\blove that for us\b"
    r"|\bfamous last words\b|\b(?:truly )?a masterpiece\b|\bwhat a (?:joy|hero|treat)\b"
    r"|\bgroßes kino\b|, mein lieblings\w+\W*$|\brespekt, wer\b|^\W*menud[oa]\b"
    r"|\bjusto lo que (?:necesit|quer|falt)|\bne manquait plus que\b|^\W*bravo,"
    r"|谁看谁哭|画饼|さすが、また|^\W*que beleza\b"
    r"|\s/s$|\bna toll\b|\bben voyons\b|呵呵|哈哈"
)


def is_hearsay(sentence: str) -> bool:
    """Return whether a sentence tells what others, or documents, say."""
    return bool(REPORTED.search(sentence)) or is_documented(sentence)


def is_documented(sentence: str) -> bool:
    """Return whether a sentence tells what a document says, and nothing that follows from it."""
    return bool(DOCUMENTED.search(sentence)) and not SETTLED.search(sentence)
