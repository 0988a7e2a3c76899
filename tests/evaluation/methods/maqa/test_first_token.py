from math import exp, inf, log, nan

import numpy as np
import pytest
from scipy import stats

from evaluation.methods.maqa.first_token import DistributionError, of_logits, of_top_logprobs


def test_the_numbers_of_a_whole_distribution():
    # softmax(log 5, log 3, log 2) = .5, .3, .2
    found = of_logits([log(5), log(3), log(2)])
    assert found.max_softmax == pytest.approx(0.5)
    assert found.margin == pytest.approx(0.2)
    assert found.entropy == pytest.approx(-(0.5 * log(0.5) + 0.3 * log(0.3) + 0.2 * log(0.2)))
    assert found.entropy_high == found.entropy


def test_the_entropy_is_that_of_scipy_and_large_logits_do_not_overflow():
    logits = np.random.default_rng(3).normal(size=500) * 5
    p = np.exp(logits) / np.exp(logits).sum()
    assert of_logits(logits + 5000).entropy == pytest.approx(stats.entropy(p), rel=1e-9)


def test_a_token_that_cannot_come_adds_nothing():
    found = of_logits([0.0, 0.0, -inf])
    assert (found.max_softmax, found.margin) == (0.5, 0)
    assert found.entropy == pytest.approx(log(2))


def test_the_entropy_of_the_likeliest_tokens_is_an_interval():
    # Known .6 and .3, missing r = .1, which 1 token or 8 tokens may share.
    found = of_top_logprobs([log(0.3), log(0.6)], 10)
    known = -(0.6 * log(0.6) + 0.3 * log(0.3))
    assert found.entropy == pytest.approx(known - 0.1 * log(0.1))
    assert found.entropy_high == pytest.approx(known - 0.1 * log(0.1) + 0.1 * log(8))
    assert (found.max_softmax, found.margin) == pytest.approx((0.6, 0.3))


def test_the_interval_holds_the_entropy_of_any_distribution_with_these_tokens():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = np.sort(rng.dirichlet(np.full(12, 0.4)))[::-1]
        found = of_top_logprobs(np.log(p[:4]), 12)
        assert found.entropy <= stats.entropy(p) + 1e-12
        assert stats.entropy(p) <= found.entropy_high + 1e-12


def test_a_whole_distribution_given_as_logprobs_has_no_interval():
    found = of_top_logprobs([log(0.75), log(0.25)], 2)
    assert (
        found.entropy == found.entropy_high == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))
    )


def test_without_the_number_of_tokens_the_interval_is_open():
    assert of_top_logprobs([log(0.5), log(0.2)], None).entropy_high is None


def test_one_token_tells_no_margin_unless_it_is_certain():
    assert of_top_logprobs([log(0.7)], 100).margin is None
    assert of_top_logprobs([0.0], 100).margin == 1


@pytest.mark.parametrize(
    ("logprobs", "vocabulary", "code"),
    [
        ([], 10, "no_numbers"),
        ([nan, -1.0], 10, "not_finite"),
        ([-inf, -inf], 10, "not_finite"),
        ([0.3], 10, "probability_above_1"),
        ([log(0.7), log(0.5)], 10, "probability_above_1"),
        ([log(0.5), log(0.2)], 1, "vocabulary_too_small"),
        ([log(0.5), log(0.2)], 2, "vocabulary_too_small"),
    ],
)
def test_what_is_no_distribution_is_refused(logprobs, vocabulary, code):
    with pytest.raises(DistributionError) as refused:
        of_top_logprobs(logprobs, vocabulary)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("logits", "code"), [([], "no_numbers"), ([1.0, nan], "not_finite"), ([inf], "not_finite")]
)
def test_logits_that_are_none_are_refused(logits, code):
    with pytest.raises(DistributionError) as refused:
        of_logits(logits)
    assert refused.value.code == code


def test_probabilities_that_a_server_rounded_are_taken():
    assert of_top_logprobs([log(0.7502), log(0.2502)], None).max_softmax == pytest.approx(0.7502)
    assert exp(0.0005) > 1
    assert of_top_logprobs([0.0005], None).max_softmax == 1
