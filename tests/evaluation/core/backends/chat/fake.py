"""A chat server on loopback that does what a test tells it to, and counts."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evaluation.core.backends.chat.smollm2 import find_model_file
from evaluation.core.backends.errors import ChatError


@dataclass
class Answer:
    """`cut`: close after so many bytes; `raw`: sent in place of any HTTP."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    raw: bytes | None = None


def said(text: Any, reason: str = "stop", status: int = 200, **more: Any) -> Answer:
    message = {"role": "assistant", "content": text, **more.pop("message", {})}
    body = {
        "choices": [{"message": message, "finish_reason": reason, **more.pop("choice", {})}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
    return Answer(status, json.dumps(body).encode(), **more)


def error(status: int, code: str = "", **more: Any) -> Answer:
    body = {"error": {"message": f"it went wrong: {code}", "code": code}}
    return Answer(status, json.dumps(body).encode(), **more)


def needs_packaged_model() -> None:
    pytest.importorskip("xllamacpp", reason="the packaged model needs xllamacpp")
    try:
        find_model_file()
    except ChatError as error:
        pytest.skip(str(error))


def question_of(body: dict) -> str:
    return body["messages"][-1]["content"]


class FakeChat:
    """Answers POST /v1/chat/completions by `reply`, which gets the body; 20 threads and more."""

    def __init__(self, reply: Callable[[dict], Answer] | None = None) -> None:
        self.reply = reply or (lambda body: said(f"to {question_of(body)[:60]}"))
        self.bodies: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with fake.lock:
                    fake.bodies.append(body)
                    fake.headers.append(dict(self.headers))
                    fake.at_once += 1
                    fake.most_at_once = max(fake.most_at_once, fake.at_once)
                try:
                    self.answer(fake.reply(body))
                except OSError:  # the client has left
                    self.close_connection = True
                finally:
                    with fake.lock:
                        fake.at_once -= 1

            def answer(self, answer: Answer) -> None:
                time.sleep(answer.delay)
                if answer.raw is not None:
                    self.wfile.write(answer.raw)
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content[: answer.cut])
                self.close_connection = answer.cut is not None

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *args: object) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.spec = f"openai:small@{self.url}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def fake_chat(reply: Callable[[dict], Answer] | None = None) -> Iterator[FakeChat]:
    server = FakeChat(reply)
    try:
        yield server
    finally:
        server.close()
