import itertools
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from evaluation.multiqa.methods import (
    METRIC_NAMES,
    Panel,
    compute_chance_levels,
    compute_robustness,
)
from evaluation.multiqa.methods.panel import ITEM_METRICS, compute_item_metrics
from tests.evaluation.multiqa import literal

# Fleiss 1971, Table 1: 30 patients, six diagnoses each, five categories.
FLEISS = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050
02031 00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
DIAGNOSES = [
    [category for category, count in enumerate(row) for _ in range(int(count))]
    for row in FLEISS.split()
]


def found(panel, **options):
    result = compute_robustness(panel, n_draws=options.pop("n_draws", 0), **options)
    return {name: estimate.value for name, estimate in result.estimates.items()}


def test_fleiss_kappa_of_the_published_diagnoses_is_430():
    result = compute_robustness(Panel.from_arrays(DIAGNOSES, np.zeros((30, 6)), 5), n_draws=0)
    assert result.estimates["fleiss_kappa"].value == pytest.approx(0.430, abs=5e-4)
    assert result.estimates["fleiss_kappa"].n == 30


def test_kappas_are_those_of_statsmodels():
    answers = np.random.default_rng(4).integers(0, 4, (50, 5))
    table, _ = aggregate_raters(answers)
    numbers = found(Panel.from_arrays(answers, answers == 0, 4))
    assert numbers["fleiss_kappa"] == pytest.approx(fleiss_kappa(table, "fleiss"))
    assert numbers["free_marginal_kappa"] == pytest.approx(fleiss_kappa(table, "randolph"))


def test_a_small_case_by_hand():
    # Four choices, letters 0 to 3, three replies each; the right ones are 0, 1, 2.
    answers = [[0, 0, 1], [0, 1, 1], [3, 3, 3]]
    right = [[1, 1, 0], [0, 1, 1], [0, 0, 0]]
    numbers = found(Panel.from_arrays(answers, right, 4))
    assert numbers["accuracy"] == pytest.approx(1 / 3)
    assert numbers["worst_case"] == 0
    assert numbers["best_case"] == pytest.approx(2 / 3)
    assert numbers["plurality"] == pytest.approx(2 / 3)
    assert numbers["item_difficulty"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    one_off = 1 + (2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3)) / log(4)
    assert numbers["certainty"] == pytest.approx((one_off + one_off + 1) / 3)
    # 1 - 4/3 (1 - 5/9) = 11/27
    assert numbers["m2_certainty"] == pytest.approx((11 / 27 + 11 / 27 + 1) / 3)
    # P = (5-3)/6 = 1/3, 1/3, 1; pooled 3, 3, 0, 3 of 9: Pe = 1/3
    assert numbers["fleiss_kappa"] == pytest.approx((5 / 9 - 1 / 3) / (1 - 1 / 3))
    assert numbers["free_marginal_kappa"] == pytest.approx((5 / 9 - 1 / 4) / (3 / 4))
    # Wordings are right 1/3, 2/3, 1/3 of the time: 2/9 each; totals 2, 2, 0: variance 8/9.
    assert numbers["alpha"] == pytest.approx(3 / 2 * (1 - (6 / 9) / (8 / 9)))
    # Questions: 2/9, 2/9, 0; sums of the wordings 1, 2, 1: variance 2/9.
    assert numbers["alpha_paper"] == pytest.approx(3 / 2 * (1 - (4 / 9) / (2 / 9)))


def test_alpha_of_wordings_that_always_agree_is_1_and_that_of_the_paper_is_not():
    right = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0]])
    result = compute_robustness(Panel.from_arrays(right, right, 2), n_draws=0)
    assert result.estimates["alpha"].value == pytest.approx(1)
    assert result.estimates["alpha_paper"].value is None
    assert result.estimates["alpha_paper"].reason == "zero_variance"


# --- ties, refusals, what is undefined


def tally(answers, right, choices=4):
    result = compute_robustness(Panel.from_arrays([answers], [right], choices), n_draws=0)
    return result.estimates


def test_of_tied_modes_the_originals_answer_counts():
    numbers = tally([1, 0, 0, 1], [0, 1, 1, 0])
    assert numbers["plurality"].value == 0
    assert numbers["plurality_fractional"].value == 0.5
    assert numbers["tie_rate"].value == 1


def test_of_tied_modes_without_the_originals_the_earliest_counts():
    numbers = tally([3, 2, 1, 1, 2], [0, 1, 0, 0, 1])
    assert numbers["plurality"].value == 1  # 2 came before 1
    assert numbers["plurality_fractional"].value == 0.5


