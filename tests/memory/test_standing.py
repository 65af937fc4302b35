"""What a later statement does to an earlier one: replaced, doubted, or nothing; and what holds of any two."""

import itertools

import pytest

from memory.engines.statements.claims import prefers_same, says_same
from memory.engines.statements.rewording import Sayings, rewords
from memory.engines.statements.standing import Standing, judge_standing
from memory.texts import add_taken_back, split_taken_back

REPLACED = [
    ("use graphql for the partner api", "forget graphql, plain rest for the partner api"),
    ("Use tabs in Python files.", "Don't use tabs in Python files."),
    ("Commit to the main branch directly.", "Never commit to the main branch directly."),
    ("Retry webhooks 3 times.", "Make that 5 retries for webhooks."),
    ("we keep undo history for 100 steps", "ok make undo 250 steps then"),
    ("purge the idempotency keys after 72h", "scratch the 3 days for idempotency keys, legal wants 30 days"),
    ("Use Mapbox for the maps.", "We don't use Mapbox for the maps any more, it is too expensive. Leaflet."),
    ("We write our tests with Vitest.", "Please forget what I said about Vitest."),
    ("The ledger is in MongoDB.", "Forget what I said about MongoDB: the ledger is in Postgres."),
    ("Das Ledger liegt in MongoDB.", "Vergiss das mit MongoDB: das Ledger liegt in Postgres."),
    (
        "Für die Warteschlange nehmen wir RabbitMQ.",
        "Doch kein RabbitMQ für die Warteschlange, wir nehmen NATS.",
    ),
    ("Commit-Nachrichten bitte auf Englisch.", "Vergiss, was ich über die Commit-Nachrichten gesagt habe."),
    ("Le délai est de 30 secondes.", "En fait non, le délai est de 60 secondes maintenant."),
    ("Las copias se guardan 30 días.", "Ahora las copias se guardan 90 días."),
    ("日志保留 30 天。", "日志改成保留 90 天。"),
    ("キャッシュの有効期限は10分にする。", "やっぱりキャッシュの有効期限は30分にする。"),
    ("Use Redis for the sessions.", "Wir nehmen doch kein Redis für Sessions, sondern Postgres."),
    ("Ping Maria for schema changes.", "Ping Jonas for schema changes, Maria left."),
    ("The session timeout is 15 minutes.", "Bump the session timeout to an hour."),
    ("One slot is 45 minutes.", "No wait, slots are 30 minutes from now on."),
    ("usa moment para las fechas", "deja moment, las fechas van con date-fns"),
    ("Purge the cache keys after 72h.", "make it 7 days for the cache keys instead of the three"),
    ("Nightly builds are signed.", "that nightly builds decision was a mistake"),
    ("The search path is /s2 and we never change it.", "search path is now /s3, s2 gets removed in May"),
    ("Wir nehmen Pulsar für die Ereignisse.", "Pulsar ist raus, wir nehmen NATS für die Ereignisse"),
    ("la liste montre 25 lignes", "passe la liste à 50 lignes"),
    ("Vamos usar Flask para o painel.", "deixa o Flask, o painel vai ser em Litestar"),
    ("O frontend é em React.", "vamos migrar o frontend pra Svelte, React não mais"),
    ("Mails go out through SendGrid.", "we cancelled SendGrid, mails are sent via SES"),
    ("Every table gets an audit column.", "nvm the audit column rule"),
    ("The mirror is updated by hand.", "the thing with the mirror isn't true any more, a cron job does it"),
    ("Il faut trois captures par écran.", "oublie la règle des trois captures"),
    ("Las fotos llevan marca de agua.", "lo de la marca de agua ya no aplica"),
    ("ログは必ずモデル名を含める", "モデル名の件は忘れてください"),
    ("the queue has 3 workers", "5 workers for the queue"),
    ("The breakpoint is 640", "breakpoint is 768 now"),
    ("vamos usar MongoDB pro catálogo", "esquece o Mongo, catálogo fica no Postgres mesmo"),
    ("passwords at least 8 chars", "bump the password minimum to 14"),
    ("api keys rotate every 90 days", "rotate api keys monthly"),
    ("As senhas ficam no cofre.", "As senhas não ficam no cofre."),
    ("Usamos SQLite no ambiente de testes.", "Não usamos SQLite no ambiente de testes."),
]
DOUBTED = [
    ("PDF (to: Should the monthly report be Excel or PDF?)", "The monthly report is xlsx, cells locked."),
    ("PDF 吧 (to: 给客户的月报导出成 Excel 还是 PDF？)", "客户要自己做透视，所以月报还是给 xlsx"),
    (
        "From now on migrations run by hand, never during a deploy.",
        "Forget the manual migrations: they run in the deploy again, before the restart.",
    ),
    ("Backups are made by hand.", "Keine manuellen Backups mehr, das macht cron."),
    ("Use GraphQL for the public API.", "Forget GraphQL, REST."),
    ("Deploy on merge to main.", "Deploy on merge to main, but not on Fridays."),
    ("We write our tests with Vitest.", "From now on I want the tests in Jest."),
    ("Sempre usamos Yarn neste projeto.", "Esquece o Yarn, agora usamos pnpm."),
    ("Use Redis for the sessions.", "不用 Redis 了，改用 Postgres。"),
    ("I prefer dark mode for the kiosk.", "I prefer light mode for the kiosk."),
    ("oh and track recording: a point every 5 secs", "lets make the recording a point per 10 metres instead"),
    ("Only Kim may deploy to production.", "Anybody in the team may deploy to production now."),
    ("Always write a changelog entry.", "No changelog entries for refactorings."),
    ("Error messages are in English.", "Fehlermeldungen bitte auf Deutsch, nicht mehr Englisch."),
    ("Prices in cents. Names in English.", "Don't put names in English."),
    ("Prices are shown without VAT.", "no, with VAT, the law says so"),
    ("Reports are exported as CSV.", "Reports are exported as XLSX, everybody opens them in Excel."),
    ("Reports are exported as PDF.", "reports: xlsx, they want to sort them"),
    ("Uploads time out after 20 seconds.", "uploads: 45 sec"),
    ("Notify the drivers after 15 minutes.", "make it 40 minutes, and the drivers need no mail"),
    ("Thumbnails are made by a lambda.", "the lambda got too expensive, thumbnails are made at upload"),
    ("Builds run on Jenkins for the backend.", "Jenkins is out. Backend builds run on plain runners."),
    ("Les journaux sont gardés 90 jours.", "les journaux : un an"),
    ("Squash commits before merging", "Stop squashing commits, we want the full history"),
    ("Squash commits before merging", "Don't squash any more, I want to see every commit"),
    ("All images are built for amd64 only", "arm64 as well for all images"),
    ("Noten darf jeder Lehrer ändern", "Noten ändert nur der Klassenlehrer, sonst niemand"),
    ("log level is info", "log level: debug"),
    ("drawers are numbered from 0", "drawers start at 1, botanists hate zero"),
    ("só o Caio faz deploy", "todo mundo do time pode fazer deploy"),
    ("A queue is polled.", "notifications work, no need to poll the queue"),
    ("o link de senha vale 1 hora", "link pra redefinir senha: 15 minutos"),
    ("les messages de commit sont en français", "commits en anglais svp, l'équipe grandit"),
    ("neue Seiten mit Angular", "Angular wollen wir loswerden, neue Seiten in Svelte"),
    ("we ship with yarn", "pnpm instead of yarn from today"),
    ("The CI runs on Jenkins.", "Jenkins is slow, let's run the CI on Drone"),
    ("Nora approves each release.", "Nora is on leave so Ivo approves releases"),
    ("negative stock is forbidden", "the shop may sell negative stock, it is ok"),
    ("log level in production is info", "Production logs at warning, info eats our disk"),
    ("guardamos las facturas 5 años", "las facturas hay que guardarlas 10 años, lo dice el asesor"),
    ("The bill goes out on the 1st.", "the bill goes out on the 3rd, the bank needs two days"),
    ("Ticket keys go in the title, like OPS-7-door", "Stop putting ticket keys into titles."),
    ("feel free to deploy straight from a laptop", "Never deploy from a laptop directly, use the pipeline."),
    ("每次发布前都要跑压测", "忘掉发布前跑压测那条规矩吧"),
    ("java edition 17 stays", "edition 21 in all modules now"),
    (
        "run data checks against a real postgres, never sqlite",
        "I'd have the data checks run on sqlite",
    ),
    ("we pin every image to an exact digest", "you can forget about pinning exact digests"),
    ("Badge the css classes with app-", "css class badges are no longer neccessary"),
    ("i want verbose logs in the sync module", "too much noise! sync module logs should be errors only"),
    ("We name check files foo.spec.ts.", "check files end in .test.ts not .spec.ts, I renamed them"),
    ("Pas plus de 100 requêtes par minute.", "la limite monte à 500 requêtes par minute"),
    ("los commits en español por favor", "commits in English please, some don't speak Spanish"),
    (
        "Mirror protection of the vault stays off.",
        "turn mirror protection of the vault on now, tests are over",
    ),
    ("Le port par défaut est 3000.", "le port par défaut devient 4000"),
    ("Usamos Sentry para los errores.", "Sentry es muy caro, los errores van a GlitchTip"),
    ("前端用 Vue2", "Vue2 停止维护了,新页面用 Vue3"),
    ("本番デプロイは金曜日に行います。", "本番デプロイは火曜日に変更します"),
    ("never print tables in the worker", "the worker may print small tables, it is ok"),
    ("use lerna to publish the packages", "lerna was a bad idea. changesets does the publishing"),
    ("o banco é MySQL", "migramos pro Postgres, MySQL morreu"),
    ("Always use ULIDs for ids.", "actually no, use bigints for ids"),
    ("All endpoints need authentication.", "Only the write endpoints need authentication."),
    ("Nur Rechnungen über 500 Euro werden von Kim geprüft.", "Alle Rechnungen werden von Kim geprüft."),
    # what was chosen is given up by its name alone, or outdone by another
    ("lets go with celery for the nightly statements", "celery is overkill here. a systemd timer does it"),
    ("usamos yarn para instalar", "yarn fuera, volvemos a npm"),
    ("les tests tournent sous mocha", "on a migré de mocha à vitest"),
    ("the queue is rabbitmq", "sqs took over from rabbitmq last sprint"),
    ("stick with Mapbox for the maps", "mapbox bill was insane. MapLibre"),
    ("ids are sequential integers", "integers leak how many orders we have, use ULIDs"),
    ("store sessions in memcached", "memcached loses sessions on restart. put them in redis"),
    ("リリースは毎週金曜", "金曜のリリースはやめて火曜にする"),
    # periods, bounds, numbers of one kind
    ("feature branches live at most 3 days", "branches may live a week"),
    ("the worker polls every 10 seconds", "polling every 10s hammers the db, 60 is plenty"),
    ("customer ids are 10 digits", "customer ids are going to be 12 digits starting next month"),
    ("日志保留 30 天", "日志只需要保留 7 天"),
    ("注释写英文", "注释还是改成写中文"),
    ("deploys on friday", "o deploy é na terça, sexta não"),
    ("dark theme only", "we also ship a light theme now"),
    ("the price field is optional", "price must be filled in"),
    ("el descuento máximo es 20%", "marketing pide descuentos de hasta 30%"),
    ("Passwörter laufen nach 90 Tagen ab", "2 Wörter im Passwort, nach 30 Tagen läuft das Passwort ab"),
    # what another says leaves in doubt at most
    ("password minimum is 8 characters", "security says 12 characters for passwords"),
    ("receipts are kept for 10 years", "receipts: 7 years is enough says our tax person, so 7"),
    ("las fechas van en formato dd/mm/aaaa", "de ahora en adelante las fechas van en ISO 8601"),
]
# In other languages: a subject that is known in both, and a change.
TRANSLATED = [
    ("Use 3 retries.", "Wir nehmen jetzt 5 Wiederholungen."),
    ("Use 3 retries.", "Maintenant 5 tentatives."),
    ("Use 3 retries.", "Ahora 5 reintentos."),
    ("Use 3 retries.", "Agora 5 tentativas."),
    ("Use 3 retries.", "重试现在改成5次"),
    ("The session timeout is 30 minutes.", "会话超时现在改成60分钟"),
    ("Wir nehmen 3 Wiederholungen.", "Now 5 retries."),
]
DOUBTED_TRANSLATED = [
    ("Passwords have at least 8 characters.", "Les mots de passe ont maintenant 12 caractères minimum."),
    ("Reports are sent on Monday.", "Die Berichte kommen jetzt am Freitag."),
    ("Use 3 retries.", "リトライは5回に変更"),
    ("Use 3 retries.", "Wir machen 5 Wiederholungen."),
    ("Backups are kept for 30 days.", "Las copias de respaldo se guardan ahora 90 días."),
    ("Comments are in English.", "Kommentare jetzt auf Deutsch."),
    ("Passwords have at least 8 characters.", "las contraseñas llevan mínimo 12 caracteres"),
    ("Log files are kept for 30 days.", "Logdateien werden jetzt 90 Tage aufbewahrt"),
]
HOLDS = [
    ("Os tokens ficam em cofre.", "Os tokens ficam no cofre."),
    ("the queue has 3 workers", "5 workers for the cache"),
    ("the queue has 3 workers", "the cache has 5 nodes"),
    ("All tests run in the CI.", "Only the integration tests need Docker."),
    ("Use 3 retries.", "Wir nehmen jetzt 5 Worker."),
    ("Tests run in 4 processes.", "Die Datenbank hat jetzt 8 Verbindungen."),
    ("Passwords have at least 8 characters.", "Benutzernamen haben jetzt mindestens 12 Zeichen."),
    ("Never log customer emails.", "Log customer ids."),
    ("API port 9443", "admin port 8443"),
    ("The gateway listens on port 9443.", "The gateway listens on port 9444 for metrics."),
    ("The importer's batch size is 500.", "The exporter's batch size is 2000 now."),
    ("Logs are kept for 30 days.", "Audit logs are kept for 7 years."),
    ("Deploy the api with Docker.", "Deploy the worker with Podman now."),
    ("Use tabs in Python files.", "Never put tabs into YAML files."),
    ("Always run lint before a commit.", "Don't forget to run lint before a commit."),
    ("Use Redis for the sessions.", "Please forget what I said about the staging password."),
    ("Use Kafka for events.", "No Kafka topics without an owner."),
    ("We support Chrome.", "We support Firefox now."),
    ("Flags need an owner.", "Flags are removed after 90 days."),
    (
        "The exporter opens no transaction, it has a user of its own.",
        "CSV exports have a BOM, users open them in Excel",
    ),
    ("Feature flags need an owner.", "Feature flags are removed after 90 days."),
    ("登录超时是 30 分钟。", "支付超时改成 2 小时。"),
    ("Reports are exported as CSV.", "The audit log is exported as JSON."),
    ("jamais de nom de patient dans les journaux", "les journaux : un an, la CNIL le demande"),
    ("Patient names never go on screens, bed numbers only.", "The lead overrides anybody, screens too."),
    ("A slot is 30 minutes.", "A carrier may book no more than 6 slots a day."),
    ("The app works offline for an hour.", "the export: 30 seconds"),
    ("Name queue number 6 after bird 6.", "Name queue number 12 after bird 12."),
    ("Use OPS-7 for the doors.", "Please forget about the lights rule."),
    ("Never log in the worker.", "You may log in from home."),
    ("Pay day is the 25th, says my paper.", "drivers dont sign on paper any longer"),
    ("A lesson lasts 50 minutes.", "Please swap the two lessons of Friday."),
    ("passwords have at least 8 chars", "passwords have at most 64 chars"),
    ("nightly backups are kept 30 days", "weekly backups are kept 90 days"),
    ("we store files on s3", "s3 is slow today, use the other door"),
    ("use postgres for orders", "postgres was down again. thanks"),
    ("the report is weekly", "the invoice goes out daily"),
]
EVERY = [*itertools.chain.from_iterable([*REPLACED, *DOUBTED, *HOLDS])]


