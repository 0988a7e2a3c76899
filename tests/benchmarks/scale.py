"""Case: one run on two background processes against one, and a small run behind fifty others.

Embedding, and the bootstrap draws of a grading by words.

On PostgreSQL with RabbitMQ and with Redis. All background processes compute with one thread. The
time is that of the tasks, by the log of tasks: from the first start to the last end.
"""

from __future__ import annotations

import os
import socket
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.benchmarks.results import (
    Claim,
    FailedError,
    Figure,
    Findings,
    SkippedError,
    figure,
    middle_of,
    timed,
)
from tests.benchmarks.timing import Timing
from tests.evaluation.runs.background.scratch import Scratch, wait_until

DATABASE = os.environ.get("BENCHMARK_DATABASE_URL") or (
    "postgresql://postgres@127.0.0.1:5432/postgres"
)
BROKERS = {
    "RabbitMQ": os.environ.get("AMQP_URL") or "amqp://guest:guest@127.0.0.1:5672//",
    "Redis": os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0",
}
# About 20 s of MiniLM on one core; a tenth of it warms a process up.
WORKERS, QUESTIONS = 60, 40
ROUNDS = 3
SECONDS = 600
OTHERS = 50

EMBEDS = {"embedder": "minilm", "bootstrap": 0}
# About 20 s of one core: 60 chunks of 833 draws.
DRAWS = {"embedder": "tfidf-word", "bootstrap": 50_000, "leave_one_out": True}

TWICE = Claim("at least", 1.6, "times")
DELAY = Claim("at most", 2, "task lengths")

FILL = """
import random
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet, Response, Submission, Worker
words = ("the river runs through a wide valley and people who live near it often use its water "
         "for their fields because rain is rare in summer while snow melts late").split()
chosen = random.Random(WORKERS)
owner = User.objects.create(username=NAME)
version = QuestionSet.objects.create(owner=owner, name=NAME).draft()
questions = Question.objects.bulk_create(
    Question(version=version, external_id=f"q{j}", text="?", position=j) for j in range(QUESTIONS))
for i in range(WORKERS):
    worker = Worker.objects.create(owner=owner, external_id=f"w{i}")
    submission = Submission.objects.create(
        version=version, worker=worker, state="submitted", source="imported")
    Response.objects.bulk_create(
        Response(submission=submission, question=question, state="submitted", status="text",
                 text=" ".join(chosen.choices(words, k=chosen.randint(8, 30))) + f" {NAME} {i} {j}")
        for j, question in enumerate(questions))
result = version.pk
"""

QUEUE = """
from annotations.models import QuestionSetVersion
from evaluation.models import Embedding, Run
from evaluation.runs.background.leases import wake_process
if FORGET:
    Embedding.objects.all().delete()
version = QuestionSetVersion.objects.get(pk=VERSION)
result = [
    Run.objects.create(owner=version.question_set.owner, version=version,
                       parameters=PARAMETERS).pk
    for _ in range(N)]
wake_process()
"""

STATE = """
from evaluation.models import Run, RunTask
run = Run.objects.get(pk=RUN)
tasks = list(RunTask.objects.filter(run=run, state="done"))
started = run.started_at and (run.started_at - run.created_at).total_seconds()
result = {
    "state": run.state, "error": run.error, "started": started,
    "first": min((task.started_at.timestamp() for task in tasks), default=0),
    "last": max((task.ended_at.timestamp() for task in tasks), default=0),
    "processes": len({task.process for task in tasks}),
    "lengths": [(task.ended_at - task.started_at).total_seconds() for task in tasks],
    "texts": sum(task.n_items for task in tasks)}
"""

WAITING = """
from evaluation.models import BackgroundWorker, Run, RunTask
result = {"processes": BackgroundWorker.objects.count(),
          "tasks": RunTask.objects.filter(run__in=RUNS).exclude(state="waiting").count(),
          "begun": Run.objects.filter(pk__in=RUNS, tasks__isnull=False).distinct().count()}
"""

LENGTHS = """
from evaluation.models import RunTask
result = [(task.ended_at - task.started_at).total_seconds()
          for task in RunTask.objects.filter(run__in=RUNS, state="done")]
"""

CANCEL = """
from evaluation.models import Run
from evaluation.runs.background.runs import cancel_run
result = sum(cancel_run(run) for run in Run.objects.filter(pk__in=RUNS))
"""


def spread_over_processes() -> Findings:
    """Measure the embedding of one run by two processes against one, with each broker."""
    rows: list[Figure] = []
    remarks = []
    for name, address in {"PostgreSQL": DATABASE, **BROKERS}.items():
        check_service(name, address)
    for name, broker in BROKERS.items():
        setting = f"PostgreSQL and {name}"
        found, remark = compare(setting, broker)
        rows += found
        remarks.append(remark)
    return Findings(rows, remarks)


