"""Redaction of secrets before storage; other text stays, character by character."""

import hashlib
import json
import random
import re
import string
import time
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.redaction import count_marks, redact_all, redact_text
from memory.redaction.commands import COMMANDS
from memory.redaction.formats import TEXTS, WORD_TEXTS
from memory.redaction.names import KEYS, PASSWORD_PHRASES, PASSWORDS, WORDS, list_forms
from memory.redaction.prefixes import PREFIXES

DRAW = random.Random(7)


def drawn(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(DRAW.choice(alphabet) for _ in range(count))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
PEM = (
    "-----BEGIN {0}PRIVATE KEY-----\n"
    + "\n".join(drawn(64) for _ in range(5))
    + "\n-----END {0}PRIVATE KEY-----"
)

LOWER = string.ascii_lowercase + string.digits
DASHED = string.ascii_letters + string.digits + "-_"
BASE64 = string.ascii_letters + string.digits + "+/"
DIGITS = string.digits
A_UUID = str(uuid.UUID(int=DRAW.getrandbits(128), version=4))

# A made value of each kind in its true length and alphabet. They are put together at run time, so that no
# scanner takes this file for a leak.
MADE = {
    "Anthropic key": [
        "sk-ant-" + "api03-" + drawn(93, DASHED) + "AA",
        "sk-ant-" + "admin01-" + drawn(93, DASHED) + "AA",
    ],
    "OpenRouter key": ["sk-or-" + "v1-" + drawn(64, HEX)],
    "OpenAI key": [
        "sk-" + f"{kind}-" + drawn(74, DASHED) + "T3Blbk" + "FJ" + drawn(74, DASHED)
        for kind in ("proj", "svcacct", "admin")
    ],
    "Langfuse key": ["sk-lf-" + A_UUID],
    "Helicone key": ["sk-helicone-" + drawn(40, DASHED)],
    "API key": ["sk-" + drawn(20) + "T3Blbk" + "FJ" + drawn(20), "sk-" + drawn(32, HEX), "sk-" + drawn(48)],
    "Hugging Face token": [
        "hf_" + drawn(34, string.ascii_letters),
        "api_org_" + drawn(34, string.ascii_letters),
    ],
    "Groq key": ["gsk_" + drawn(52)],
    "xAI key": ["xai-" + drawn(80)],
    "Perplexity key": ["pplx-" + drawn(48)],
    "Replicate token": ["r8_" + drawn(37)],
    "LangSmith key": ["lsv2_pt_" + drawn(32, HEX) + "_" + drawn(10, HEX)],
    "Fireworks key": ["fw_" + "3Z" + drawn(20)],
    "NVIDIA key": ["nvapi-" + drawn(64, DASHED)],
    "ElevenLabs key": ["sk_" + drawn(48, HEX)],
    "Voyage key": ["pa-" + "4" + drawn(42, DASHED)],
    "Tavily key": ["tvly-" + "dev-" + drawn(32)],
    "Jina key": ["jina_" + drawn(32, HEX) + drawn(28, DASHED)],
    "Cerebras key": ["csk-" + drawn(48, LOWER)],
    "Together key": ["tgp_v1_" + drawn(43, DASHED)],
    "Weights & Biases key": ["wandb_v1_" + drawn(40)],
    "Firecrawl key": ["fc-" + drawn(32, HEX)],
    "E2B key": ["e2b_" + drawn(40, HEX)],
    "Pinecone key": ["pcsk_" + drawn(6) + "_" + drawn(63)],
    "Bedrock key": ["ABSK" + drawn(128, BASE64) + "="],
    "Bedrock session key": ["bedrock-api-key-" + "YmVkcm9jay5hbWF6b25hd3MuY29t" + drawn(40, BASE64)],
    "GitHub token": [f"gh{kind}_" + drawn(36) for kind in "pousr"],
    "fine-grained GitHub token": ["github_pat_" + drawn(22) + "_" + drawn(59)],
    "GitLab token": [
        f"gl{kind}-" + drawn(20, DASHED) for kind in ("pat", "dt", "rt", "ft", "soat", "cbt", "imt")
    ]
    + ["glptt-" + drawn(40, HEX)],
    "GitLab runner token": ["GR1348941" + drawn(20, DASHED)],
    "Bitbucket token": ["ATBB" + "7" + drawn(31)],
    "Bitbucket server token": ["BBDC-" + drawn(44)],
    "Atlassian token": ["ATATT3" + "xFfGF0" + drawn(180, DASHED)],
    "Trello token": ["ATTA" + drawn(64, HEX) + drawn(8, "0123456789ABCDEF")],
    "Sourcegraph token": ["sgp_" + drawn(16, HEX) + "_" + drawn(40, HEX)],
    "AWS key id": [kind + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for kind in ("AKIA", "ASIA", "ABIA")],
    "Google key": ["AIza" + "Sy" + drawn(33, DASHED)],
    "Google token": ["ya29." + drawn(60, DASHED)],
    "Google client secret": ["GOCSPX-" + drawn(28, DASHED)],
    "Google refresh token": ["1//0" + drawn(60, DASHED)],
    "Google storage key id": ["GOOG" + "1E" + drawn(55, UPPER), "GOOG" + "7" + drawn(19, UPPER)],
    "DigitalOcean token": [f"do{kind}_v1_" + drawn(64, HEX) for kind in "por"],
    "DigitalOcean storage key id": ["DO00" + drawn(16, UPPER)],
    "Cloudflare token": [f"{kind}_" + drawn(40) + drawn(8, HEX) for kind in ("cfut", "cfat", "cfk")],
    "Cloudflare origin key": ["v1.0-" + drawn(24, HEX) + "-" + drawn(146, HEX)],
    "Fly token": ["fo1_" + drawn(43, DASHED), "fm2_" + drawn(120, BASE64)],
    "Vercel token": ["vcp_" + "9" + drawn(55)],
    "Vercel storage token": ["vercel_blob_rw_" + drawn(16) + "_" + drawn(30)],
    "Heroku key": ["HRKU-" + "AA" + drawn(58, DASHED)],
    "Netlify token": ["nfp_" + drawn(36)],
    "Render key": ["rnd_" + drawn(32)],
    "Supabase token": ["sbp_" + drawn(40, HEX), "sb_secret_" + drawn(31, DASHED)],
    "Neon key": ["napi_" + drawn(64, LOWER)],
    "PlanetScale token": ["pscale_tkn_" + drawn(43, DASHED), "pscale_pw_" + drawn(43, DASHED)],
    "Alibaba key id": ["LTAI" + "5t" + drawn(18)],
    "Tencent key id": ["AKID" + "4" + drawn(31)],
    "Yandex key": ["AQVN" + drawn(36, DASHED)],
    "Yandex token": ["y0_" + "AgAAAA" + drawn(52, DASHED)],
    "Tailscale key": ["tskey-" + "auth-" + drawn(12) + "CNTRL-" + drawn(32)],
    "Databricks token": ["dapi" + drawn(32, HEX), "dapi" + drawn(32, HEX) + "-2"],
    "MongoDB Atlas secret": ["mdb_sa_sk_" + drawn(40, DASHED)],
    "ClickHouse key": ["4b1d" + drawn(38)],
    "CockroachDB key": ["CCDB1_" + drawn(22) + "_" + drawn(40)],
    "Prefect key": ["pnu_" + drawn(36)],
    "dbt token": ["dbtc_" + drawn(40, DASHED)],
    "Pulumi token": ["pul-" + drawn(40, HEX)],
    "Vault token": ["hvs." + drawn(95, DASHED), "hvb." + drawn(140, DASHED)],
    "Doppler token": ["dp.pt." + drawn(43), "dp.st." + "prd." + drawn(43)],
    "1Password token": ["ops_" + "eyJ" + drawn(260)],
    "1Password key": [
        "A3-" + "-".join([drawn(6, UPPER), drawn(6, UPPER), *(drawn(5, UPPER) for _ in range(4))])
    ],
    "age key": ["AGE-SECRET-KEY-" + "1" + drawn(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")],
    "OpenShift token": ["sha256~" + drawn(43, DASHED)],
    "Day1 key": ["day1_" + "7" + drawn(7) + "_" + drawn(43, DASHED)],
    "Slack token": [
        "xoxb-" + drawn(12, DIGITS) + "-" + drawn(12, DIGITS) + "-" + drawn(24),
        "xoxe." + "xoxp-1-" + drawn(163, UPPER),
    ],
    "Slack app token": ["xapp-" + "1-" + drawn(11, UPPER) + "-" + drawn(13, DIGITS) + "-" + drawn(64, HEX)],
    "Discord token": [
        "MTk4" + drawn(20) + "." + drawn(6, DASHED) + "." + drawn(27),
        "Nz" + drawn(24) + ".G" + drawn(5) + "." + drawn(38),
        "mfa." + drawn(84, DASHED),
    ],
    "Stripe key": ["sk_live_" + drawn(24), "rk_test_" + drawn(99), "sk_test_" + drawn(24)],
    "webhook secret": ["whsec_" + drawn(32, BASE64)],
    "Square token": ["EAAA" + "E7" + drawn(58, DASHED)],
    "Square secret": ["sq0csp-" + drawn(43, DASHED), "sq0atp-" + drawn(22, DASHED)],
    "Braintree token": ["access_token$" + "production$" + drawn(16, LOWER) + "$" + drawn(32, HEX)],
    "Razorpay key": ["rzp_live_" + drawn(14)],
    "Flutterwave key": ["FLWSECK_TEST-" + drawn(32, HEX) + "-X"],
    "Plaid token": ["access-production-" + A_UUID],
    "Shippo token": ["shippo_live_" + drawn(40, HEX)],
    "EasyPost key": ["EZAK" + drawn(54)],
    "Duffel token": ["duffel_live_" + drawn(43, DASHED)],
    "Paddle key": ["pdl_live_apikey_" + drawn(26, LOWER) + "_" + drawn(22)],
    "Polar token": ["polar_oat_" + drawn(43)],
    "payment key": ["live_" + "7" + drawn(29)],
    "npm token": ["npm_" + drawn(36)],
    "PyPI token": ["pypi-" + "AgEIcHlwaS5vcmc" + drawn(150, DASHED)],
    "RubyGems key": ["rubygems_" + drawn(48, HEX)],
    "crates.io token": ["cio" + "5" + drawn(31)],
    "NuGet key": ["oy2" + drawn(43, LOWER)],
    "Clojars token": ["CLOJARS_" + drawn(60, LOWER)],
    "Artifactory key": ["AKCp" + drawn(69)],
    "Artifactory token": ["cmVmd" + drawn(59)],
    "Docker token": ["dckr_pat_" + drawn(27, DASHED), "dckr_oat_" + drawn(32, DASHED)],
    "Packagist token": ["packagist_ack_" + drawn(40, HEX)],
    "Snyk token": ["snyk_uat." + drawn(8, HEX) + "." + drawn(43, DASHED)],
    "Twilio key": ["SK" + drawn(32, HEX), "AC" + drawn(32, HEX)],
    "SendGrid key": ["SG." + drawn(22, DASHED) + "." + drawn(43, DASHED)],
    "Mailgun key": ["key-" + drawn(32, HEX)],
    "Resend key": ["re_" + drawn(8) + "_" + drawn(24)],
    "Brevo key": ["xkeysib-" + drawn(64, HEX) + "-" + drawn(16)],
    "MailerSend token": ["mlsn." + drawn(64, HEX)],
    "New Relic key": ["NRAK-" + drawn(27, UPPER), "NRII-" + drawn(32, DASHED)],
    "New Relic licence": [drawn(36, HEX) + "NRAL"],
    "Sentry token": ["sntryu_" + drawn(64, HEX)],
    "Sentry org token": ["sntrys_" + "eyJpYXQiO" + drawn(120, BASE64) + "_" + drawn(43, BASE64)],
    "Grafana token": ["glsa_" + drawn(32) + "_" + drawn(8, HEX)],
    "Grafana cloud token": ["glc_" + "eyJ" + drawn(80, BASE64)],
    "Grafana key": ["eyJrIjoi" + drawn(70, BASE64)],
    "Honeycomb key": ["hcaik_" + "01" + drawn(60, LOWER)],
    "Dynatrace token": ["dt0c01." + drawn(24, UPPER) + "." + drawn(64, UPPER)],
    "Axiom token": ["xaat-" + A_UUID],
    "PostHog key": ["phx_" + drawn(43)],
    "LaunchDarkly key": ["sdk-" + A_UUID],
    "Linear key": ["lin_api_" + drawn(40), "lin_oauth_" + drawn(64, HEX)],
    "Notion token": ["ntn_" + drawn(11, DIGITS) + drawn(35)],
    "Notion secret": ["secret_" + "4" + drawn(42)],
    "Airtable token": ["pat" + drawn(14) + "." + drawn(64, HEX)],
    "HubSpot token": ["pat-na1-" + A_UUID],
    "ClickUp token": ["pk_" + drawn(8, DIGITS) + "_" + drawn(32, UPPER)],
    "Figma token": ["figd_" + drawn(40, DASHED)],
    "Contentful token": ["CFPAT-" + drawn(43, DASHED)],
    "Shopify token": ["shpat_" + drawn(32, HEX), "shpss_" + drawn(32, HEX)],
    "Dropbox token": ["sl." + drawn(135, DASHED)],
    "Postman key": ["PMAK-" + drawn(24, HEX) + "-" + drawn(34, HEX)],
    "ReadMe key": ["rdme_" + drawn(70, LOWER)],
    "Typeform token": ["tfp_" + drawn(59, DASHED)],
    "Mapbox token": ["sk." + "eyJ" + drawn(60) + "." + drawn(22)],
    "Twitter token": ["A" * 22 + drawn(90)],
    "Facebook token": ["EAAM" + drawn(120)],
    "CircleCI token": ["CCIPAT_" + drawn(22) + "_" + drawn(40, HEX)],
    "Buildkite token": ["bkua_" + drawn(40, LOWER)],
    "Sonar token": ["squ_" + drawn(40, HEX)],
    "Sonar cloud token": ["sqco_" + drawn(59)],
    "Octopus key": ["API-" + "4" + drawn(25, UPPER)],
    "Harness key": ["pat." + drawn(22) + "." + drawn(24) + "." + drawn(20)],
    "Infracost key": ["ico-" + drawn(32)],
    "Scalingo token": ["tk-us-" + drawn(48, DASHED)],
    "n8n key": ["n8n_api_" + drawn(80, HEX)],
    "Adobe secret": ["p8e-" + drawn(32, DASHED)],
    "Frame.io token": ["fio-u-" + drawn(64, DASHED)],
    "Defined token": ["dnkey-" + drawn(26) + "-" + drawn(52)],
    "Asana token": ["2/" + drawn(16, DIGITS) + "/" + drawn(16, DIGITS) + ":" + drawn(32, HEX)],
    "Mailchimp key": [drawn(32, HEX) + "-us12"],
    "MaxMind key": [drawn(6) + "_" + drawn(29) + "_mmk"],
    "Terraform token": [drawn(14) + ".atlasv1." + drawn(64, DASHED)],
    "Azure client secret": ["abc8Q~" + drawn(34)],
    "Azure registry password": [drawn(42, BASE64) + "+ACR" + drawn(6)],
    "JWT": ["eyJ" + drawn(30) + ".eyJ" + drawn(60) + "." + drawn(43, DASHED)],
    "private key": [PEM.format(kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")],
    "high entropy": [drawn(40) + "9aB3xY7z"],
}
SECRETS = [made for values in MADE.values() for made in values]


PLACES = ["{}", "use {} now", '{{"value": "{}"}}', "line\n{}\nline", "密钥{}。", "a%3D{}"]


@pytest.mark.parametrize("kind", MADE)
def test_each_kind_is_replaced_whole(kind):
    for before, after in (place.format("\0").split("\0") for place in PLACES):
        for secret in MADE[kind]:
            assert redact_text(f"{before}{secret}{after}") == f"{before}[redacted: {kind}]{after}"


# What only its surroundings tell, with the secret between < and >.
AROUND = {
    "Slack webhook": "https://hooks.slack.com/services/<T1/B2/abcdefghijkl34>",
    "Discord webhook": f"https://discord.com/api/webhooks/{drawn(18, DIGITS)}/<{drawn(68, DASHED)}>",
    "Teams webhook": f"https://x.webhook.office.com/webhookb2/<{A_UUID}@{A_UUID}/Incoming/{drawn(32, HEX)}>",
    "Zapier webhook": "https://hooks.zapier.com/hooks/catch/<1234567/bq3x9k2>",
    "Telegram token": f"https://api.telegram.org/bot123456789:<{drawn(35, DASHED)}>/getMe",
    "Azure key": f"AccountName=x;AccountKey=<{drawn(86, BASE64)}==>;EndpointSuffix=y",
    "Azure signature": f"https://a.b/c?sv=2022&sig=<{'a1B2%2F' * 6}>",
    "Azure function key": f"https://x.azurewebsites.net/api/y?code=<{drawn(54, DASHED)}==>",
    "PuTTY key": f"Private-Lines: 1\n<{drawn(64, BASE64)}>",
    "AWS secret": f"aws_secret_access_key = <{drawn(40, BASE64)}>",
    "npm auth": "//registry.npmjs.org/:_authToken=<abcdef-12345>",
    "Docker login": '{"auths": {"x.io": {"auth": "<bWU6aHVudGVyMg==>"}}}',
    "netrc password": "machine a.b login me password <hunter2x>\nmachine c",
    "pgpass password": "db.example.com:5432:shop:me:<hunter2x>",
    "bearer": "Authorization: Bearer <abcdefghijklmnop1234>",
    "authorization": "Authorization: <abcdefghijklmnop1234>",
    "login": 'requests.get(url, auth=("bob", "<secretword>"))',
    "password": "postgres://app:<pa55word>@db/x",
    "session cookie": "set-cookie: sessionid=<abcdefghijkl9>; Path=/",
    "SQL password": "ALTER USER x WITH PASSWORD '<hunter2>';",
    "curl password": "curl -s -u me:<s3cret> https://x.y",
    "httpie password": "http -a me:<s3cret> x.y",
    "sshpass password": "sshpass -p '<S3 cret>' ssh x",
    "database password": "mysqldump -uroot -p<hunter2> shop > x.sql",
    "mongo password": "mongosh -u me -p <hunter2> x",
    "cqlsh password": "cqlsh -u me -p <hunter2>",
    "login password": "docker login -u me -p <hunter2> ghcr.io",
    "vault login": "vault login <s1234abcd>",
    "redis password": "redis-cli -h x -a <hunter2> ping",
    "redis setting": "requirepass <hunter2x>",
    "LDAP password": "ldapsearch -D cn=x -w <hunter2>",
    "SQL Server password": "sqlcmd -S x -U sa -P <hunter2>",
    "Samba password": "smbclient //x/y -U me%<hunter2>",
    "archive password": "7z x -p<hunter2> a.7z",
    "openssl password": "openssl rsa -in x -passin pass:<hunter2>",
    "keystore password": "keytool -list -storepass <changeit1>",
    "htpasswd password": "htpasswd -b file me <hunter2>",
    "set password": "SET PASSWORD FOR 'me'@'%' = '<hunter2>';",
    "password argument": "rabbitmqctl change_password me <hunter2>",
    "remote login": "xfreerdp /u:me /p:<hunter2> /v:x",
    "password option": "twine upload -u me -p <hunter2> dist/*",
    "device password": "ipmitool -H x -U me -P <hunter2> power on",
    "SNMP password": "snmpwalk -v3 -u me -A <hunter2> x",
    "openssl key": "openssl enc -aes-256-cbc -salt -in a -out b -k <hunter2>",
    "Windows password": r"net use z: \\files\x /user:me <hunter2>",
    "PowerShell password": '$x = ConvertTo-SecureString -String "<S3 cret>" -AsPlainText -Force',
    "piped password": "echo '<hunter2>' | sudo -S ls",
}


@pytest.mark.parametrize("kind", AROUND)
def test_each_kind_is_known_by_what_is_around_it(kind):
    before, secret, after = re.split("[<>]", AROUND[kind], maxsplit=2)
    assert redact_text(f"{before}{secret}{after}") == f"{before}[redacted: {kind}]{after}"


OF_COMMANDS = """
openssl aes-256-cbc -d -K <00112233aabbccdd> -in a
openssl pkcs12 -export -passout pass:<hunter2> -in a
curl -fsSu me:<hunter2> https://x.y
curl -uadmin:<hunter2> https://x.y
htpasswd -nbB me <hunter2>
htpasswd -cb file me <hunter2>
docker login -u me -p<hunter2> x.io
kadmin -p me -w <hunter2>
security add-generic-password -a me -s x -w <hunter2>
mosquitto_pub -u me -P <hunter2> -t x
SSHPASS=<hunter2> sshpass -e ssh x
REDISCLI_AUTH=<hunter2> redis-cli ping
wp config create --dbpass=<hunter2>
ACL SETUSER me on ><hunter2> ~* +@all
echo "me:hunter2" | chpasswd
printf '<hunter2>' | cryptsetup luksFormat /dev/sda -
sqlplus system/<hunter2>@XE
lftp -u me,<hunter2> ftp.x.y
mysqladmin -u root password <hunter2>
mkpasswd -m sha-512 <hunter2>
bw unlock <hunter2>
schtasks /create /ru me /rp <hunter2>
tool --password <hunter2>
tool --client-secret=<hunter2>
PGPASSWORD=<hunter2> psql
""".strip().splitlines()


@pytest.mark.parametrize("command", OF_COMMANDS)
def test_commands_with_a_secret(command):
    secret = re.search("<(.+)>", command) or re.search('"(.+)"', command)
    found = redact_text(command.replace("<hunter2>", "hunter2").replace(secret[0], secret[0].strip("<>")))
    assert "hunter2" not in found
    assert found.count("[redacted: ") == 1


@pytest.mark.parametrize(
    "command",
    [
        "openssl s_client -connect x:443 -key key1.pem",
        "mkdir -p data/2024 && ssh -p 2222 me@x",
        "docker run -u 1000 -p 8080:80 x",
        "curl -o u:file1 -H 'Accept: a/b1' https://x.y",
        "rabbitmqctl list_queues name messages2",
        "lftp -u me ftp.x.y/dir2",
        "snmpget -v2c -c public x 1.3.6.1",
        "useradd -m -s /bin/bash user1",
        "mysqladmin sets the password of version 8",
        "The user can set password rules to 'strict-2'",
    ],
)
def test_commands_without_a_secret(command):
    assert redact_text(command) == command


def test_no_kind_is_without_an_example():
    assert {*PREFIXES, *TEXTS, *WORD_TEXTS, *COMMANDS} - {*MADE, *AROUND} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2", "password=[redacted: named secret]"),
        ("数据库密码：Sup3rS3cret!99，别外传", "数据库密码：[redacted: named secret]，别外传"),
        ("密码: 以后再说", "密码: 以后再说"),
        ("DB_PASSWORD='s3cret pass'", "DB_PASSWORD='[redacted: named secret]'"),
        ('{"api_key": "abcd-1234"}', '{"api_key": "[redacted: named secret]"}'),
        ("client_secret: q8r!x", "client_secret: [redacted: named secret]"),
        ("passwd = abc123;", "passwd = [redacted: named secret];"),
        ("postgres://app:pa55word@db/x", "postgres://app:[redacted: password]@db/x"),
        ("https://me:tok-en1@github.com/a.git", "https://me:[redacted: password]@github.com/a.git"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted: bearer]"),
        ("-H 'Authorization: Bearer s3cr3t'", "-H 'Authorization: Bearer [redacted: authorization]'"),
        ('{"Authorization": "Bearer abc123"}', '{"Authorization": "Bearer [redacted: authorization]"}'),
        ("Authorization: Bearer abc-def-ghi", "Authorization: Bearer [redacted: authorization]"),
        ("x = HTTPBasicAuth('bob', 's3 cret')", "x = HTTPBasicAuth('bob', '[redacted: login]')"),
        ("'auth' => ['bob', 's3cret']", "'auth' => ['bob', '[redacted: login]']"),
        (r"{\"auth\": (\"bob\", \"word\")}", r"{\"auth\": (\"bob\", \"[redacted: login]\")}"),
        ("authorization: basic bWU6cHc=", "authorization: basic [redacted: authorization]"),
        (r"net use \\files\x pa55w0rd /user:me", r"net use \\files\x [redacted: Windows password] /user:me"),
        (r"net use x: \\a\b /user:me secret", r"net use x: \\a\b /user:me [redacted: Windows password]"),
        ("net user bob Passw0rd1 /add", "net user bob [redacted: Windows password] /add"),
        (
            "'hunter' | ConvertTo-SecureString -AsPlainText -Force",
            "'[redacted: PowerShell password]' | ConvertTo-SecureString -AsPlainText -Force",
        ),
        (
            "ConvertTo-SecureString -AsPlainText abc123 -Force",
            "ConvertTo-SecureString -AsPlainText [redacted: PowerShell password] -Force",
        ),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "authorization: Basic [redacted: bearer]"),
        ("curl -u me:s3cret https://x.y", "curl -u me:[redacted: curl password] https://x.y"),
        ("AccountKey=" + "Ab1/" * 21 + "==;E", "AccountKey=[redacted: Azure key];E"),
        ("https://a.b/c?x=1&sig=" + "a1B2%2F" * 6, "https://a.b/c?x=1&sig=[redacted: Azure signature]"),
        (
            "//registry.npmjs.org/:_authToken=abcdef-12345",
            "//registry.npmjs.org/:_authToken=[redacted: npm auth]",
        ),
        (
            "machine a.b login me password hunter2x\nmachine c",
            "machine a.b login me password [redacted: netrc password]\nmachine c",
        ),
        ("aws_secret_access_key = " + "/aB3" * 10, "aws_secret_access_key = [redacted: AWS secret]"),
        (
            "set-cookie: sessionid=abcdefghijkl9; Path=/",
            "set-cookie: sessionid=[redacted: session cookie]; Path=/",
        ),
        (
            "https://hooks.slack.com/services/" + "T1/B2/abcdefghijkl34",
            "https://hooks.slack.com/services/[redacted: Slack webhook]",
        ),
    ],
)
def test_what_is_beside_a_secret_stays(text, expected):
    assert redact_text(text) == expected


@pytest.mark.parametrize("end", ["\\n", "\\r\\n", "\\t", "\\u000a", "\\x0a"])
def test_behind_and_before_an_escaped_line_end(end):
    """Surround a secret with escaped line ends, as in JSON within JSON."""
    for secret in SECRETS:
        found = redact_text(f"a{end}{secret}{end}b")
        assert found.startswith(f"a{end}[redacted: "), secret[:9]
        assert secret[-16:] not in found


HIDDEN = ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u200d", "\U000e0041", "\x1b[1m"]


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_hidden_characters_inside_a_secret(hidden):
    """Put a character that no reader sees between all letters of a secret, and into the text around it."""
    for kind in ("GitHub token", "AWS key id", "Linear key", "Telegram token"):
        example = AROUND[kind] if kind in AROUND else f"use <{MADE[kind][0]}> x"
        before, secret, after = re.split("[<>]", example, maxsplit=2)
        text = f"a{hidden}b {before}{hidden.join(secret)}{after} c{hidden}d"
        assert redact_text(text) == f"a{hidden}b {before}[redacted: {kind}]{after} c{hidden}d"
    assert redact_text(f"pass{hidden}word: hun{hidden}ter2x") == f"pass{hidden}word: [redacted: named secret]"
    assert redact_text(f"plain{hidden} text") == f"plain{hidden} text"


@pytest.mark.parametrize("first", [0xFF01 - 0x21, 0x1D670 - 0x41], ids=["full width", "mathematical"])
def test_other_forms_of_letters_inside_a_secret(first):
    """Write the letters of a secret in another form, all of them or a few."""
    secret = MADE["AWS key id"][0]
    other = "".join(chr(ord(sign) + first) if sign.isalpha() else sign for sign in secret)
    for written in (other, other[:9] + secret[9:]):
        assert redact_text(f"Ａ：{written}，Ｂ") == "Ａ：[redacted: AWS key id]，Ｂ"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:p@ss/w0rd@db:5432/x", "postgres://app:[redacted: password]@db:5432/x"),
        ("postgres://u:p'x@host/db", "postgres://u:[redacted: password]@host/db"),
        ("redis://:a@b@c@cache/0", "redis://:[redacted: password]@cache/0"),
        (
            "amqp://u:p/1@h1,amqp://u:p@2@h2",
            "amqp://u:[redacted: password]@h1,amqp://u:[redacted: password]@h2",
        ),
        ("mysql://u:pa55@h/d?mail=a@b.c", "mysql://u:[redacted: password]@h/d?mail=a@b.c"),
        ("https://example.com:8443/@scope/pkg", "https://example.com:8443/@scope/pkg"),
        ("file://C:/Users/me@home/x", "file://C:/Users/me@home/x"),
        ("ssh://git@host:22/a@v1", "ssh://git@host:22/a@v1"),
    ],
)
def test_passwords_in_addresses(text, expected):
    assert redact_text(text) == expected


def test_marks_are_counted():
    found = redact_all({"a": ["password=hunter2", {"token": "abcd"}], "b": 1})
    assert (count_marks(found), count_marks("nothing")) == (2, 0)


def test_what_is_nested_deeply_is_redacted_as_text():
    value: object = "password=hunter2"
    for _ in range(600):
        value = [value]
    found = json.dumps(redact_all(value))
    assert "hunter2" not in found
    assert found.count("[") == 600 + 1  # the mark has one


def test_a_key_whose_beginning_or_end_was_cut_off():
    head, tail = PEM.format("RSA ")[:150], PEM.format("RSA ")[-150:]
    assert redact_text(f"a {head}") == "a [redacted: private key]"
    assert redact_text(f"cut …\n{tail} b") == "cut …[redacted: private key] b"


LETTERS = st.text(string.ascii_lowercase, min_size=1, max_size=12)
WORD = LETTERS | LETTERS.map(str.title)
INNER = st.none() | st.booleans() | st.integers() | st.text(max_size=9)
HARMLESS = [
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    hashlib.sha256(b"x").hexdigest(),
    hashlib.sha512(b"x").hexdigest(),
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)",
    str(uuid.UUID(int=7)),
    uuid.UUID(int=2**100).hex,
    '"integrity": "sha512-' + drawn(86) + '=="',
    "sha256:" + hashlib.sha256(b"y").hexdigest(),
    "h1:" + drawn(43) + "=",
    "![x](data:image/png;base64,iVBORw0KGgo" + drawn(120) + "=)",
    "/static/img/" + drawn(40) + ".png",
    "node_modules/.pnpm/" + drawn(40) + "/index.js",
    "https://cdn.example.com/" + drawn(44),
    "AbstractSingletonProxyFactoryBeanConfigurationTest2",
    "test_that_a_very_long_function_name_holds_2_numbers",
    "ThisIsARatherLongIdentifierWithManyWords1And2More",
    "--a-very-long-option-name-that-nobody-types-by-hand",
    "password: please enter",
    "token=settings.TOKEN",
    "password=password",
    "def login(user, password: str) -> None:",
    "api_key=os.environ['KEY']",
    "x = password",
    "Authorization: Bearer access-token",
    "Authorization: Bearer your-token-here",
    "requests.get(url, auth=(user, password))",
    "requests.get(url, auth=('user', 'pass'))",
    '{"auth": ["basic", "digest"]}',
    "password = get_password(user)",
    "The secret: never deploy on Fridays.",
    "PASSWORD=${DB_PASSWORD}",
    "sk-learn and sk-image",
    "toolu_01A09q90qw90lq917835lq9",
    "2026-11-22T05:48:30.123456Z",
    "Pneumonoultramicroscopicsilicovolcanoconiosis",
    "keyboard: qwerty",
    "tokens: 4096",
    "monkey=banana",
]


