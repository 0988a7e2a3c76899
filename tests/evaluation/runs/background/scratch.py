"""A whole installation for a test: its own home, database, queue and processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kombu import Connection

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[4]

SEED = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet, Response, Submission, Worker
from evaluation.models import Run
owner = User.objects.create(username="requester")
version = QuestionSet.objects.create(owner=owner, name="a set").draft()
questions = Question.objects.bulk_create(
    Question(version=version, external_id=f"q{j}", text="?", position=j) for j in range(QUESTIONS))
for i in range(WORKERS):
    worker = Worker.objects.create(owner=owner, external_id=f"w{i}")
    submission = Submission.objects.create(
        version=version, worker=worker, state="submitted", source="imported")
    Response.objects.bulk_create(
        Response(submission=submission, question=question, text=f"answer {i} to {j}",
                 state="submitted", status="text") for j, question in enumerate(questions))
run = Run.objects.create(owner=owner, version=version,
                         parameters={"embedder": EMBEDDER, "bootstrap": 10, **PARAMETERS})
result = run.pk
"""

STATE = """
from evaluation.models import AnswerScore, Embedding, Run, WorkerGrade
run = Run.objects.get(pk=RUN)
result = {
    "state": run.state, "error": run.error, "attempt": run.attempt, "crashes": run.crashes,
    "stage": run.stage, "done": run.done, "total": run.total,
    "embeddings": Embedding.objects.count(),
    "grades": WorkerGrade.objects.filter(run=run).count(),
    "scores": AnswerScore.objects.filter(run=run).count(),
}
"""


AGAIN = """
from evaluation.models import Run
old = Run.objects.get(pk=RUN)
result = Run.objects.create(
    owner=old.owner, version=old.version, kind=old.kind, parameters=old.parameters).pk
"""


CONSOLE = """
import contextlib, json, sys, traceback
import django
django.setup()
from django.db import connections
answers = sys.stdout
for line in sys.stdin:
    code, names = json.loads(line)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(code, names)
        said = {"result": names["result"]}
    except Exception:
        said = {"error": traceback.format_exc()}
    # Nothing is held between two questions: neither a lock nor what was read.
    connections.close_all()
    print(json.dumps(said), file=answers, flush=True)
"""


class Console:
    """A process of an installation that runs code, kept between two pieces of it.

    Starting one for each look at a run would take longer than what is looked at.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = dict(environment)
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONSOLE],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, code: str, names: dict[str, object], seconds: float = 120) -> Any:
        """Run code that sets `result`; returns it."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        ended = threading.Timer(seconds, self.process.kill)
        ended.start()
        try:
            stdin.write(json.dumps([code, names]) + "\n")
            stdin.flush()
            line = stdout.readline()
        finally:
            ended.cancel()
        assert line, f"the console ended (within {seconds} s): {code}"
        said = json.loads(line)
        assert "error" not in said, said["error"]
        return said["result"]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Scratch:
    """An installation; `close` ends its processes."""

    def __init__(self, home: Path, database: str | None, broker: str | None) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("CELERY_", "DJANGO_"))},
            "CROWDGRADE_HOME": str(home),
            "DATABASE_URL": database or "",
            "CELERY_BROKER_URL": broker or "",
            "CELERY_QUEUE": f"test-{uuid.uuid4().hex}",
            "LEASE_SECONDS": "6",
            "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "platform")]),
        }
        self.processes: list[subprocess.Popen[bytes]] = []
        self.console: Console | None = None

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=300,  # migrations of a machine that does much else
        ).stdout

    def python(self, code: str, **names: object) -> Any:
        """Run code that sets `result` in a process of the installation; returns it."""
        if self.console is None or self.console.environment != self.environment:
            self._end_console()
            self.console = Console(self.environment)
        return self.console.run(code, names)

    def _end_console(self) -> None:
        if self.console is not None:
            self.console.close()
            self.console = None

    def seed(self, embedder: str, workers: int, questions: int, **parameters: object) -> int:
        return self.python(
            SEED, EMBEDDER=embedder, WORKERS=workers, QUESTIONS=questions, PARAMETERS=parameters
        )

    def seed_again(self, run: int) -> int:
        """A new run like another one."""
        return self.python(AGAIN, RUN=run)

    def state(self, run: int) -> dict[str, Any]:
        return self.python(STATE, RUN=run)

    def start_worker(self) -> subprocess.Popen[bytes]:
        command = [
            *(sys.executable, "-m", "celery", "-A", "crowdgrade", "worker"),
            *("--pool=solo", "--loglevel=WARNING", "--without-gossip", "--without-mingle"),
            # RabbitMQ refuses a second process of the same name.
            *("--hostname", f"{uuid.uuid4().hex}@%h"),
        ]
        with (self.home / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(worker)
        return worker

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def ended(self, code: str, run: int, seconds: float = 120) -> dict[str, Any]:
        """Wait for the end of a run, and return its state as `code` tells it."""

        def state() -> dict[str, Any] | None:
            found = self.python(code, RUN=run)
            return found if found["state"] in ("done", "failed") else None

        return wait_until(state, seconds, "the run ended", self.log)

    def log(self) -> str:
        path = self.home / "worker.log"
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""

    def close(self) -> None:
        self._end_console()
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)
        broker = self.environment["CELERY_BROKER_URL"]
        if broker:
            with Connection(broker) as connection:
                channel: Any = connection.channel()  # kombu's base class lacks `queue_delete`
                channel.queue_delete(self.environment["CELERY_QUEUE"])


def wait_until(
    condition: Callable[[], T | None],
    seconds: float,
    what: str,
    log: Callable[[], str] = lambda: "",
) -> T:
    """Return the first true value of `condition`, asked again and again."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"{what} did not happen in {seconds} s\n{log()}")
