"""A plan's arithmetic, question by question, in answers and in money."""

import math

import pytest

from evaluation.core.options import TERMINAL
from evaluation.core.stats.planner import compute_error, estimate_similarity_to_truth
from evaluation.runs.flow.forecast import GradedQuestion
from evaluation.sample_size.run.plan import CurrentScore, build_answer_plan
from evaluation.sample_size.run.trial import PlanTargets


def left_out(similarity, answers):
    """The mean leave-one-out score that answers of that likeness to the truth would have."""
    return similarity * (1 - float(compute_error(similarity, answers - 1)))


def question(name, similarity, answers):
    return GradedQuestion(name, name, answers, left_out(similarity, answers))


def made(questions=(), workers=(), models=(), n_people=100, **wishes):
    return build_answer_plan(
        PlanTargets(**wishes), list(questions), list(workers), list(models), n_people
    )


def test_a_question_gets_what_it_lacks_and_costs_pay_and_fee():
    # S = .5 needs 28 answers for .05 (see the planner's tests): 24 are there, 4 are lacking.
    found = made([question("q", 0.5, 24)], pay=0.2, fee=40, currency="EUR")
    (row,) = found.questions
    assert (row.answers, row.needed, row.more, row.standing) == (24, 28, 4, "wanted")
    assert row.off == pytest.approx(float(compute_error(0.5, 24)))
    assert row.off_then == pytest.approx(float(compute_error(0.5, 28)))
    assert row.off_then <= 0.05 < row.off
    # 4 x .20 x 1.40 = 1.12; so far 24 x .28 = 6.72
    assert (row.cost, found.plan.cost, found.plan.total_cost) == (1.12, 6.72, 1.12)
    assert "4 more answers on 1 question for EUR 1.12." in TERMINAL.format_all(found.messages)


def test_the_least_settled_questions_come_first_and_settled_ones_get_nothing():
    found = made([question("easy", 0.9, 10), question("hard", 0.5, 10), question("some", 0.6, 10)])
    # S = .6: .9025 x .64 / (.36 x .0975) = 16.5, so 17
    assert [(row.name, row.more) for row in found.questions] == [
        *(("hard", 18), ("some", 7), ("easy", 0)),
    ]
    assert (found.plan.settled, found.plan.wanted, found.plan.more_answers) == (1, 2, 25)
    assert found.plan.total_cost is None


def test_what_would_need_too_many_is_not_bought_but_named():
    questions = [question("far", 0.3, 5), GradedQuestion("never", "never", 5, -0.1)]
    found = made(questions, most=20)
    needed = math.ceil(0.9025 * 0.91 / (0.09 * 0.0975))
    by_name = {row.name: row for row in found.questions}
    assert by_name["far"].needed == needed == 94
    assert by_name["never"].needed is None
    assert {row.standing for row in found.questions} == {"beyond"}
    assert found.plan.total_answers == 0
    said = " ".join(TERMINAL.format_all(found.messages))
    assert "2 questions are not bought for: it would take 89 further answers" in said
    hopeless = made([GradedQuestion("never", "never", 5, 0.0)])
    assert "nothing in common" in " ".join(TERMINAL.format_all(hopeless.messages))


def test_a_question_with_one_answer_gets_what_a_question_usually_needs():
    found = made(
        [question("q", 0.6, 17), question("r", 0.6, 17), GradedQuestion("one", "one", 1, None)]
    )
    row = next(row for row in found.questions if row.name == "one")
    assert (row.standing, row.more, row.off) == ("alone", 16, None)


def test_people_who_have_answered_everything_cannot_answer_again():
    # 26 people, 24 of whom answered: 4 more answers take 2 who are new.
    assert made([question("q", 0.5, 24)], n_people=26).plan.new_people == 2
    assert made([question("q", 0.5, 24)], n_people=40).plan.new_people == 0
    said = TERMINAL.format_all(made([question("q", 0.5, 24)], n_people=40).messages)
    assert not any("must be found" in sentence for sentence in said)


def test_further_questions_narrow_the_middle_interval():
    workers = [CurrentScore(n, n, 16, width) for n, width in (("a", 0.1), ("b", 0.2), ("c", 0.4))]
    models = [CurrentScore("m", "m", 16, 0.4)]
    found = made([question("q", 0.9, 10)], workers, models, pay=1.0, width=0.1)
    # The middle one: 16 x (.2 / .1)^2 = 64, so 48 more, with 10 answers each.
    plan = found.plan
    assert (plan.new_questions, plan.answers_each, plan.new_answers) == (48, 10, 480)
    assert plan.total_cost == 480.0
    assert plan.workers.then == pytest.approx(0.1)
    assert (plan.workers.narrow, plan.workers.narrow_then) == (1, 2)
    assert plan.workers.widest_then == pytest.approx(0.2)
    assert [row.more for row in found.workers] == [16 * 15, 48, 0]
    # Models want 16 x 16 - 16 = 240 further questions; who plans for them pays for them.
    assert plan.models.more == 240
    assert made([question("q", 0.9, 10)], workers, models, narrow="both").plan.new_questions == 240
    assert made([question("q", 0.9, 10)], workers, models, narrow="models").plan.workers.more == 48


def test_where_everything_is_reached_nothing_is_bought():
    found = made([question("q", 0.9, 10)], [CurrentScore("a", "a", 16, 0.05)], pay=0.2)
    assert found.plan.is_reached
    assert (found.plan.total_answers, found.plan.total_cost) == (0, 0.0)
    assert "plan.reached" in {message.code for message in found.messages}


def test_of_nothing_there_is_an_empty_plan():
    plan = made().plan
    assert (plan.n_questions, plan.off, plan.workers, plan.models) == (0, None, None, None)


@pytest.mark.parametrize(("answers", "cost"), [(1, 0.01), (3, 0.02), (7, 0.04)])
def test_half_a_cent_is_rounded_upwards(answers, cost):
    assert PlanTargets(pay=0.005).compute_cost(answers) == cost


def test_likeness_and_left_out_scores_are_each_others_inverse():
    assert estimate_similarity_to_truth(left_out(0.5, 24), 23) == pytest.approx(0.5)
