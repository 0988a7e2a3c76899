"""How long a web process waits for an answer of PostgreSQL: a silent database is told as lost."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.signals import connection_created

ANSWER_SECONDS = 20.0
"""For one statement of a request. Commands and background processes wait as long as it takes."""
CONNECT_SECONDS = 5
"""Until a connection is there; every process."""
LOST_SECONDS = 10
"""Until a connection whose other side acknowledges nothing is given up; every process."""
OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": LOST_SECONDS,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": LOST_SECONDS * 1000,
}
"""Options of libpq."""


def bound_waiting(connection: Any, seconds: float = ANSWER_SECONDS) -> None:
    """Have a connection of psycopg wait so long for an answer, and end where none comes.

    Raises psycopg's OperationalError then, as a connection that the server ended does.
    """
    wait = connection.wait

    def wait_for_a_while(generator: Any, *args: Any, **named: Any) -> Any:
        try:
            return wait(generator, *args, **named | {"timeout": seconds})
        except psycopg.errors._WaitTimeout as error:
            # What the server still answers would be taken for the answer to the next statement.
            connection.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {seconds:g} s") from error

    connection.wait = wait_for_a_while


def bound_new_connections() -> None:
    """Bound the waiting of every connection that this process opens from now on."""
    connection_created.connect(_bound, dispatch_uid="database_timeouts")


def _bound(connection: Any, **_: Any) -> None:
    if connection.vendor == "postgresql":
        bound_waiting(connection.connection)
