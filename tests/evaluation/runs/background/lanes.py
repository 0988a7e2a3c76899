"""A run worked on as on a site: what asks in one process, what computes in another."""

from evaluation.models import Run
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_on_run
from evaluation.runs.steps.checkpoints import Lane

FAR = 1e12
"""A deadline of a turn that never comes."""


def work_in_two_lanes(run: Run, most: int) -> list[Lane]:
    """Give the run turns in the lane it waits in until it ends; return the lanes in order.

    Raises AssertionError where it has not ended after `most` turns.
    """
    lanes: list[Lane] = []
    while Run.objects.get(pk=run.pk).state == Run.State.QUEUED:
        assert len(lanes) < most, [lane.value for lane in lanes]
        for lane in Lane:
            if claim := claim_next_run("ann", lane):
                work_on_run(claim, FAR, lane=lane)
                lanes.append(lane)
                break
    run.refresh_from_db()
    return lanes
