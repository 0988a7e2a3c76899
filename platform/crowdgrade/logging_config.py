"""Where what is logged goes: to the output of the process, with the request's id."""

from __future__ import annotations

from typing import Any

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"request": {"()": "crowdgrade.request_log.RequestFormatter"}},
    "handlers": {"terminal": {"class": "logging.StreamHandler", "formatter": "request"}},
    "root": {"handlers": ["terminal"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING"},
        "django.request": {"level": "ERROR"},
        # It warns that a broker of files has no host.
        "kombu.connection": {"level": "ERROR"},
    },
}
"""Everything unforeseen is a record; what clients do wrong (400 to 499) is none."""
