"""What a command imports: what it is asked for, and none of the rest of the site."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib import admin
from django.core.checks import Tags, run_checks

from tests.features import FEATURES, folder_of

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("evaluate aqer", "evaluate maqa", "study umwp", "study eloquent", "study judge")
OWN = ("annotations", "crowdgrade", "evaluation")
# Of a feature, what every list of kinds and every catalogue of sentences loads.
OF_ALL = ([], ["run_type"], ["messages"], ["construction"], ["construction", "run_type"])
# Of a grading too, which has sentences in each of its parts.
OF_GRADING = {"alarms", "facts", "remedies", "results", "methods", "check_results", "messages"}
WITH_FOLDER = {*FEATURES, "grading"}
# Of the feature that is asked for, what its help does without.
DONE_LATER = {"commands", "storage", "report", "charts", "views"}
MOST = 250
HEAVY = {"torch", "pandas", "scipy.stats", "sklearn", "sentence_transformers", "transformers"}
# Prints the loaded modules where the command ends, which is where its help was printed.
CODE = """
import atexit, json, runpy, sys
atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))
sys.argv = ["manage.py", *sys.argv[1:]]
runpy.run_path("manage.py", run_name="__main__")
"""


def is_of_all(feature, *path):
    """Whether every list of kinds, or every catalogue of sentences, loads a part of a feature."""
    return [*path] in OF_ALL or (feature == "grading" and OF_GRADING.issuperset(path))


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COMMANDS, "grade", "ask"])
def test_the_help_of_a_command_loads_what_the_command_needs(command):
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONSAFEPATH"}}
    done = subprocess.run(
        [sys.executable, "-c", CODE, *command.split(), "--help"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "--" in done.stdout
    loaded = json.loads(done.stderr.splitlines()[-1])
    own = [name for name in loaded if name.split(".")[0] in OWN]
    assert len(own) <= MOST
    assert HEAVY.isdisjoint(loaded)
    if command in ("evaluate aqer", "grade"):  # the others declare how models are asked
        assert "httpx" not in loaded
    # A module of a kind's folder is a part of it; the folders themselves hold what lists need.
    parts = [name.split(".")[1:] for name in own if name.startswith("evaluation.")]
    kinds = {room[1] for room in parts if room[0] == "kinds" and len(room) > 2}
    kinds |= {room[0] for room in parts if room[0] in WITH_FOLDER and not is_of_all(*room)}
    assert kinds == {folder_of(name)[-1] for name in command.split()[1:]}
    assert not any(DONE_LATER & set(room[1:]) for room in parts if room[0] in WITH_FOLDER)
    assert not {"annotations.web", "evaluation.site", "evaluation.api"} & set(own)


def test_the_check_of_the_admin_loads_it_first(monkeypatch):
    done = []
    monkeypatch.setattr(admin, "autodiscover", lambda: done.append("load"))
    monkeypatch.setattr(
        "crowdgrade.apps.check_admin_app", lambda *_, **__: done.append("check") or []
    )
    run_checks(tags=[Tags.admin])
    assert done == ["load", "check"]


def test_the_addresses_load_the_admin(monkeypatch):
    done = []
    monkeypatch.setattr(admin, "autodiscover", lambda: done.append("load"))
    runpy.run_path(str(ROOT / "platform" / "crowdgrade" / "urls.py"))
    assert done == ["load"]
