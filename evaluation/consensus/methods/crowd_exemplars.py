"""Exemplary answers of a vote, prepared for question contrast, where the contrast is defined."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.fixed_point import Vote
from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.consensus.methods.question_contrast import CrowdExemplars
from evaluation.consensus.methods.targets import scale_by_power_of_two
from evaluation.consensus.methods.votes import LeftOutVote
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors

# Distances have no additive form over questions, nor has a majority without one of its voters.
NEEDS_COSINE = "contrast_needs_cosine"
NEEDS_MEAN_VOTE = "contrast_needs_mean_vote"
NEEDS_VECTORS = "contrast_needs_vectors"


def find_contrast_obstacle(vote: Vote, vectors: Vectors | None) -> str | None:
    """Return why a vote has no question contrast, as a reason code; None if it has."""
    plain = vote.vote if isinstance(vote, LeftOutVote) else vote
    if not isinstance(plain, MeanVote):
        return NEEDS_MEAN_VOTE
    if plain.euclidean:
        return NEEDS_COSINE
    return NEEDS_VECTORS if vectors is None else None


def build_crowd_exemplars(
    vote: Vote,
    vectors: Vectors,
    weights: Floats,
    groups: Integers | None,
    without: int | None = None,
) -> CrowdExemplars:
    """Return the exemplary answers of a mean vote under cosine.

    Parameters
    ----------
    vectors : (N, d) the ones the vote was made from. weights : (M,) voting weights.
    groups : (Q,) code of each question's passage or category, -1 for none; None for no groups.
    without : code of a worker whose answers are left out of every exemplary answer.
    """
    plain = vote.vote if isinstance(vote, LeftOutVote) else vote
    assert isinstance(plain, MeanVote)
    cells = plain.cells
    exponent = cells.to_questions(np.concatenate([block.exponent for block in plain.blocks]))
    question, worker = cells.to_rows(cells.question), cells.to_rows(cells.worker)
    x = scale_by_power_of_two(vectors, exponent[question]) if exponent.any() else vectors
    if without is None:
        votes = cells.to_rows(plain.votes(weights[:, None])[:, 0])
        exemplars = plain.exemplars(x, weights)
    else:
        left = np.flatnonzero(worker != without)
        x, question, votes = x[left], question[left], weights[worker[left]]
        nobody = np.bincount(question, votes, cells.n_questions) <= 0
        votes = np.where(nobody[question], 1.0, votes)
    shares = votes / np.bincount(question, votes, cells.n_questions)[question]
    if without is not None:
        at = (question, np.arange(len(question)))
        exemplars = sparse.csr_array((shares, at), shape=(cells.n_questions, len(question))) @ x
    return CrowdExemplars(exemplars, x, question, shares, groups)
