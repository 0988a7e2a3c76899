"""Django settings, read once from environment variables; an invalid value stops the start.

Other modules read `django.conf.settings` only. An empty variable counts as not set. Importing this
module creates no files: the folder of local state is created by the first file in it, so commands
that only work on files do not create it. `crowdgrade.environment` declares the variables, and
`platform/docs/operations.md` describes them.
"""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

from crowdgrade import database_timeouts, logging_config
from crowdgrade.environment import (
    check_networks,
    read_choice,
    read_flag,
    read_list,
    read_number,
    read_rate,
    read_secret,
    read_variable,
)
from crowdgrade.home import load_secret_key
from crowdgrade.sign_in.options import (
    read_openid,
    read_password_sign_in,
    read_required_second_factor,
)

ROOT = Path(__file__).resolve().parents[2]


def _read_proxy_count() -> int:
    """Return the number of proxies in front of the site."""
    # The site has no TLS of its own: with HTTPS there is a proxy in front.
    value = read_variable("PROXIES") or ("1" if read_flag("HTTPS") else "0")
    if not value.isdecimal():
        raise ImproperlyConfigured(f"PROXIES is {value!r}: write a whole number")
    return int(value)


def _build_caches() -> dict[str, Any]:
    """Return the configuration of Django's caches."""
    memory = "django.core.cache.backends.locmem.LocMemCache"
    process = {"BACKEND": memory, "LOCATION": "process", "OPTIONS": {"MAX_ENTRIES": 100_000}}
    url = read_variable("CACHE_URL")
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
    """Return the number of CPU cores that this process may use; 1 if it is unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_model_networks(by_default: list[str]) -> list[str]:
    """Return the networks to whose addresses requests to models may be sent."""
    value = read_list("CROWDGRADE_MODEL_NETWORKS", by_default)
    return check_networks("CROWDGRADE_MODEL_NETWORKS", [] if value == ["none"] else value)


def _read_key_variables() -> list[str]:
    """Return the entries of CROWDGRADE_KEY_VARIABLES; raise an error for an invalid one."""
    entries = read_list("CROWDGRADE_KEY_VARIABLES", [])
    for entry in entries:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?(@(https?://)?[A-Za-z0-9.:-]+)?", entry):
            raise ImproperlyConfigured(
                f"CROWDGRADE_KEY_VARIABLES holds {entry!r}: write NAME, PREFIX* or NAME@HOST"
            )
    return entries


def _read_prolific_api() -> str:
    """Return the URL of Prolific's API, "" if it is switched off."""
    value = read_variable("CROWDGRADE_PROLIFIC_API") or ""
    here = r"http://(127\.0\.0\.1|localhost)(:\d+)?(/.*)?"
    if value and not re.fullmatch(rf"https://[^/@?#\s]+(/[^?#\s]*)?|{here}", value):
        raise ImproperlyConfigured(
            f"CROWDGRADE_PROLIFIC_API is {value!r}: write https://api.prolific.com/api/v1/"
        )
    return value


