"""What a person lays down in ordinary words is learned; idle talk, questions and passing orders are not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.consolidation import rules
from conversations.engines.consolidation.sentence_score import WEIGHTS, list_words, score_sentence

LAID_DOWN = [
    "We use Postgres 16 for the ledger; never SQLite.",
    "OK, Redis it is.",
    "Make sure every endpoint returns a request id.",
    "Staging lives on heron.example.org, port 8444.",
    "Anything that touches the ledger goes past Priya before it is merged.",
    "Money is integer cents here, no floats.",
    "Releases go out on Tuesdays, Jonas holds the tag.",
    "账本用 Postgres，不要用 SQLite。",
    "金额全部按整数分存，别出现小数。",
    "发布分支归小李管，别人不要动。",
    "Retry failed webhooks 3 times",
    "Stockwaagen melden alle 15 Minuten, nicht öfter",
    "Las sesiones caducan a los 30 minutos.",
    "Les retards sont comptés en jours ouvrés",
    "コメントは英語で書くように変更",
    "Schreib Commit-Nachrichten auf Englisch",
    "default model: claude-sonnet",
    "max 3 retries, then give up",
    "3 tentatives maximum",
    "every slash command needs an entry in the manifest",
    "Docstrings in numpy style please",
    "feature flags live in flags.yaml",
    "I want short answers",
    "please answer in German",
    "Beträge in Cent",
    "wir nehmen Postgres, kein MySQL",
    "la langue par défaut est le français",
    "nada de jQuery",
    "我们七点吃饭",
    "cenamos a las nueve",
    "use mariadb for the ledger, dont bring up sqlite again.",
]
IDLE = [
    "Run the tests again.",
    "Why is the diff 900 lines?",
    "It failed again with the same timeout.",
    "Thanks, that looks much better!",
    "Could you rename this variable?",
    "We still haven't decided between Kafka and Redis.",
    "For now just hard-code the port to 8080.",
    "The blog says you should always use tabs.",
    "In my last company we decided to put everything in one table.",
    "2026-05-01 ERROR must not be null: settlement_id",
    "再跑一遍测试。",
    "这个报错是什么意思？",
    "上家公司规定所有表都必须有软删除字段。",
    "Implement the retry logic",
    "Baue das Formular für die Anmeldung mit E-Mail und Passwort",
    "Crea la página de facturas",
    "Adicione um botão",
    "検索を実装して",
    "the login spec flaked 4 times tonight",
    "the map goes blank when i pinch out past zoom 7, screenshot is in the ticket",
    "der Verein meint, man sollte wohl auf LoRa setzen",
    "ouvi dizer que vão trocar a impressora",
    '"A dictionary is order", says Anatole France. Ours is rather a salt marsh in no order.',
    "confirmed nothing is running, do it",
    "I want the answer to be cached",
    "what a nice day: sunny",
    "der Chef meinte, irgendwann machen wir das alles mit KI",
    "im alten Projekt haben wir immer Jenkins benutzt",
    "der Test ist immer noch rot",
    "ob wir SQLite oder Postgres nehmen ist noch offen",
    "ganz großes Kino, der Server ist schon wieder weg",
    "le client veut toujours tout pour hier",
    "on devrait peut-être passer à Docker un jour",
    "d'après la doc il faut toujours fermer la connexion",
    "bravo, magnifique, rien ne marche",
    "no sé si usar mongo o postgres",
    "siempre se me olvida este comando",
    "menudo desastre de código, seguro que gana un premio",
    "na outra empresa a gente sempre usava Java",
    "上司がそのうち全部AIにするって言ってた",
    "前の会社ではいつもSVNを使っていた",
    "whoever wrote this clearly hated us",
    "tests are green, finally",
    "pásame el enlace del PR",
    "montre-moi le diff",
    "no funciona, mira otra vez",
    "use the debugger, don't guess",
    "no me convence, déjalo",
]


def learned(text: str, user: bool = True) -> list[str]:
    return [lesson.text for lesson in rules.lessons(text, spoken_by_user=user)]


@pytest.mark.parametrize("sentence", LAID_DOWN)
def test_what_a_person_lays_down(sentence: str) -> None:
    assert learned(sentence) == [sentence]


@pytest.mark.parametrize("sentence", IDLE)
def test_what_is_said_in_passing(sentence: str) -> None:
    assert learned(sentence) == []


def test_only_the_sentence_of_a_prompt_that_lays_something_down() -> None:
    prompt = "Add the refunds endpoint. Money is integer cents here, no floats. Then run the tests."
    assert learned(prompt) == ["Money is integer cents here, no floats."]


PAYMENTS = "Rules for the payments module"


@pytest.mark.parametrize(
    ("prompt", "rules_told"),
    [
        (
            "three things from now on:\n1) run the linter before you commit\n2) no new dependencies without"
            " asking\n3) the changelog is updated with every PR",
            [
                "run the linter before you commit",
                "no new dependencies without asking",
                "the changelog is updated with every PR",
            ],
        ),
        (
            "Please remember these: 1. all prices are in cents 2. never log customer emails 3. flags live in"
            " flags.yaml",
            ["all prices are in cents", "never log customer emails", "flags live in flags.yaml"],
        ),
        (
            "Here are our conventions. Please follow them:\n\n- Use snake_case.\n\n- Line length is 100,\n"
            "  in tests as well.\n\nNow add a /health endpoint.",
            ["Use snake_case.", "Line length is 100, in tests as well."],
        ),
        (
            f"{PAYMENTS}:\n- amounts are in cents\n- every refund is audited",
            [f"{PAYMENTS}: amounts are in cents", f"{PAYMENTS}: every refund is audited"],
        ),
        (
            "merke dir zwei Regeln: 1. Logs auf Englisch 2. Kein Deploy am Freitag",
            ["Logs auf Englisch", "Kein Deploy am Freitag"],
        ),
        ("记住几条规则：1、提交信息用英文 2、金额一律用分", ["提交信息用英文", "金额一律用分"]),
        ("これからのルール：\n1. コミットは英語\n2. 日付はISO 8601", ["コミットは英語", "日付はISO 8601"]),
        (
            "* never mock the database\n* tests hit a real postgres\n* fixtures stay small",
            ["never mock the database", "tests hit a real postgres", "fixtures stay small"],
        ),
        ("some things to fix:\n1. fix the typo in README\n2. rename foo to bar\n3. run the tests", []),
        ("plan:\n1. read the schema\n2. write the migration\n3. deploy", []),
        ("can you summarise the rules we have? 1. linting 2. tests 3. docs", []),
    ],
)
def test_each_item_of_a_list_of_rules_is_laid_down(prompt: str, rules_told: list[str]) -> None:
    assert learned(prompt) == rules_told


def answered(text: str, question: str) -> list[str]:
    return [lesson.text for lesson in rules.lessons(text, spoken_by_user=True, previous=question)]


def test_an_answer_of_few_words_keeps_the_question() -> None:
    question = "Should the cache of the sessions be Redis or Memcached from now on?"
    assert answered("the second one", f"I read the code. {question}") == [f"the second one (to: {question})"]
    assert answered("the second one", "I read the code.") == []
    choice = "Should the monthly report for the customers always be Excel or PDF?"
    reason = "PDF, the customers keep breaking the numbers in our sheets"
    assert answered(reason, choice) == [f"{reason} (to: {choice})"]


def test_a_question_that_says_little_keeps_the_sentence_before() -> None:
    question = "The schema needs window functions. Which database do you want?"
    assert answered("mysql 8 then", question) == [f"mysql 8 then (to: {question})"]
    question = "Amounts can be numeric or integer minor units in all tables. Which one do you prefer?"
    assert answered("integers", f"I read the code. {question}") == [f"integers (to: {question})"]
    question = "金额以后统一存成小数，还是整数分？"
    assert answered("第二个", question) == [f"第二个 (to: {question})"]


def test_what_an_answer_of_few_words_means_stands_in_the_question() -> None:
    lasting = "Should amounts be stored as minor units everywhere?"
    assert answered("yes", lasting) == [f"yes (to: {lasting})"]
    assert answered("yes", "Shall I run the tests?") == []
    assert answered("对", "现在跑一遍测试吗？") == []


def test_a_short_sentence_stands_with_the_one_before() -> None:
    text = "We use Postgres 16 for the ledger. Never SQLite."
    assert learned(text) == [text]


def test_what_is_quoted_is_not_laid_down() -> None:
    prompt = 'The runbook has this line: "Never reboot two nodes in the same zone." Is it about us?'
    assert learned(prompt) == []


def test_a_long_prompt_is_read_in_pieces() -> None:
    idle = ["Run the tests again.", "It failed again with the same timeout."] * 40
    rule = "Money is integer cents here, no floats."
    assert learned(" ".join([*idle, rule])) == [rule]
    assert learned("\n".join([rule] * 20)) == [rule]


REPORT = "I rewrote the parser of the feed, moved its tests and ran them. " * 5


@pytest.mark.parametrize(
    "sentence",
    [
        "We don't need a cache for the exports.",
        "Let's keep the old endpoint in v2.",
        "The public API is versioned by date.",
        "I'd prefer that every service has its own database.",
        "Store the notes as plain text, not as markup.",
        "Wir nehmen NATS für die Warteschlange.",
        "データベースは、Supabase を使います。",
        "Amounts are integer cents, never floats.",
        "Remember that the till table is append-only.",
        "Denk daran: Preise stehen in Cent.",
        "Lembre-se de que os preços são em centavos.",
        "Ich bevorzuge pnpm.",
        "Nie auf main pushen.",
        "Scratch that about MongoDB: the ledger is in Postgres.",
        "Ignore what I said about MongoDB, we use Postgres.",
    ],
)
def test_while_an_agent_works_the_form_of_what_holds_on_is_learned(sentence: str) -> None:
    assert answered(sentence, REPORT) == [sentence]
    assert [one.text for one in rules.lessons(sentence, True, answers=[REPORT])] == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "The border is too thick and the corners are distorted.",
        "the icons are fine, the list is empty.",
        "Priya signs off the ledger.",
        "We don't need to commit the lock file.",
        "The column was renamed by Prompt 2, not by Prompt 1.",
        "Let's keep working on the exports, they use two queries.",
        "Forget MongoDB, Postgres for the ledger.",
        "We use node 22 there, the base image has 20.",
        "The role is set in the database, I checked.",
        "Let's use the replica and see how it performs.",
    ],
)
def test_while_an_agent_works_another_form_stays_a_message(sentence: str) -> None:
    assert learned(sentence) == [sentence]
    assert answered(sentence, REPORT) == []
    assert [one.text for one in rules.lessons(sentence, True, answers=[REPORT])] == []


def test_while_an_agent_works_an_answer_to_a_choice_is_learned_and_a_next_step_is_not() -> None:
    question = "The schema needs window functions. Which database do you want?"
    assert answered("mysql 8 then", REPORT + question) == [f"mysql 8 then (to: {question})"]
    assert answered("yes", f"{REPORT} I suggest we add the index to the orders.") == []
    assert answered("yes", f"{REPORT} I suggest we keep amounts as integer cents.") == [
        "Keep amounts as integer cents."
    ]
    assert answered("the ledger", f"{REPORT} What should I start now?") == []
    assert answered("option 3", f"{REPORT} Which way do you prefer?") == []


def test_what_an_agent_tells_of_its_work_is_not_learned() -> None:
    assert learned("We decided to use baz here.", user=False) == ["We decided to use baz here."]
    assert learned(f"{REPORT} We decided to use baz here.", user=False) == []


def test_in_a_chat_a_long_answer_is_no_work() -> None:
    sentence = "Priya signs off the ledger."
    kept = [one.text for one in rules.lessons(sentence, True, REPORT, is_chat=True)]
    assert (kept, answered(sentence, REPORT)) == ([sentence], [])


def test_an_answer_of_an_agent_needs_a_phrase() -> None:
    assert learned("The staging server lives on heron, port 8444.", user=False) == []
    assert learned("We decided to keep the old API.", user=False) == ["We decided to keep the old API."]


def test_numbers_and_identifiers_are_one_word_each() -> None:
    words = ["keep", "<id>", "under", "0", "ms", "，", "用", "<id>"]
    assert list_words("Keep `p95` under 1.5 ms，用 raw_buoys") == words


def test_the_weights_are_sorted_and_whole_numbers() -> None:
    weights = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert list(weights) == sorted(weights)
    assert {type(weight) for weight in weights.values()} == {int}


@given(st.text(min_size=1))
def test_any_text_has_a_score(text: str) -> None:
    assert score_sentence(text) == score_sentence(text)
    assert abs(score_sentence(text)) < 1000
