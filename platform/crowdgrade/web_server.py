"""Web server of the command `up`: waitress, with time limits against slow clients.

Usage: ``python -m crowdgrade.web_server HOST PORT [FILE...]``. At its limit of connections waitress
alone accepts no more until some have been silent for two minutes, and a client can prevent that by
sending a byte now and then. Here a client has to send the head of a request, and to read the
response, in time. At the limit a new connection replaces a waiting one: the oldest of the address
that has the most.

Several processes serve one port with the same listening sockets. The supervisor opens them once
(`open_listening_sockets`); each process inherits them as files, whose numbers follow the port. A
free process accepts the next connection, and while one restarts no client is refused. After SIGTERM
or Ctrl-C a process accepts no more, finishes the requests it has, and ends.
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

from annotations.exchange.reading import bounded_process, images

THREADS = 8
"""Enough for a team, few enough for SQLite's one writer."""
MAX_CONNECTIONS = 1_000
HEAD_SECONDS = 20
"""Limit for the head of a request, from its first byte on."""
SILENT_SECONDS = 60
"""Limit for a connection without a next request, or whose client reads nothing of a response."""
MAX_UNSENT = 512 * 1024**2
"""Most bytes of a response buffered for a slow client, on disk above 1 MB. Only a larger response
keeps its thread until the client has read it."""
CLEANUP_SECONDS = 5
SECONDS_TO_FINISH = 15
"""Limit for the requests that are in progress when the process is asked to end."""


class RequestTask(WSGITask):  # type: ignore[misc]
    """Waitress task for one request; responses to HEAD have no body."""

    @property
    def has_body(self) -> bool:
        """Whether the response has a body."""
        has_length = any(name.lower() == "content-length" for name, _ in self.response_headers)
        return bool(super().has_body) and (self.request.command != "HEAD" or has_length)


class ClientChannel(HTTPChannel):  # type: ignore[misc]
    """Connection of a client; `since` is when its current request or idle time began."""

    task_class = RequestTask

    def __init__(self, *args: Any, **options: Any) -> None:
        self.since = time.time()
        super().__init__(*args, **options)

    def received(self, data: bytes) -> bool:
        """Process received bytes; the first bytes of a request restart the time limit."""
        if self.request is None:
            self.since = time.time()
        return bool(super().received(data))

    @property
    def is_idle(self) -> bool:
        """Whether the connection is idle: no request in progress, nothing to send."""
        return not (self.requests or self.total_outbufs_len or self.will_close)

    def is_late(self, now: float) -> bool:
        """Return whether the request's headers take too long or the client does not read."""
        if self.total_outbufs_len:
            return now - self.last_activity > SILENT_SECONDS
        is_unfinished = self.request is not None and not self.request.headers_finished
        return self.is_idle and is_unfinished and now - self.since > HEAD_SECONDS


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """Waitress server; at the limit of connections, a new one replaces an idle one."""

    channel_class = ClientChannel
    most = MAX_CONNECTIONS

    def __init__(self, *args: Any, **options: Any) -> None:
        self.late: list[ClientChannel] = []
        super().__init__(*args, **options)

    def handle_accept(self) -> None:
        """Accept a connection; at the limit, mark an idle one to be closed."""
        waiting = [channel for channel in self.active_channels.values() if channel.is_idle]
        if waiting and len(self.active_channels) >= self.most:
            counts = Counter(channel.addr[0] for channel in waiting)
            victim = min(waiting, key=lambda channel: (-counts[channel.addr[0]], channel.since))
            # Not closed here: the new connection could get its file number while the loop still
            # has events for the old one.
            victim.will_close = True
        super().handle_accept()

    def maintenance(self, now: float) -> None:
        """Find the connections that exceed a time limit, after waitress's own maintenance."""
        super().maintenance(now)
        channels = self.active_channels.values()
        self.late = [channel for channel in channels if channel.is_late(now)]

    def close_late_channels(self) -> None:
        """Close the connections that exceeded a time limit, between two rounds of the loop.

        `maintenance` runs while the loop collects the files to poll. A file closed then is still
        polled, and reported as invalid. A connection accepted in the same round may have the same
        number by then, and would be closed in its place.
        """
        late, self.late = self.late, []
        for channel in late:
            channel.handle_close()


def open_listening_sockets(host: str, port: int) -> list[socket.socket]:
    """Return listening sockets, one per address of the host; port 0 means any free port.

    Raises OSError, with `errno.EADDRINUSE` if the port is in use.
    """
    listening: list[socket.socket] = []
    try:
        adjustments = Adjustments(listen=f"{host}:{port}")
        for family, kind, protocol, address in adjustments.listen:
            listener = socket.socket(family, kind, protocol)
            listening.append(listener)
            # A restart must not wait for old connections in TIME_WAIT.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # The IPv4 addresses of the host have sockets of their own.
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(adjustments.backlog)
    except BaseException:
        for listener in listening:
            listener.close()
        raise
    return listening


