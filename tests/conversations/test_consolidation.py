"""Consolidation of a session by rule: stated decisions, repaired failures; each source once."""

import pytest

from conversations.engines.consolidation import findings, lasting, rules
from conversations.engines.consolidation import session as consolidation
from conversations.engines.consolidation.echoes import Spoken
from conversations.engines.consolidation.sentences import sentences
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Commit, Fact, FactLink, QueueMessage, Session
from memory.tasks import consolidate, sweep_sessions

pytestmark = pytest.mark.django_db
MANAGER = SessionManager()


@pytest.fixture(autouse=True)
def learning(settings):
    settings.DAY1 = {
        **settings.DAY1,
        "consolidator": "conversations.engines.consolidation.session.SessionConsolidation",
    }


@pytest.fixture
def say(actor):
    def say(text, role="assistant", session="s1", branch="main"):
        talk = ConversationEngine().create_conversation(actor=actor, session_id=session, branch_name=branch)
        return MessageEngine().write_message(
            conversation_id=talk.uid, role=role, content=text, actor=actor, branch_name=branch
        )

    return say


@pytest.fixture
def did(actor):
    def did(tool, given, output="", session="s1", **more):
        fields = {"tool_name": tool, "raw_input": given, "raw_output": output, "session_id": session, **more}
        return ObservationEngine().write_observation(actor=actor, **fields)

    return did


def learn(key="s1") -> int:
    return MANAGER.consolidate_session(Session.objects.get(key=key).pk)


def facts():
    return [(fact.category, fact.fact_text) for fact in Fact.objects.all_versions().order_by("uid")]


# ---- the rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "We decided to keep the old API until June.",
        "We've agreed on trunk-based development.",
        "Decision: invoices are numbered per customer.",
        "Let's use Postgres for the ledger.",
        "I'll go with a cursor instead of offsets here.",
        "We switched to uv because pip was slow.",
        "From now on every migration is reviewed twice.",
        "I chose httpx over requests for its timeouts.",
        "我们决定用 PostgreSQL 存储订单数据。",
        "- **Decision:** the queue stays in the database.",
    ],
)
def test_a_decision(text):
    assert [lesson.category for lesson in rules.lessons(text, spoken_by_user=False)] == ["decision"]


@pytest.mark.parametrize(
    "text",
    [
        "Should we decide on Postgres or MySQL?",
        "We haven't decided which broker to use yet.",
        "If we decided to move, it would take a week.",
        "Maybe we decided too early on this one.",
        "The tests pass and the branch is pushed.",
        "I looked at the file and found three callers.",
        "We might use Redis for this at some point.",
        "还没决定用哪个数据库来存订单。",
        "Always check the return value of close.",
        "Noted. I will use Kafka.",
    ],
)
def test_no_decision(text):
    assert list(rules.lessons(text, spoken_by_user=False)) == []


@pytest.mark.parametrize(
    "text",
    [
        "I told you not to touch vendor/.",
        "I've told you three times: run make check before you push",
        "Stop using print, use the logger.",
        "Remember: migrations need a dry run first.",
        "不对，重试次数应该是 5 次，不是 3 次。",
        "不对，应该用 pnpm，不是 npm。",
        "记住：数据库迁移必须先跑 dry run。",
        "Always say client, not customer.",
        "in the ui allways say client, not customer",
        "dont ever push to master direclty",
    ],
)
def test_what_a_person_puts_right_is_learned(text):
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I told you not to push yet.",
        "i told you three times that it is broken",
        "不对，删错了，撤回",
        "是不是应该用 pnpm，不用 npm？",
    ],
)
def test_an_order_of_the_moment_puts_nothing_right(text):
    assert list(rules.lessons(text, spoken_by_user=True)) == []


