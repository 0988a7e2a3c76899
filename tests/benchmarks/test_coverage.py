"""The measure of coverage: its crowds, its counting, and that it sees intervals that are wrong."""

import numpy as np
import pytest

from evaluation.consensus import AQER
from tests.benchmarks.coverage import (
    COVERS,
    RULES,
    CrowdSize,
    Rule,
    measure,
    of_intervals,
    pool,
)
from tests.benchmarks.results import Claim


@pytest.mark.parametrize(
    ("claim", "inside", "outside", "words"),
    [
        (Claim("at least", 2, "times"), 2, 1.9, "at least 2 times"),
        (Claim("at most", 1, "s"), 1, 1.1, "at most 1 s"),
        (COVERS, 0.92, 0.919, "between 0.92 and 0.98"),
        (COVERS, 0.98, 0.981, "between 0.92 and 0.98"),
    ],
)
def test_a_claim_is_met_up_to_its_bound(claim, inside, outside, words):
    assert claim.met_by(inside)
    assert not claim.met_by(outside)
    assert str(claim) == words


def test_in_a_sparse_pool_random_workers_answer_each_question_once():
    made = pool(CrowdSize(20, 30, 6), size=200)
    assert made.answers.shape == (200, 6, 32)
    assert all(len(set(workers)) == 6 for workers in made.workers.tolist())
    assert set(made.workers.ravel().tolist()) == set(range(20))


def test_everybody_answers_a_dense_pool_and_the_first_workers_are_the_best():
    made = pool(CrowdSize(6, 10, 6), size=400)
    assert (made.workers == np.arange(6)).all()
    aqer, models = made.grade(np.arange(400), Rule(True, 0), 0)
    assert (np.diff(aqer.raw_) < 0).all()
    # Model a has less noise than model b.
    assert models.scores[0] > models.scores[1]


@pytest.mark.parametrize("rule", [Rule(True, 0), Rule(False, 50)], ids=str)
@pytest.mark.long
def test_most_intervals_hold_the_value_of_the_whole_pool(rule):
    found = measure(CrowdSize(8, 20, 8), rule, samples=40, size=1000)
    # 95% of 40 is 38; the standard error of 40 samples is 3.4%.
    assert 0.84 <= found.raw <= 1.0
    assert 0.84 <= found.difference <= 1.0
    assert found.undefined == 0


def test_intervals_that_are_too_narrow_are_found_out(monkeypatch):
    real = AQER.fit

    def fit(self, *arguments):
        real(self, *arguments)
        middle = (self.raw_low_ + self.raw_high_) / 2
        self.raw_low_ = middle + (self.raw_low_ - middle) / 4
        self.raw_high_ = middle + (self.raw_high_ - middle) / 4
        return self

    monkeypatch.setattr(AQER, "fit", fit)
    found = measure(CrowdSize(8, 20, 8), Rule(True, 0), samples=40, size=1000)
    # A quarter of 2.09 standard errors: about 40%.
    assert found.raw < 0.6
    assert found.worst <= found.raw


@pytest.mark.long
def test_the_case_has_a_claim_for_each_setting_rule_and_quantity():
    found = of_intervals([CrowdSize(6, 10, 6), CrowdSize(8, 12, 4)], samples=4, size=200)
    rows = [row for row in found.rows if row.claim]
    assert len(rows) == 2 * len(RULES) * 2
    assert {row.claim for row in rows} == {"between 0.92 and 0.98"}
    assert all(0 <= row.median <= 1 for row in found.rows)
