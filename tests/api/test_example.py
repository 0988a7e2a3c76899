"""The worked example of the documentation runs, as it stands there, against a live server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotations.web.rest.problems import KINDS
from crowdgrade.models.tokens import create_token
from evaluation.models import Run
from evaluation.runs.background.work import work_one_turn

DOCUMENT = Path(__file__).resolve().parents[2] / "platform" / "docs" / "api.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def block(language):
    (code,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return code


@pytest.fixture
def environment(live_server, rana, monkeypatch):
    """Where the server is, and a token; a run is worked on when its bell rings."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", work_one_turn)
    _, token = create_token(rana, "example", 1)
    return {**os.environ, "CROWDGRADE_URL": live_server.url, "CROWDGRADE_TOKEN": token}


def ran(command, environment):
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    (run,) = Run.objects.all()
    assert run.state == Run.State.DONE, run.error
    return done.stdout


@pytest.mark.medium
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_example_with_curl_runs(environment):
    printed = ran(["bash", "-euo", "pipefail", "-c", block("sh")], environment)
    assert '"n_new":8' in printed
    # dot, who had no idea, comes last.
    assert re.findall(r'"name":"(\w+)"', printed)[-1] == "dot"


@pytest.mark.medium
def test_the_example_in_python_runs(environment):
    lines = ran([sys.executable, "-c", block("python")], environment).splitlines()
    assert lines[:2] == ["8 new", "0 new, changed: False"]
    grades = dict(line.split() for line in lines[-4:])
    assert set(grades) == {"ada", "ben", "cy", "dot"}
    assert float(grades["dot"]) == min(map(float, grades.values())) == 0


def test_the_document_names_every_problem_with_its_status():
    rows = re.findall(r"^\| (\d{3}) \| (.*) \|$", TEXT, re.MULTILINE)
    named = {(code, int(status)) for status, cell in rows for code in re.findall(r"`(.*?)`", cell)}
    assert named == {(kind.code, kind.status) for kind in KINDS.values()}
