"""Rounding never moves a number over the threshold that it is shown beside."""

import json

import pytest

from evaluation.core.messages.message import ThresholdNumber, format_p_value
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.grading.alarms.messages import format_statistic
from evaluation.trust.report.facts import build_experts_fact, build_stability_fact


@pytest.mark.parametrize(
    ("value", "spec", "shown"),
    [
        (0.9, ".2f", "0.90"),
        (0.90004, ".2f", "0.90004"),
        (0.8996, ".2f", "0.8996"),
        (0.8951, ".2f", "0.895"),
        (0.894, ".2f", "0.89"),
        (0.9 - 1e-15, ".2f", "0.900000000000"),
        (0.8996, "", "0.8996"),
        (0.897, ".0%", "89.7%"),
        (0.91, ".0%", "91%"),
    ],
)
def test_a_number_gets_the_digits_that_show_its_side(value, spec, shown):
    assert format(ThresholdNumber(value, 0.9), spec) == shown


def test_it_is_stored_as_a_plain_number():
    assert json.dumps({"agreement": ThresholdNumber(0.5, 0.9)}) == '{"agreement": 0.5}'


@pytest.mark.parametrize(("agreement", "level"), [(0.8996, "care"), (0.9, "good"), (0.7996, "bad")])
def test_the_agreement_of_draws_is_shown_on_the_side_of_its_verdict(agreement, level):
    fact = build_stability_fact(agreement)
    assert fact.level == level
    shown = float(f"{fact.values['agreement']:.2f}")
    assert (shown >= 0.9, shown >= 0.8) == (agreement >= 0.9, agreement >= 0.8)


@pytest.mark.parametrize(("correlation", "level"), [(0.4996, "care"), (0.5, "good")])
def test_so_is_the_agreement_with_experts(correlation, level):
    fact = build_experts_fact(ClusteredEstimate(correlation, 0.3, 0.7, 30))
    assert fact.level == level
    assert (float(f"{fact.values['correlation']:.2f}") >= 0.5) == (level == "good")


def test_so_is_the_statistic_of_an_alarm():
    assert "50.3%" in format_statistic("copies", 0.503, 0.5)
    assert "49.8%" in format_statistic("copies", 0.498, 0.5)


@pytest.mark.parametrize(("p", "shown"), [(0.0496, "p = 0.0496"), (0.031, "p = 0.031")])
def test_so_is_a_probability(p, shown):
    assert format_p_value(p) == shown