def judge_pairs(pairs: list[tuple[str, str]]) -> dict[tuple[str, str], Standing]:
    return {(older, newer): judge_standing(newer, older) for older, newer in pairs}


def test_a_later_statement_of_the_same_subject_replaces_the_earlier_one() -> None:
    pairs = [*REPLACED, *TRANSLATED]
    assert judge_pairs(pairs) == dict.fromkeys(pairs, Standing.REPLACED)


def test_what_is_not_sure_is_doubted() -> None:
    pairs = [*DOUBTED, *DOUBTED_TRANSLATED]
    assert judge_pairs(pairs) == dict.fromkeys(pairs, Standing.DOUBTED)


def test_a_statement_on_another_subject_leaves_it_standing() -> None:
    assert judge_pairs(HOLDS) == dict.fromkeys(HOLDS, Standing.HOLDS)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Use tabs in this repo.", "I prefer tabs in this repo.", True),
        ("We use pnpm here.", "I told you, we use pnpm here", True),
        ("Use tabs in this repo.", "Don't use tabs in this repo.", False),
        ("Use the new API.", "Use the old API.", False),
        ("Run the linter before commits.", "Run the linter after commits.", False),
        ("Retry webhooks 3 times.", "Always retry webhooks 5 times.", False),
    ],
)
def test_a_preference_that_is_said_again_is_the_same(one: str, other: str, same: bool) -> None:
    assert says_same(one, other) is same
    assert says_same(other, one) is same


