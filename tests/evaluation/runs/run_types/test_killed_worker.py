"""A run of a kind that one line adds goes on from its checkpoint after kill -9."""

import sqlite3
from contextlib import closing

import pytest

from tests.evaluation.runs.background.scratch import Scratch, wait_until

SETTINGS = "tests.evaluation.runs.run_types.settings"
# Each half of the work takes so long: time to kill the worker in the second.
SECONDS = 5.0

QUEUE = """
from evaluation.models import Run
run = Run.objects.get(pk=RUN)
Run.objects.filter(pk=RUN).update(kind="words", parameters={"seconds": SECONDS})
result = None
"""
LOOK = """
from evaluation.models import Run, RunData
run = Run.objects.get(pk=RUN)
result = {
    "state": run.state, "error": run.error, "attempt": run.attempt, "crashes": run.crashes,
    "summary": run.summary, "signature": run.signature,
    "kept": {row.name: row.data for row in RunData.objects.filter(run=run)},
}
"""


@pytest.mark.long
def test_a_run_of_another_kind_survives_kill_9_and_counts_its_first_half_once(sqlite_home):
    site = Scratch(sqlite_home, None, None)
    site.environment["DJANGO_SETTINGS_MODULE"] = SETTINGS

    def look():
        return site.python(LOOK, RUN=run)

    def in_the_second_half():
        # Asked of the file itself: a process for each look would take longer than the half does.
        with closing(sqlite3.connect(site.home / "crowdgrade.sqlite3")) as database:
            found = database.execute("SELECT state, attempt FROM evaluation_run").fetchone()
        return found == ("running", 2)

    try:
        # Two workers, two questions: "answer 0 to 0" and so on, four words each.
        run = site.seed("minilm", 2, 2)
        site.python(QUEUE, RUN=run, SECONDS=SECONDS)
        first = site.start_worker()
        wait_until(in_the_second_half, 60, "the second half began", site.log)
        site.kill(first)
        left = look()
        assert (left["state"], left["crashes"]) == ("running", 0)
        # The first worker's two answers are what the first turn put aside.
        assert left["kept"] == {"first-half": [{"w0": 8}, 1]}

        site.start_worker()
        wait_until(lambda: look()["state"] in ("done", "failed"), 60, "the run ended", site.log)
        end = look()
        assert (end["state"], end["error"], end["crashes"]) == ("done", "", 1)
        # The half of attempt 1 was taken from its checkpoint; attempt 2 was killed.
        assert end["summary"]["turns"] == [1, 3]
        assert end["kept"] == {"rows": [["w0", 8], ["w1", 8]]}
    finally:
        site.close()
