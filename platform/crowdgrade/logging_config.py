"""Logging configuration: records go to standard error, with the ids of request and run."""

from __future__ import annotations

from typing import Any, Final

FORMATTERS: Final = {
    "text": "crowdgrade.request_log.RequestFormatter",
    "json": "crowdgrade.request_log.JsonFormatter",
}
"""Class of the formatter by the value of LOG_FORMAT."""


def build_logging_config(form: str) -> dict[str, Any]:
    """Return the logging configuration for the format "text" or "json".

    Unexpected errors are logged; errors of clients (400 to 499) are not.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"request": {"()": FORMATTERS[form]}},
        "handlers": {"terminal": {"class": "logging.StreamHandler", "formatter": "request"}},
        "root": {"handlers": ["terminal"], "level": "WARNING"},
        "loggers": {
            "django": {"handlers": [], "level": "WARNING"},
            "django.request": {"level": "ERROR"},
            # Kombu warns that the file broker has no host.
            "kombu.connection": {"level": "ERROR"},
        },
    }
