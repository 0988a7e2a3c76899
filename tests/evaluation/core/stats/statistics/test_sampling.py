import numpy as np
import pytest

from evaluation.core.stats.statistics.descriptive import (
    draw_stratified_order,
    draw_stratified_sample,
)


def held(strata, chosen):
    return {label: np.array(strata)[chosen].tolist().count(label) for label in sorted(set(strata))}


def test_each_stratum_gives_its_share():
    strata = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    chosen = draw_stratified_sample([strata], [1] * 100, 20)
    assert held(strata, chosen) == {"a": 12, "b": 6, "c": 2}


def test_the_largest_remainder_gets_the_unit_that_is_left():
    # Of 10 units 5, 3 and 2; four wanted: 2, 1.2 and .8, so the third rounds up.
    strata = ["a"] * 5 + ["b"] * 3 + ["c"] * 2
    chosen = draw_stratified_sample([strata], [1] * 10, 4)
    assert held(strata, chosen) == {"a": 2, "b": 1, "c": 1}


def test_a_second_level_does_not_shift_the_shares_of_the_first():
    # Each of the 50 sources holds two of "a" and one of "b": alone no source would give any.
    first = ["a"] * 100 + ["b"] * 50
    second = [str(place // 2) for place in range(100)] + [str(place) for place in range(50)]
    chosen = draw_stratified_sample([first, second], [1] * 150, 15)
    assert held(first, chosen) == {"a": 10, "b": 5}


def test_units_stay_whole_and_the_sample_is_never_larger_than_wanted():
    rng = np.random.default_rng(3)
    for seed in range(30):
        sizes = rng.integers(1, 4, 40)
        strata = rng.choice(["a", "b", "c"], 40)
        wanted = int(rng.integers(0, sizes.sum() + 5))
        chosen = draw_stratified_sample([strata.tolist()], sizes, wanted, seed)
        assert len(set(chosen.tolist())) == len(chosen)
        total = sizes[chosen].sum()
        assert total <= wanted
        rest = wanted - total
        left = np.delete(sizes, chosen)
        assert not len(left) or left.min() > rest


def test_a_seed_draws_the_same_again_and_another_one_others():
    strata = [["a"] * 50, ["x", "y"] * 25]
    same = [draw_stratified_sample(strata, [2] * 50, 20, seed).tolist() for seed in (1, 1, 2)]
    assert same[0] == same[1] != same[2]
    assert len(same[0]) == 10


@pytest.mark.parametrize("wanted", [0, 7])
def test_of_nothing_nothing_is_drawn(wanted):
    assert draw_stratified_sample([[]], [], wanted).tolist() == []


def test_every_beginning_of_the_order_holds_the_strata_in_their_shares():
    strata = ["a"] * 120 + ["b"] * 60 + ["c"] * 20
    shares = {"a": 0.6, "b": 0.3, "c": 0.1}
    for seed in range(5):
        order = draw_stratified_order(strata, np.random.default_rng(seed))
        assert sorted(order.tolist()) == list(range(200))
        for first in (1, 7, 20, 33, 100, 199):
            found = held(strata, order[:first])
            # Each stratum is right but for one; so is the place on the line that `first` stands at.
            for label, share in shares.items():
                assert abs(found[label] - share * first) <= 2, (seed, first, found)


def test_the_order_within_a_stratum_is_random():
    orders = {tuple(draw_stratified_order(["a"] * 8, np.random.default_rng(n))) for n in range(20)}
    assert len(orders) == 20
