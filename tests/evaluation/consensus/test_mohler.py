"""The published semi-synthetic table: AQER against experts' grades on Mohler's answers."""

import numpy as np
import pytest

from evaluation.consensus import AQER

pytestmark = [pytest.mark.data, pytest.mark.model, pytest.mark.long]


@pytest.fixture(scope="module")
def mohler(data_folder):
    from evaluation.consensus.inputs import embed
    from evaluation.consensus.parameters import AqerParameters
    from evaluation.evidence.data_sets import load_mohler

    corpus = load_mohler(data_folder)
    return corpus, embed(AqerParameters(), corpus.texts, None, None).answers


@pytest.mark.parametrize(
    ("switches", "published", "within"),
    [
        ({}, 0.919, 0.01),
        ({"max_iterations": 1}, 0.887, 0.015),
        ({"discrimination": True}, 0.948, 0.01),
        ({"discrimination": True, "leave_one_out": True}, 0.951, 0.01),
    ],
    ids=["aqer", "one pass", "discrimination", "discrimination, leave one out"],
)
def test_raw_correlates_with_what_was_dealt_as_published(mohler, switches, published, within):
    from evaluation.evidence.data_sets import assign_answers

    corpus, vectors = mohler
    found = []
    for seed in range(1000, 1025):
        dealt = assign_answers(corpus, 2, seed)
        model = AQER(n_draws=0, **switches)
        model.fit(vectors[dealt.rows], dealt.workers, corpus.questions[dealt.rows])
        truth = dealt.compute_true_grades(corpus.grades)[model.workers_.astype(int)]
        found.append(np.corrcoef(model.raw_, truth)[0, 1])
    assert np.mean(found) == pytest.approx(published, abs=within)
