"""The site that is measured, and the bare peer, each a web server of its own on loopback.

``python -m tests.benchmarks.workers.site fill ADDRESS`` makes and publishes the set
in the database of its settings and prints the link; ``... stored`` prints what is stored, as JSON:
texts by worker and question.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import httpx

from tests.benchmarks.child import measured_by, printed_by
from tests.benchmarks.results import FailedError

PASSAGES, QUESTIONS = 10, 2
PLACES = 5_000
SECONDS_TO_START = 60.0


class Server(ABC):
    """A process that serves an address of loopback until it is ended."""

    def __init__(self, root: Path, environment: dict[str, str], port: int) -> None:
        self.root, self.environment, self.port = root, environment, port
        self.address = f"http://127.0.0.1:{port}/"
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def command(self) -> list[str]:
        """Return what is started."""

    def start(self) -> None:
        """Start it and wait until it answers; raises FailedError."""
        self.process = subprocess.Popen(
            self.command(),
            env=self.environment,
            cwd=self.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < until:
            try:
                httpx.get(self.address, timeout=5, trust_env=False)
            except httpx.HTTPError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
            else:
                return
        raise FailedError(f"{type(self).__name__} did not start")

    def processor_seconds(self) -> float:
        """Return the processor time that it has used; 0 where the system has no /proc."""
        assert self.process is not None
        try:
            told = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        # After the name in brackets: utime and stime are the 12th and 13th.
        user, system = told.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def kill_and_start(self) -> None:
        """End it as a power failure would, and start it again."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.start()

    def end(self) -> None:
        """End it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


class Site(Server):
    """Our own site with a published set."""

    def __init__(self, root: Path, home: Path, database: str, port: int) -> None:
        path = os.pathsep.join([str(root), str(root / "platform")])
        environment = {
            "LINK_RATE": "1000000/minute",  # all of them come from this machine
            **os.environ,
            "DATABASE_URL": database,
            "CROWDGRADE_HOME": str(home),
            "PYTHONPATH": path,
            "DJANGO_SETTINGS_MODULE": "crowdgrade.settings",
        }
        super().__init__(root, environment, port)
        self.link = ""

    def command(self) -> list[str]:
        """The web server as `up` starts it."""
        return [sys.executable, "-m", "crowdgrade.web_server", "127.0.0.1", str(self.port)]

    def fill(self) -> None:
        """Make the tables and the set."""
        where: dict[str, Any] = {"environment": self.environment, "folder": self.root}
        self.link = printed_by("workers.site", "fill", self.address, **where).strip()

    def stored(self) -> dict[str, dict[str, list[str]]]:
        """Return all texts, by the panel's id of the worker and the public id of the question."""
        where: dict[str, Any] = {"environment": self.environment, "folder": self.root}
        return measured_by("workers.site", "stored", **where)


class BareSite(Server):
    """The peer."""

    def __init__(self, root: Path, database: str, port: int) -> None:
        environment = {**os.environ, "PYTHONPATH": str(root), "DATABASE": database}
        super().__init__(root, environment, port)

    def command(self) -> list[str]:
        """The module of the endpoint."""
        module = "tests.benchmarks.workers.bare"
        return [sys.executable, "-m", module, self.environment["DATABASE"], str(self.port)]


def fill(address: str) -> str:
    """Make a set with an owner, publish it, and return its link."""
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from annotations.answering import collecting, links
    from annotations.models import Passage, Question, QuestionSet

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("owner", is_staff=True)
    draft = QuestionSet.objects.create(owner=owner, name="tides", language="en").draft()
    for place in range(PASSAGES):
        passage = Passage.objects.create(
            version=draft,
            external_id=f"p{place}",
            text="The tide follows the moon. " * 40,
            position=place,
        )
        Question.objects.bulk_create(
            Question(
                version=draft,
                passage=passage,
                external_id=f"p{place}q{number}",
                position=place * QUESTIONS + number,
                text=f"What does the tide follow in case {number} of {place}?",
            )
            for number in range(QUESTIONS)
        )
    published = collecting.publish_question_set(
        draft.question_set, places=PLACES, protocol="open", base_url=address.rstrip("/")
    )
    made = published.collection
    return f"{links.build_collection_link(made)}?{made.worker_parameter}="


def stored() -> dict[str, dict[str, list[str]]]:
    """Return all texts by worker and question."""
    from annotations.models import Response

    found: dict[str, dict[str, list[str]]] = {}
    rows = Response.objects.values_list(
        "submission__worker__external_id", "question__public_id", "text"
    )
    for worker, question, text in rows.iterator():
        found.setdefault(worker, {}).setdefault(str(question), []).append(text)
    return found


if __name__ == "__main__":
    import django

    django.setup()
    print(fill(sys.argv[2]) if sys.argv[1] == "fill" else json.dumps(stored()))
