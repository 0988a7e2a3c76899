"""Known workers: true values, correlations and both intervals, on crowds reckoned by hand."""

import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS, Corpus, Method, UnavailableError
from evaluation.evidence.labelled_crowd import (
    AGREEMENT_HEADER,
    EQUAL_VALUES,
    FEWER_WORKERS,
    LabelledCrowd,
    compute_agreements,
)

# Four people, six questions, everybody answers everything; ann is right six times, dan never.
PEOPLE = ("ann", "bob", "cy", "dan")
RIGHT = {"ann": 6, "bob": 4, "cy": 3, "dan": 0}
WORKERS = np.repeat(PEOPLE, 6)
QUESTIONS = np.tile(np.arange(6), 4)
VALUES = np.array([float(q < RIGHT[who]) for who, q in zip(WORKERS, QUESTIONS, strict=True)])
# A right answer points along its question's own direction, a wrong one away from it.
VECTORS = np.column_stack([np.where(VALUES == 1, 1.0, 0.2), np.where(VALUES == 1, 0.1, 1.0)])


def labelled(values=VALUES, workers=WORKERS, questions=QUESTIONS):
    return LabelledCrowd(Corpus(["x"] * len(values), questions, lambda _: VECTORS), workers, values)


def of_values(crowd):
    """A method that knows: the mean of the first coordinates, which rise with the values."""
    return crowd.compute_worker_means(VECTORS[crowd.rows, 0])


KNOWS = Method("knows", of_values)


def row(found):
    return dict(zip(AGREEMENT_HEADER, found.list_cells(), strict=True))


def test_a_true_value_is_the_mean_value_of_a_workers_answers():
    assert labelled().build_trial().truth.tolist() == [6 / 6, 4 / 6, 3 / 6, 0 / 6]


def test_an_answer_without_a_value_counts_for_no_true_value_but_stays_in_the_crowd():
    values = VALUES.copy()
    values[0] = np.nan  # one of ann's six right ones
    values[6:10] = np.nan  # bob's four right ones: 0 of the 2 that are left
    trial = labelled(values).build_trial()
    assert trial.truth.tolist() == [1.0, 0.0, 0.5, 0.0]
    assert len(trial.crowd.rows) == 24


def test_a_part_has_its_share_of_the_answers_and_the_true_values_of_these():
    trials = labelled().draw_partial_trials(0.5, range(3))
    assert [len(trial.crowd.rows) for trial in trials] == [12, 12, 12]
    rows = [set(trial.crowd.rows.tolist()) for trial in trials]
    assert rows[0] != rows[1]
    of_ann = [r for r in trials[0].crowd.rows if r < 6]
    assert trials[0].truth[0] == pytest.approx(VALUES[of_ann].mean())


def test_the_same_seed_draws_the_same_part():
    one, two = (labelled().draw_partial_trials(0.4, [7])[0] for _ in range(2))
    assert one.crowd.rows.tolist() == two.crowd.rows.tolist()


def test_scores_that_are_the_true_values_correlate_fully_and_have_no_spread_over_questions():
    found = row(compute_agreements("all", labelled(), [labelled().build_trial()], [KNOWS])[0])
    assert found["pearson"] == pytest.approx(1)
    assert found["spearman"] == pytest.approx(1)
    assert (found["workers"], found["questions"], found["answers"]) == (4, 6, 24)
    assert found["repetitions"] == 1


