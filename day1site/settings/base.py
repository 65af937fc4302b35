"""Settings shared by all modules. Values come from the environment; nothing in this file is secret."""

import sys

from django.utils.log import CallbackFilter

from day1site.logs import StrangersFilter, TextFormatter, with_request_id, without_traceback
from day1site.settings.env import Env
from day1site.settings.oidc import read_oidc, read_password_login
from day1site.settings.paths import ASSETS, ROOT, command_options, command_prefix, data_dir, database
from day1site.settings.unfold import UNFOLD  # noqa: F401
from memory.conf import MERGE_GATES
from memory.processes import CAN_FORK, count_cores
from memory.quota import Quota
from memory.ranking import RECIPES

env = Env()
BASE_DIR = ROOT
DATA_DIR = data_dir()
# How a user of this installation starts the command line, for the pages that say so.
COMMAND_LINE, COMMAND_OPTIONS = command_prefix(), command_options(DATA_DIR)

INSTALLED_APPS = [
    "memory",
    "conversations",
    "curation",
    "analytics",
    "day1site",
    "unfold.apps.BasicAppConfig",
    "day1site.admin_config.Day1AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "django_htmx",
]

MIDDLEWARE = [
    "day1site.request_log.note_route",
    "django.middleware.security.SecurityMiddleware",
    "day1site.middleware.SmallFiles",
    "day1site.middleware.StaticFiles",
    "day1site.middleware.PagePolicy",
    "day1site.middleware.CookiePath",
    "day1site.middleware.PageSession",
    "day1site.middleware.PageLocale",
    "day1site.middleware.PageTimezone",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "day1site.middleware.PageUser",
    "day1site.middleware.PageMessages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "day1site.middleware.FormAddress",
    "day1site.middleware.DatabaseTrouble",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "day1site.account_views.login_context",
            ],
            # What every page uses; a library for a few pages is loaded by those.
            "builtins": [
                "django.templatetags.i18n",
                "memory.templatetags.day1",
                "memory.templatetags.words",
                "memory.templatetags.elements",
                "memory.templatetags.lists",
            ],
        },
    },
]

ROOT_URLCONF = "day1site.urls"
WSGI_APPLICATION = "day1site.wsgi.application"
APPEND_SLASH = False  # the API answers with and without; a redirect would lose a POST's body

DATABASES = {"default": database(env.str("DATABASE_URL", ""), DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SILENCED_SYSTEM_CHECKS = ["models.W037"]  # on MatrixOne an index with a condition covers all rows

# Processes that serve. Elsewhere than on Linux, system libraries may not be used after a fork.
PROCESSES = env.whole(
    "DAY1_PROCESSES", min(count_cores(), 4) if sys.platform == "linux" and CAN_FORK else 1, low=1, high=64
)

# For the rate limits of keys. In the memory of one server; in Redis for several.
CACHES = {
    "default": {
        "BACKEND": "memory.cache.ServerCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}
if redis_url := env.address("DAY1_CACHE_URL", "", ["redis", "rediss"]):
    CACHES = {
        "default": {
            "BACKEND": "memory.cache.PatientRedisCache",
            "LOCATION": redis_url,
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},  # no request waits for a counter
        }
    }

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
TRUSTED_PROXIES = env.whole("DAY1_PROXIES", 0, low=0, high=16)  # proxies that append to X-Forwarded-For
PASSWORD_HASHERS = ["memory.engines.store.logins.PasswordHasher"]
SESSION_ENGINE = "memory.engines.store.logins"
OIDC = read_oidc(env)
PASSWORD_LOGIN = read_password_login(env, OIDC)
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "front"
CSRF_FAILURE_VIEW = "day1site.error_views.csrf_failure"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [ASSETS / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
FORMAT_MODULE_PATH = "day1site.formats"
USE_TZ = True

STATIC_URL = "/static/"
STORAGES = {"staticfiles": {"BACKEND": "day1site.sub_path.StaticFiles"}}
STATICFILES_DIRS = [ASSETS / "static"]

DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024  # spec: request body 8 MiB

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "img-src": ["'self'", "data:"],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": TextFormatter, "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": ["asctime", "levelname", "name", "message"],
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
        },
    },
    "filters": {
        "refusals": {"()": CallbackFilter, "callback": without_traceback},
        "strangers": {"()": StrangersFilter},
        "request": {"()": CallbackFilter, "callback": with_request_id},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.choice("DAY1_LOG_FORMAT", "text", ["text", "json"]),
            "filters": ["refusals", "strangers", "request"],
        },
    },
    "root": {"handlers": ["stderr"], "level": env.choice("DAY1_LOG_LEVEL", "WARNING", LEVELS)},
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET", "propagate": True},
        # A refused request is its caller's business; a failed one is logged with its traceback.
        "django.request": {"level": "ERROR"},
        "day1.access": {"level": "INFO"},
    },
}
ACCESS_LOG = env.flag("DAY1_ACCESS_LOG", False)

QUOTA = env.quota("DAY1_QUOTA", Quota(rows=20_000_000, bytes=20_000_000_000))