@pytest.mark.parametrize("text", HARMLESS, ids=lambda text: text[:30])
def test_what_is_no_secret_stays(text):
    assert redact_text(text) == text


@given(
    st.lists(WORD, max_size=40),
    st.sampled_from([" ", "_", "-", "/", "\n"]),
)
def test_words_stay_however_they_are_joined(words, by):
    text = by.join(word for word in words if word.lower() not in ("pwd", "secret"))
    assert redact_text(text) == text


@given(st.binary(min_size=16, max_size=64))
def test_hashes_and_ids_stay(data):
    for text in (data.hex(), hashlib.sha1(data).hexdigest(), str(uuid.UUID(bytes=data[:16]))):
        assert redact_text(f"see {text}.") == f"see {text}."


NAMES = [*PASSWORDS, *PASSWORD_PHRASES, *KEYS, *WORDS]


def test_every_name_is_found_by_a_hint():
    """Write each name in all of its forms: composed, decomposed, without accents, in capitals."""
    for form in (form for name in NAMES for form in list_forms(name)):
        for written in (form, form.upper() if len(form.upper()) == len(form) else form):
            assert redact_text(f"x {written}: q8r!xk29z") == f"x {written}: [redacted: named secret]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COOKIE: sid=0123456789ab", "COOKIE: sid=[redacted: session cookie]"),
        ("bearer\t0123456789abcdef", "bearer\t[redacted: bearer]"),
        ("Authorization: TOKEN 0123456789abcdef", "Authorization: TOKEN [redacted: bearer]"),
        (f"awskey: {'Ab1c' * 10}", "awskey: [redacted: AWS secret]"),
        (f"ACCOUNTKEY={'Ab1/' * 10}==", "ACCOUNTKEY=[redacted: Azure key]"),
        ("paſſword: kq7Xz2v9", "paſſword: [redacted: named secret]"),
    ],
)
def test_case_and_spaces_hide_no_secret(text, expected):
    assert redact_text(text) == expected