def _read_offered_models() -> list[str]:
    """Return the names of the embedding models offered to users."""
    value = read_list(
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
    """Return the folder of local state; raise an error for a relative path."""
    path = Path(read_variable("CROWDGRADE_HOME") or ROOT / "var").expanduser()
    if not path.is_absolute():
        raise ImproperlyConfigured(f"CROWDGRADE_HOME is {str(path)!r}: write an absolute path")
    return path


def _load_secret_key() -> Any:
    """Return the secret key from the environment, else one that is stored in a file."""
    key = read_variable("SECRET_KEY")
    if key is None:
        # Lazy: only code that signs (sessions, links) needs the key and may create its file.
        return SimpleLazyObject(lambda: load_secret_key(HOME))
    if len(key) < 32:
        raise ImproperlyConfigured("SECRET_KEY has fewer than 32 characters: write a longer one")
    return key


def _read_database() -> Any:
    """Return the configuration of the database."""
    url = read_variable("DATABASE_URL") or f"sqlite:///{HOME / 'crowdgrade.sqlite3'}"
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
    return {
        "ENGINE": "crowdgrade.sqlite",
        "NAME": database["NAME"],
        "OPTIONS": options,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


HOME = _find_home()
# The demo's own folder: `manage.py demo` starts anew with it as its home.
DEMO_HOME = Path(read_variable("CROWDGRADE_DEMO_HOME") or HOME / "demo")
SECRET_KEY = _load_secret_key()
DEBUG = read_flag("DEBUG")
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = read_list("CSRF_TRUSTED_ORIGINS", [])
for _origin in CSRF_TRUSTED_ORIGINS:
    if not _origin.startswith(("http://", "https://")):
        raise ImproperlyConfigured(f"CSRF_TRUSTED_ORIGINS holds {_origin!r}: add https://")
HTTPS = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = read_flag("HTTPS")
PROXIES = _read_proxy_count()
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
    "allauth",
    "allauth.account",
    "crowdgrade.apps.OpenIDAccountConfig",
    "allauth.mfa",
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
    "crowdgrade.monitoring.requests.MetricsMiddleware",
    "crowdgrade.head_requests.HeadRequestMiddleware",
    "crowdgrade.proxy_headers.ProxyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crowdgrade.read_retry.RetryMiddleware",  # before what reads the database: who is signed in
    "crowdgrade.read_cache.ReadCacheMiddleware",
    "crowdgrade.policy.PolicyMiddleware",
    "crowdgrade.url_check.UrlCheckMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "crowdgrade.sign_in.middleware.SecondFactorMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",  # after the others: it answers for those who are locked out
    "crowdgrade.rest.outage_page.OutageMiddleware",
    "crowdgrade.audit.middleware.ExportLogMiddleware",
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
LOG_FORMAT = read_choice("LOG_FORMAT", ("text", "json"))
LOGGING = logging_config.build_logging_config(LOG_FORMAT)
# Celery's own handlers know no JSON.
CELERY_WORKER_HIJACK_ROOT_LOGGER = LOG_FORMAT == "text"

# Health checks and metrics.
READY_FREE_BYTES = read_number("READY_FREE_MB", 200) * 1024**2
METRICS_TOKEN = read_secret("METRICS_TOKEN", 16)
METRICS_FOLDER = HOME / "metrics"

# Mail. Without a server and without a backend the site sends none.
EMAIL_HOST = read_variable("EMAIL_HOST") or ""
EMAIL_HOST_USER = read_variable("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = read_variable("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = read_flag("EMAIL_USE_TLS"), read_flag("EMAIL_USE_SSL")
if EMAIL_USE_TLS and EMAIL_USE_SSL:
    raise ImproperlyConfigured("EMAIL_USE_TLS and EMAIL_USE_SSL are both yes: set one")
EMAIL_PORT = read_number("EMAIL_PORT", 587 if EMAIL_USE_TLS else 465 if EMAIL_USE_SSL else 25)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = read_variable("EMAIL_FROM") or "crowdgrade@localhost"
_backends = "django.core.mail.backends"
EMAIL_BACKEND = read_variable("EMAIL_BACKEND") or (
    f"{_backends}.smtp.EmailBackend" if EMAIL_HOST else f"{_backends}.console.EmailBackend"
)
SENDS_MAIL = bool(EMAIL_HOST or read_variable("EMAIL_BACKEND"))

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

# Sign-in by OpenID Connect and second factor: django-allauth, whose pages `crowdgrade.sign_in` has.
OPENID = read_openid()
PASSWORD_SIGN_IN = read_password_sign_in(OPENID)
REQUIRE_SECOND_FACTOR = read_required_second_factor()
ACCOUNT_ADAPTER = "crowdgrade.sign_in.adapters.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "crowdgrade.sign_in.adapters.OpenIDAccountAdapter"
MFA_ADAPTER = "crowdgrade.sign_in.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "crowdgrade.sign_in.codes.SignInCodeForm",
    "reauthenticate": "crowdgrade.sign_in.codes.ConfirmCodeForm",
}
MFA_TOTP_ISSUER, MFA_TOTP_TOLERANCE = "Crowdgrade", 1  # a code holds 30 seconds longer
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
MFA_ALLOW_UNVERIFIED_EMAIL = True  # allauth's addresses are not used
# As of axes, for what axes does not see: codes, and passwords that confirm.
ACCOUNT_RATE_LIMITS = {"login_failed": "5/15m/key", "reauthenticate": "10/15m/user"}

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
CELERY_BROKER_URL = read_variable("CELERY_BROKER_URL") or "filesystem://"
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
    *("evaluation.maqa.run_type.MAQA", "evaluation.maqa.construction.MAQA_QUESTIONS"),
    "evaluation.crowd_vs_llm.run_type.PANELS",
    "evaluation.sample_size.run_type.PLAN",
    "evaluation.umwp.run_type.UMWP",
    "evaluation.model_overview.run_type.VIEWS",
    *("evaluation.evidence.graded.kind.GRADED", "evaluation.evidence.prompting.PROMPTING"),
]
# Language models: networks they may be in besides public addresses, and keys they may get.
_embedded = "sqlite" in DATABASES["default"]["ENGINE"]
MODEL_NETWORKS = _read_model_networks(["127.0.0.0/8", "::1/128"] if _embedded else [])
KEY_VARIABLES = _read_key_variables()
PROLIFIC_API = _read_prolific_api()
OFFERED_MODELS = frozenset(_read_offered_models())
# Installations that share a broker each name their own queue.
CELERY_TASK_DEFAULT_QUEUE = read_variable("CELERY_QUEUE") or "crowdgrade"
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"
# Seconds after which a dead background process's run is taken over; it renews six times in it.
LEASE_SECONDS = read_number("LEASE_SECONDS", 60)
EXPORT_LOG_DAYS = read_number("EXPORT_LOG_DAYS", 365)
RUNS_PER_USER = read_number("RUNS_PER_USER", 20)
ASKING_RUNS = read_number("ASKING_RUNS", 8)
# Longer than the download of a model over a slow line; a step takes at most four minutes.
STALL_SECONDS = read_number("STALL_SECONDS", 900)

# A Python process uses one core at a time. More than two processes need PostgreSQL.
WEB_PROCESSES = read_number("WEB_PROCESSES", min(2, _count_cores()))

# The API. Bodies: of rows as JSON, and of everything else but JSON Lines (which are files).
API_BULK_BYTES = read_number("API_UPLOAD_MB", 20) * 1024 * 1024
API_SMALL_BYTES = 1024 * 1024
LINK_RATE = read_rate("LINK_RATE", "60/minute")
CACHE_FOLDER = HOME / "cache"
CACHES = _build_caches()
REST_FRAMEWORK = {
    # The first says what a 401 asks for.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "crowdgrade.rest.authentication.TokenAuthentication",
        "crowdgrade.rest.authentication.SecondFactorSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["crowdgrade.rest.permissions.MaySignIn"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_CLASSES": [
        "crowdgrade.rest.permissions.AnonymousThrottle",
        "crowdgrade.rest.permissions.UserThrottle",
        "crowdgrade.rest.permissions.UploadThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {
        "anonymous": read_rate("API_ANONYMOUS_RATE", "60/minute"),
        "user": read_rate("API_USER_RATE", "600/minute"),
        "bulk": read_rate("API_UPLOAD_RATE", "60/minute"),
    },
    "NUM_PROXIES": 0,  # `crowdgrade.proxy_headers` has put the client's address in place
    "EXCEPTION_HANDLER": "crowdgrade.rest.errors.handle_api_error",
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
        {"name": "webhooks", "description": "Addresses to which events are sent."},
    ],
}

STATIC_URL = "static/"
STATIC_ROOT = HOME / "static"
UPLOADS = Path(read_variable("CROWDGRADE_UPLOADS") or HOME / "uploads")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "uploads": {"BACKEND": "annotations.models.storage.PrivateStorage"},
}
UPLOAD_BYTES = read_number("UPLOAD_MB", 100) * 1024**2
FILE_UPLOAD_HANDLERS = [
    "annotations.web.size_limit.SizeLimitHandler",
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
