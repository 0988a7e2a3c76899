"""Fifty requests at once plan, confirm and take each bonus one time."""

import json
import os
import subprocess
import sys

import pytest

from tests.annotations.answering.test_race import database  # noqa: F401 (a fixture)
from tests.annotations.ledger.paying import THREADS
from tests.conftest import ROOT

pytestmark = pytest.mark.long


def test_50_at_once_plan_confirm_and_take_each_bonus_once(database, tmp_path):  # noqa: F811
    environment = os.environ | {"DATABASE_URL": database, "CROWDGRADE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.api.pressing"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    others = THREADS - 1
    assert found["said"] == {
        "plan": {"8 new": 1, "0 new": others},
        # The others say a sum of which nothing is planned any more, or find nothing to take.
        "confirm": {"8 confirmed": 1, "409": others},
        "take": {"8 in a list": 1, "409": others},
    }
    assert found["events"] == {"proposed": 8, "confirmed": 8, "sent": 8}
    assert found["lists"] == 1
