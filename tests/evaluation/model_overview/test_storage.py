"""Which runs of a version all views are read from: the newest of each kind that are done."""

import pytest
from django.utils import timezone

from evaluation.model_overview.storage import MOST_RUNS, find_source_runs
from evaluation.models import Run
from tests.annotations import world

pytestmark = pytest.mark.django_db


def test_of_each_kind_the_newest_runs_that_are_done_are_read_and_no_more():
    version = world.version(world.user("rana"))

    def run(kind, state="done"):
        return Run.objects.create(
            version=version,
            owner=version.question_set.owner,
            kind=kind,
            parameters={},
            state=state,
            finished_at=timezone.now() if state == "done" else None,
        )

    graded = [run("aqer") for _ in range(MOST_RUNS + 2)]
    judged = run("judge")
    run("judge", "queued")
    run("panels")
    found = find_source_runs(version, ["aqer", "judge", "umwp"])
    assert found == {"aqer": graded[:1:-1], "judge": [judged]}
    assert len(found["aqer"]) == MOST_RUNS == 8