def test_refused_replies_are_wrong_and_have_no_vote():
    # Two of four refused; the votes are 1, 1: p = 1.
    numbers = tally([-1, 1, 1, -1], [0, 1, 1, 0])
    assert numbers["accuracy"].value == 0
    assert numbers["worst_case"].value == 0
    assert numbers["plurality"].value == 1
    assert numbers["item_difficulty"].value == 0.5
    assert numbers["certainty"].value == 1
    assert numbers["free_marginal_kappa"].value == 1


def test_where_all_is_refused_plurality_is_0_and_agreement_is_undefined_and_counted():
    panel = Panel.from_arrays([[-1, -1], [0, 0]], [[0, 0], [1, 1]], 2)
    result = compute_robustness(panel, n_draws=0)
    assert result.estimates["plurality"].value == 0.5
    assert (result.estimates["certainty"].value, result.estimates["certainty"].n) == (1, 1)
    assert result.left_out["certainty"] == {"no_votes": 1}
    assert result.left_out["free_marginal_kappa"] == {"no_votes": 1}
    assert result.left_out["fleiss_kappa"] == {"no_votes": 1}
    alone = compute_robustness(panel.select_items([0]), n_draws=0)
    for name in ("certainty", "m2_certainty", "free_marginal_kappa", "tie_rate"):
        assert alone.estimates[name].value is None
        assert alone.estimates[name].reason == "no_votes"
    assert alone.estimates["fleiss_kappa"].reason == "no_items"


def test_one_possible_answer_leaves_certainty_undefined():
    numbers = tally([0, 0], [1, 1], choices=1)
    for name in ("certainty", "m2_certainty", "free_marginal_kappa"):
        assert (numbers[name].value, numbers[name].reason) == (None, "one_possible_answer")
    assert numbers["fleiss_kappa"].reason == "one_category"


def test_a_single_answer_leaves_kappa_and_alpha_undefined():
    panel = Panel.from_arrays([[0], [1]], [[1], [0]], 4)
    result = compute_robustness(panel, n_draws=0)
    for name in ("fleiss_kappa", "alpha", "alpha_paper"):
        assert (result.estimates[name].value, result.estimates[name].reason) == (
            None,
            "one_answer_each",
        )
    assert result.estimates["free_marginal_kappa"].reason == "fewer_than_2_votes"
    assert result.estimates["certainty"].value == 1


def test_an_item_may_have_fewer_answers():
    answers = [[0, 1, 1], [2, -1, -1], [0, 0, 0]]
    given = [[1, 1, 1], [1, 0, 0], [1, 1, 1]]
    result = compute_robustness(
        Panel.from_arrays(answers, [[1, 0, 0], [1, 0, 0], [1, 1, 1]], 4, given), n_draws=0
    )
    assert result.estimates["worst_case"].value == pytest.approx(2 / 3)
    assert result.estimates["item_difficulty"].value == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert result.estimates["alpha"].n == 2
    assert result.left_out["alpha"] == {"fewer_answers": 1}
    assert result.left_out["free_marginal_kappa"] == {"fewer_than_2_votes": 1}
    # totals 1 and 3, variance 1; wordings 1 1, 0 1, 0 1: 0, 1/4, 1/4
    assert result.estimates["alpha"].value == pytest.approx(3 / 2 * (1 - 0.5))


def test_open_answers_have_as_many_possible_ones_as_replies():
    numbers = tally([5, 6, 7], [0, 0, 0], choices=0)
    assert numbers["certainty"].value == pytest.approx(0, abs=1e-12)
    assert numbers["m2_certainty"].value == pytest.approx(0, abs=1e-12)
    assert tally([5, -1, 5], [0, 0, 0], choices=0)["free_marginal_kappa"].value == 1


def test_a_reply_that_is_no_choice_is_an_answer_of_its_own():
    panel = Panel.from_arrays([[0, 1, 9]], [[1, 0, 0]], 2)
    assert panel.n_possible.tolist() == [3]
    assert compute_item_metrics(panel).values["certainty"][0] == pytest.approx(0, abs=1e-12)


def test_no_items_at_all_are_no_numbers():
    result = compute_robustness(
        Panel.from_arrays(np.empty((0, 3), int), np.empty((0, 3), bool), np.empty(0, int))
    )
    assert {one.reason for one in result.estimates.values()} == {"no_items"}
    assert {one.reason for one in result.chance.values()} == {"no_items"}


# --- against loops, and properties


@st.composite
def panels(draw):
    n, r = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    choices = draw(st.integers(2, 5))
    key = draw(st.lists(st.integers(0, choices - 1), min_size=n, max_size=n))
    cells = draw(
        st.lists(
            st.lists(st.integers(-1, choices - 1), min_size=r, max_size=r), min_size=n, max_size=n
        )
    )
    answers = np.array(cells)
    return Panel.from_arrays(answers, answers == np.array(key)[:, None], choices)


