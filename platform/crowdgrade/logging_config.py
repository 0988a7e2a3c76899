"""Logging configuration: records go to standard error, with the request's id."""

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
        # Kombu warns that the file broker has no host.
        "kombu.connection": {"level": "ERROR"},
    },
}
"""Unexpected errors are logged; errors of clients (400 to 499) are not."""
