import numpy as np
import pytest
from scipy import stats

from evaluation.consensus.methods.estimator import AQER
from evaluation.grading.remedies.methods.copies import build_units
from evaluation.grading.remedies.methods.partial_crowd import fit_partial_crowd
from evaluation.sample_size.methods import (
    QUESTIONS,
    WORKERS,
    CrowdSize,
    SizePoint,
    find_smallest_size,
    list_subset_sizes,
)
from tests.evaluation.core.stats.worlds import crowd

QUICK = {"repetitions": 4, "n_draws": 20}


@pytest.fixture
def twelve():
    """Twelve workers from good to bad, with experts' grades of half of their answers."""
    x, workers, questions = crowd(5, workers=12, questions=20, dimension=30)
    level = np.array([int(worker.split()[1]) for worker in workers])
    grades = 5 - level / 3 + np.random.default_rng(1).normal(0, 0.5, len(level))
    grades[::2] = np.nan
    return x, workers, questions, grades


def points(fitted, by, measure):
    return {p.size: p for p in fitted.points_ if (p.by, p.measure) == (by, measure)}


def means(scores, labels):
    found = {}
    for label in dict.fromkeys(labels.tolist()):
        mine = scores[labels == label]
        mine = mine[~np.isnan(mine)]
        found[label] = mine.mean() if len(mine) else np.nan
    return found


@pytest.mark.medium
def test_the_whole_crowd_agrees_as_its_leave_one_out_scores_do(twelve):
    x, workers, questions, grades = twelve
    fitted = CrowdSize(**QUICK).fit(x, workers, questions, grades)
    scores = AQER(n_draws=0).fit(x, workers, questions).leave_one_out_scores_
    one, other = means(scores, workers), means(grades, workers)
    judged = [worker for worker in one if not np.isnan(other[worker])]
    r = stats.pearsonr([one[w] for w in judged], [other[w] for w in judged]).statistic
    rho = stats.spearmanr([one[w] for w in judged], [other[w] for w in judged]).statistic
    for by, size in ((WORKERS, 12), (QUESTIONS, 20)):
        point = points(fitted, by, "workers")[size]
        assert (point.pearson, point.spearman) == (pytest.approx(r), pytest.approx(rho))
        assert (point.low, point.high, point.n_draws) == (point.pearson, point.pearson, 1)
    known = ~np.isnan(scores + grades)
    r = stats.pearsonr(scores[known], grades[known]).statistic
    assert points(fitted, WORKERS, "answers")[12].pearson == pytest.approx(r)
    assert points(fitted, WORKERS, "crowd")[12].pearson == pytest.approx(1)


@pytest.mark.medium
@pytest.mark.parametrize("more", [{}, {"leave_one_out": True, "similarity": "euclidean"}])
def test_a_part_scores_everybody_as_if_the_others_had_no_vote(twelve, more):
    x, workers, questions, grades = twelve
    fitted = CrowdSize(repetitions=2, n_draws=2, seed=7, **more).fit(x, workers, questions, grades)
    labels = list(dict.fromkeys(workers.tolist()))
    found = []
    for draw in range(2):
        part = np.random.default_rng([7, 0, 4, draw]).choice(12, size=4, replace=False)
        codes = np.array([labels.index(worker) for worker in workers])
        asked = np.unique(questions, return_inverse=True)[1]
        outside = np.setdiff1d(np.arange(12), part)
        units = build_units(x, codes, asked, 12, outside)
        partial = fit_partial_crowd(AQER(n_draws=0, **more), x, codes, questions, units=units)
        scores = partial.leave_one_out_scores_
        known = ~np.isnan(scores + grades)
        found.append(stats.pearsonr(scores[known], grades[known]).statistic)
    assert points(fitted, WORKERS, "answers")[4].pearson == pytest.approx(np.mean(found))


@pytest.mark.slow
def test_more_workers_agree_better_and_the_verdict_says_from_when_on_hardly(twelve):
    x, workers, questions, grades = twelve
    fitted = CrowdSize(repetitions=20, n_draws=50).fit(x, workers, questions, grades)
    assert fitted.measure_ == "workers"
    curve = points(fitted, WORKERS, "crowd")
    assert curve[3].pearson < curve[6].pearson < curve[10].pearson < 1
    assert curve[3].low < curve[3].pearson < curve[3].high
    first = fitted.verdicts_[0]
    assert (first.by, first.measure, first.full_size) == (WORKERS, "workers", 12)
    by_experts = points(fitted, WORKERS, "workers")
    enough = [size for size, p in by_experts.items() if p.pearson < 0.95 * first.full.value]
    assert first.enough == min(size for size in by_experts if size > max(enough, default=0))
    assert first.full.low < first.full.value < first.full.high
    assert first.full.n == 12


