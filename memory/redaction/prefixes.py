"""Keys and tokens that a service lets begin with letters of its own, by service.

Prefixes, lengths and alphabets are facts, of the services' documentation and of the public rule sets of
gitleaks, trufflehog and secretlint.
"""

from memory.patterns import lazy_pattern
from memory.redaction.spans import Spans, is_start, join_forms

MIN_LENGTH = 17  # characters of the shortest token, its prefix counted
WORD, DASHED = "A-Za-z0-9", r"A-Za-z0-9_\-"
END, DASHED_END = f"(?![{WORD}_])", f"(?![{DASHED}])"
UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

# kind -> (prefixes, pattern of the rest). A pattern either takes a bounded number of characters, or always
# matches once it has read its least number, so that all of them take linear time.
AI = {
    "Anthropic key": ("sk-ant-", f"[{DASHED}]{{20,}}"),
    "OpenRouter key": ("sk-or-v1- sk-or-", f"[{DASHED}]{{40,}}"),
    "OpenAI key": ("sk-proj- sk-svcacct- sk-admin- sk-None-", f"[{DASHED}]{{20,}}"),
    "Langfuse key": ("sk-lf-", f"{UUID}"),
    "Helicone key": ("sk-helicone-", f"[{DASHED}]{{20,}}"),
    "API key": ("sk-", f"[{WORD}]{{32,200}}{DASHED_END}"),
    "Hugging Face token": ("hf_ api_org_", f"[{WORD}]{{34,40}}{END}"),
    "Groq key": ("gsk_", f"[{WORD}]{{48,60}}{END}"),
    "xAI key": ("xai-", f"[{WORD}_]{{60,}}"),
    "Perplexity key": ("pplx-", f"[{WORD}]{{40,}}"),
    "Replicate token": ("r8_", f"[{DASHED}]{{37,40}}{DASHED_END}"),
    "LangSmith key": ("lsv2_pt_ lsv2_sk_ ls__", f"[0-9a-f]{{32}}(?:_[0-9a-f]{{10}})?{END}"),
    "Fireworks key": ("fw_", f"(?=[A-Za-z]{{0,21}}[0-9])[{WORD}]{{22,24}}{END}"),
    "NVIDIA key": ("nvapi-", f"[{DASHED}]{{60,}}"),
    "ElevenLabs key": ("sk_", f"[0-9a-f]{{48}}{END}"),
    "Voyage key": ("pa-", f"(?=[A-Za-z_-]{{0,42}}[0-9])[{DASHED}]{{43}}{DASHED_END}"),
    "Tavily key": ("tvly-", f"[{DASHED}]{{30,}}"),
    "Jina key": ("jina_", f"[{DASHED}]{{50,}}"),
    "Cerebras key": ("csk-", f"[{WORD}]{{40,}}"),
    "Together key": ("tgp_v1_", f"[{DASHED}]{{40,}}"),
    "Weights & Biases key": ("wandb_v1_", f"[{DASHED}]{{30,}}"),
    "Firecrawl key": ("fc-", f"[0-9a-f]{{32}}{END}"),
    "E2B key": ("e2b_", f"[0-9a-f]{{40}}{END}"),
    "Pinecone key": ("pcsk_", f"[{DASHED}]{{40,}}"),
    "Bedrock key": ("ABSK", f"[{WORD}+/]{{100,}}={{0,2}}"),
    "Bedrock session key": ("bedrock-api-key-", f"[{WORD}+/]{{20,}}={{0,2}}"),
}
CODE_HOSTS = {
    "GitHub token": (
        "ghp_ gho_ ghu_ ghs_ ghr_",
        f"(?:[{WORD}]{{36,255}}{END}|\\d{{1,20}}_[{DASHED}]{{10,1000}}\\.[{DASHED}]{{10,4000}}\\.[{DASHED}]{{10,}})",
    ),
    "fine-grained GitHub token": ("github_pat_", f"[{WORD}_]{{22,255}}{END}"),
    "GitLab token": (
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glffct- glimt- glagent- gloas- glsoat- glwt-",
        f"[{WORD}_.=-]{{20,}}",
    ),
    "GitLab runner token": ("GR1348941", f"[{DASHED}]{{20}}"),
    "Bitbucket token": ("ATBB", f"(?=[A-Za-z_=-]{{0,27}}[0-9])[{WORD}_=-]{{24,}}"),
    "Bitbucket server token": ("BBDC-", f"[{WORD}+/@_-]{{40,50}}"),
    "Atlassian token": ("ATATT3 ATCTT3 ATSTT3", f"[{WORD}_=-]{{50,}}"),
    "Trello token": ("ATTA", f"[0-9a-f]{{60,80}}(?:[0-9A-F]{{8}})?{END}"),
    "Sourcegraph token": ("sgp_", f"(?:(?:[0-9a-f]{{16}}|local)_)?[0-9a-f]{{40}}{END}"),
}
CLOUDS = {
    "AWS key id": ("AKIA ASIA ABIA ACCA", f"[A-Z0-9]{{16}}{END}"),
    "Google key": ("AIza", f"[{DASHED}]{{35}}{DASHED_END}"),
    "Google token": ("ya29.", f"[{DASHED}.]{{20,}}"),
    "Google client secret": ("GOCSPX-", f"[{DASHED}]{{28}}"),
    "Google refresh token": ("1//0", f"[{DASHED}]{{30,}}"),
    "Google storage key id": ("GOOG1 GOOG", f"(?=[A-Z]{{0,15}}[0-9])[A-Z0-9]{{16,60}}{END}"),
    "DigitalOcean token": ("dop_v1_ doo_v1_ dor_v1_", f"[0-9a-f]{{64}}{END}"),
    "DigitalOcean storage key id": ("DO00", f"[A-Z0-9]{{16}}{END}"),
    "Cloudflare token": ("cfut_ cfat_ cfk_", f"[{WORD}]{{40,60}}{END}"),
    "Cloudflare origin key": ("v1.0-", f"[0-9a-f]{{24}}-[0-9a-f]{{146}}{END}"),
    "Fly token": ("fo1_ fm1r_ fm1a_ fm2_", f"[{WORD}+/=_-]{{40,}}"),
    "Vercel token": ("vcp_ vci_ vca_ vcr_ vck_", f"(?=[A-Za-z]{{0,23}}[0-9])[{WORD}]{{20,60}}{END}"),
    "Vercel storage token": ("vercel_blob_rw_", f"[{WORD}_]{{30,}}"),
    "Heroku key": ("HRKU-", f"[{DASHED}]{{36,}}"),
    "Netlify token": ("nfp_ nfc_ nfo_ nfu_ nfb_", f"[{WORD}_]{{36,60}}{END}"),
    "Render key": ("rnd_", f"[{WORD}]{{28,40}}{END}"),
    "Supabase token": ("sbp_ sb_secret_", f"(?:[0-9a-f]{{40}}{END}|(?<=secret_)[{DASHED}]{{20,}})"),
    "Neon key": ("napi_", f"[{WORD}]{{40,}}"),
    "PlanetScale token": ("pscale_tkn_ pscale_oauth_ pscale_pw_", f"[{WORD}_.=-]{{32,}}"),
    "Alibaba key id": ("LTAI", f"(?=[A-Za-z]{{0,19}}[0-9])[{WORD}]{{12,24}}{END}"),
    "Tencent key id": ("AKID", f"(?=[A-Za-z]{{0,31}}[0-9])[{WORD}]{{32,36}}{END}"),
    "Yandex key": ("AQVN", f"[{DASHED}]{{35,38}}{DASHED_END}"),
    "Yandex token": ("y0_ t1.9eu", f"[{WORD}_.=-]{{50,}}"),
    "Tailscale key": ("tskey-", "[a-z]{2,20}-[A-Za-z0-9_]{8,40}-[A-Za-z0-9_]{16,}"),
    "Databricks token": ("dapi", f"[0-9a-f]{{32}}(?:-\\d)?{END}"),
    "MongoDB Atlas secret": ("mdb_sa_sk_", f"[{DASHED}]{{20,}}"),
    "ClickHouse key": ("4b1d", f"[{WORD}]{{38}}{END}"),
    "CockroachDB key": ("CCDB1_", f"[{WORD}_]{{30,}}"),
    "Prefect key": ("pnu_ pnb_", f"[{WORD}]{{36}}{END}"),
    "dbt token": ("dbtc_ dbtu_", f"[{DASHED}]{{30,}}"),
    "Pulumi token": ("pul-", f"[0-9a-f]{{40}}{END}"),
}
SECRET_STORES = {
    "Vault token": ("hvs. hvb. hvr.", f"[{DASHED}]{{24,}}"),
    "Doppler token": (
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        f"(?:[a-z0-9_-]{{2,35}}\\.)?[{WORD}]{{40,44}}{END}",
    ),
    "1Password token": ("ops_eyJ", f"[{WORD}+/=_-]{{60,}}"),
    "1Password key": ("A3-", "[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    "age key": ("AGE-SECRET-KEY-1", f"[A-Z0-9]{{58}}{END}"),
    "OpenShift token": ("sha256~", f"[{DASHED}]{{43}}{DASHED_END}"),
    "Day1 key": ("day1_", f"(?=[a-z_]{{0,50}}[A-Z0-9])[{WORD}]{{8}}_[{DASHED}]{{20,}}"),
}
CHATS = {
    "Slack token": (
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe.xoxp- xoxe.xoxb- xwfp-",
        f"[{WORD}%-]{{10,}}",
    ),
    "Slack app token": ("xapp-", f"\\d-[{WORD}-]{{10,}}"),
    "Discord token": ("mfa.", f"[{DASHED}]{{84}}"),
}
PAYMENTS = {
    "Stripe key": ("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", f"[{WORD}]{{16,}}"),
    "webhook secret": ("whsec_", f"[{WORD}+/]{{24,}}={{0,2}}"),
    "Square token": ("EAAA", f"(?=[A-Za-z_-]{{0,40}}[0-9])[{DASHED}]{{56,64}}{DASHED_END}"),
    "Square secret": ("sq0atp- sq0csp- sq0idp- sq0idb-", f"[{DASHED}]{{22,}}"),
    "Braintree token": ("access_token$", "(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}"),
    "Razorpay key": ("rzp_live_ rzp_test_", f"[{WORD}]{{14}}{END}"),
    "Flutterwave key": ("FLWSECK_TEST- FLWSECK-", f"[{WORD}]{{12,40}}(?:-X)?"),
    "Plaid token": ("access-sandbox- access-development- access-production-", UUID),
    "Shippo token": ("shippo_live_ shippo_test_", f"[0-9a-fA-F]{{40}}{END}"),
    "EasyPost key": ("EZAK EZTK", f"[{WORD}]{{54}}{END}"),
    "Duffel token": ("duffel_live_ duffel_test_", f"[{WORD}_=-]{{43}}"),
    "Paddle key": ("pdl_live_apikey_ pdl_sdbx_apikey_", f"[{WORD}_]{{30,}}"),
    "Polar token": ("polar_oat_ polar_pat_", f"[{WORD}]{{30,}}"),
    "payment key": ("live_", f"(?=[A-Za-z]{{0,29}}[0-9])[{WORD}]{{30,40}}{END}"),
}
PACKAGES = {
    "npm token": ("npm_", f"[{WORD}]{{36}}{END}"),
    "PyPI token": ("pypi-AgE pypi-Ag", f"[{DASHED}]{{50,}}"),
    "RubyGems key": ("rubygems_", f"[0-9a-f]{{48}}{END}"),
    "crates.io token": ("cio", f"(?=[A-Za-z]{{0,31}}[0-9])[{WORD}]{{32}}{END}"),
    "NuGet key": ("oy2", f"[a-z0-9]{{43}}{END}"),
    "Clojars token": ("CLOJARS_", f"[0-9a-zA-Z]{{60}}{END}"),
    "Artifactory key": ("AKCp", f"[{WORD}]{{60,80}}{END}"),
    "Artifactory token": ("cmVmd", f"[{WORD}]{{59}}{END}"),
    "Docker token": ("dckr_pat_ dckr_oat_", f"[{DASHED}]{{20,}}"),
    "Packagist token": ("packagist_ack_ packagist_uut_ packagist_out_", f"[{WORD}]{{30,}}"),
    "Snyk token": ("snyk_uat. snyk_sat.", f"[{WORD}_.-]{{20,}}"),
}
SERVICES = {
    "Twilio key": ("SK AC", f"[0-9a-f]{{32}}{END}"),
    "SendGrid key": ("SG.", f"[{DASHED}]{{16,32}}\\.[{DASHED}]{{43}}{DASHED_END}"),
    "Mailgun key": ("key- pubkey-", f"[0-9a-f]{{32}}{END}"),
    "Resend key": ("re_", f"[{WORD}]{{8}}_[{WORD}]{{20,32}}{END}"),
    "Brevo key": ("xkeysib- xsmtpsib-", f"[0-9a-f]{{64}}-[{WORD}]{{16}}{END}"),
    "MailerSend token": ("mlsn.", f"[0-9a-f]{{64}}{END}"),
    "New Relic key": ("NRAK- NRII- NRIQ- NRRA- NRSP- NRJS-", f"[{WORD}_-]{{19,40}}"),
    "Sentry token": ("sntryu_ sntrya_", f"[0-9a-f]{{64}}{END}"),
    "Sentry org token": ("sntrys_", f"[{WORD}+/=_-]{{40,}}"),
    "Grafana token": ("glsa_", f"[{WORD}]{{32}}_[0-9a-fA-F]{{8}}{END}"),
    "Grafana cloud token": ("glc_", f"[{WORD}+/]{{32,}}={{0,3}}"),
    "Grafana key": ("eyJrIjoi", f"[{WORD}+/]{{50,}}={{0,3}}"),
    "Honeycomb key": ("hcaik_ hcbik_ hcamk_ hcxik_", f"[{WORD}]{{40,}}"),
    "Dynatrace token": ("dt0c01. dt0s16. dt0s02.", f"[{WORD}]{{8,24}}\\.[{WORD}]{{64}}{END}"),
    "Axiom token": ("xaat- xapt-", UUID),
    "PostHog key": ("phx_", f"[{WORD}_]{{40,}}"),
    "LaunchDarkly key": ("sdk- api-", f"{UUID}{END}"),
    "Linear key": ("lin_api_ lin_oauth_", f"[{WORD}_]{{32,}}"),
    "Notion token": ("ntn_", f"[{WORD}]{{40,60}}{END}"),
    "Notion secret": ("secret_", f"(?=[A-Za-z]{{0,42}}[0-9])[{WORD}]{{43}}{END}"),
    "Airtable token": ("pat", f"[{WORD}]{{14}}\\.[0-9a-f]{{64}}{END}"),
    "HubSpot token": (
        "pat-na1- pat-eu1- pat-na2- pat-ap1-",
        f"[0-9a-zA-Z]{{8}}(?:-[0-9a-zA-Z]{{4}}){{3}}-[0-9a-zA-Z]{{12}}{END}",
    ),
    "ClickUp token": ("pk_", f"\\d{{6,10}}_[0-9A-Z]{{32}}{END}"),
    "Figma token": ("figd_ figp_ figo_ figu_ figor_ figoh_", f"[{WORD}_=-]{{40,}}"),
    "Contentful token": ("CFPAT-", f"[{DASHED}]{{43}}"),
    "Shopify token": ("shpat_ shpca_ shppa_ shpss_ shptka_", f"[0-9a-zA-Z]{{32,64}}{END}"),
    "Dropbox token": ("sl.u. sl.", f"[{DASHED}]{{100,}}"),
    "Postman key": ("PMAK-", f"[0-9a-fA-F]{{24}}-[0-9a-fA-F]{{34}}{END}"),
    "ReadMe key": ("rdme_", "[a-z0-9]{50,}"),
    "Typeform token": ("tfp_", f"[{WORD}_.=-]{{40,}}"),
    "Mapbox token": ("sk.eyJ", f"[{WORD}_-]{{20,}}\\.[{DASHED}]{{20,}}"),
    "Twitter token": ("AAAAAAAAAAAAAAAAAAAAA", f"[{WORD}%]{{60,}}"),
    "Facebook token": ("EAAM EAAC EAAG EAAB", f"[{WORD}]{{100,}}"),
    "CircleCI token": ("CCIPAT_ CCIPRJ_", f"[{WORD}]{{22}}_[0-9a-fA-F]{{40}}{END}"),
    "Buildkite token": ("bkua_ bkpt_ bkct_", f"[{WORD}]{{40}}{END}"),
    "Sonar token": ("sqp_ squ_ sqa_", f"[0-9a-f]{{40}}{END}"),
    "Sonar cloud token": ("sqco_", f"[{WORD}]{{59}}{END}"),
    "Octopus key": ("API-", f"(?=[A-Z]{{0,25}}[0-9])[A-Z0-9]{{26}}{END}"),
    "Harness key": ("pat. sat.", f"[{DASHED}]{{22}}\\.[{WORD}]{{24}}\\.[{WORD}]{{20}}{END}"),
    "Infracost key": ("ico-", f"[{WORD}]{{32}}{END}"),
    "Scalingo token": ("tk-us-", f"[{DASHED}]{{48}}"),
    "n8n key": ("n8n_api_", f"[{WORD}_.-]{{40,}}"),
    "Adobe secret": ("p8e-", f"[{DASHED}]{{32}}{DASHED_END}"),
    "Frame.io token": ("fio-u-", f"[{WORD}_=-]{{64}}"),
    "Defined token": ("dnkey-", f"[{WORD}_=-]{{26}}-[{WORD}_=-]{{52}}"),
    "Asana token": ("0/ 1/ 2/", f"\\d{{15,20}}(?:/\\d{{15,20}})?:[{WORD}]{{32,40}}{END}"),
}
PREFIXES = {**AI, **CODE_HOSTS, **CLOUDS, **SECRET_STORES, **CHATS, **PAYMENTS, **PACKAGES, **SERVICES}

# prefix -> (kind, pattern of the rest), the longer prefixes first
_rests = {
    prefix: (kind, lazy_pattern(rest))
    for kind, (prefixes, rest) in PREFIXES.items()
    for prefix in sorted(prefixes.split(), key=len, reverse=True)
}
_prefixes = sorted(_rests, key=len, reverse=True)
ANY_PREFIX = lazy_pattern(f"(?=({join_forms(frozenset(_rests))}))")  # also where one begins within another
FIRST_PREFIX = lazy_pattern(rf"(?<![A-Za-z0-9_]){ANY_PREFIX.pattern}")  # enough where nothing is escaped


def find_prefixed(text: str, long_words: str, spans: Spans) -> None:
    """Add the keys and tokens that a prefix tells of; ``long_words`` are those that could hold one."""
    pattern = ANY_PREFIX if "\\" in long_words or "%" in long_words else FIRST_PREFIX
    if known := frozenset(pattern.findall(long_words)):
        for prefix in _prefixes:
            if prefix in known or any(longer.startswith(prefix) for longer in known):
                add_tokens(prefix, text, spans)


def add_tokens(prefix: str, text: str, spans: Spans) -> None:
    kind, rest = _rests[prefix]
    position = text.find(prefix)
    while position >= 0:
        found = rest.match(text, position + len(prefix)) if is_start(text, position) else None
        if found:
            spans.add(position, found.end(), kind)
        position = text.find(prefix, found.end() if found else position + 1)
