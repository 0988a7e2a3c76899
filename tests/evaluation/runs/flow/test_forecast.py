"""What ten more people would change, against the formula by hand."""

import pytest

from evaluation.core.stats.planner import compute_exemplar_error
from evaluation.runs.flow.forecast import (
    GradedQuestion,
    convert_forecast_to_dict,
    estimate_question_similarity,
    forecast_more_workers,
)


def test_the_forecast_is_the_planner_s_with_ten_answers_more():
    questions = [GradedQuestion("a", "a", 5, 0.6), GradedQuestion("b", "b", 5, 0.9)]
    found = forecast_more_workers(questions, None, within=0.05)
    assert found.answers == 20  # ten people, two questions each
    now = [float(compute_exemplar_error(estimate_question_similarity(one), 5)) for one in questions]
    then = [
        float(compute_exemplar_error(estimate_question_similarity(one), 15)) for one in questions
    ]
    assert found.off == pytest.approx(sum(now) / 2)
    assert found.off_then == pytest.approx(sum(then) / 2)
    assert [(one.name, one.more) for one in found.wanting] == [("a", 10)]
    assert found.wanting[0].off == pytest.approx(now[0])
    assert convert_forecast_to_dict(found)["wanting"][0]["key"] == "a"


def test_the_questions_with_the_fewest_answers_get_theirs_first():
    questions = [GradedQuestion("a", "a", 4, 0.5), GradedQuestion("b", "b", 9, 0.5)]
    # Ten people with one question each: a gets five until both have 9, then they take turns.
    found = forecast_more_workers(questions, 1, within=0.01)
    assert {one.name: one.more for one in found.wanting} == {"a": 8, "b": 2}
    # Nobody answers a question twice: one far behind gets no more than ten.
    found = forecast_more_workers(
        [GradedQuestion("a", "a", 4, 0.5), GradedQuestion("b", "b", 90, 0.5)], 2, 0.001
    )
    assert {one.name: one.more for one in found.wanting} == {"a": 10, "b": 10}


def test_too_few_answers_or_no_likeness_say_nothing():
    assert forecast_more_workers([], None, 0.05) is None
    few = [GradedQuestion("a", "a", 3, 0.6), GradedQuestion("b", "b", 3, 0.6)]
    assert forecast_more_workers(few, None, 0.05) is None
    assert forecast_more_workers([GradedQuestion("a", "a", 8, None)], None, 0.05) is None
    few.append(GradedQuestion("c", "c", 4, 0.6))
    assert forecast_more_workers(few[1:], None, 0.05) is None  # the middle of 3 and 4 is below 4
