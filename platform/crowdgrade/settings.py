"""Django settings, read once from environment variables; an invalid value stops the start.

Other modules read `django.conf.settings` only. An empty variable counts as not set. Importing this
module creates no files: the folder of local state is created by the first file in it, so commands
that only work on files do not create it.

    CROWDGRADE_HOME       folder of local state (default: var/ in the checkout)
    CROWDGRADE_DEMO_HOME  folder of the demo's state (default: demo/ in CROWDGRADE_HOME)
    CROWDGRADE_UPLOADS    folder of uploaded files, which all web servers see
                          (default: uploads/ in CROWDGRADE_HOME)
    DATABASE_URL          postgresql://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FILE
                          (default: SQLite in CROWDGRADE_HOME)
    SECRET_KEY            at least 32 characters (default: made once, kept in CROWDGRADE_HOME)
    DEBUG, HTTPS          yes or no (default: no)
    ALLOWED_HOSTS         names parted by commas (default: this machine only)
    CELERY_BROKER_URL     redis://... or amqp://... (default: files in CROWDGRADE_HOME)
    CELERY_QUEUE          name of the queue (default: crowdgrade)
    UPLOAD_MB             MB (MiB) of the largest file that a browser may send (default: 100)
    LEASE_SECONDS         seconds after which the run of a dead worker is taken over (default: 60)
    RUNS_PER_USER         runs that a user may have unfinished at a time (default: 20)
    ASKING_RUNS           runs that a background process has wait for models at once (default: 8)
    STALL_SECONDS         seconds without any progress after which a run is ended (default: 900)
    CSRF_TRUSTED_ORIGINS  origins with their scheme, parted by commas
    CACHE_URL             redis://..., where requests are counted (default: files)
    WEB_PROCESSES         web servers that `up` starts on its port (default: 2, 1 on one core)
    API_USER_RATE, API_ANONYMOUS_RATE, API_UPLOAD_RATE, LINK_RATE
                          how often, such as 600/minute (see operations.md)
    API_UPLOAD_MB         megabytes of JSON in one upload (default: 20)
    CROWDGRADE_MODEL_NETWORKS
                          networks that are not public and in which language models may be asked
                          all the same, such as 127.0.0.0/8 or 10.1.2.0/24, parted by commas, or
                          none (default: this machine with SQLite, none with another database)
    CROWDGRADE_KEY_VARIABLES
                          environment variables whose keys requesters may have sent to models, by
                          NAME or PREFIX*, best with the only host that may get them, by HTTPS:
                          OPENAI_API_KEY@api.openai.com, NAME@HOST:PORT, NAME@http://HOST:PORT
                          (default: none; operators name any)
    CROWDGRADE_PROLIFIC_API
                          address of Prolific's interface, https://api.prolific.com/api/v1/, to
                          which the token in PROLIFIC_API_TOKEN is sent (default: switched off)
    CROWDGRADE_MODELS     models that requesters may name besides the packaged one, by their names
                          at the model hub, parted by commas, or none (default:
                          all-mpnet-base-v2, paraphrase-multilingual-MiniLM-L12-v2)
    PROXIES               proxies in front that add to X-Forwarded-For and set X-Forwarded-Proto
                          (default: 1 with HTTPS, else 0)
"""

import os
import re
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

from crowdgrade import database_timeouts, logging_config
from crowdgrade.home import load_secret_key

ROOT = Path(__file__).resolve().parents[2]
YES = ("1", "true", "yes", "on")
NO = ("0", "false", "no", "off")


def _read_text(name: str) -> str | None:
    return os.environ.get(name, "").strip() or None


def _read_flag(name: str) -> bool:
    value = _read_text(name)
    if value is not None and value.lower() not in YES + NO:
        raise ImproperlyConfigured(f"{name} is {value!r}: write yes or no")
    return value is not None and value.lower() in YES


