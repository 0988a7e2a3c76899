"""The web server of `up`: waitress, and connections that nobody can keep for ever.

``python -m crowdgrade.web_server HOST PORT``. Waitress alone stops to accept at its limit of
connections until some have said nothing for two minutes, and a byte now and then is enough to say
something. Here whoever begins a request ends its head in time, whoever asks takes the answer, and
at the limit a newcomer gets the place of the one who has waited longest of those from the address
that holds the most.

Several processes serve one port by sharing the sockets that listen: whoever starts them opens
these once (`listen`) and hands them on as open files, whose numbers follow the port. A process that
has time takes the next connection, and while one is started again nobody is turned away. Told to
end (SIGTERM, Ctrl-C), a process takes no more, and ends when what was asked is answered.
"""

from __future__ import annotations

import resource
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.server import MultiSocketServer, TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import ThreadedTaskDispatcher, WSGITask  # type: ignore[import-untyped]

from annotations.exchange.reading import images, workbook

THREADS = 8
"""Enough for a team, few enough for SQLite's one writer."""
MOST_CONNECTIONS = 1_000
HEAD_SECONDS = 20
"""Until the head of a request has come, from its first byte on."""
SILENT_SECONDS = 60
"""How long a connection may wait for its next request, or take nothing of its answer."""
MOST_UNSENT = 512 * 1024**2
"""Bytes of an answer that wait for a slow reader, on the disk above 1 MB of them. A thread that has
made its answer is free, however slowly it is taken; only a larger answer holds it."""
CLEANUP_SECONDS = 5
SECONDS_TO_FINISH = 15
"""For what was asked before the process was told to end."""


class Task(WSGITask):  # type: ignore[misc]
    """A request; HEAD has no body, not even the end of one in chunks."""

    @property
    def has_body(self) -> bool:
        """Whether a body follows the headers."""
        has_length = any(name.lower() == "content-length" for name, _ in self.response_headers)
        return bool(super().has_body) and (self.request.command != "HEAD" or has_length)


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when it has waited for the other side."""

    task_class = Task

    def __init__(self, *args: Any, **options: Any) -> None:
        self.since = time.time()
        super().__init__(*args, **options)

    def received(self, data: bytes) -> bool:
        """Take bytes; the clock starts where a request begins."""
        if self.request is None:
            self.since = time.time()
        return bool(super().received(data))

    @property
    def waits(self) -> bool:
        """Whether it is the other side's turn: nothing is being answered, nothing to be sent."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def is_late(self, now: float) -> bool:
        """Whether a head takes too long, or nobody takes the answer."""
        if self.total_outbufs_len:
            return now - self.last_activity > SILENT_SECONDS
        unfinished = self.request is not None and not self.request.headers_finished
        return self.waits and unfinished and now - self.since > HEAD_SECONDS


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """Waitress with room for newcomers."""

    channel_class = Channel
    most = MOST_CONNECTIONS

    def __init__(self, *args: Any, **options: Any) -> None:
        self.late: list[Channel] = []
        super().__init__(*args, **options)

    def handle_accept(self) -> None:
        """Take a connection, and at the limit let another one go for it."""
        waiting = [one for one in self.active_channels.values() if one.waits]
        if waiting and len(self.active_channels) >= self.most:
            held = Counter(one.addr[0] for one in waiting)
            # Closed by the loop in its next round: closing it here could give its number to the
            # newcomer while the loop still has something to tell to it.
            min(waiting, key=lambda one: (-held[one.addr[0]], one.since)).will_close = True
        super().handle_accept()

    def maintenance(self, now: float) -> None:
        """Find who has been silent for too long, or makes others wait."""
        super().maintenance(now)
        self.late = [one for one in self.active_channels.values() if one.is_late(now)]

    def close_late(self) -> None:
        """Close the connections that `maintenance` found.

        Between two rounds of the loop alone: maintenance runs while the loop collects the files it
        polls. A file closed there is polled nevertheless, as one that is invalid; a connection
        accepted in the same round may have got its number, and would be closed in its place.
        """
        late, self.late = self.late, []
        for one in late:
            one.handle_close()


def listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen, one for each address of the host; port 0 is any that is free.

    Raises OSError, with `errno.EADDRINUSE` where somebody else listens there.
    """
    listening: list[socket.socket] = []
    try:
        adjustments = Adjustments(listen=f"{host}:{port}")
        for family, kind, protocol, address in adjustments.listen:
            one = socket.socket(family, kind, protocol)
            listening.append(one)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(address)
            one.listen(adjustments.backlog)
    except BaseException:
        for one in listening:
            one.close()
        raise
    return listening


def server(application: Any, listening: Sequence[socket.socket]) -> MultiSocketServer:
    """Return the server of sockets that listen, which other processes may serve as well."""
    most = _connections()
    adjustments = Adjustments(
        sockets=list(listening),
        threads=THREADS,
        max_request_body_size=_most_bytes(),
        ident=None,
        outbuf_high_watermark=MOST_UNSENT,
        # Whom to believe is decided in one place for all servers: `crowdgrade.proxied`.
        clear_untrusted_proxy_headers=False,
        # Twice ours, so that it never stops to accept by itself; waitress counts its own, too.
        connection_limit=2 * most + 10,
        channel_timeout=SILENT_SECONDS,
        cleanup_interval=CLEANUP_SECONDS,
        asyncore_use_poll=True,  # select() breaks at file 1,024
    )
    served: dict[int, Any] = {}
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(adjustments.threads)
    places = []
    for at in listening:
        one = WebServer(
            application,
            served,
            _sock=at,
            dispatcher=dispatcher,
            adj=adjustments,
            sockinfo=(at.family, at.type, at.proto, at.getsockname()),
            bind_socket=False,
        )
        one.most = most
        places.append((one.effective_host, one.effective_port))
    return MultiSocketServer(served, adjustments, places, dispatcher, one.log_info)


def serve(running: MultiSocketServer, stop: threading.Event) -> None:
    """Serve until `stop` is set; then take nothing new, and answer what was asked before."""
    _go_on(running, 1.0, stop.is_set)
    for one in list(running.map.values()):
        if isinstance(one, WebServer):
            one.del_channel()
            one.socket.close()
    until = time.monotonic() + SECONDS_TO_FINISH

    def is_over() -> bool:
        channels = [one for one in running.map.values() if isinstance(one, Channel)]
        for one in channels:
            if one.waits:
                one.will_close = True
        busy = any(one.requests or one.total_outbufs_len for one in channels)
        return not busy or time.monotonic() > until

    _go_on(running, 0.1, is_over)
    running.close()


def _go_on(running: MultiSocketServer, seconds: float, is_over: Callable[[], bool]) -> None:
    while not is_over():
        wasyncore.loop(timeout=seconds, map=running.map, use_poll=True, count=1)
        for one in list(running.map.values()):
            if isinstance(one, WebServer):
                one.close_late()


def _most_bytes() -> int:
    """Return a little more than the largest upload (UPLOAD_MB): more is not even buffered."""
    largest: int = max(settings.UPLOAD_BYTES, settings.API_BULK_BYTES)
    return largest + largest // 20 + 1_000_000


def _connections() -> int:
    """Return how many connections there may be, of the files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A large request or answer takes a file beside its connection.
    return MOST_CONNECTIONS if files < 0 else max(10, min(MOST_CONNECTIONS, files // 4))


def main(host: str, port: str, *files: str) -> None:
    """Serve until the process is told to end."""
    from crowdgrade.database_timeouts import bound_new_connections
    from crowdgrade.wsgi import application

    bound_new_connections()
    workbook.share_turns(settings.WEB_PROCESSES)
    settings.HOME.mkdir(parents=True, exist_ok=True)
    images.share_turns(settings.HOME / "pictures.lock")
    shared = [socket.socket(fileno=int(file)) for file in files]
    running = server(application, shared or listen(host, int(port)))
    stop = threading.Event()

    def end(*_: Any) -> None:
        stop.set()
        for one in running.map.values():
            if isinstance(one, WebServer):
                one.pull_trigger()  # the loop looks at once
                return

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    serve(running, stop)


if __name__ == "__main__":
    main(*sys.argv[1:])
