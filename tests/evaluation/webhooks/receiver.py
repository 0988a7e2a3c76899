"""A server on this machine that takes events and answers as it is set."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Requests so far, and what the next one is answered: `endless` sends a body without end."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    endless: bool = False
    silent: threading.Event | None = None
    received: list[Received] = field(default_factory=list)
    url: str = ""


@contextmanager
def open_receiver():
    """Serve a receiver on a free port of 127.0.0.1."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(self.path, headers, body))
            if receiver.silent is not None:
                receiver.silent.wait(20)
                return
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                while receiver.endless:
                    self.wfile.write(b"x" * 65_536)
            except OSError:
                receiver.endless = False

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield receiver
    finally:
        if receiver.silent is not None:
            receiver.silent.set()
        server.shutdown()
        server.server_close()
