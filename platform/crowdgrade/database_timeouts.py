"""Time limits of PostgreSQL connections, so that an unresponsive database counts as lost."""

from __future__ import annotations

from typing import Any

from django.db.backends.signals import connection_created

ANSWER_SECONDS = 20.0
"""Limit for one statement of a web request. Commands and background processes have none."""
CONNECT_SECONDS = 5
"""Limit for opening a connection, in every process."""
LOST_SECONDS = 10
"""Limit for a connection whose other side acknowledges nothing, in every process."""
OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": LOST_SECONDS,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": LOST_SECONDS * 1000,
}
"""Options of libpq."""


def limit_waiting(connection: Any, seconds: float = ANSWER_SECONDS) -> None:
    """Limit the seconds that a psycopg connection waits for a reply.

    After `seconds` the connection is closed and raises OperationalError, as if the server had
    closed it.
    """
    import psycopg  # here, because settings import this module, and SQLite needs no driver

    wait = connection.wait

    def wait_with_timeout(generator: Any, *args: Any, **named: Any) -> Any:
        """Return the result of psycopg's waiting; raise `OperationalError` at the time limit."""
        try:
            return wait(generator, *args, **named | {"timeout": seconds})
        except psycopg.errors._WaitTimeout as error:
            # A late answer would be read as the answer to the next statement.
            connection.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {seconds:g} s") from error

    connection.wait = wait_with_timeout


def limit_new_connections() -> None:
    """Limit the waiting time of all PostgreSQL connections that this process opens from now on."""
    connection_created.connect(_limit_new_connection, dispatch_uid="database_timeouts")


def _limit_new_connection(connection: Any, **_: Any) -> None:
    """Limit the waiting time of a new connection if it is to PostgreSQL (a signal receiver)."""
    if connection.vendor == "postgresql":
        limit_waiting(connection.connection)
