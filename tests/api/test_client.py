"""The Python client: an evaluation from upload to download, and which requests are repeated."""

import io
import json
import zipfile

import httpx
import pandas as pd
import polars as pl
import pytest

from crowdgrade.client import ApiError, Client, RunError
from crowdgrade.models.tokens import create_token
from evaluation.runs.background.work import work_one_turn

ANSWERS = {
    "ada": ["on a mountain in Wales", "in the sea near Bristol"],
    "ben": ["on a Welsh mountain", "in the sea"],
    "cy": ["in Wales, on a mountain", "near Bristol in the sea"],
    "dot": ["no idea", "somewhere"],
}
QUESTIONS = pd.DataFrame({"question": ["q1", "q2"], "text": ["Where from?", "Where to?"]})
CROWD = pd.DataFrame(
    [
        (worker, question, text)
        for worker, texts in ANSWERS.items()
        for question, text in zip(QUESTIONS["question"], texts, strict=True)
    ],
    columns=["who", "question", "text"],
)


@pytest.fixture
def client(live_server, rana, monkeypatch):
    """A client of the live server; a run is worked on when its bell rings."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", work_one_turn)
    monkeypatch.setenv("CROWDGRADE_TOKEN", create_token(rana, "client", 1)[1])
    with Client(live_server.url) as opened:
        yield opened


@pytest.mark.medium
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_answers_are_sent_graded_and_read(client, tmp_path, library) -> None:
    convert = pl.from_pandas if library == "polars" else lambda frame: frame
    rivers = client.create_question_set("Rivers")
    assert client.send_questions(rivers.id, convert(QUESTIONS))["n_new"] == 2
    names = {"worker": "who", "answer": "text"}
    assert client.send_answers(rivers.id, convert(CROWD), **names)["n_new"] == 8
    again = client.send_answers(rivers.id, convert(CROWD), **names)
    assert (again["n_new"], again["changed"]) == (0, False)
    assert [one.id for one in client.list_question_sets()] == [rivers.id]

    stages: list[str] = []
    run = client.start_run(rivers.id, embedder="tfidf-word", bootstrap=50)
    done = client.wait(
        run.id, pause=0.05, timeout=60, progress=lambda stage, *_: stages.append(stage)
    )
    assert (done.id, done.state) == (run.id, "done")
    assert "workers" in client.list_tables(run.id)
    workers = client.read_table(run.id, "workers", library)
    assert type(workers).__module__.split(".")[0] == library
    grades = dict(zip(workers["worker"].to_list(), workers["grade"].to_list(), strict=True))
    assert set(grades) == set(ANSWERS)
    assert grades["dot"] == min(grades.values()) == 0
    with zipfile.ZipFile(client.download(run.id, tmp_path / "rivers.zip")) as archive:
        assert "workers.csv" in archive.namelist()


def test_bad_rows_are_named_by_their_row_and_code(client) -> None:
    rivers = client.create_question_set("Rivers")
    client.send_questions(rivers.id, QUESTIONS)
    with pytest.raises(ApiError) as caught:
        client.send_answers(rivers.id, CROWD.assign(who=None)[:2], worker="who", answer="text")
    assert (caught.value.status, caught.value.code) == (400, "bad-rows")
    found = [(entry["index"], entry["code"]) for entry in caught.value.errors]
    assert found == [(0, "id_missing"), (1, "id_missing")]
    with pytest.raises(ApiError) as caught:
        client.get_run("01980000-0000-7000-8000-00000000a001")
    assert (caught.value.status, caught.value.code) == (404, "not-found")


def read_tables(jsonl: str, csv: str = "", library: str = "pandas") -> pd.DataFrame:
    """The table that a site sends in these two formats."""

    def send(request: httpx.Request) -> httpx.Response:
        is_csv = request.url.params["format"] == "csv"
        return httpx.Response(200, content=(csv if is_csv else jsonl).encode())

    return open_client(send).read_table("r", "answers", library)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x1c"])
def test_a_text_with_a_line_separator_is_one_cell(character) -> None:
    text = f"first{character}second"
    lines = [json.dumps({"answer": one}, ensure_ascii=False) for one in (text, "other")]
    frame = read_tables("".join(f"{line}\n" for line in lines))
    assert frame["answer"].tolist() == [text, "other"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_without_rows_has_its_columns(library) -> None:
    frame = read_tables("", "\ufeffworker,grade\r\n", library)
    assert (list(frame.columns), len(frame)) == (["worker", "grade"], 0)


def test_a_column_with_the_name_of_a_renamed_one_is_left_out() -> None:
    server = Server(reply={"n_new": 1})
    frame = pd.DataFrame({"who": ["ada"], "worker": ["7"], "question": ["q1"], "answer": ["a"]})
    open_client(server).send_answers("s", frame, worker="who")
    sent = json.loads(server.requests[0].content)
    assert sent == {"worker": "ada", "question": "q1", "answer": "a"}


class Server:
    """Answers the first requests with `faults`, then with `reply`; notes what it received."""

    def __init__(self, *faults: object, reply: object = None) -> None:
        self.faults, self.reply, self.requests = list(faults), reply or {}, []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        fault = self.faults.pop(0) if self.faults else None
        if fault == "lost":
            raise httpx.ReadError("lost", request=request)
        if fault is not None:
            return httpx.Response(fault, headers={"Retry-After": "3"})
        return httpx.Response(200, json=self.reply)


@pytest.fixture
def pauses(monkeypatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr("crowdgrade.client.time.sleep", found.append)
    return found


def open_client(server: Server, **options: object) -> Client:
    transport = httpx.MockTransport(server)
    return Client("https://site.example", "secret", transport=transport, **options)


def test_reading_is_repeated_after_the_pause_that_the_site_asks_for(pauses) -> None:
    server = Server(503, "lost", 429, reply={"results": [], "next": None})
    assert open_client(server).list_question_sets() == []
    # As asked for; half a second, doubled once, after a break; as asked for.
    assert (len(server.requests), pauses) == (4, [3.0, 1.0, 3.0])


def test_a_request_gives_up_after_its_attempts(pauses) -> None:
    server = Server(*[503] * 9)
    with pytest.raises(ApiError) as caught:
        open_client(server, attempts=3).get_run("r")
    assert (caught.value.status, len(server.requests), len(pauses)) == (503, 3, 2)


def test_what_makes_something_is_repeated_with_the_same_key(pauses) -> None:
    server = Server("lost", reply={"id": "s", "name": "Rivers"})
    assert open_client(server).create_question_set("Rivers").id == "s"
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE", "PUT"])
def test_no_other_request_is_repeated(method, pauses) -> None:
    server = Server("lost")
    with pytest.raises(httpx.ReadError):
        open_client(server).request(method, "runs/r/cancel/")
    assert (len(server.requests), pauses) == (1, [])


def test_the_next_page_of_another_host_is_asked_of_the_site() -> None:
    pages = iter(
        [
            {
                "results": [{"id": "a", "name": "A"}],
                "next": "http://evil.example/api/v1/x/?after=b",
            },
            {"results": [{"id": "b", "name": "B"}], "next": None},
        ]
    )
    hosts: list[str] = []

    def serve(request: httpx.Request) -> httpx.Response:
        hosts.append(f"{request.url.host}{request.url.raw_path.decode()}")
        return httpx.Response(200, json=next(pages))

    found = open_client(serve).list_question_sets()
    assert [one.name for one in found] == ["A", "B"]
    assert hosts == ["site.example/api/v1/question-sets/", "site.example/api/v1/x/?after=b"]


def test_the_token_is_not_sent_over_http_and_is_in_no_representation(monkeypatch) -> None:
    monkeypatch.delenv("CROWDGRADE_TOKEN", raising=False)
    with pytest.raises(ValueError, match="https"):
        Client("http://site.example", "secret")
    with pytest.raises(ValueError, match="CROWDGRADE_TOKEN"):
        Client("https://site.example")
    assert "secret" not in repr(open_client(Server()))


@pytest.mark.parametrize("state", ["failed", "cancelled", "paused"])
def test_waiting_ends_with_a_run_that_has_no_results(state, pauses) -> None:
    run = {"id": "r", "run_type": "aqer", "state": state, "error": "why"}
    progress = {"stage": "", "done": 0, "total": None}
    with pytest.raises(RunError) as caught:
        open_client(Server(reply={**run, "progress": progress})).wait("r")
    assert caught.value.run.state == state


def test_waiting_ends_at_its_timeout(pauses) -> None:
    run = {"id": "r", "run_type": "aqer", "state": "running"}
    progress = {"stage": "draws", "done": 3, "total": 9}
    calls: list[tuple[str, int, int]] = []
    with pytest.raises(TimeoutError):
        open_client(Server(reply={**run, "progress": progress})).wait(
            "r", timeout=0, progress=lambda *call: calls.append(call)
        )
    assert calls == [("draws", 3, 9)]


def test_ids_cannot_lead_to_another_address() -> None:
    server = Server()
    with pytest.raises(KeyError):
        open_client(server).get_run("../question-sets")
    assert server.requests[0].url.raw_path == b"/api/v1/runs/..%2Fquestion-sets/"


def test_rows_are_json_lines_with_the_names_of_the_site() -> None:
    server = Server(reply={"n_new": 1})
    frame = pd.DataFrame({"who": [7], "q": ["q1"], "a": [None]})
    open_client(server).send_answers("s", frame, worker="who", question="q", answer="a", panel="x")
    (request,) = server.requests
    row = json.loads(io.BytesIO(request.content).read())
    assert row == {"worker": 7, "question": "q1", "answer": None}
    assert request.url.params["panel"] == "x"
