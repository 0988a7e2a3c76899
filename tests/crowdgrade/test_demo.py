"""The demo as a newcomer starts it: a folder of its own, a real worker, the site."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from django.core.checks import run_checks

from annotations.demo import LABEL
from tests.evaluation.runs.background.scratch import wait_until

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.alone, pytest.mark.model]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def command(home: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    environment = {**os.environ, "CROWDGRADE_DEMO_HOME": str(home)}
    # The demo must not touch a database that happens to be named in the environment.
    environment["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nothing"
    return [sys.executable, "manage.py", "demo", *arguments], environment


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "home"


@pytest.fixture(scope="module")
def first_run(home):
    """What `manage.py demo --no-serve` prints the first time."""
    arguments, environment = command(home, "--no-serve")
    return subprocess.run(
        arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_demo_grades_with_a_real_worker_and_prints_both_tables(first_run):
    assert first_run.returncode == 0, first_run.stderr
    assert LABEL in " ".join(first_run.stdout.split())
    ranks = re.findall(r"^ +(\d+)  (\w+) +[01]\.\d{3}", first_run.stdout, re.MULTILINE)
    assert len(ranks) == 29
    assert first_run.stdout.count("SmolLM2-135M, ") == 4


def test_the_demos_folder_and_its_login_are_for_their_owner_only(first_run, home):
    assert mode_of(home) == 0o700
    assert mode_of(home / "login") == 0o600
    assert mode_of(home / "secret_key") == 0o600 if (home / "secret_key").exists() else True
    assert re.fullmatch(r"username: demo\npassword: \S{16}\n", (home / "login").read_text())


def test_the_second_time_it_serves_the_same_grading_until_it_is_told_to_stop(first_run, home):
    port = free_port()
    login = (home / "login").read_text()
    arguments, environment = command(home, f"--port={port}")
    with subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as demo:
        lines = []
        for line in demo.stdout:
            lines.append(line)
            if line.startswith("Ctrl-C"):
                break
        assert f"http://127.0.0.1:{port}/" in "".join(lines)
        assert (home / "login").read_text() == login
        assert login.split()[-1] in "".join(lines)

        def answers():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/admin/login/").status == 200
            except OSError:
                return False

        wait_until(answers, 60, "the login page came")
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(40) == 0
    with socket.create_server(("127.0.0.1", port)):
        pass  # nobody listens any more


def test_a_busy_port_is_named_with_what_to_do(home):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        arguments, environment = command(home, f"--port={port}")
        done = subprocess.run(
            arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 1
    assert f"port {port} " in done.stderr
    assert f"PORT={port + 1}" in done.stderr


def test_the_demos_database_is_not_served_to_other_hosts(settings, tmp_path):
    settings.HOME = tmp_path
    settings.ALLOWED_HOSTS = ["localhost", "grades.example.org"]
    assert "crowdgrade.E001" not in [problem.id for problem in run_checks()]
    (tmp_path / "demo").touch()
    assert "crowdgrade.E001" in [problem.id for problem in run_checks()]
