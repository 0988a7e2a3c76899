"""All settings, read from the environment once; a bad value stops the start with its name.

Code elsewhere reads `django.conf.settings` only.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The commands of this version work on files and open no database, so nothing here is secret yet.
SECRET_KEY = "file-commands-only"  # noqa: S105
DEBUG = False
ALLOWED_HOSTS: list[str] = []

INSTALLED_APPS = [
    "annotations",
    "evaluation",
]
DATABASES: dict[str, dict[str, object]] = {}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