def noisy(seed=0, people=40, questions=30):
    """Forty people who are right with different odds, and a method that sees it dimly."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.2, 0.9, people)
    workers, asked = np.repeat(np.arange(people), questions), np.tile(np.arange(questions), people)
    values = (rng.random(len(workers)) < skill[workers]).astype(float)
    seen = values + rng.normal(0, 2, len(values))
    crowd = LabelledCrowd(Corpus(["x"] * len(values), asked, lambda _: seen), workers, values)
    return crowd, Method("dim", lambda crowd: crowd.compute_worker_means(seen[crowd.rows]))


def test_both_intervals_hold_the_correlation_and_shrink_with_what_was_drawn():
    crowd, dim = noisy()
    found = row(compute_agreements("all", crowd, [crowd.build_trial()], [dim])[0])
    small, dim_small = noisy(people=10)
    of_few = row(compute_agreements("all", small, [small.build_trial()], [dim_small])[0])
    for name in ("pearson", "spearman"):
        for over in ("workers", "questions"):
            assert found[f"{name}_low_{over}"] < found[name] < found[f"{name}_high_{over}"]

    def width(of):
        return of["pearson_high_workers"] - of["pearson_low_workers"]

    assert width(of_few) > 1.3 * width(found)


@pytest.mark.long
def test_the_interval_over_questions_is_as_wide_as_other_questions_spread():
    """40 crowds of the same people with questions of their own spread as half of one foretells."""
    people, questions = 40, 30
    skill = np.linspace(0.2, 0.9, people)
    workers, asked = np.repeat(np.arange(people), questions), np.tile(np.arange(questions), people)
    found, widths = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = (rng.random(len(workers)) < skill[workers]).astype(float)
        seen = values + rng.normal(0, 2, len(values))
        crowd = LabelledCrowd(Corpus(["x"] * len(values), asked, lambda _: None), workers, values)
        dim = Method("dim", lambda crowd, seen=seen: crowd.compute_worker_means(seen[crowd.rows]))
        one = compute_agreements("all", crowd, [crowd.build_trial()], [dim])[0]
        found.append(np.arctanh(one.row.pearson_mean))
        low, high = np.arctanh(one.questions["pearson"])
        widths.append((high - low) / 2 / 2.045)  # Student's t of 29 degrees of freedom
    assert np.mean(widths) == pytest.approx(np.std(found, ddof=1), rel=0.3)


@pytest.mark.medium
def test_every_method_of_the_registry_has_a_row_also_where_it_cannot_be_computed():
    def missing(crowd):
        raise UnavailableError("no_such_model")

    methods = [METHODS["aqer"], METHODS["mean_vote"], Method("absent", missing)]
    trial = labelled().build_trial()
    found = compute_agreements("all", labelled(), [trial], methods)
    assert [one.row.method for one in found] == ["aqer", "mean_vote", "absent"]
    assert found[2].row.get_reason("pearson_mean") == "no_such_model"
    assert row(found[2])["pearson_low_workers"] is None
    scores = METHODS["aqer"].score(trial.crowd)
    assert found[0].row.pearson_mean == pytest.approx(np.corrcoef(scores, trial.truth)[0, 1])


def test_people_of_equal_worth_have_no_correlation_and_the_row_says_why():
    crowd = labelled(np.ones(24))
    found = compute_agreements("all", crowd, [crowd.build_trial()], [KNOWS])[0]
    assert found.row.get_reason("pearson_mean") == EQUAL_VALUES
    assert row(found)["pearson"] is None


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_people_are_too_few_and_the_row_says_so(n):
    keep = np.isin(WORKERS, PEOPLE[:n])
    of = Corpus(["x"] * keep.sum(), QUESTIONS[keep], lambda _: VECTORS[keep])
    crowd = LabelledCrowd(of, WORKERS[keep], VALUES[keep])
    methods = [METHODS[name] for name in ("aqer", "mean_vote", "rasa", "tfidf_char")]
    for found in compute_agreements("all", crowd, [crowd.build_trial()], methods):
        assert found.row.get_reason("pearson_mean") == FEWER_WORKERS


def test_one_question_has_no_interval_over_questions():
    keep = QUESTIONS == 3
    of = Corpus(["x"] * 4, QUESTIONS[keep], lambda _: VECTORS[keep])
    crowd = LabelledCrowd(of, WORKERS[keep], VALUES[keep])
    scores = VECTORS[keep][:, 0] + np.array([0.0, 0.3, 0.1, 0.2])
    method = Method("some", lambda crowd: crowd.compute_worker_means(scores[crowd.rows]))
    found = row(compute_agreements("all", crowd, [crowd.build_trial()], [method])[0])
    assert found["pearson"] is not None
    assert found["pearson_low_questions"] is None
