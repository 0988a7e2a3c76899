"""What experts' grades say, on a handful of answers by hand."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference.prediction_powered import (
    compute_weighted_mean,
    estimate_powered_group_means,
)
from evaluation.core.stats.statistics.agreement import intraclass_correlation
from evaluation.experts.run import (
    AGREEMENT,
    ExpertsParameters,
    GradedAnswer,
    ScoredAnswer,
    compute_expert_findings,
    iterate_agreement_rows,
)

PARAMETERS = ExpertsParameters(bootstrap=50)


def graded(author, question, grades, settled=None, score=None, of_model=False, weight=1.0):
    names = ("ed", "eve")
    given = {name: grade for name, grade in zip(names, grades, strict=False) if grade is not None}
    return GradedAnswer(ScoredAnswer(author, of_model, question, score), given, settled, weight)


SOME = [
    graded("ada", "q1", (1, 2), score=0.1),
    graded("ben", "q1", (3, 3), score=0.3),
    graded("ada", "q2", (5, 4), score=0.5),
    graded("ben", "q2", (0, 5), settled=4, score=0.4),
    graded("ada", "q3", (4, None), score=0.4),
]


def test_agreement_is_of_those_who_graded_alone_and_says_what_is_missing():
    found = compute_expert_findings(SOME, [one.answer for one in SOME], PARAMETERS)
    assert (found.experts, found.n_graded, found.n_settled) == (["ed", "eve"], 5, 1)
    assert (found.panel.n_by_two, found.panel.n_missing) == (4, 1)
    icc = next(one for one in found.agreement if one.metric == "icc_single")
    assert icc.value == intraclass_correlation([[1, 2], [3, 3], [5, 4], [0, 5]]).single
    assert (icc.n, icc.n_questions) == (4, 2)
    # What counts against the scores: means 1.5, 3, 4.5, 4 (settled), 4.
    expected = stats.pearsonr([0.1, 0.3, 0.5, 0.4, 0.4], [1.5, 3, 4.5, 4, 4])[0]
    assert found.people.value == pytest.approx(expected)
    rows = list(iterate_agreement_rows(found))
    assert [row[0] for row in rows][-2:] == ["alpha_interval", "score_correlation_people"]
    assert {len(row) for row in rows} == {len(AGREEMENT)}


def test_difficulty_is_one_less_the_mean_grade_over_five_the_hardest_first():
    more = [*SOME, graded("llm", "q1", (5, 5), of_model=True)]
    answers = [one.answer for one in more] + [ScoredAnswer("cy", False, "q1", 0.2)]
    first, *_, last = compute_expert_findings(more, answers, PARAMETERS).difficulty
    # q1: grades that count 1.5 and 3 (the model's does not): 1 - 2.25 / 5 = .55.
    assert (first.question, first.n, first.n_answers) == ("q1", 2, 3)
    assert first.difficulty == pytest.approx(0.55)
    # t of one degree of freedom is 12.7: the interval is cut to 0..1.
    assert (first.low, first.high) == (0, 1)
    assert last.question == "q2"
    assert last.difficulty == pytest.approx(1 - 4.25 / 5)


def test_in_the_difficulty_a_grade_counts_for_as_many_answers_as_it_stands_for():
    some = [
        graded("ada", "q1", (5,), weight=3),
        graded("ben", "q1", (1,)),
        graded("cy", "q1", (3,), weight=1),
        graded("dee", "q1", (0,), weight=0),
        graded("llm", "q1", (0,), of_model=True, weight=9),
    ]
    (found,) = compute_expert_findings(some, [], PARAMETERS).difficulty
    # (3 x 5 + 1 + 3) / 5 = 3.8 of 5, where the plain mean of the three would be 3. Who stands for
    # none of all answers says nothing of them.
    assert found.difficulty == pytest.approx(1 - 3.8 / 5)
    assert (found.n, found.n_answers) == (3, 3)
    mean = compute_weighted_mean([5, 1, 3], [3, 1, 1])
    assert (found.low, found.high) == (0, pytest.approx(min(1, 1 - mean.low / 5)))
    # In the order of what they say: q2, .3, is harder than q1, .24.
    more = [*some, graded("ada", "q2", (3.5,), weight=2)]
    assert [one.question for one in compute_expert_findings(more, [], PARAMETERS).difficulty] == [
        "q2",
        "q1",
    ]


@pytest.mark.parametrize(
    ("noise", "level"), [(0.1, "reliable"), (0.55, "tentative"), (2.0, "poor")]
)
def test_the_level_is_that_of_alpha(noise, level):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6.0), 10)
    pairs = np.clip(truth[:, None] + 2 * noise * rng.normal(size=(60, 2)), 0, 5)
    some = [graded("ada", f"q{at}", pair) for at, pair in enumerate(pairs)]
    found = compute_expert_findings(some, [], PARAMETERS)
    assert found.level == level
    assert found.means == []


@pytest.mark.parametrize("pair", [(4, 3.5), (4, 4)])
def test_of_one_answer_nobody_knows_how_far_experts_agree(pair):
    assert compute_expert_findings([graded("ada", "q1", pair)], [], PARAMETERS).level == "unknown"
    assert (
        compute_expert_findings([graded("ada", "q1", pair), *SOME[:2]], [], PARAMETERS).level
        != "unknown"
    )


def test_a_high_alpha_that_may_be_chance_is_tentative():
    pairs = [(0, 0), (5, 5), (0, 0), (5, 5), (0, 0), (5, 0)]
    some = [graded("ada", f"q{at}", pair) for at, pair in enumerate(pairs * 2)]
    found = compute_expert_findings(some, [], PARAMETERS)
    assert found.panel.alpha_interval.value < 0.8
    some = [graded("ada", f"q{at}", pair) for at, pair in enumerate(pairs[:5] * 2 + [(5, 0)])]
    found = compute_expert_findings(some, [], PARAMETERS)
    assert found.panel.alpha_interval.value > 0.8
    assert found.panel.alpha_interval.low < 0.667
    assert found.level == "tentative"


def test_of_one_expert_nothing_is_known_of_agreement():
    found = compute_expert_findings(
        [graded("ada", "q1", (3,)), graded("ben", "q2", (4,))], [], PARAMETERS
    )
    assert found.level == "unknown"
    assert {one.value for one in found.agreement} == {None}
    assert compute_expert_findings([], [], PARAMETERS).n_graded == 0


def test_true_means_are_of_workers_then_models_and_only_of_random_samples():
    rng = np.random.default_rng(3)
    answers = [
        ScoredAnswer(author, author == "llm", f"q{at}", float(rng.random()))
        for author in ("ada", "ben", "llm")
        for at in range(20)
    ]
    some = [
        GradedAnswer(one, {"ed": float(np.rint(10 * one.score) / 2)})
        for one in answers
        if int(one.question[1:]) < (12 if one.author == "ben" else 6)
    ]
    found = compute_expert_findings(some, answers, PARAMETERS)
    assert [one.kind for one in found.means] == ["worker", "worker", "model"]
    ada = next(one for one in found.means if one.name == "ada")
    assert (ada.n, ada.n_answers) == (6, 20)
    grade_of = {id(one.answer): one.grade for one in some}
    people = answers[:40]
    expected = estimate_powered_group_means(
        [grade_of.get(id(one), np.nan) for one in people],
        [one.score for one in people],
        [one.author for one in people],
    )[0]
    assert (ada.mean, ada.low) == (expected.powered.mean, expected.powered.low)
    assert ada.weight == pytest.approx(14 / 20)  # learned from Ben's eleven further grades
    assert found.means[2].weight == 0  # there is no other model to learn from
    chosen = compute_expert_findings(some, answers, PARAMETERS, random=False)
    assert (chosen.means, chosen.without_means) == ([], "not_drawn_at_random")


def half_of_each(weight_of):
    """Ada, Ben and Cy: 24 answers each, of which 12 are graded; scores go with the grades."""
    rng = np.random.default_rng(3)
    answers = [
        ScoredAnswer(author, False, f"q{at}", float(rng.random()))
        for author in ("ada", "ben", "cy")
        for at in range(24)
    ]
    some = [
        GradedAnswer(
            one, {"ed": float(np.rint(10 * one.score) / 2)}, None, weight_of(one.author, at)
        )
        for one in answers
        if (at := int(one.question[1:])) < 12
    ]
    return some, compute_expert_findings(some, answers, PARAMETERS).means


def test_of_who_has_grades_that_stand_for_different_numbers_the_mean_is_that_of_these_weighted():
    # Of Ada's first questions every answer was drawn, of the others one in three.
    some, means = half_of_each(lambda author, at: 3 if author == "ada" and at >= 6 else 1)
    ada = next(one for one in means if one.name == "ada")
    grades = [one.grade for one in some if one.answer.author == "ada"]
    assert ada.mean == ada.graded == pytest.approx((sum(grades[:6]) + 3 * sum(grades[6:])) / 24)
    expected = compute_weighted_mean(grades, [1] * 6 + [3] * 6)
    assert (ada.low, ada.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert (ada.graded_low, ada.weight, ada.narrower) == (ada.low, 0, 0)
    assert (ada.n, ada.n_answers, ada.reason) == (12, 24, None)
    # Ben's and Cy's stand for as many each: as if nobody had weighed them.
    _, plain = half_of_each(lambda author, at: 1)
    for name in ("ben", "cy"):
        assert next(one for one in means if one.name == name) == next(
            one for one in plain if one.name == name
        )


def test_weights_that_differ_among_workers_only_change_no_mean():
    _, plain = half_of_each(lambda author, at: 1)
    _, means = half_of_each(lambda author, at: {"ada": 2.5, "ben": 7, "cy": 0.3}[author])
    assert means == plain
    assert all(one.weight > 0 for one in means)


def test_the_mean_of_a_sample_with_parts_drawn_more_densely_is_right_on_average():
    """Ada gets 1 for 20 answers, all of which were graded, and 4 for 80, one in eight of them.

    The plain mean of the 30 grades is (20 + 10 x 4) / 30 = 2, and that of all 3.4.
    """
    rng = np.random.default_rng(0)
    answers = [ScoredAnswer("ada", False, f"q{at}", float(rng.random())) for at in range(100)]
    some = [
        GradedAnswer(answers[at], {"ed": 1.0 if at < 20 else 4.0}, None, 1.0 if at < 20 else 8.0)
        for at in [*range(20), *rng.choice(np.arange(20, 100), 10, replace=False)]
    ]
    (ada,) = compute_expert_findings(some, answers, PARAMETERS).means
    assert ada.mean == ada.graded == pytest.approx(3.4)
