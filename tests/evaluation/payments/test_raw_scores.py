"""Raw scores at the desk have the interval over a worker's answers."""

import pytest

from evaluation.models import AnswerScore
from evaluation.runs.raw_scores import (
    RawScore,
    ScoreDistribution,
    compute_score_distribution,
    find_grading_run,
    load_worker_scores,
)
from tests.evaluation.grading.results.world import finished

pytestmark = pytest.mark.django_db


def test_the_interval_is_that_of_the_mean_over_the_answers():
    # Six answers with leave-one-out scores .5 .6 .5 .6 .5 .6: sd = .0548,
    # standard error .0548 / sqrt(6) = .02236, t with 5 degrees of freedom 2.5706: +- .0575.
    run = finished()
    worker = run.worker_grades.get(rank=2).worker
    mine = AnswerScore.objects.filter(run=run, response__submission__worker=worker)
    for number, one in enumerate(mine.order_by("pk")):
        AnswerScore.objects.filter(pk=one.pk).update(score_leave_one_out=0.5 + 0.1 * (number % 2))
    run.worker_grades.filter(worker=worker).update(leave_one_out=0.55)
    one = load_worker_scores(run, [worker.pk])[worker.pk]
    assert (one.value, one.n_answers, one.supported) == (0.55, 6, True)
    assert (one.low, one.high) == pytest.approx((0.55 - 0.0575, 0.55 + 0.0575), abs=1e-4)


def test_without_a_run_there_are_no_scores_and_an_empty_one_asks_for_nobody():
    run = finished()
    assert find_grading_run(run.version) == run
    assert load_worker_scores(None) == {}
    assert load_worker_scores(run, []) == {}


def test_how_scores_lie_is_told_of_those_with_answers_enough():
    # Raw scores .65, .5875, .525, .4625 and .40, of the last too few answers to say: of four,
    # two have .5875 or more, and one, the least number that is a fifth, has .65.
    found = compute_score_distribution(load_worker_scores(finished(5)))
    assert found == ScoreDistribution(
        4, *(pytest.approx(one) for one in (0.4625, 0.5875, 0.65, 0.65))
    )


def test_of_ten_people_half_are_five_and_a_fifth_are_two():
    ten = {at: RawScore(at / 10, None, None, 9, True) for at in range(1, 11)}
    assert compute_score_distribution(ten) == ScoreDistribution(10, 0.1, 0.6, 0.9, 1.0)
    assert compute_score_distribution({1: RawScore(None, None, None, 0, True)}) is None
    assert compute_score_distribution({}) is None


def test_question_contrasts_have_the_interval_of_the_run():
    run = finished()
    first = run.worker_grades.get(rank=1).worker
    run.worker_grades.filter(worker=first).update(
        contrast=0.3, contrast_low=0.25, contrast_high=0.35
    )
    one = load_worker_scores(run, [first.pk], "contrast")[first.pk]
    assert (one.value, one.low, one.high) == (0.3, 0.25, 0.35)
    # An older run has none, and the answers' intervals are those of another score.
    others = load_worker_scores(run, score="contrast")
    assert {o.value for key, o in others.items() if key != first.pk} == {None}
    assert {o.low for key, o in others.items() if key != first.pk} == {None}
    assert (one.n_answers, one.supported) == (6, True)
