"""Question contrast with remedies: nobody is compared with exemplary answers of their own unit."""

import numpy as np
import pytest

from evaluation.core.stats.cells import encode_labels
from tests.evaluation.consensus.methods.literal import cosine
from tests.evaluation.core.stats.worlds import crowd
from tests.evaluation.grading.remedies.methods.test_remedies_literal import fitted

REMEDY = {"excluded": ["worker 1"], "groups": [["worker 2", "worker 5", "worker 7"]]}


def contrast_directly(aqer, x, workers, questions):
    """Return each answer's contrast, formed from the units' answers and final weights."""
    part = aqer.fitted_
    worker, question = encode_labels(workers)[0], encode_labels(questions)[0]
    rows, unit, votes = part.units.rows, part.units.unit, part.voters.votes

    def exemplar(asked, without):
        mine = [(r, votes[u]) for r, u in zip(rows, unit, strict=True) if question[r] == asked]
        mine = [(r, w) for r, w in mine if part.units.of_worker[worker[r]] != without]
        if not mine:
            return None
        if sum(w for _, w in mine) <= 0:
            mine = [(r, 1.0) for r, _ in mine]
        return sum(w * x[r] for r, w in mine) / sum(w for _, w in mine)

    found = []
    for at in range(len(x)):
        own_unit = part.units.of_worker[worker[at]]
        without = None if own_unit < 0 else own_unit
        own = exemplar(question[at], without)
        others = [exemplar(q, without) for q in range(question.max() + 1) if q != question[at]]
        others = [cosine(x[at], one) for one in others if one is not None]
        is_defined = own is not None and len(others) >= 4
        found.append(cosine(x[at], own) - np.mean(others) if is_defined else np.nan)
    return np.array(found)


@pytest.mark.parametrize("remedy", [REMEDY, {"excluded": ["worker 1"]}], ids=["both", "excluded"])
def test_excluded_workers_and_members_of_groups_have_the_contrast_to_the_others(remedy):
    x, workers, questions = crowd(7, workers=9, questions=7, dimension=6, answered=0.9)
    aqer = fitted(x, workers, questions, remedy, n_draws=0)
    expected = contrast_directly(aqer, x, workers, questions)
    np.testing.assert_allclose(aqer.contrasts_.answers, expected, atol=1e-10)
    worker = encode_labels(workers)[0]
    means = [np.nanmean(expected[worker == code]) for code in range(9)]
    np.testing.assert_allclose(aqer.contrasts_.means, means, atol=1e-10)
    reasons = np.array([reason is not None for reason in aqer.contrasts_.reasons])
    np.testing.assert_array_equal(reasons, np.isnan(expected))


def test_with_the_switch_their_raw_scores_are_the_contrast():
    x, workers, questions = crowd(7, workers=9, questions=7, dimension=6, answered=0.9)
    plain = fitted(x, workers, questions, REMEDY, n_draws=20)
    aqer = fitted(x, workers, questions, REMEDY, n_draws=20, question_contrast=True)
    np.testing.assert_allclose(aqer.raw_, plain.contrasts_.means)
    np.testing.assert_allclose(aqer.raw_low_, plain.contrasts_.low)
    np.testing.assert_array_equal(aqer.weights_, plain.weights_)
    excluded = [reason is not None for reason in aqer.out_of_ranking_]
    np.testing.assert_array_equal(np.isnan(aqer.grades_), excluded)
    assert not np.isnan(aqer.rank_low_[np.array(aqer.ranks_) > 0]).any()
