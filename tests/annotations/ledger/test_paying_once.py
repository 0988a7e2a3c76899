"""Whoever presses "pay" how often, and wherever it dies: each bonus is paid at most once."""

import json
import os
import subprocess
import sys

import pytest

from tests.annotations.answering.test_race import database  # noqa: F401 (a fixture)
from tests.annotations.ledger.paying import PEOPLE, STEPS, THREADS
from tests.conftest import ROOT

pytestmark = pytest.mark.alone


def test_kill_9_at_every_step_and_50_threads_pay_once(database, tmp_path):  # noqa: F811
    environment = os.environ | {"DATABASE_URL": database, "CROWDGRADE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotations.ledger.paying"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    once, half = [1] * PEOPLE, [1] * (PEOPLE // 2)
    # What the panel paid until the kill, and what the next three presses bring.
    wanted = {
        "before the claim": (once, ["paid", "nothing", "nothing"], "settled"),
        "claim not stored": (once, ["paid", "nothing", "nothing"], "settled"),
        "claimed": ([], ["nothing"] * 3, "sent"),
        "half paid": (half, ["nothing"] * 3, "sent"),
        "paid": (once, ["nothing"] * 3, "sent"),
        "paid not stored": (once, ["nothing"] * 3, "sent"),
        "stored": (once, ["nothing"] * 3, "settled"),
    }
    assert set(wanted) == set(STEPS) == set(found["killed"])
    for step, (paid, again, state) in wanted.items():
        assert found["killed"][step] == {
            "code": -9, "again": again, "paid": paid, "states": {state: PEOPLE},
        }, step  # fmt: skip
    assert found["raced"] == {"said": {"paid": 1, "nothing": THREADS - 1}, "paid": once}