def test_from_a_size_on_means_for_all_larger_ones_too():
    values = {3: 0.96, 4: 0.90, 5: 0.95, 6: 0.97}
    curve = [SizePoint(WORKERS, n, "crowd", r, r, r, r, 9) for n, r in values.items()]
    # 3 is above .95 as well, but 4 is not: from 5 on all are.
    assert find_smallest_size(curve, 0.95) == 5
    assert find_smallest_size(curve, 0.99) is None
    assert find_smallest_size(curve, 0.5) == 3
    gap = [*curve, SizePoint(WORKERS, 8, "crowd", None, None, None, None, 0)]
    assert find_smallest_size(gap, 0.5) is None


@pytest.mark.medium
def test_without_judgements_the_crowd_is_compared_with_itself(twelve):
    x, workers, questions, _ = twelve
    fitted = CrowdSize(**QUICK).fit(x, workers, questions)
    assert (fitted.measure_, fitted.n_judged_) == ("crowd", 0)
    assert {point.measure for point in fitted.points_} == {"crowd"}
    assert all(verdict.full.value == 1 for verdict in fitted.verdicts_)


@pytest.mark.medium
def test_with_few_judged_workers_answers_are_compared(twelve):
    x, workers, questions, grades = twelve
    few = np.where(np.isin(workers, ["worker 0", "worker 5", "worker 9"]), grades, np.nan)
    fitted = CrowdSize(**QUICK).fit(x, workers, questions, few)
    assert (fitted.measure_, fitted.n_judged_workers_) == ("answers", 3)
    assert "workers" not in {point.measure for point in fitted.points_}


@pytest.mark.medium
def test_grades_that_chance_could_give_name_no_number(twelve):
    x, workers, questions, grades = twelve
    wrong = np.where(np.isnan(grades), np.nan, -grades)
    [verdict, *_] = CrowdSize(**QUICK).fit(x, workers, questions, wrong).verdicts_
    assert (verdict.reason, verdict.enough, verdict.plateau) == ("no_agreement", None, None)
    equal = np.where(np.isnan(grades), np.nan, 3.0)
    [verdict, *_] = CrowdSize(**QUICK).fit(x, workers, questions, equal).verdicts_
    assert verdict.reason == "no_correlation"


@pytest.mark.medium
def test_what_was_tried_is_not_tried_again(twelve, monkeypatch):
    x, workers, questions, grades = twelve
    whole = CrowdSize(**QUICK).fit(x, workers, questions, grades)
    kept = {}

    def stop(done, total):
        if done == total // 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        CrowdSize(**QUICK).fit(x, workers, questions, grades, stop, kept)
    half = len(kept)
    assert half > 0
    fits = []
    fit = AQER.fit
    monkeypatch.setattr(AQER, "fit", lambda *a, **k: fits.append(1) or fit(*a, **k))
    gone_on = CrowdSize(**QUICK).fit(x, workers, questions, grades, None, kept)
    assert gone_on.points_ == whole.points_
    assert gone_on.verdicts_ == whole.verdicts_
    # Each of the other parts once, and the whole crowd.
    assert len(fits) <= len(kept) - half + 1


def test_sizes_are_round_and_hold_both_ends():
    assert list_subset_sizes(2, 3) == []
    assert list_subset_sizes(3, 3) == [3]
    assert list_subset_sizes(9, 3) == [3, 4, 5, 6, 8, 9]
    many = list_subset_sizes(700, 3)
    assert (many[0], many[-1]) == (3, 700)
    assert len(many) <= 12


def test_two_workers_make_no_smaller_crowds():
    x, workers, questions = crowd(1, workers=2)
    with pytest.raises(ValueError, match="at least 3"):
        CrowdSize().fit(x, workers, questions)
    with pytest.raises(ValueError, match="at least 2"):
        CrowdSize(repetitions=1).fit(x, workers, questions)