@pytest.mark.medium
@given(panels())
@settings(max_examples=200, deadline=None)
def test_the_worst_is_never_above_and_the_best_never_below_accuracy_and_plurality(panel):
    result = compute_robustness(panel, n_draws=0)
    numbers = {name: one.value for name, one in result.estimates.items()}
    pair = numbers["plurality"], numbers["accuracy"]
    assert numbers["worst_case"] <= min(pair)
    assert max(pair) <= numbers["best_case"]
    assert numbers["worst_case"] <= numbers["item_difficulty"] <= numbers["best_case"]


@pytest.mark.medium
@given(panels())
@settings(max_examples=150, deadline=None)
def test_every_number_is_that_of_the_loops(panel):
    numbers = compute_item_metrics(panel)
    rows = []
    for item in range(len(panel)):
        answers = [int(a) if a >= 0 else None for a in panel.answers[item]]
        right = [int(one) for one in panel.right[item]]
        rows.append((answers, right))
        expected = literal.of_item(answers, right, int(panel.n_possible[item]))
        for name in ITEM_METRICS:
            value = numbers.values[name][item]
            if name in expected:
                assert value == pytest.approx(expected[name], abs=1e-12), name
            else:
                assert np.isnan(value), name
                assert numbers.find_reason(name, item), name
    together = compute_robustness(panel, n_draws=0).estimates
    right = [row for _, row in rows]
    for name, literally in (
        ("fleiss_kappa", lambda: literal.fleiss([answers for answers, _ in rows])),
        ("alpha", lambda: literal.alpha(right)),
        ("alpha_paper", lambda: literal.alpha_of_paper(right)),
    ):
        try:
            expected = literally()
        except ZeroDivisionError:
            assert together[name].value is None
            assert together[name].reason
        else:
            assert together[name].value == pytest.approx(expected, abs=1e-9)