@given(st.text(max_size=300))
def test_any_text_goes_through_and_twice_is_once(text):
    once = redact_text(text)
    assert redact_text(once) == once


@given(
    st.recursive(
        INNER,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=9,
    )
)
def test_the_shape_of_a_value_stays(value):
    assert json.dumps(redact_all(value)) == json.dumps(value)


def test_a_value_under_a_secret_name():
    given = {"env": {"DB_PASSWORD": "abcd", "token": "none", "n": 5}, "list": [{"secret": "xyzzy"}]}
    hidden = "[redacted: named secret]"
    assert redact_all(given) == {
        "env": {"DB_PASSWORD": hidden, "token": "none", "n": 5},
        "list": [{"secret": hidden}],
    }


def test_most_drawn_tokens_are_seen():
    tokens = [drawn(43, string.ascii_letters + string.digits + "-_") for _ in range(1000)]
    assert sum("redacted" in redact_text(f"x {token} y") for token in tokens) > 980


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ-",
        "a.",
        "://a:",
        "curl ",
        "cookie:",
        "A" * 20 + "\n",
        "-----BEGIN PRIVATE KEY-----",
        "password",
        "sk-",
        "_",
    ],
)
def test_hostile_texts_take_no_time_that_grows_with_their_square(piece):
    """Double the text: the time about doubles; four times would be quadratic."""

    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size] + "-----END PRIVATE KE"
        start = time.process_time()
        redact_text(text)
        return time.process_time() - start

    seconds(1000)
    short = min(seconds(20_000) for _ in range(3))
    assert min(seconds(160_000) for _ in range(2)) < 40 * short + 0.5


@pytest.mark.parametrize("before", ["", "x ", "x\\n", "x\\t", "\\r", "x\\u000A", "\\x0d"])
def test_a_jwt_is_found_whole_behind_an_escaped_line_end(before: str) -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
    assert redact_text(f"{before}{token}") == f"{before}[redacted: JWT]"