def check_service(name: str, address: str) -> None:
    """Raise `SkippedError` if nothing listens at the address."""
    parts = urlsplit(address)
    port = parts.port or {"postgresql": 5432, "amqp": 5672, "redis": 6379}[parts.scheme]
    try:
        socket.create_connection((parts.hostname or "127.0.0.1", port), timeout=2).close()
    except OSError as error:
        raise SkippedError(f"no {name} at port {port}") from error


def compare(setting: str, broker: str) -> tuple[list[Figure], str]:
    """Return the rows of one broker, and a remark on what was measured."""
    with ExitStack() as stack:
        sites = [stack.enter_context(running_site(broker, n)) for n in (1, 2)]
        versions = [site.python(FILL, NAME="large", **SIZE) for site in sites]
        for site, version in zip(sites, versions, strict=True):
            compute(site, version, EMBEDS)  # loads the model in every process
        times, drawn = [Timing() for _ in sites], [Timing() for _ in sites]
        ends = []
        for _ in range(ROUNDS):
            for site, version, timing in zip(sites, versions, times, strict=True):
                ends.append(compute(site, version, EMBEDS))
                timing.seconds.append(ends[-1]["last"] - ends[-1]["first"])
            for site, version, timing in zip(sites, versions, drawn, strict=True):
                end = compute(site, version, DRAWS)
                timing.seconds.append(end["last"] - end["first"])
        delay, length = delay_small_run(sites[1], versions[1])
    one, two = times
    lengths = [length for end in ends for length in end["lengths"]]
    rows = [
        timed(setting, "embedding, two processes", two),
        timed(setting, "embedding, one process", one, own=two, claim=TWICE),
        timed(setting, "bootstrap draws, two processes", drawn[1]),
        timed(setting, "bootstrap draws, one process", drawn[0], own=drawn[1], claim=TWICE),
        middle_of(setting, "length of a task", lengths, "s"),
        figure(
            setting,
            f"start of a small run behind {OTHERS} of another requester",
            delay / length,
            "task lengths",
            DELAY,
        ),
    ]
    remark = (
        f"{setting}: {ends[0]['texts']:,} texts, {len(ends[0]['lengths'])} tasks; one thread a "
        f"process; {os.cpu_count()} cores; the small run waited {delay:.1f} s"
    )
    return rows, remark


SIZE = {"WORKERS": WORKERS, "QUESTIONS": QUESTIONS}


def compute(site: Scratch, version: int, parameters: dict[str, Any]) -> dict[str, Any]:
    """Grade the version without stored vectors, and return what the log of tasks says."""
    (run,) = site.python(QUEUE, VERSION=version, N=1, FORGET=True, PARAMETERS=parameters)

    def find_end() -> dict[str, Any] | None:
        found = site.python(STATE, RUN=run)
        return found if found["state"] in ("done", "failed") else None

    end = wait_until(find_end, SECONDS, "the run ended", site.log)
    if end["state"] != "done":
        raise FailedError(f"the run failed: {end['error']}")
    wanted = len([one for one in site.processes if one.poll() is None])
    if end["processes"] != wanted:
        raise FailedError(f"{end['processes']} of {wanted} processes worked on the run")
    return end


def delay_small_run(site: Scratch, version: int) -> tuple[float, float]:
    """Return how long a small run waits behind fifty others, and the median length of a task."""
    small = site.python(FILL, NAME="small", WORKERS=5, QUESTIONS=4)
    many = site.python(QUEUE, VERSION=version, N=OTHERS, FORGET=True, PARAMETERS=EMBEDS)
    # Not while the others' turns store their tasks: then only tasks are ahead of it.
    wait_until(
        lambda: site.python(WAITING, RUNS=many)["begun"] == OTHERS,
        SECONDS,
        "the other runs have tasks",
        site.log,
    )
    (run,) = site.python(QUEUE, VERSION=small, N=1, FORGET=False, PARAMETERS=EMBEDS)
    started = wait_until(
        lambda: site.python(STATE, RUN=run)["started"], SECONDS, "the small run began", site.log
    )
    lengths = site.python(LENGTHS, RUNS=many)
    site.python(CANCEL, RUNS=many)
    return started, median(lengths)


@contextmanager
def running_site(broker: str, n_processes: int) -> Iterator[Scratch]:
    """Yield an installation of its own with so many background processes of one thread."""
    name = f"benchmark_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(DATABASE, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        with tempfile.TemporaryDirectory() as folder:
            address = urlunsplit(urlsplit(DATABASE)._replace(path=f"/{name}"))
            site = Scratch(Path(folder) / "home", address, broker)
            site.environment |= {"OMP_NUM_THREADS": "1", "LEASE_SECONDS": "60"}
            try:
                site.manage("migrate", "--verbosity=0")
                for _ in range(n_processes):
                    site.start_worker()
                wait_until(
                    lambda: site.python(WAITING, RUNS=[])["processes"] == n_processes,
                    SECONDS,
                    "the processes run",
                    site.log,
                )
                yield site
            finally:
                site.close()
    finally:
        with psycopg.connect(DATABASE, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
