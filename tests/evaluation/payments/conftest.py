"""A graded set that people are paid and invited by."""

import pytest

from tests.evaluation.grading.results.world import finished


@pytest.fixture
def run(db):
    """Raw scores .65, .5875, .525, .4625 and .40 of five people; of the last too few
    answers to say.

    Leave-one-out .4 + grade / 4 with grades 1, .75, .5, .25, 0.
    """
    run = finished(5)
    run.owner.is_staff = True
    run.owner.save()
    return run