def test_what_day1_told_is_known_with_other_characters_of_chinese():
    spoken = Spoken(["我们决定账本服务的金额一律用整数分存储。"])
    assert spoken.says("我们决定账本服务的金额一律使用整数分存储。")
    assert not spoken.says("我们决定账本服务的汇率一律用三位小数存储。")


NOTE = "[decision of a person, unverified, 2026-11-28, 01a2244c-0af4-74c7-99b1-f5c3527c66e2]"


@pytest.mark.parametrize(
    ("told", "text", "echo"),
    [
        ("Use tabs in Python files.", "Don't use tabs in Python files.", False),
        ("Don't use tabs in Python files.", "Use tabs in Python files.", False),
        ("Commit to the main branch directly.", "Never commit to the main branch directly.", False),
        (
            "Wir nutzen Redis für die Sitzungen im Shop.",
            "Wir nutzen Redis nicht für die Sitzungen im Shop.",
            False,
        ),
        ("Retry webhooks 3 times before giving up.", "Retry webhooks 5 times before giving up.", False),
        ("Alice reviews every change of the ledger.", "Boris reviews every change of the ledger.", False),
        (
            "Run the linter before each commit.",
            "Run the linter before each commit, except on branches.",
            False,
        ),
        ("Run the linter before each commit.", "Always run the linter before each commit.", True),
        ("Use tabs in Python files.", "use tabs in python files", True),
        ("The gateway listens on port 9443, as agreed.", "The gateway listens on port 9443.", True),
    ],
)
def test_the_opposite_and_another_number_name_or_limit_are_no_echo(told, text, echo):
    assert Spoken([f"- {told} {NOTE}"]).says(text) is echo
    assert Spoken([told]).says(text) is echo


@pytest.mark.parametrize(
    "text",
    [
        "If we ever use Kafka, the mailer has to change.",
        "The docs say that Parquet suits the export.",
        "We decided nothing about the login page today.",
        "oh great, another framework. let's use all of them",
        "sure, let's store passwords in plain text, what could go wrong",
        "Zeig mir die Logs",
        "wie spät ist es in Tokio",
        "où est la config du serveur",
        "Montre-moi le dernier commit",
        "Ejecuta las pruebas",
        "跑一下测试",
        "テストを実行して",
        "The docs say that Redis is the default.",
        "The docs now recommend 5 retries for uploads.",
        "We still haven't decided on dark mode, they are fighting about it.",
        "I'm torn between SQLite and plain files for the cache.",
        "why Berlin time and not UTC",
        "看门狗喂狗放哪里比较合适，定时器中断里行不行",
        "Tom meint ja, wir sollten alles in Go neu schreiben",
        "na super, der Build ist schon wieder rot, wir nehmen immer den Hammer",
        "// never call publish() directly -- decided 11/2016. We always use the queue.",
        "The comment in schema.sql suggests that we always lock the table.",
        "Im Wiki steht, dass wir immer Oracle nutzen.",
        "Tomás said on the phone that Selenium is slow.",
        "累死了，改了一天",
        "对一下就行，别动代码",
        "隔壁公司用的是 Oracle，月结要三天",
        "It is the cable and not a bug.",
    ],
)
def test_what_is_supposed_or_reported_is_no_decision_of_a_person(text):
    assert list(rules.lessons(text, spoken_by_user=True)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The docs are written in AsciiDoc, never in Markdown.",
        "Always update the docs when an endpoint changes.",
        "Never delete the comments in schema.sql.",
        "请统一用英文写提交信息",
        "I'm tired of floats, amounts are integers in cents.",
        "Wir schreiben Tests immer mit pytest.",
        "所有接口都要加鉴权。",
        "On n'utilise jamais de couleurs en dur.",
        "Usamos pnpm en este repositorio, nunca npm.",
        "Use tabs for indentation in this repository.",
        "In this repo, use tabs.",
        "Nimm Tabs in diesem Repo",
        "コミットメッセージは必ず英語で書いてください。",
    ],
)
def test_a_rule_about_documents_and_one_in_another_language_is_a_rule(text):
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [text]


