"""Case: `ask` against a bare httpx loop with the same retries, on a server that only waits."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import tenacity

from evaluation.core.backends.server import RetryRules
from evaluation.runs.files.asking import AskRequest, AskSettings, ask_questions
from evaluation.runs.flow.asking.asker import RequestSettings
from evaluation.runs.flow.asking.plan import CLOSED, SYSTEM, TEMPLATES, Prompt
from tests.benchmarks import chat_server
from tests.benchmarks.results import Claim, FailedError, Figure, Findings, timed
from tests.benchmarks.timing import Contestant, take_turns

QUESTIONS = 2_000
RUNS = 3
OWN = "ask"
BARE = "bare httpx loop"
PATIENCE = RetryRules(attempts=5, timeout=60.0, first_wait=0.5, longest_wait=60.0)
PARAMETERS = {"temperature": 0.0, "max_tokens": 256}
AGAIN = {408, 409, 429}


@dataclass(frozen=True)
class Load:
    """Requests at once, seconds of latency, share of faults, and the share of the bare rate."""

    at_once: int
    latency: float
    faults: float
    least: float

    def __str__(self) -> str:
        faults = f", {self.faults:.0%} faults" if self.faults else ""
        return f"{self.at_once} at once, {self.latency * 1000:.0f} ms{faults}"


LOADS = (
    Load(20, 0.05, 0.0, 0.75),
    Load(20, 0.5, 0.0, 0.9),
    Load(20, 0.05, 0.05, 0.75),
    Load(20, 0.5, 0.05, 0.9),
    Load(200, 0.5, 0.0, 0.9),
)


def against_bare_loop(
    questions: int = QUESTIONS, loads: Sequence[Load] = LOADS, runs: int = RUNS
) -> Findings:
    """Compare the time for all questions under each load, a run of each in turn."""
    rows: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.csv"
        lines = [f"q{n},What causes the tides on day {n}?" for n in range(questions)]
        path.write_text("question,text\n" + "\n".join(lines) + "\n", encoding="utf-8")
        for load in loads:
            with _server(load) as address:
                contestants = [
                    Contestant(name, run, runs, warm_up=False)
                    for name, run in (
                        (OWN, lambda a=address, ld=load: _ask(path, a, ld, questions)),
                        (BARE, lambda a=address, ld=load: asyncio.run(_loop(a, ld, questions))),
                    )
                ]
                timings = take_turns(contestants)
            rows.append(timed(str(load), OWN, timings[OWN]))
            claim = Claim("at least", load.least, "of its rate")
            rows.append(timed(str(load), BARE, timings[BARE], own=timings[OWN], claim=claim))
    return Findings(
        rows,
        [
            f"{questions:,} questions; the ratio is the rate of ask by that of the loop. ask "
            "reads the questions, writes the journal and the tables; the loop keeps replies in "
            "memory. The server runs beside them on the same machine.",
        ],
    )


@contextmanager
def _server(load: Load) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", chat_server.__name__, str(load.latency), str(load.faults)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _ask(path: Path, address: str, load: Load, questions: int) -> None:
    output = path.parent / "asked"
    settings = RequestSettings(at_once=load.at_once, patience=PATIENCE)
    asking = AskSettings(f"openai:m@{address}", parameters=PARAMETERS, settings=settings)
    request = AskRequest(path, asking, output)
    try:
        asked = ask_questions(request)
    finally:
        shutil.rmtree(output, ignore_errors=True)
    if asked.outcome.statuses != {"text": questions}:
        raise FailedError(f"ask got {dict(asked.outcome.statuses)} of {questions} questions")


async def _loop(address: str, load: Load, questions: int) -> None:
    prompt = Prompt(CLOSED, TEMPLATES[CLOSED], SYSTEM)
    todo = iter(range(questions))
    replies: list[Any] = []
    limits = httpx.Limits(max_connections=load.at_once, max_keepalive_connections=load.at_once)
    wait = tenacity.wait_exponential(PATIENCE.first_wait, max=PATIENCE.longest_wait)
    again = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_result(lambda r: r.status_code in AGAIN or r.status_code >= 500),
        stop=tenacity.stop_after_attempt(PATIENCE.attempts),
        wait=wait + tenacity.wait_random(0, PATIENCE.first_wait),
    )
    async with httpx.AsyncClient(
        timeout=PATIENCE.timeout, limits=limits, trust_env=False
    ) as client:

        async def work() -> None:
            for n in todo:
                messages = prompt.build_messages({"question": f"What causes the tides on day {n}?"})
                body = {"model": "m", "messages": list(messages), **PARAMETERS, "seed": 0}
                response: httpx.Response = await again(
                    client.post, f"{address}/chat/completions", json=body
                )
                replies.append(response.json()["choices"][0]["message"]["content"])

        await asyncio.gather(*(work() for _ in range(load.at_once)))
    if len(replies) != questions:
        raise FailedError(f"the bare loop got {len(replies)} of {questions} replies")
