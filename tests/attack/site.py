"""An installation to attack: `manage.py up` in a temporary folder, with people and a set each."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.evaluation.runs.background.scratch import ROOT, Scratch, wait_until

PASSWORD = "a passphrase that only attacks use"
SEED = """
from django.contrib.auth.models import User
from crowdgrade.models.tokens import create_token
from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet
result = {}
rows = b"worker,question,answer\\n" + b"".join(
    b"w%d,q%d,answer %d to %d\\n" % (w, q, w, q) for w in range(8) for q in range(4))
for name, operator in (("operator", True), ("rana", False), ("otto", False)):
    user = User.objects.create_user(
        name, password=PASSWORD, is_staff=True, is_superuser=operator)
    kept = QuestionSet.objects.create(owner=user, name=f"set of {name}", language="en")
    import_answers(kept, make_bytes_source("a.csv", rows), create_questions=True)
    result[name] = {"token": create_token(user, "attack", 1)[1], "set": str(kept.public_id)}
"""


class Site(Scratch):
    """An installation that runs; its people are `operator`, `rana` and `otto`, requesters.

    Uploads are not held back by the API's rate here: what is attacked lies behind it.
    """

    def __init__(
        self, home: Path, database: str | None = None, more: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(home, database, None)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        for name in ("SECRET_KEY", "ALLOWED_HOSTS", "HTTPS", "DEBUG", "CROWDGRADE_UPLOADS"):
            self.environment.pop(name, None)
        self.environment |= {"API_UPLOAD_RATE": "100000/minute", "API_USER_RATE": "100000/minute"}
        self.environment |= more or {}
        self.people: dict[str, dict[str, str]] = {}

    def fill(self) -> None:
        """Make the tables, people and sets."""
        self.manage("migrate", "--verbosity=0")
        self.people = self.python(SEED, PASSWORD=PASSWORD)

    def copy(self, home: Path, more: Mapping[str, str]) -> Site:
        """Return another installation that begins with what this one holds, if that is SQLite."""
        other = Site(home, self.environment["DATABASE_URL"] or None, more)
        shutil.copytree(self.home, home, dirs_exist_ok=True)
        other.people = self.people
        return other

    def start(self) -> None:
        """Start it and wait for its first page."""
        with (self.home / "worker.log").open("ab") as log:
            self.up = subprocess.Popen(
                [sys.executable, "manage.py", "up", f"--port={self.port}"],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(self.up)
        wait_until(self.answers, 600, "the site started", self.log)

    def end(self) -> None:
        """End it as Ctrl-C does."""
        self.up.terminate()
        self.up.wait(60)

    def answers(self) -> bool:
        """Whether the page to log in comes within ten seconds."""
        try:
            with self.visitor(timeout=10) as visitor:
                return visitor.get("/admin/login/").status_code == 200
        except httpx.HTTPError:
            return False

    def visitor(self, timeout: float = 60) -> httpx.Client:
        """Return a browser of nobody."""
        return httpx.Client(base_url=self.address, timeout=timeout, trust_env=False)

    def browser(self, who: str, timeout: float = 60) -> httpx.Client:
        """Return the browser of somebody who is logged in, and posts forms of this site."""
        client = self.visitor(timeout)
        token = form_token(client.get("/admin/login/").text)
        said = client.post(
            "/admin/login/",
            data={"username": who, "password": PASSWORD, "csrfmiddlewaretoken": token},
        )
        assert said.status_code == 302, f"{who} could not log in: {said.status_code}"
        return client

    def api(self, who: str, timeout: float = 60) -> httpx.Client:
        """Return the client of somebody's program."""
        client = self.visitor(timeout)
        client.headers["Authorization"] = f"Bearer {self.people[who]['token']}"
        client.base_url = httpx.URL(f"{self.address}/api/v1/")
        return client

    def children(self) -> list[int]:
        """Return the process ids of the web server and the worker."""
        path = Path(f"/proc/{self.up.pid}/task/{self.up.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def kill_children(self) -> None:
        """End web server and worker as a power failure would; the supervisor starts them again."""
        for pid in self.children():
            os.kill(pid, signal.SIGKILL)


def form_token(page: str) -> str:
    """Return the token of the first form of a page."""
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found is not None, "the page has no form"
    return found[1]