@pytest.mark.parametrize("text", ["Use grep to find its callers in this repo", "what do we use in this repo"])
def test_what_is_done_in_a_repository_once_is_no_rule(text):
    assert list(rules.lessons(text, spoken_by_user=True)) == []


def test_what_a_person_always_wants():
    text = "Never push to main without a review. Always run the linter first, please."
    assert [lesson.category for lesson in rules.lessons(text, spoken_by_user=True)] == ["preference"] * 2
    assert list(rules.lessons(text, spoken_by_user=False)) == []


def test_code_and_quotations_are_nobodys_words():
    text = (
        "```\nwe decided to use foo here\n```\n> we decided to use bar here\n\nWe decided to use baz here.\n"
    )
    assert [lesson.text for lesson in rules.lessons(text, False)] == ["We decided to use baz here."]
    assert list(sentences("```\nnever closed. We decided to use foo.")) == []


OUTPUTS = [
    "drwxr-xr-x 6 www-data www-data 4096 Aug 11 06:04 core",
    "stats-app.js:39 the app should never initialise twice",
    "    at HTMLDocument.<anonymous> (stats-app.js:173:30)",
    "TypeError: we always use one filter is not a function",
    "remote: Compressing objects: 100% (81/81), done.",
    "3 files changed, 37 insertions(+)",
    "Feb 8 22:02:21.647 |INFO| we always use one session",
    "from aiogram.enums import ButtonStyle",
    "create policy owner_only on tasks using (user_id = auth.uid());",
    "│ └── Domain/ # we always keep the models here",
    "<summary>We use Redis from now on</summary>",
    'data.session: "we use Redis from now on"',
]


@pytest.mark.parametrize("line", OUTPUTS)
def test_what_a_program_printed_is_nobodys_word(line):
    text = f"See below.\n{line}\n\nWe decided to use baz here for good."
    learned = [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)]
    assert learned == ["We decided to use baz here for good."]


def test_lines_beside_output_are_output():
    text = "We decided to use baz here.\n\n$ make\nWe use gcc from now on\nremote: done"
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [
        "We decided to use baz here."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "ingestion = Go, scoring = Python, UI = Svelte, from now on",
        "From today on we use exit code 3 for partial success, the ops scripts depend on that",
        "We decided: return codes are 0 ok, 1 findings (see the manual)",
        "- We use `make lint` from now on.",
    ],
)
def test_a_typed_line_with_code_in_it_is_the_persons_word(text):
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [text.removeprefix("- ")]


def test_the_items_of_a_list_among_requests_are_learned():
    text = (
        "Here is what I need.\n1. invoices are numbered per customer\n2. the export is CSV with semicolons\n"
        "3. never write to the archive bucket\n\n```py\nx = 1\n```\nand can you look at the failing import?"
    )
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [
        "invoices are numbered per customer",
        "the export is CSV with semicolons",
        "never write to the archive bucket",
    ]


def test_of_a_pasted_document_what_stands_around_it_is_the_persons_word():
    plan = "\n".join(f"{number}. We decided to use Kafka for the feed {number}." for number in range(30))
    text = f"Never touch the ledger for this.\n\n{plan}\n\nWe use Redis for the queue from now on."
    assert [lesson.text for lesson in rules.lessons(text, spoken_by_user=True)] == [
        "Never touch the ledger for this.",
        "We use Redis for the queue from now on.",
    ]
    typed = "\n".join(plan.splitlines()[:20])
    assert len(list(rules.lessons(typed, spoken_by_user=True))) == 20


# ---- sessions --------------------------------------------------------------------------------------


