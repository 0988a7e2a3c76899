"""Errors of a threshold on labelled pairs, by hand."""

import numpy as np
import pytest

from evaluation.core.stats.statistics.descriptive import (
    choose_threshold,
    draw_tuning_half,
    measure_threshold_errors,
    tune_threshold,
)

SIMILARITY = np.array([0.9, 0.7, 0.5, 0.8, 0.4, 0.3, 0.2])
RIGHT = np.array([True, True, True, False, False, False, False])


def test_both_errors_by_hand():
    # Above .6: two of three right ones and one of four wrong ones. Of the twelve pairs of a right
    # and a wrong one the right one is greater in 4 + 3 + 3.
    found = measure_threshold_errors(SIMILARITY, RIGHT, 0.6, "hand")
    assert (found.missed, found.taken) == (pytest.approx(1 / 3), pytest.approx(1 / 4))
    assert found.auc == pytest.approx(10 / 12)
    assert (found.n_right, found.n_wrong) == (3, 4)
    # A similarity at the threshold is not above it.
    assert measure_threshold_errors(SIMILARITY, RIGHT, 0.8, "hand").taken == 0
    with pytest.raises(ValueError, match="right and wrong"):
        measure_threshold_errors(SIMILARITY[:3], RIGHT[:3], 0.6, "hand")


def test_the_tuned_threshold_has_the_smallest_sum_of_both_error_rates():
    # Below .5 all right ones are found and one of four wrong ones is taken: 1/4. Between .5 and .7
    # the sum is 1/3 + 1/4, above .8 it is 2/3. So it is the middle of .4 and .5.
    assert choose_threshold(SIMILARITY, RIGHT) == pytest.approx(0.45)
    every = np.linspace(-0.05, 1, 2101)
    sums = [
        sum((each.missed, each.taken))
        for each in (measure_threshold_errors(SIMILARITY, RIGHT, cut, "") for cut in every)
    ]
    best = measure_threshold_errors(SIMILARITY, RIGHT, 0.45, "")
    assert best.missed + best.taken == pytest.approx(min(sums))


def test_a_group_tunes_or_measures_but_never_both():
    groups = [f"q{number % 7}" for number in range(28)]
    tunes = draw_tuning_half(groups, 0)
    for group in set(groups):
        assert len({half for name, half in zip(groups, tunes, strict=True) if name == group}) == 1
    assert len({name for name, half in zip(groups, tunes, strict=True) if half}) == 3


def test_tuning_chooses_on_one_half_and_measures_on_the_other():
    rng = np.random.default_rng(1)
    groups = [f"q{number}" for number in range(40) for _ in range(4)]
    right = np.tile([True, True, False, False], 40)
    similarity = rng.normal(np.where(right, 0.7, 0.5), 0.1)
    found = tune_threshold(similarity, right, groups, "drawn", seed=3)
    tunes = draw_tuning_half(groups, 3)
    assert found.threshold == pytest.approx(
        choose_threshold(similarity[tunes], right[tunes]), abs=1e-4
    )
    assert (found.n_right, found.n_wrong) == (40, 40)
    assert found.missed == (similarity[~tunes & right] <= found.threshold).mean()
    with pytest.raises(ValueError, match="right and wrong"):
        tune_threshold(similarity, np.ones(160, bool), groups, "drawn")