def build_web_server(application: Any, listening: Sequence[socket.socket]) -> MultiSocketServer:
    """Return a web server (not started) on listening sockets that other processes may share."""
    most = _compute_max_connections()
    adjustments = Adjustments(
        sockets=list(listening),
        threads=THREADS,
        max_request_body_size=_compute_max_bytes(),
        ident=None,
        outbuf_high_watermark=MAX_UNSENT,
        # `crowdgrade.proxy_headers` decides which headers to trust, for all web servers.
        clear_untrusted_proxy_headers=False,
        # Above our limit, so that waitress never stops accepting; it counts listeners too.
        connection_limit=2 * most + 10,
        channel_timeout=SILENT_SECONDS,
        cleanup_interval=CLEANUP_SECONDS,
        asyncore_use_poll=True,  # select() breaks at file 1,024
    )
    served: dict[int, Any] = {}
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(adjustments.threads)
    effective_addresses = []
    for listener in listening:
        server = WebServer(
            application,
            served,
            _sock=listener,
            dispatcher=dispatcher,
            adj=adjustments,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            bind_socket=False,
        )
        server.most = most
        effective_addresses.append((server.effective_host, server.effective_port))
    return MultiSocketServer(served, adjustments, effective_addresses, dispatcher, server.log_info)


def serve_until_stopped(running: MultiSocketServer, stop: threading.Event) -> None:
    """Serve until `stop` is set; then finish the requests in progress."""
    _run_event_loop(running, 1.0, stop.is_set)
    for dispatcher in list(running.map.values()):
        if isinstance(dispatcher, WebServer):
            dispatcher.del_channel()
            dispatcher.socket.close()
    deadline = time.monotonic() + SECONDS_TO_FINISH

    def is_over() -> bool:
        """Return whether no request is in progress, or the deadline has passed."""
        channels = [
            channel for channel in running.map.values() if isinstance(channel, ClientChannel)
        ]
        for channel in channels:
            # So that no client sends another request over a connection that stayed open.
            if channel.is_idle:
                channel.will_close = True
        is_busy = any(channel.requests or channel.total_outbufs_len for channel in channels)
        return not is_busy or time.monotonic() > deadline

    _run_event_loop(running, 0.1, is_over)
    running.close()


def _run_event_loop(
    running: MultiSocketServer, seconds: float, is_over: Callable[[], bool]
) -> None:
    """Run rounds of the event loop until `is_over()`; each takes at most `seconds`."""
    while not is_over():
        wasyncore.loop(timeout=seconds, map=running.map, use_poll=True, count=1)
        for dispatcher in list(running.map.values()):
            if isinstance(dispatcher, WebServer):
                dispatcher.close_late_channels()


def _compute_max_bytes() -> int:
    """Return the largest permitted request in bytes, just above the largest upload."""
    largest: int = max(settings.UPLOAD_BYTES, settings.API_BULK_BYTES)
    return largest + largest // 20 + 1_000_000


def _compute_max_connections() -> int:
    """Return the limit of connections: a quarter of the files this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A large request or response takes a file besides its connection.
    return MAX_CONNECTIONS if files < 0 else max(10, min(MAX_CONNECTIONS, files // 4))


def run_web_server(host: str, port: str, *files: str) -> None:
    """Serve until SIGTERM or Ctrl-C; `files` are numbers of inherited listening sockets."""
    from crowdgrade.database_timeouts import limit_new_connections
    from crowdgrade.wsgi import application

    # Only here: commands and background processes may have slower statements.
    limit_new_connections()
    bounded_process.limit_processes(settings.WEB_PROCESSES)
    settings.HOME.mkdir(parents=True, exist_ok=True)
    # All web processes lock the same file, so that the site decodes one picture at a time.
    images.set_lock_file(settings.HOME / "pictures.lock")
    shared = [socket.socket(fileno=int(file)) for file in files]
    running = build_web_server(application, shared or open_listening_sockets(host, int(port)))
    stop = threading.Event()

    def stop_server(*_: Any) -> None:
        """Set `stop`, and wake the loop, which then ends the server."""
        stop.set()
        for dispatcher in running.map.values():
            if isinstance(dispatcher, WebServer):
                # One trigger is enough: all servers of the process share one loop.
                dispatcher.pull_trigger()  # wakes the loop, which then checks `stop`
                return

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_server)
    serve_until_stopped(running, stop)


if __name__ == "__main__":
    run_web_server(*sys.argv[1:])