def test_decisions_in_words(say, main):
    asked = say("Please look at this. We decided to use argon2 for passwords.", role="user")
    say("Let's keep bcrypt for the old rows until they log in.")
    say("we decided that tools never speak", role="tool_result")
    assert learn() == 2
    assert facts() == [
        ("decision", "We decided to use argon2 for passwords."),
        ("decision", "Let's keep bcrypt for the old rows until they log in."),
    ]
    fact = Fact.objects.all_versions().order_by("uid").first()
    assert (fact.source_type, fact.source_id, fact.confidence, fact.session_id) == (
        "consolidation",
        str(asked.uid),
        0.7,
        "s1",
    )
    link = FactLink.objects.all_versions().get(from_id=fact.uid)
    assert (link.to_id, link.to_type, link.link_type) == (asked.uid, "message", "CONSOLIDATED_FROM")
    commit = Commit.objects.order_by("seq").last()
    assert (commit.kind, commit.added, commit.actor_kind) == ("consolidate.session", 4, "system")


def test_error_then_fix(did):
    did("Bash", {"command": "make test"}, "Exit code 2\nmake: *** no rule to make target 'test'")
    did("Read", {"file_path": "Makefile"}, "all:")
    did("Edit", {"file_path": "Makefile"}, "ok")
    did("Bash", {"command": "ls"}, "Makefile")
    worked = did("Bash", {"command": "make test"}, "4 passed")
    assert learn() == 1
    assert facts() == [
        (
            "bug_fix",
            "make test failed: make: *** no rule to make target 'test'. It worked after: changed Makefile.",
        )
    ]
    link = FactLink.objects.all_versions().get()
    assert (link.to_id, link.to_type, link.link_type) == (worked.uid, "observation", "DERIVED_FROM")
    assert Fact.objects.all_versions().get().source_type == "observation"


def test_a_failure_that_went_away_by_itself_teaches_nothing(did):
    did("Bash", {"command": "make test"}, "Exit code 2")
    did("Bash", {"command": "make test"}, "4 passed")
    assert (learn(), facts()) == (0, [])


def test_decisions_and_insights_that_were_observed(actor):
    for kind in ("decision", "insight", "error", "tool_use"):
        ObservationEngine().write_observation(
            actor=actor, summary=f"An observed {kind}.", observation_type=kind, session_id="s1"
        )
    assert learn() == 2
    assert facts() == [("decision", "An observed decision."), ("insight", "An observed insight.")]


def test_again_changes_nothing_even_when_a_fact_is_gone(say, actor):
    say("We decided to use argon2 for passwords.")
    assert learn() == 1
    head, fact = Commit.objects.count(), Fact.objects.all_versions().get()
    assert (learn(), Commit.objects.count()) == (0, head)
    FactEngine().delete_fact(fact_id=fact.uid, actor=actor)
    assert learn() == 0
    say("We decided to drop bcrypt in the spring.")
    assert learn() == 1


def test_another_session_that_says_the_same_confirms(say, actor):
    say("We decided to use argon2 for passwords.")
    say("we decided  to use Argon2 for passwords.", session="s2")
    assert (learn("s1"), learn("s2")) == (1, 0)
    page = FactEngine().list_facts(actor=actor)
    assert [fact.confirmation_count for fact in page.results] == [1]
    assert FactLink.objects.all_versions().count() == 2


def test_what_day1_told_the_session_is_not_learned(say, actor):
    told = "- We decided to use argon2 for passwords. [decision, unverified, 2026-01-01, 1]"
    MANAGER.create_session(session_id="s1", actor=actor)
    Session.objects.filter(key="s1").update(context=f"<day1-memory>\n{told}\n</day1-memory>")
    say("We decided to use argon2 for passwords. We decided to rotate keys monthly.")
    assert learn() == 1
    assert facts() == [("decision", "We decided to rotate keys monthly.")]


