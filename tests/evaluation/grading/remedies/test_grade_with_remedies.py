"""Remedies on plain arrays: whoever has no vote changes nothing of what the others come to."""

import numpy as np
import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.stats.simulation import build_correlated_weak_groups, simulate_crowd
from evaluation.grading.crowd import RemedyInputs
from evaluation.grading.remedies.run import grade_with_remedies

# Half of twelve workers share an error, on twelve questions.
CROWD = simulate_crowd(build_correlated_weak_groups(0.8, n_workers=12), 12, 40, seed=0)


def remedied(rows, excluded=(), **parameters):
    parameters = AqerParameters(embedder="precomputed:none", bootstrap=0, **parameters)
    return grade_with_remedies(
        parameters,
        CROWD.vectors[rows],
        CROWD.workers[rows],
        CROWD.questions[rows],
        RemedyInputs(excluded=excluded),
    )


@pytest.mark.parametrize("out", [[0], [0, 7], [11]])
def test_the_answers_to_ask_an_expert_for_are_those_of_the_crowd_without_the_excluded(out):
    everybody = np.arange(len(CROWD.workers))
    others = np.flatnonzero(~np.isin(CROWD.workers, out))
    found = remedied(everybody, out, suggest_anchors=6).report
    alone = remedied(others, suggest_anchors=6).report
    assert len(found.suggested) == 6
    assert found.suggested.tolist() == others[alone.suggested].tolist()
    assert not set(CROWD.workers[found.suggested].tolist()) & set(out)


def test_a_question_on_which_nobody_votes_is_not_asked_about():
    asked = CROWD.questions.astype(np.int64)
    only_out = (asked == 3) & (CROWD.workers != 0)
    rows = np.flatnonzero(~only_out)
    found = remedied(rows, [0], suggest_anchors=100).report
    suggested = rows[found.suggested]
    assert 3 not in asked[suggested]
    assert 0 not in CROWD.workers[suggested]
    assert len(set(asked[suggested].tolist())) > 6