@pytest.mark.medium
@given(panels(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_wordings_and_of_items_does_not_matter(panel, random):
    """Without ties: of tied modes the original's counts, which is another one then."""
    items, columns = list(range(len(panel))), list(range(panel.answers.shape[1]))
    random.shuffle(items)
    random.shuffle(columns)
    shuffled = Panel.from_arrays(
        panel.answers[items][:, columns], panel.right[items][:, columns], panel.n_choices[items]
    )
    one, other = found(panel), found(shuffled)
    for name in METRIC_NAMES:
        if name in ("accuracy", "plurality"):
            continue
        if one[name] is None:
            assert other[name] is None
        else:
            assert other[name] == pytest.approx(one[name], abs=1e-9)


@given(panels())
@settings(max_examples=100, deadline=None)
def test_items_that_are_alike_share_a_profile(panel):
    profiles, place = panel.find_profiles()
    again = profiles.select_items(place)
    np.testing.assert_array_equal(again.answers, panel.answers)
    np.testing.assert_array_equal(again.right, panel.right)
    np.testing.assert_array_equal(again.n_possible, panel.n_possible)
    rows = np.hstack([profiles.answers, profiles.right])
    assert len(np.unique(rows, axis=0)) == len(rows)


@pytest.mark.slow
def test_intervals_are_those_of_drawing_whole_items():
    rng = np.random.default_rng(8)
    answers = rng.integers(0, 3, (12, 4))
    panel = Panel.from_arrays(answers, answers == rng.integers(0, 3, (12, 1)), 3)
    result = compute_robustness(panel, n_draws=200, seed=7)
    draws = np.random.default_rng(7).integers(0, 12, (200, 12))
    from evaluation.core.stats.inference.intervals import compute_widened_percentile_interval

    for name in ("accuracy", "fleiss_kappa", "alpha", "alpha_paper", "certainty"):
        drawn = [found(panel.select_items(items))[name] for items in draws]
        values = [np.nan if value is None else value for value in drawn]
        expected = compute_widened_percentile_interval(values, 12)[0]
        interval = result.estimates[name]
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_a_panel_refuses_what_cannot_be():
    for answers, right, given_ in (
        ([[0, 1]], [[1]], None),
        ([[0, 1]], [[1, 0]], [[0, 1]]),
        ([[0, -1]], [[1, 1]], None),
        ([[0, 1]], [[1, 0]], [[1, 0]]),
    ):
        with pytest.raises(ValueError, match=r"shape|original|no vote"):
            Panel.from_arrays(answers, right, 2, given_)


# --- chance


@pytest.mark.parametrize(("k", "r"), [(2, 3), (3, 4), (4, 2), (2, 6)])
def test_chance_is_the_mean_over_all_ways_to_guess(k, r):
    every = np.array(list(itertools.product(range(k), repeat=r)))
    guessed = compute_robustness(Panel.from_arrays(every, every == 0, k), n_draws=0).estimates
    chance = compute_chance_levels(k, r)
    for name in METRIC_NAMES:
        if name in ("alpha", "alpha_paper", "fleiss_kappa"):
            continue
        assert getattr(chance, name) == pytest.approx(guessed[name].value), name
    assert guessed["fleiss_kappa"].value == pytest.approx(0, abs=1e-9)
    assert guessed["alpha"].value == pytest.approx(0, abs=1e-9)


def test_chance_has_the_published_values():
    four = compute_chance_levels(4, 6)
    assert four.accuracy == four.plurality == four.item_difficulty == 0.25
    assert four.worst_case == pytest.approx(4**-6)
    assert four.best_case == pytest.approx(0.822, abs=5e-4)
    assert four.m2_certainty == pytest.approx(1 / 6)
    assert four.certainty == pytest.approx(0.2204, abs=5e-5)
    assert compute_chance_levels(2, 6).certainty == pytest.approx(0.1352, abs=5e-5)
    with pytest.raises(ValueError, match="2 choices"):
        compute_chance_levels(1, 6)


def test_the_chance_row_is_the_mean_over_the_items_that_offer_choices():
    panel = Panel.from_arrays([[0, 0], [0, 0], [7, 8]], [[1, 1], [1, 1], [0, 0]], [2, 4, 0])
    chance = compute_robustness(panel, n_draws=0).chance
    assert chance["accuracy"].value == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert chance["worst_case"].value == pytest.approx((1 / 4 + 1 / 16) / 2)
    assert chance["accuracy"].n == 2
    free = compute_robustness(panel.select_items([2]), n_draws=0).chance["accuracy"]
    assert (free.value, free.reason) == (None, "no_choices")


def test_a_guesser_gives_as_many_answers_as_there_are_replies_with_a_vote():
    # 4 replies to an item of 2 choices, 2 of them refused: worst 2^-2, best 1 - 2^-2, M2 1/2.
    panel = Panel.from_arrays([[0, 1, -1, -1]], [[1, 0, 0, 0]], 2)
    chance = compute_robustness(panel, n_draws=0).chance
    assert chance["worst_case"].value == pytest.approx(1 / 4)
    assert chance["best_case"].value == pytest.approx(3 / 4)
    assert chance["m2_certainty"].value == pytest.approx(1 / 2)
    assert chance["accuracy"].value == pytest.approx(1 / 2)


@pytest.mark.medium
def test_alpha_as_in_the_paper_is_below_0_for_guesses_and_alpha_is_not():
    # An F of two independent variances: the mean of alpha is -2/(persons - 3). Persons are the 20
    # wordings in the paper's alpha (-2/17, standard error .03), the 200 questions in the other.
    rng = np.random.default_rng(0)
    alphas = []
    for _ in range(200):
        guesses = rng.integers(0, 4, (200, 20))
        found = compute_robustness(Panel.from_arrays(guesses, guesses == 0, 4), n_draws=0).estimates
        alphas.append([found[name].value for name in ("alpha", "alpha_paper")])
    alpha, paper = np.mean(alphas, axis=0)
    assert alpha == pytest.approx(-2 / 197, abs=0.02)
    assert paper == pytest.approx(-2 / 17, abs=0.08)
    assert paper < -0.03


def test_an_item_whose_replies_were_all_refused_is_nothing_to_guess():
    panel = Panel.from_arrays([[0, 1], [-1, -1]], [[1, 0], [0, 0]], 2)
    assert compute_robustness(panel, n_draws=0).chance["accuracy"].n == 1
    silent = compute_robustness(panel.select_items([1]), n_draws=0).chance["accuracy"]
    assert (silent.value, silent.reason) == (None, "no_votes")


def test_guessing_two_right_choices_of_four_is_one_set_of_six():
    panel = Panel.from_arrays([[9, 8]], [[1, 0]], 4, n_guesses=[6])
    chance = compute_robustness(panel, n_draws=0).chance
    assert chance["accuracy"].value == pytest.approx(1 / 6)
    assert chance["worst_case"].value == pytest.approx(1 / 36)


def test_the_reply_that_stands_for_a_cluster_is_judged_as_the_modal_answer():
    # Replies 0 to 2 mean the same; the middle one stands for them and is right.
    right = [[0, 1, 0, 1]]
    panel = Panel.from_arrays([[5, 5, 5, 6]], right, 0, representatives=[[1, 1, 1, 3]])
    assert compute_robustness(panel, n_draws=0).estimates["plurality"].value == 1
    assert (
        compute_robustness(Panel.from_arrays([[5, 5, 5, 6]], right), n_draws=0)
        .estimates["plurality"]
        .value
        == 0
    )
