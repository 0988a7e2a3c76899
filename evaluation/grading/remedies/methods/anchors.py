"""Choose among candidate rankings by a few answers that an expert graded (anchors).

Suggested answers are the candidates' favourites on the questions where these differ most. The
candidate whose scores of the graded answers correlate best with the grades wins. Six anchors are
enough where a crowd has two camps; graded answers as permanent votes did worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.consensus.methods.votes import scale_to_unit_length
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.statistics.correlation import pearson
from evaluation.grading.remedies.methods.candidates import Candidate

# Correlations closer than this are tied.
TIE = 1e-9

EQUAL_GRADES = "equal_grades"
TOO_FEW = "fewer_than_2_anchors"
NO_SCORES = "no_scores"


@dataclass(frozen=True)
class Choice:
    """The candidate ranking that expert grades chose, and each candidate's correlation with them.

    Attributes
    ----------
    place : among the candidates; 0, the default, where they could not choose.
    correlations : Pearson's, of each candidate; None where it is undefined.
    reason : why they could not choose; None where they did.
    """

    place: int
    correlations: tuple[float | None, ...]
    reason: str | None


def choose_candidate(scores: Sequence[Floats], grades: Floats) -> Choice:
    """Choose the candidate ranking whose answer scores correlate best with expert grades.

    Parameters
    ----------
    scores : of each candidate, (A,) scores of the graded answers, NaN for none.
    grades : (A,) the expert's, on any scale.
    """
    if len(grades) < 2:
        return Choice(0, (None,) * len(scores), TOO_FEW)
    if np.ptp(grades) == 0:
        return Choice(0, (None,) * len(scores), EQUAL_GRADES)
    correlations = tuple(pearson(values, grades) for values in scores)
    best, place = -np.inf, None
    for index, value in enumerate(correlations):
        # Rounding must not decide: ties keep the earlier candidate.
        if value is not None and value > best + TIE:
            best, place = value, index
    return (
        Choice(0, correlations, NO_SCORES) if place is None else Choice(place, correlations, None)
    )


def suggest_anchors(candidates: Sequence[Candidate], vectors: Vectors, count: int) -> Integers:
    """Return rows of answers that an expert should grade to separate candidate rankings.

    Question by question, from the one where the candidates' favourites are farthest apart (mean of
    1 - cosine over pairs of candidates; ties keep the questions' order), every favourite once.

    `vectors` (N, d) are those that the candidates were fitted with. Answers without a vote are
    never favourites; a question without votes has none.
    """
    favourites = np.array([candidate.aqer.nearest_ for candidate in candidates])
    distances = _compute_distances(vectors, favourites)
    rows: list[int] = []
    for question in np.argsort(-distances, kind="stable"):
        distinct = dict.fromkeys(favourites[:, question].tolist())
        if len(distinct) > 1:
            rows += distinct
        if len(rows) >= count:
            break
    return np.array(rows[:count], dtype=np.int64)


def _compute_distances(vectors: Vectors, favourites: Integers) -> Floats:
    """Return, per question, how far apart the candidates' favourite answers are.

    Shape (Q,). The mean of 1 - cosine over pairs of candidates.
    """
    units = [convert_to_dense(scale_to_unit_length(vectors[rows])) for rows in favourites]
    total, pairs = np.zeros(favourites.shape[1]), 0
    for index, units_of_candidate in enumerate(units):
        for units_of_other in units[index + 1 :]:
            total += 1.0 - np.einsum("qd,qd->q", units_of_candidate, units_of_other)
            pairs += 1
    return total / max(1, pairs)