DAY1 = {
    "quota_rows": QUOTA.rows,
    "quota_bytes": QUOTA.bytes,
    "limits": QUOTA.limits,
    "recipe": env.choice("DAY1_RECIPE", "default", RECIPES),
    "oauth": env.flag("DAY1_OAUTH", False),
    "webhooks_allow_private": env.flag("DAY1_WEBHOOKS_ALLOW_PRIVATE", False),
    "recall_on_prompt": env.flag("DAY1_RECALL_ON_PROMPT", True),
    "recall_days": env.whole("DAY1_RECALL_DAYS", 90, low=0, high=36500),
    "embedder": env.str("DAY1_EMBEDDER", "minilm"),
    "embedding_model": env.str("DAY1_EMBEDDING_MODEL", "text-embedding-3-small"),
    "embedding_dimensions": env.whole("DAY1_EMBEDDING_DIMENSIONS", 0, low=0, high=65536),
    "embedding_base_url": env.address("OPENAI_BASE_URL", "", ["https", "http"]),
    "embedding_api_key": env.str("OPENAI_API_KEY", ""),
    "judge_model": env.str("DAY1_JUDGE_MODEL", ""),
    "judge_base_url": env.address("DAY1_JUDGE_BASE_URL", "", ["https", "http"]),
    "judge_api_key": env.str("DAY1_JUDGE_API_KEY", ""),
    "judge_timeout": env.seconds("DAY1_JUDGE_TIMEOUT", 60.0, low=1, high=600),
    "judge_votes": env.whole("DAY1_JUDGE_VOTES", 1, low=1, high=9),
    "judge_budget": env.whole("DAY1_JUDGE_BUDGET", 50, low=1, high=100_000),
    "replay_model": env.str("DAY1_REPLAY_MODEL", ""),
    "replay_base_url": env.address("DAY1_REPLAY_BASE_URL", "", ["https", "http"]),
    "replay_api_key": env.str("DAY1_REPLAY_API_KEY", ""),
    "replay_timeout": env.seconds("DAY1_REPLAY_TIMEOUT", 120.0, low=1, high=600),
    "replay_input_price": env.price("DAY1_REPLAY_INPUT_PRICE"),
    "replay_output_price": env.price("DAY1_REPLAY_OUTPUT_PRICE"),
    "consolidation_budget": env.whole("DAY1_CONSOLIDATION_BUDGET", 10, low=0, high=1000),
    "backup_keep": env.whole("DAY1_BACKUP_KEEP", 0, low=0, high=1000),
    "backup_dir": env.str("DAY1_BACKUP_DIR", ""),
    "judge_days": env.whole("DAY1_JUDGE_DAYS", 90, low=0, high=36500),
    # Classes of apps above memory, by name, so that memory imports nothing upward.
    "session_parts": ("conversations.engines.sessions.SessionConversations",),
    "briefing_parts": ("curation.engines.handoffs.briefing.HandoffBriefing",),
    "trace_erasers": (
        "conversations.engines.inherited_titles.TitleTraces",
        "conversations.engines.compaction.CompactionTraces",
        "conversations.engines.replays.traces.ReplayTraces",
        "curation.engines.handoffs.traces.HandoffTraces",
        "curation.engines.bundles.traces.BundleTraces",
        "curation.engines.scoring.traces.ScoreTraces",
        "analytics.engines.stored.TallyTraces",
    ),
    "task_hooks": (
        "conversations.engines.consolidation.automatic.TaskConsolidation",
        "curation.engines.templates.rows.TaskOutcomes",
    ),
    "template_suggester": "curation.engines.templates.ranking.TemplateRanking",
    "commit_maskers": ("curation.engines.quarantine.masking.QuarantineMasker",),
    "merge_gates": MERGE_GATES,
    "consolidator": "conversations.engines.consolidation.session.SessionConsolidation",
}

REST_FRAMEWORK: dict = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memory.api.access.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["memory.api.access.HasKey"],
    "DEFAULT_THROTTLE_CLASSES": ["memory.api.access.KeyRate"],
    "DEFAULT_PARSER_CLASSES": ["memory.answers.wire.Parser"],
    "DEFAULT_RENDERER_CLASSES": ["memory.answers.wire.Renderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "memory.answers.wire.AlwaysJSON",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "memory.answers.problems.handle_error",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Day1",
    "DESCRIPTION": "Versioned memory for AI agents. Errors are application/problem+json with a stable code.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "COMPONENT_SPLIT_PATCH": False,
    "TAGS": [
        {"name": name}
        for name in "facts branches commits snapshots workspaces ingest keys review-items health".split()
    ],
    # Without deep links: each would be a link inside of a button, which no screen reader can tell apart.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False, "defaultModelsExpandDepth": 0},
    "PREPROCESSING_HOOKS": [
        "memory.api.operation_views.describe_endpoints",
        "memory.api.schema.without_slash",
    ],
    "POSTPROCESSING_HOOKS": ["memory.api.schema.complete_schema"],
}

# ---- background work (CELERY_*) ------------------------------------------------------------------
# djangodb:// keeps the messages in Day1's own database; redis://host/0 is for many workers.
CELERY_BROKER_URL = env.address("DAY1_BROKER_URL", "djangodb://", ["djangodb", "redis", "rediss"])
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A sender fails at once. Workers have retries of their own.
    "max_retries": 0,
    "socket_connect_timeout": 1,
    "socket_timeout": 3,  # more than the second for which a worker polls
    # djangodb: seconds until the messages of a dead worker go to another; live ones renew in time.
    "lease": env.seconds("DAY1_QUEUE_LEASE", 60.0, low=1, high=86400),
    # Redis: the same, but never renewed, so longer than any task.
    "visibility_timeout": 600,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker without limit
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "day1"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True  # the results of a task are the rows that it changes
CELERY_RESULT_EXPIRES = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_POOL = "memory.queue.broker.pool:TaskPool"
CELERY_WORKER_CONCURRENCY = env.whole("DAY1_WORKER_THREADS", 2, low=1, high=64)
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not CELERY_BROKER_URL.startswith("djangodb:")
CELERY_BEAT_SCHEDULER = "memory.queue.broker.scheduler:Scheduler"
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True
CELERY_DB_REUSE_MAX = 10**12  # tasks per connection; Django's own rules for old connections apply

# With the settings, since the package day1site must import on a bare Python: it makes the environment.
from day1site.celery import app as celery_app  # noqa: E402, F401  every shared task belongs to it
