"""Client of the REST API of a site: send answers, grade, wait, read the results as DataFrames.

    from crowdgrade.client import Client

    with Client("https://crowdgrade.example.org") as client:  # token from CROWDGRADE_TOKEN
        rivers = client.create_question_set("Rivers")
        client.send_questions(rivers.id, questions)
        client.send_answers(rivers.id, answers)
        run = client.wait(client.start_run(rivers.id, embedder="minilm").id)
        workers = client.read_table(run.id, "workers")

Requests that may be sent twice without harm are repeated if the connection breaks or the site is
busy: those that read, those that send rows (the same rows again change nothing), and those that
make something, which carry an idempotency key. No other request is repeated.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx

API = "/api/v1/"
READING = ("GET", "HEAD")
BUSY = (429, 502, 503, 504)
UNFINISHED = ("queued", "running")
LONGEST_PAUSE = 60.0
"""Seconds that the client waits at most before it repeats a request."""

Progress = Callable[[str, int, int], None]


class ApiError(Exception):
    """Error: the site refused a request.

    Attributes
    ----------
    status : HTTP status. code : code of the problem, such as "bad-rows"; "" if the reply has none.
    detail : sentence for people. errors : entries with `code`, `detail`, `index`, `pointer`.
    """

    def __init__(self, status: int, code: str, detail: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(status, code, detail, errors)
        self.status, self.code, self.detail, self.errors = status, code, detail, errors

    def __str__(self) -> str:
        lines = [f"{self.status} {self.code}: {self.detail}"]
        lines += [
            f"{_format_error_place(error)}: {error.get('detail', '')}" for error in self.errors[:20]
        ]
        return "\n".join(lines)


class RunError(Exception):
    """Error: a run ended without results; `run` is its last state."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.run = run

    def __str__(self) -> str:
        reason = self.run.data.get("error") or "no reason is given"
        return f"run {self.run.id} is {self.run.state}: {reason}"


@dataclass(frozen=True)
class QuestionSet:
    """A question set as the site describes it; `data` is the full JSON object."""

    id: str
    name: str
    data: Mapping[str, Any] = field(repr=False, hash=False)