def test_what_day1_told_at_the_start_is_neither_learned_nor_confirmed_in_other_words(say, actor):
    say("We decided to use Kafka for the queue.", role="user")
    learn()
    (known,) = FactEngine().list_facts(actor=actor).results
    MANAGER.create_session(session_id="s2", actor=actor)
    line = f"- {known.fact_text} [decision of a person, unverified, 2026-01-01, {known.uid}]"
    Session.objects.filter(key="s2").update(context=f"<day1-memory>\n{line}\n</day1-memory>")
    say("Let's use Kafka for the queue.", session="s2")
    assert learn("s2") == 0
    (fact,) = FactEngine().list_facts(actor=actor).results
    assert (fact.confirmation_count, fact.confidence) == (0, 0.7)


def test_on_the_sessions_own_branch(say, actor):
    BranchManager().create_branch(name="task/x", actor=actor)
    say("We decided to use argon2 for passwords.", branch="task/x")
    assert learn() == 1
    assert FactEngine().list_facts(actor=actor).results == []
    assert len(FactEngine().list_facts(actor=actor, branch_name="task/x").results) == 1
    BranchManager().archive_branch(name="task/x", actor=actor)
    assert learn() == 0


def test_the_tasks(say, actor, settings):
    say("We decided to use argon2 for passwords.")
    MANAGER.end_session(session_id="s1", actor=actor)
    QueueMessage.objects.all().delete()  # the message was lost
    sweep_sessions()
    session = Session.objects.get()
    assert QueueMessage.objects.get().key == f"memory.consolidate[{session.pk}]"
    consolidate(session.pk)
    session.refresh_from_db()
    assert (len(facts()), session.consolidated_at >= session.ended_at) == (1, True)
    QueueMessage.objects.all().delete()
    sweep_sessions()
    assert not QueueMessage.objects.exists()
    consolidate(session.pk)
    consolidate(0)
    assert len(facts()) == 1
    settings.DAY1 = {**settings.DAY1, "consolidator": ""}
    say("We decided to rotate keys monthly.")
    consolidate(session.pk)
    sweep_sessions()
    assert len(facts()) == 1


def test_a_prompt_that_began_long_work_lays_down_what_has_the_form(say):
    for session, answer in (
        ("s1", "I rewrote the parser of the feed and ran its tests. " * 6),
        ("s2", "Noted."),
    ):
        say("Priya signs off the ledger.", role="user", session=session)
        say(answer, session=session)
    Session.objects.update(project_path="/srv/work")
    assert (learn(), learn("s2")) == (0, 1)
    assert facts() == [("decision", "Priya signs off the ledger.")]


def test_a_session_stays_at_work_for_some_answers(say):
    report = "I rewrote the parser of the feed and ran its tests. " * 6
    say("Priya signs off the ledger.", role="user", session="s1")
    for session, answers in (("s1", [report, "", "Done."]), ("s2", [report, "Done.", "Yes.", "No."])):
        for answer in answers:
            say("ok", role="user", session=session)
            say(answer or "Done.", session=session)
        say("Tom signs off the payroll.", role="user", session=session)
        say("Noted.", session=session)
    Session.objects.update(project_path="/srv/work")
    assert (learn(), learn("s2")) == (1, 1)
    assert facts() == [
        ("decision", "Priya signs off the ledger."),
        ("decision", "Tom signs off the payroll."),
    ]


def test_what_changes_a_report_or_a_step_of_work_is_neither_learned(say):
    for prompt in (
        "The session timeout is 15 minutes, always.",
        "Bump the session timeout to an hour.",
        "Use GraphQL for the partner API, always.",
        "The folder outline is not black, it has 2 lines.",
        "Now the folder outline is black, but it has 3 lines.",
        "Get back to main and create a branch for the docs.",
        "Go back to the docs branch instead, 2 commits are missing.",
        "Forget GraphQL, plain REST for the partner API.",
    ):
        say(prompt, role="user")
        say("I rewrote the parser of the feed and ran its tests. " * 6)
    Session.objects.update(project_path="/srv/work")
    learn()
    assert facts() == [
        ("decision", "The session timeout is 15 minutes, always."),
        ("decision", "Bump the session timeout to an hour."),
        ("decision", "Use GraphQL for the partner API, always."),
        ("decision", "Forget GraphQL, plain REST for the partner API."),
    ]


