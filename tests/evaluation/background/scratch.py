"""A whole installation for a test: its own home, database, queue and processes."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from kombu import Connection

ROOT = Path(__file__).resolve().parents[3]

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
                         parameters={"embedder": EMBEDDER, "bootstrap": 10})
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

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        ).stdout

    def python(self, code: str, **names: object):
        """Run code that sets `result` in a process of the installation; returns it."""
        given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
        whole = (
            f"import django; django.setup()\n{given}{code}\nimport json; print(json.dumps(result))"
        )
        done = subprocess.run(
            [sys.executable, "-c", whole],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def seed(self, embedder: str, workers: int, questions: int) -> int:
        return self.python(SEED, EMBEDDER=embedder, WORKERS=workers, QUESTIONS=questions)

    def seed_again(self, run: int) -> int:
        """A new run like another one."""
        return self.python(AGAIN, RUN=run)

    def state(self, run: int) -> dict:
        return self.python(STATE, RUN=run)

    def start_worker(self) -> subprocess.Popen[bytes]:
        command = [
            *(sys.executable, "-m", "celery", "-A", "crowdgrade", "worker"),
            *("--pool=solo", "--loglevel=WARNING", "--without-gossip", "--without-mingle"),
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

    def ended(self, code: str, run: int, seconds: float = 120) -> dict:
        """Wait for the end of a run, and return its state as `code` tells it."""

        def state() -> dict | None:
            found = self.python(code, RUN=run)
            return found if found["state"] in ("done", "failed") else None

        return wait_until(state, seconds, "the run ended", self.log)

    def log(self) -> str:
        path = self.home / "worker.log"
        return path.read_text(errors="replace")[-4000:] if path.exists() else ""

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)
        broker = self.environment["CELERY_BROKER_URL"]
        if broker:
            with Connection(broker) as connection:
                channel = connection.channel()
                channel.queue_delete(self.environment["CELERY_QUEUE"])


def wait_until(condition, seconds: float, what: str, log=lambda: ""):
    """Return the first true value of `condition`, asked again and again."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"{what} did not happen in {seconds} s\n{log()}")