def _read_number(name: str, default: int) -> int:
    value = _read_text(name)
    if value is None:
        return default
    if not value.isdecimal() or not int(value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write a whole number above 0")
    return int(value)


def _read_rate(name: str, default: str) -> str:
    value = _read_text(name) or default
    if not re.fullmatch(r"[1-9]\d{0,8}/(second|minute|hour|day)", value):
        raise ImproperlyConfigured(f"{name} is {value!r}: write such as 600/minute")
    return value


def _read_proxies() -> int:
    # The site has no TLS of its own: with HTTPS there is a proxy in front.
    value = _read_text("PROXIES") or ("1" if _read_flag("HTTPS") else "0")
    if not value.isdecimal():
        raise ImproperlyConfigured(f"PROXIES is {value!r}: write a whole number")
    return int(value)


def _build_caches() -> dict[str, Any]:
    memory = "django.core.cache.backends.locmem.LocMemCache"
    process = {"BACKEND": memory, "LOCATION": "process", "OPTIONS": {"MAX_ENTRIES": 100_000}}
    url = _read_text("CACHE_URL")
    if url is None:
        files = "crowdgrade.file_cache.FileCache"
        # The cache lists its folder at every write, so few entries keep it fast.
        most = {"MAX_ENTRIES": 2_000}
        shared = {"BACKEND": files, "LOCATION": str(CACHE_FOLDER), "OPTIONS": most}
        return {"default": shared, "process": process}
    if not url.startswith(("redis://", "rediss://")):
        raise ImproperlyConfigured("CACHE_URL must begin with redis://")
    # Short: if Redis does not answer, `rest.permissions` counts in the process instead.
    options = {"socket_connect_timeout": 1, "socket_timeout": 1}
    redis = "django.core.cache.backends.redis.RedisCache"
    return {"default": {"BACKEND": redis, "LOCATION": url, "OPTIONS": options}, "process": process}


def _count_cores() -> int:
    """Return the number of CPU cores this process may use, if known, else the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_list(name: str, default: list[str]) -> list[str]:
    value = _read_text(name)
    if value is None:
        return default
    return [entry.strip() for entry in value.split(",") if entry.strip()]


def _read_networks(by_default: list[str]) -> list[str]:
    value = _read_list("CROWDGRADE_MODEL_NETWORKS", by_default)
    for network in [] if value == ["none"] else value:
        try:
            ip_network(network)
        except ValueError:
            raise ImproperlyConfigured(
                f"CROWDGRADE_MODEL_NETWORKS holds {network!r}: write such as 10.1.2.0/24"
            ) from None
    return [] if value == ["none"] else value


def _read_key_variables() -> list[str]:
    entries = _read_list("CROWDGRADE_KEY_VARIABLES", [])
    for entry in entries:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?(@(https?://)?[A-Za-z0-9.:-]+)?", entry):
            raise ImproperlyConfigured(
                f"CROWDGRADE_KEY_VARIABLES holds {entry!r}: write NAME, PREFIX* or NAME@HOST"
            )
    return entries


def _read_prolific_api() -> str:
    value = _read_text("CROWDGRADE_PROLIFIC_API") or ""
    here = r"http://(127\.0\.0\.1|localhost)(:\d+)?(/.*)?"
    if value and not re.fullmatch(rf"https://[^/@?#\s]+(/[^?#\s]*)?|{here}", value):
        raise ImproperlyConfigured(
            f"CROWDGRADE_PROLIFIC_API is {value!r}: write https://api.prolific.com/api/v1/"
        )
    return value


def _read_offered_models() -> list[str]:
    value = _read_list(
        "CROWDGRADE_MODELS", ["all-mpnet-base-v2", "paraphrase-multilingual-MiniLM-L12-v2"]
    )
    for name in [] if value == ["none"] else value:
        # Names only: a path could load files that any user of the server has put there.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?", name):
            raise ImproperlyConfigured(
                f"CROWDGRADE_MODELS holds {name!r}: write NAME or OWNER/NAME, as at the model hub"
            )
    return [] if value == ["none"] else value


def _find_home() -> Path:
    path = Path(_read_text("CROWDGRADE_HOME") or ROOT / "var").expanduser()
    if not path.is_absolute():
        raise ImproperlyConfigured(f"CROWDGRADE_HOME is {str(path)!r}: write an absolute path")
    return path


def _load_secret_key() -> Any:
    key = _read_text("SECRET_KEY")
    if key is None:
        # Lazy: only code that signs (sessions, links) needs the key and may create its file.
        return SimpleLazyObject(lambda: load_secret_key(HOME))
    if len(key) < 32:
        raise ImproperlyConfigured("SECRET_KEY has fewer than 32 characters: write a longer one")
    return key


def _read_database() -> Any:
    url = _read_text("DATABASE_URL") or f"sqlite:///{HOME / 'crowdgrade.sqlite3'}"
    scheme = url.partition(":")[0]
    # The URL may contain a password, so no message quotes it.
    remedy = "write postgresql://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FILE"
    if scheme not in ("postgresql", "postgres", "sqlite"):
        raise ImproperlyConfigured(f"DATABASE_URL is of another kind: {remedy}")
    try:
        database = dj_database_url.parse(url)
    except ValueError:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {remedy}") from None
    if not database["NAME"]:
        raise ImproperlyConfigured(f"DATABASE_URL names no database: {remedy}")
    if scheme != "sqlite":
        options = database_timeouts.OPTIONS | database.get("OPTIONS", {})
        return database | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}
    if database["NAME"] != ":memory:" and not Path(database["NAME"]).is_absolute():
        raise ImproperlyConfigured(f"DATABASE_URL names no absolute path: {remedy}")
    options = {
        # A transaction takes the write lock at its start: a deferred one that upgrades its lock
        # later may fail at once ("database is locked"), whatever the timeout.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        # WAL: readers do not wait for the writer. FULL: a commit survives a power failure.
        # The limit shrinks the log again after a large transaction.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
        f"PRAGMA journal_size_limit={64 * 1024**2};",
    }
    return {"ENGINE": "crowdgrade.sqlite", "NAME": database["NAME"], "OPTIONS": options}


HOME = _find_home()
# The demo's own folder: `manage.py demo` starts anew with it as its home.
DEMO_HOME = Path(_read_text("CROWDGRADE_DEMO_HOME") or HOME / "demo")
SECRET_KEY = _load_secret_key()
DEBUG = _read_flag("DEBUG")
ALLOWED_HOSTS = _read_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = _read_list("CSRF_TRUSTED_ORIGINS", [])
for _origin in CSRF_TRUSTED_ORIGINS:
    if not _origin.startswith(("http://", "https://")):
        raise ImproperlyConfigured(f"CSRF_TRUSTED_ORIGINS holds {_origin!r}: add https://")
HTTPS = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _read_flag("HTTPS")
PROXIES = _read_proxies()
# A year, once HTTPS is promised.
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Other hosts of the domain, and lists of browsers' makers, are not ours to promise (W005, W021).
# `crowdgrade.proxy_headers` redirects what a proxy passed on without HTTPS (W008).
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"] if HTTPS else []
SESSION_COOKIE_HTTPONLY = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # before the admin, whose templates it replaces
    "crowdgrade.apps.CrowdgradeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "axes",
    "csp",
    "rest_framework",
    "django_filters",  # only for the forms of lists; its templates are not used
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",  # the documentation page's own files: nothing from elsewhere
    "annotations",
    "evaluation",
    "crowdgrade.apps.CrowdgradeConfig",
]
MIDDLEWARE = [
    "crowdgrade.request_log.RequestIdMiddleware",  # before whatever may fail
    "crowdgrade.head_requests.HeadMiddleware",
    "crowdgrade.proxy_headers.ProxyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crowdgrade.read_retry.RetryMiddleware",  # before what reads the database: who is signed in
    "crowdgrade.read_cache.ReadingMiddleware",
    "crowdgrade.policy.PolicyMiddleware",
    "crowdgrade.url_check.AddressMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",  # after the others: it answers for those who are locked out
    "crowdgrade.rest.outage_page.OutageMiddleware",
]
ROOT_URLCONF = "crowdgrade.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": _read_database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Everything unforeseen goes to the terminal (or the log) of the process, with the request's id.
LOGGING = logging_config.LOGGING

# A name is closed to an address for a quarter of an hour after five wrong passwords. The counts
# are in the database, so that all processes share them; who answers is django-axes.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "crowdgrade.lockout.LockoutHandler"
LOCKOUT_NAMES = 20  # tried from one address in that time, in vain
AXES_RESET_ON_SUCCESS = AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "admin/locked.html"

# What a page may load: only our own files. `crowdgrade.policy` lets the admin's scripts evaluate.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# Celery only wakes background processes, work is in the database: a lost message costs seconds.
CELERY_BROKER_URL = _read_text("CELERY_BROKER_URL") or "filesystem://"
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {}
if CELERY_BROKER_URL.startswith("filesystem:"):
    CELERY_BROKER_TRANSPORT = "crowdgrade.broker:Transport"
    _broker = str(HOME / "broker")
    CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": _broker, "data_folder_out": _broker}
    CELERY_BROKER_TRANSPORT_OPTIONS["control_folder"] = str(HOME / "broker" / "control")
elif not CELERY_BROKER_URL.startswith(("redis://", "rediss://", "amqp://", "amqps://")):
    raise ImproperlyConfigured("CELERY_BROKER_URL must begin with redis:// or amqp://")
# Run types: the dotted name of each `evaluation.runs.run_types.Kind`.
RUN_KINDS = [
    "evaluation.grading.run_type.AQER",
    "evaluation.language_models.run_type.ASK",
    "evaluation.multiqa.run_type.MULTIQA",
    "evaluation.eloquent.run_type.ELOQUENT",
    "evaluation.sample_size.run_type.CROWD_SIZE",
    "evaluation.experts.run_type.EXPERTS",
    "evaluation.llm_judge.run_type.JUDGE",
    "evaluation.maqa.run_type.MAQA",
    "evaluation.crowd_vs_llm.run_type.PANELS",
    "evaluation.sample_size.run_type.PLAN",
    "evaluation.umwp.run_type.UMWP",
    "evaluation.model_overview.run_type.VIEWS",
    *("evaluation.evidence.graded.kind.GRADED", "evaluation.evidence.prompting.PROMPTING"),
]
# Language models: networks they may be in besides public addresses, and keys they may get.
_embedded = "sqlite" in DATABASES["default"]["ENGINE"]
MODEL_NETWORKS = _read_networks(["127.0.0.0/8", "::1/128"] if _embedded else [])
KEY_VARIABLES = _read_key_variables()
PROLIFIC_API = _read_prolific_api()
OFFERED_MODELS = frozenset(_read_offered_models())
# Installations that share a broker each name their own queue.
CELERY_TASK_DEFAULT_QUEUE = _read_text("CELERY_QUEUE") or "crowdgrade"
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
# Seconds after which a dead background process's run is taken over; it renews six times in it.
LEASE_SECONDS = _read_number("LEASE_SECONDS", 60)
RUNS_PER_USER = _read_number("RUNS_PER_USER", 20)
ASKING_RUNS = _read_number("ASKING_RUNS", 8)
# Longer than the download of a model over a slow line; a step takes at most four minutes.
STALL_SECONDS = _read_number("STALL_SECONDS", 900)

# A Python process uses one core at a time. More than two processes need PostgreSQL.
WEB_PROCESSES = _read_number("WEB_PROCESSES", min(2, _count_cores()))

# The API. Bodies: of rows as JSON, and of everything else but JSON Lines (which are files).
API_BULK_BYTES = _read_number("API_UPLOAD_MB", 20) * 1024 * 1024
API_SMALL_BYTES = 1024 * 1024
LINK_RATE = _read_rate("LINK_RATE", "60/minute")
CACHE_FOLDER = HOME / "cache"
CACHES = _build_caches()
REST_FRAMEWORK = {
    # The first says what a 401 asks for.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "crowdgrade.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["crowdgrade.rest.permissions.MayEnter"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_CLASSES": [
        "crowdgrade.rest.permissions.AnonymousThrottle",
        "crowdgrade.rest.permissions.UserThrottle",
        "crowdgrade.rest.permissions.UploadThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": _read_rate("API_ANONYMOUS_RATE", "60/minute"),
        "user": _read_rate("API_USER_RATE", "600/minute"),
        "bulk": _read_rate("API_UPLOAD_RATE", "60/minute"),
    },
    "NUM_PROXIES": 0,  # `crowdgrade.proxy_headers` has put the client's address in place
    "EXCEPTION_HANDLER": "crowdgrade.rest.errors.handle",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,
}
# Tokens are of our own model; knox's table, which it replaces, is not made.
KNOX_TOKEN_MODEL = "crowdgrade.ApiToken"  # noqa: S105
MIGRATION_MODULES = {"knox": None}
SPECTACULAR_SETTINGS = {
    "TITLE": "Crowdgrade",
    "DESCRIPTION": "Grades people and language models by their free-text answers, without an "
    "answer key. You see only what belongs to you; everything else is 404. Lists "
    "come in pages: follow `next`. Errors are problem details (RFC 9457).",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": [
        "crowdgrade.rest.schema.add_problems",
        "crowdgrade.rest.examples.add_examples",
    ],
    "TAGS": [
        {"name": "question sets"},
        {"name": "questions", "description": "Questions and passages of a version."},
        {"name": "answers", "description": "What workers answered."},
        {"name": "collecting", "description": "People answer: links, places, who may take part."},
        {"name": "paying", "description": "What is decided of people's work, with the evidence."},
        {"name": "writing", "description": "Problems without an answer, written and checked."},
        {"name": "workers", "description": "People over all question sets."},
        {"name": "language models", "description": "Models and what they answered."},
        {"name": "runs", "description": "Gradings in the background."},
        {"name": "results", "description": "What a run found; the same as pages and files show."},
        {"name": "exports", "description": "Files to take away, which can be sent back in."},
    ],
}

STATIC_URL = "static/"
STATIC_ROOT = HOME / "static"
UPLOADS = Path(_read_text("CROWDGRADE_UPLOADS") or HOME / "uploads")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "uploads": {"BACKEND": "annotations.models.storage.PrivateStorage"},
}
UPLOAD_BYTES = _read_number("UPLOAD_MB", 100) * 1024**2
FILE_UPLOAD_HANDLERS = [
    "annotations.web.size_limit.SizeLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"  # also where the address to go on to is not of this site
UNFOLD = {
    "SITE_TITLE": "Crowdgrade",
    "SITE_HEADER": "Crowdgrade",
    "SITE_SYMBOL": "balance",
    "SITE_URL": None,
    "LOGIN": {"form": "crowdgrade.login.LoginForm"},
}

LANGUAGE_CODE = "en"
LOCALE_PATHS = [ROOT / "platform/crowdgrade/locale"]
# Languages in which the pages of workers speak; sets in another get them in English. Each folder
# of sentences is one: German and Arabic, and whatever a .po file adds.
WORKER_LANGUAGES = [
    LANGUAGE_CODE,
    *sorted(
        # A folder is a locale (pt_BR), a language is a tag (pt-br).
        path.parts[-3].lower().replace("_", "-")
        for path in LOCALE_PATHS[0].glob("*/LC_MESSAGES/django.mo")
    ),
]
TIME_ZONE = "UTC"
USE_TZ = True