# ---- bounds ----------------------------------------------------------------------------------------


def test_many_decisions_are_commits_of_a_bounded_size(say, monkeypatch):
    monkeypatch.setattr(lasting, "MAX_TALK_LENGTH", 100_000)
    for number in range(5):
        say("".join(f"We decided on plan {number:02d}{line:05d}\n" for line in range(2000)))
    assert learn() == 5 * findings.MAX_LESSONS
    added = Commit.objects.filter(kind="consolidate.session").order_by("seq").values_list("added", flat=True)
    assert list(added) == [200, 200, 100]  # each fact has a link
    assert learn() == 0


def test_the_rest_is_learned_in_a_task_of_its_own(say, monkeypatch):
    monkeypatch.setattr(consolidation, "MAX_PIECES", 1)
    monkeypatch.setattr(lasting, "MAX_TALK_LENGTH", 100_000)
    for number in range(3):
        say("".join(f"We decided on plan {number:02d}{line:05d}\n" for line in range(60)))
    assert learn() == 100
    assert QueueMessage.objects.filter(key__startswith="memory.consolidate").count() == 1
    assert (learn(), learn()) == (50, 0)
    assert len(facts()) == 150


# ---- links -----------------------------------------------------------------------------------------


def test_a_fact_may_be_linked_to_what_it_comes_from(say, did, actor):
    fact = FactEngine().write_fact(fact_text="Passwords use argon2.", actor=actor).fact
    message, seen = say("argon2 it is"), did("Bash", {"command": "ls"})
    for target, kind in ((message, "message"), (seen, "observation")):
        LinkEngine().write_link(
            from_id=fact.uid, to_id=target.uid, to_type=kind, link_type="DERIVED_FROM", actor=actor
        )
    found = LinkEngine().list_links(fact_id=fact.uid, actor=actor).results
    assert [(link.to_id, link.to_type) for link in found] == [
        (seen.uid, "observation"),
        (message.uid, "message"),
    ]


def test_one_preference_in_many_words_is_one_fact_with_confirmations(say):
    preferred = [
        "I prefer tabs over spaces",
        "tabs rather than spaces, always",
        "please use tabs, not spaces",
        "we indent with tabs, never spaces",
        "Bitte immer Tabs statt Leerzeichen",
    ]
    sources = [say(text, role="user", session=f"s{at}").uid for at, text in enumerate(preferred)]
    assert [learn(f"s{at}") for at in range(len(sources))] == [1, 0, 0, 0, 0]
    assert {one.uid for one in Fact.objects.all_versions()} == {Fact.objects.all_versions().first().uid}
    assert set(facts()) == {("preference", preferred[0])}
    links = FactLink.objects.all_versions().filter(link_type="CONSOLIDATED_FROM")
    assert {link.to_id for link in links} == set(sources)


PROPOSAL = "I'd keep the sessions in Redis with a TTL of 24 hours instead of the database. Shall I do that?"
KEPT = "Keep the sessions in Redis with a TTL of 24 hours instead of the database."
OPTIONS = "Option 1: partition the table by month. Option 2: archive it in S3 after 30 days. Which one?"


ROWS = """| | where sessions are |
|---|---|
| A | in Redis for a day |
| **B** | **in Postgres for a day** |

I'd take the bold row. OK?"""