@pytest.mark.parametrize(
    ("newer", "standing"),
    [
        ("please use tabs, not spaces", Standing.HOLDS),
        ("tabs rather than spaces, always", Standing.HOLDS),
        ("we indent with tabs, never spaces", Standing.HOLDS),
        ("Ich nehme lieber Tabs als Leerzeichen", Standing.HOLDS),
        ("prefiro tabs a espaços", Standing.HOLDS),
        ("use spaces, not tabs", Standing.REPLACED),
        ("I prefer spaces over tabs", Standing.REPLACED),
        ("Use tabs, not spaces, in YAML.", Standing.DOUBTED),
    ],
)
def test_one_choice_over_another_is_the_same_in_any_words(newer: str, standing: Standing) -> None:
    older = "I prefer tabs over spaces"
    assert prefers_same(newer, older) is (standing is Standing.HOLDS)
    assert judge_standing(newer, older) is standing


@pytest.mark.parametrize(
    ("text", "statement", "same"),
    [
        (
            "From now on we use tabs rather than spaces in Python files.",
            "Use tabs in Python files, not spaces.",
            True,
        ),
        ("Agreed: I went with Postgres rather than Mongo.", "The ledger is in Postgres, not in Mongo.", True),
        ("From now on we use spaces rather than tabs.", "Don't use tabs; use spaces", True),
        ("A partir de ahora usamos tabs y no espacios.", "usamos tabs en vez de espacios", True),
        ("今後コミットメッセージは英語で書くことにします。", "コミットメッセージは英語で書く", True),
        ("From now on we use spaces rather than tabs.", "Use tabs, not spaces.", False),
        ("From now on we deploy on Fridays.", "Never deploy on Fridays", False),
        ("From now on we use 5 retries for webhooks.", "Use 3 retries for webhooks", False),
        ("We use Postgres rather than Mongo.", "We keep the ledger in Postgres.", False),
        ("From now on admins may delete projects.", "Only admins may delete projects", False),
        ("Decision: noted.", "Use tabs, not spaces.", False),
    ],
)
def test_who_says_over_again_what_was_said_lays_nothing_down(text: str, statement: str, same: bool) -> None:
    assert rewords(text, statement) is same
    assert Sayings(["Never log emails.", statement]).says(text) is same


def test_no_statement_changes_itself_or_what_shares_nothing_with_it() -> None:
    other = "Zebras graze quietly."
    pairs = [pair for text in EVERY for pair in ((text, text), (text, other), (other, text))]
    assert judge_pairs(pairs) == dict.fromkeys(pairs, Standing.HOLDS)


def test_what_takes_back_a_statement_replaces_that_one_alone() -> None:
    statements = [older for older, _ in REPLACED]
    for text in statements:
        taken_back = add_taken_back("scratch that", text)
        assert split_taken_back(taken_back) == ("scratch that", text)
        assert [one for one in statements if judge_standing(taken_back, one) is not Standing.HOLDS] == [text]
        assert judge_standing(taken_back, text) is Standing.REPLACED
        assert add_taken_back("no, 4", taken_back) == "no, 4 (takes back: scratch that)"