@dataclass(frozen=True)
class Run:
    """A run as the site describes it; `data` is the full JSON object."""

    id: str
    run_type: str
    state: str
    data: Mapping[str, Any] = field(repr=False, hash=False)

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended or is paused."""
        return self.state not in UNFINISHED


class Client:
    """Client of one site with the rights of one token.

    Parameters
    ----------
    url : URL of the site, without ``/api/v1/``.
    token : API token, created on the page "API tokens"; by default the variable CROWDGRADE_TOKEN.
    timeout : longest time to wait for a reply, in seconds.
    attempts : largest number of attempts of a request.
    transport : transport of httpx, for tests.

    Raises ValueError without a token, and for a token over HTTP to another machine.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        timeout: float = 60.0,
        attempts: int = 5,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        token = token or os.environ.get("CROWDGRADE_TOKEN", "")
        if not token:
            raise ValueError("no token: pass one, or set CROWDGRADE_TOKEN")
        parts = urlsplit(url)
        if parts.scheme != "https" and not _is_this_machine_name(parts.hostname):
            raise ValueError(f"{url}: use https, or others can read the token on its way")
        self.attempts = attempts
        self._http = httpx.Client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the site."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        may_repeat: bool | None = None,
    ) -> httpx.Response:
        """Send a request to a path below ``/api/v1/`` and return the response.

        `may_repeat` states that sending it twice does no harm; None for requests that read. Raises
        `ApiError` for a refusal, httpx's errors if the site cannot be reached.
        """
        repeats = method in READING if may_repeat is None else may_repeat
        attempts = self.attempts if repeats else 1
        for attempt in range(1, attempts + 1):
            try:
                reply = self._http.request(
                    method,
                    f"{API}{path}",
                    params=params,
                    json=json,
                    content=content,
                    headers=headers,
                )
            except httpx.TransportError:
                if attempt == attempts:
                    raise
                time.sleep(_choose_pause(attempt))
                continue
            if reply.status_code not in BUSY or attempt == attempts:
                break
            time.sleep(_choose_pause(attempt, reply.headers.get("Retry-After")))
        if not reply.is_success:
            raise _build_api_error(reply)
        return reply

    def iterate(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield the objects of the list at an API path, loaded page by page."""
        query: dict[str, Any] | None = params
        while True:
            page = self.request("GET", path, params=query).json()
            yield from page["results"]
            if not page["next"]:
                return
            # Of the address only path and query: the token goes to no other host.
            following = urlsplit(page["next"])
            path = f"{following.path.partition(API)[2]}?{following.query}"
            query = None

    def list_question_sets(self, **filters: Any) -> list[QuestionSet]:
        """Return the question sets that the user may see, newest first."""
        return [_build_set(one) for one in self.iterate("question-sets/", **filters)]

    def create_question_set(self, name: str, **properties: Any) -> QuestionSet:
        """Create and return a question set."""
        return _build_set(self._create_object("question-sets/", {"name": name, **properties}))

    def send_questions(
        self, set_id: str, frame: Any, *, question: str = "question", text: str = "text"
    ) -> dict[str, Any]:
        """Add questions from a DataFrame with an id and a text in each row; return the report."""
        return self._send_frame(set_id, "questions", frame, {question: "question", text: "text"})

    def send_answers(
        self,
        set_id: str,
        frame: Any,
        *,
        worker: str = "worker",
        question: str = "question",
        answer: str = "answer",
        **params: Any,
    ) -> dict[str, Any]:
        """Add workers' answers from a DataFrame; return the report, such as `n_new`.

        `params` are query parameters: dry_run, version, panel, create_questions. Raises `ApiError`
        with an entry for each bad row, whose `index` is the row number from 0.
        """
        names = {worker: "worker", question: "question", answer: "answer"}
        return self._send_frame(set_id, "answers", frame, names, params)

    def send_model_answers(
        self,
        set_id: str,
        frame: Any,
        *,
        model: str = "model",
        question: str = "question",
        answer: str = "answer",
        **params: Any,
    ) -> dict[str, Any]:
        """Add models' answers from a DataFrame; return the report."""
        names = {model: "model", question: "question", answer: "answer"}
        return self._send_frame(set_id, "model-answers", frame, names, params)

    def start_run(self, set_id: str, run_type: str = "aqer", **parameters: Any) -> Run:
        """Start and return a run of a question set.

        `parameters` are the options of the run type.
        """
        body = {"question_set": set_id, "run_type": run_type, "parameters": parameters}
        return _build_run(self._create_object("runs/", body))

    def get_run(self, run_id: str) -> Run:
        """Return the current state of a run."""
        return _build_run(self.request("GET", f"runs/{_escape_segment(run_id)}/").json())

    def wait(
        self,
        run_id: str,
        *,
        progress: Progress | None = None,
        pause: float = 1.0,
        timeout: float | None = None,
    ) -> Run:
        """Return a run when it is done; raise `RunError` if it ends without results.

        `progress` is called with the stage, the steps done and all steps. Raises `RunError` for a
        run that failed, was cancelled or paused, and TimeoutError after `timeout` seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            run = self.get_run(run_id)
            now = run.data["progress"]
            if progress is not None and now["stage"]:
                progress(now["stage"], now["done"], now["total"] or now["done"])
            if run.state == "done":
                return run
            if run.is_finished:
                raise RunError(run)
            if end is not None and time.monotonic() + pause > end:
                raise TimeoutError(f"run {run.id} is {run.state} after {timeout} seconds")
            time.sleep(pause)

    def list_tables(self, run_id: str) -> list[str]:
        """Return the names of the tables of a finished run."""
        tables = self.request("GET", f"runs/{_escape_segment(run_id)}/results/tables/").json()
        return [str(table["name"]) for table in tables["results"]]

    def read_table(self, run_id: str, name: str, library: str = "") -> Any:
        """Return a table of a finished run as a DataFrame.

        `library` is "pandas" or "polars"; without it the one that the program has loaded.
        """
        from crowdgrade.frames.results import build_frame

        address = f"runs/{_escape_segment(run_id)}/results/tables/{_escape_segment(name)}/"
        reply = self.request("GET", address, params={"format": "jsonl"})
        # Not splitlines(): it also splits at U+2028 and U+0085, which texts may contain.
        rows = [json.loads(line) for line in reply.content.split(b"\n") if line]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        if not rows:
            # Only CSV names the columns of a table without rows.
            header = self.request("GET", address, params={"format": "csv"}).text
            columns = next(csv.reader(io.StringIO(header.removeprefix("\ufeff"), newline="")))
        return build_frame({key: [row.get(key) for row in rows] for key in columns}, library)

    def download(self, run_id: str, path: str | PathLike[str]) -> Path:
        """Write all tables, summary and signature of a run to a ZIP file; return its path."""
        reply = self.request("GET", f"runs/{_escape_segment(run_id)}/results/data/")
        target = Path(path)
        target.write_bytes(reply.content)
        return target

    def _create_object(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object by a POST request and return it, with an idempotency key for retries."""
        headers = {"Idempotency-Key": uuid4().hex}
        reply = self.request("POST", path, json=body, headers=headers, may_repeat=True)
        result: dict[str, Any] = reply.json()
        return result

    def _send_frame(
        self,
        set_id: str,
        name: str,
        frame: Any,
        names: Mapping[str, str],
        params: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send the rows of a DataFrame and return the report.

        `names` maps the caller's column names to the site's.
        """
        from crowdgrade.frames.inputs import build_json_lines

        reply = self.request(
            "POST",
            f"question-sets/{_escape_segment(set_id)}/{name}/",
            params={key: _format_param(value) for key, value in (params or {}).items()},
            content=build_json_lines(name, frame, names),
            headers={"Content-Type": "application/x-ndjson"},
            may_repeat=True,
        )
        report: dict[str, Any] = reply.json()
        return report


def _is_this_machine_name(host: str | None) -> bool:
    """Return whether a host is this machine, so that requests are not visible to others."""
    return host in ("localhost", "127.0.0.1", "::1", "testserver")


def _escape_segment(part: str) -> str:
    """Return an id as an escaped segment of a URL's path, which cannot change the rest."""
    return quote(part, safe="")


def _format_param(value: Any) -> Any:
    """Return a value for a URL query; Boolean values in lower case."""
    return str(value).lower() if isinstance(value, bool) else value


def _choose_pause(attempt: int, wanted: str | None = None) -> float:
    """Return the seconds before the next attempt: as the site requests, else doubling."""
    if wanted is not None and wanted.isdecimal():
        return min(float(wanted), LONGEST_PAUSE)
    return min(0.5 * 2.0 ** (attempt - 1), LONGEST_PAUSE)


def _build_api_error(reply: httpx.Response) -> ApiError:
    """Return the error for a refused request, from its problem document if there is one."""
    try:
        problem = reply.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        return ApiError(reply.status_code, "", reply.reason_phrase, [])
    detail = str(problem.get("detail") or problem.get("title") or reply.reason_phrase)
    # Rows are sent one a line, so the line of a bad row is its number from 1.
    entries = [
        {"index": entry["line"] - 1, **entry} if "line" in entry else entry
        for entry in problem.get("errors", ())
    ]
    return ApiError(reply.status_code, str(problem.get("code", "")), detail, entries)


def _format_error_place(entry: Mapping[str, Any]) -> str:
    """Return the place of an error in the request, such as "row 3"."""
    if "index" in entry:
        return f"row {entry['index']}"
    return str(entry.get("pointer") or entry.get("parameter") or entry.get("header") or "request")


def _build_set(data: Mapping[str, Any]) -> QuestionSet:
    """Return a question set from its JSON object."""
    return QuestionSet(data["id"], data["name"], data)


def _build_run(data: Mapping[str, Any]) -> Run:
    """Return a run from its JSON object."""
    return Run(data["id"], data["run_type"], data["state"], data)