@pytest.mark.parametrize(
    ("reply", "proposal", "learned"),
    [
        ("go ahead", ROWS, ["in Postgres for a day"]),
        ("the bold one", "1. S3 for 30 days\n2. **S3 for 90 days**\nWhich?", ["S3 for 90 days"]),
        (
            "ja",
            ROWS.replace("I'd take the bold row", "Ich würde die fette Zeile nehmen"),
            ["in Postgres for a day"],
        ),
        ("go ahead", ROWS.replace("in Redis", "**in Redis**"), []),
        ("yes", PROPOSAL, [KEPT]),
        ("yes do that", PROPOSAL, [KEPT]),
        ("ok", PROPOSAL, [KEPT]),
        ("go ahead", PROPOSAL, [KEPT]),
        ("Yes, use Redis.", PROPOSAL, [KEPT]),
        ("do it but 12 hours", PROPOSAL, [KEPT.replace("24", "12")]),
        ("ok but 90", "I propose to keep the logs for 30 days.", ["Keep the logs for 90 days."]),
        (
            "do it but 12 hours",
            "I could run the nightly backup at 2:00 and keep it for 24 hours. OK?",
            ["Run the nightly backup at 2:00 and keep it for 12 hours."],
        ),
        (
            "sim, mas 12 horas",
            "Posso guardar as sessões por 24 horas. Pode ser?",
            ["Guardar as sessões por 12 horas."],
        ),
        (
            "可以，就这么办，不过每小时同步一次",
            "我建议用 Meilisearch，每 10 分钟同步一次索引。要这样做吗？",
            ["我建议用 Meilisearch，每 10 分钟同步一次索引，但每小时同步一次."],
        ),
        (
            "はい、それでお願いします",
            "メールで毎朝7時に送るのはどうでしょうか。そうしますか？",
            ["メールで毎朝7時に送るのはどうでしょうか。"],
        ),
        ("sim", "Posso rodar os testes de novo?", []),
        ("do it but 12 hours", "I can rerun the export of the last 24 hours. Shall I?", []),
        ("Go with Redis. Clean up the branch.", PROPOSAL, []),
        ("no", "The pages are slow. Should we add Redis?", []),
        ("não, obrigado", "Devemos usar Redis para o cache?", []),
        ("yes, but only for the shop", PROPOSAL, [f"{KEPT[:-1]}, but only for the shop."]),
        ("option 2", OPTIONS, ["archive it in S3 after 30 days."]),
        ("the first one", OPTIONS, ["partition the table by month."]),
        (
            "second one please",
            "It moved; I could retry twice, or wait for idle in the helper.",
            ["Wait for idle in the helper"],
        ),
        ("die zweite", "Ich könnte sie in Redis halten oder in Cookies legen. Welche?", ["In Cookies legen"]),
        ("the second one please", OPTIONS, ["archive it in S3 after 30 days."]),
        (
            "option 2",
            f"```sql\nSELECT count(*) FROM logs;\n```\n{OPTIONS}",
            ["archive it in S3 after 30 days."],
        ),
        ("sí, pero dos o 12 horas", PROPOSAL, [f"{KEPT[:-1]}, but dos o 12 horas."]),
        (
            "ja, mach das",
            "Ich würde die Belege in S3 ablegen. Soll ich?",
            ["Ich würde die Belege in S3 ablegen."],
        ),
        (
            "ja, mach das",
            "Soll ich die Belege in S3 mit 30 Tagen Frist ablegen?",
            ["Die Belege in S3 mit 30 Tagen Frist ablegen."],
        ),
        (
            "好的",
            "我建议会话放在 Redis 里，过期时间 24 小时。可以吗？",
            ["我建议会话放在 Redis 里，过期时间 24 小时。"],
        ),
        ("no, in the database", PROPOSAL, []),
        ("let me think about it", PROPOSAL, []),
        ("why Redis?", PROPOSAL, []),
        ("yes", "I can rerun the job with the other role. Shall I?", []),
        ("yes", "The build is green again.", []),
    ],
)
def test_an_approved_proposal_is_a_decision_in_its_words(reply, proposal, learned):
    found = [lesson.text for lesson in rules.lessons(reply, spoken_by_user=True, previous=proposal)]
    assert found == learned
