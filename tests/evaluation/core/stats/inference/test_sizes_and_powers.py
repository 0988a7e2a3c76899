"""Simulated sizes and powers of tests of differences, each with its Monte Carlo error."""

import numpy as np
import pytest
from scipy import stats

from evaluation.core.stats.inference import differences
from evaluation.core.stats.inference.paired import (
    compute_detectable_standard_errors,
    compute_mcnemar_mid_p_values,
    compute_mcnemar_p_values,
)
from evaluation.core.stats.inference.significance import holm


def reject(drawn, studentised, monkeypatch):
    """The share of rows that the sign-flip test rejects at 5%."""
    monkeypatch.setattr(differences, "STUDENTISED_BELOW", 30 if studentised else 0)
    found = differences.compute_sign_flip_p_values(drawn, 1999, 0)
    return np.mean(found.p_values <= 0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "n", "before", "after"),
    [
        ("normal", 10, 0.05, 0.05),
        ("normal", 20, 0.05, 0.05),
        ("exponential", 10, 0.094, 0.092),
        ("exponential", 15, 0.09, 0.077),
        ("exponential", 20, 0.08, 0.064),
        ("exponential", 25, 0.076, 0.056),
    ],
)
def test_the_size_of_the_sign_flip_test(name, n, before, after, monkeypatch):
    rng, times = np.random.default_rng(n), 4000
    drawn = rng.normal(size=(times, n))
    if name == "exponential":
        drawn = rng.exponential(size=(times, n)) - 1
    size, plain = (reject(drawn, how, monkeypatch) for how in (True, False))
    error = np.sqrt(after * (1 - after) / times)
    print(f"{name}, {n}: sum {plain:.3f}, studentised {size:.3f}, error {error:.4f}")
    assert size == pytest.approx(after, abs=4 * error)
    assert plain == pytest.approx(before, abs=4 * error)
    # Without symmetry it errs less often than the sum does; with it, as often.
    assert size <= plain + (4 * error if name == "normal" else 0)


@pytest.mark.long
def test_the_power_of_the_sign_flip_test_is_kept_where_differences_are_symmetric(monkeypatch):
    # A shift that 80% of t tests of 15 would show.
    rng, times = np.random.default_rng(4), 3000
    drawn = rng.normal(compute_detectable_standard_errors(15) / np.sqrt(15), 1, size=(times, 15))
    power, plain = (reject(drawn, how, monkeypatch) for how in (True, False))
    error = np.sqrt(0.8 * 0.2 / times)  # .0073
    print(f"power of 15 normal differences: sum {plain:.3f}, studentised {power:.3f}, {error:.4f}")
    assert power == pytest.approx(plain, abs=3 * error)


@pytest.mark.long
def test_the_mid_p_of_mcnemar_keeps_its_level_and_the_exact_one_wastes_it():
    # 40 questions, of which one of two equal models alone gets 30%; then one is better.
    rng, times = np.random.default_rng(0), 20_000
    for name, chances, least in (("size", (0.15, 0.15), None), ("power", (0.3, 0.06), 0.7)):
        counts = rng.multinomial(40, [*chances, 1 - sum(chances)], size=times)
        exact = np.mean(compute_mcnemar_p_values(counts[:, 0], counts[:, 1]) <= 0.05)
        mid = np.mean(compute_mcnemar_mid_p_values(counts[:, 0], counts[:, 1]) <= 0.05)
        error = np.sqrt(mid * (1 - mid) / times)
        print(f"McNemar, {name}: exact {exact:.3f}, mid-p {mid:.3f}, error {error:.4f}")
        assert mid > exact + 4 * error
        if least is None:
            assert exact < 0.03
            assert mid <= 0.05 + 4 * error
        else:
            assert mid > least


@pytest.mark.long
@pytest.mark.parametrize("n", [6, 10, 30, 60])
def test_the_smallest_detectable_difference_is_found_four_times_in_five(n):
    rng, times = np.random.default_rng(8), 10_000
    noise = rng.normal(size=(times, n))
    power = {}
    for name, errors in (("t", compute_detectable_standard_errors(n)), ("2.8", 2.8)):
        p_values = stats.ttest_1samp(noise + errors / np.sqrt(n), 0, axis=1).pvalue
        power[name] = np.mean(p_values < 0.05)
    error = np.sqrt(0.8 * 0.2 / times)  # .004
    print(f"{n} questions: power {power}, error {error:.4f}")
    assert power["t"] == pytest.approx(0.8, abs=0.01 + 3 * error)
    if n == 10:
        assert power["2.8"] == pytest.approx(0.7, abs=0.03)


@pytest.mark.long
def test_with_holm_over_ten_comparisons_the_smallest_difference_still_shows_in_four_of_five():
    # Nine comparisons without a difference, one with what 20 questions detect at 5%/10.
    rng, times = np.random.default_rng(9), 4000
    shift = np.zeros(10)
    power = {}
    for name, alpha in (("5%/10", 0.005), ("5%", 0.05)):
        shift[0] = compute_detectable_standard_errors(20, alpha) / np.sqrt(20)
        drawn = rng.normal(size=(times, 10, 20)) + shift[:, None]
        p_values = stats.ttest_1samp(drawn, 0, axis=2).pvalue
        power[name] = np.mean([holm(row)[0] < 0.05 for row in p_values])
    error = np.sqrt(0.8 * 0.2 / times)  # .0063
    print(f"Holm over 10: power {power}, error {error:.4f}")
    assert power["5%/10"] == pytest.approx(0.8, abs=0.01 + 3 * error)
    assert power["5%"] < 0.5
