"""Services that tests use where they are reachable, and skip visibly where they are not."""

import os
import socket
from urllib.parse import urlsplit

import pytest

DEFAULTS = {
    "DATABASE_URL": "postgresql://postgres@127.0.0.1:5432/postgres",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
    "AMQP_URL": "amqp://guest:guest@127.0.0.1:5672//",
}


def address_of(variable: str) -> str:
    """Return the address of a service that answers, or skip the test with the reason."""
    url = os.environ.get(variable) or DEFAULTS[variable]
    if variable == "DATABASE_URL" and not url.startswith("postgres"):
        url = DEFAULTS[variable]
    parts = urlsplit(url)
    default_port = urlsplit(DEFAULTS[variable]).port
    try:
        socket.create_connection((parts.hostname, parts.port or default_port), timeout=2).close()
    except OSError:
        pytest.skip(f"no service at {parts.hostname}:{parts.port or default_port} ({variable})")
    return url
