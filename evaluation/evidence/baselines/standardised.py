"""Score workers by standardised answer scores, weighted by how well a question discriminates.

Similarities spread more on some questions than on others, for reasons that have nothing to do with
workers, such as how long answers are. Here every question counts by how well it tells good workers
from poor ones, and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.consensus.methods.discrimination import compute_item_rest_weights
from evaluation.core.stats.cells import Cells, Floats, encode_labels
from evaluation.core.stats.undefined import divide_where_positive
from evaluation.evidence.baselines.aqer import Variant
from evaluation.evidence.baselines.corpus import Crowd


@dataclass(frozen=True)
class Standardised:
    """Z-scores of answers within their question, weighted by the question's item-rest correlation.

    AQER with leave-one-out and discrimination gives the answers' leave-one-out scores; they are
    brought to mean 0 and standard deviation 1 among a question's voters, and a worker's score is
    their mean, weighted by `item_rest_weights` of the z-scores. Questions on which all voters
    score the same count for nothing. It supposes that workers answer the same questions, or that
    who answers what is due to chance.

    Attributes
    ----------
    embedders : as those of `Variant`.
    """

    embedders: tuple[str | None, ...] = (None,)

    def __call__(self, crowd: Crowd) -> Floats:
        """Return each worker's weighted mean z-score of its answers, around 0."""
        z = self.answers(crowd)
        weights = _compute_question_weights(z, crowd)[crowd.questions]
        known = ~np.isnan(z)
        weights = np.where(known, weights, 0.0)
        m = crowd.n_workers
        total = np.bincount(crowd.workers, weights * np.where(known, z, 0.0), minlength=m)
        count = np.bincount(crowd.workers, weights, minlength=m)
        return divide_where_positive(total, count)

    def answers(self, crowd: Crowd) -> Floats:
        """Return each answer's z-score within its question; NaN without spread."""
        variant = Variant({"leave_one_out": True, "discrimination": True}, self.embedders)
        model, x = variant.fit_voters(crowd)
        votes = crowd.votes
        scores = np.empty(len(crowd.rows))
        scores[votes] = model.leave_one_out_scores_
        if not votes.all():
            scores[~votes] = variant.score_nonvoters(crowd, model, x)[~votes]
        return _compute_z_scores(scores, crowd)


def _compute_z_scores(scores: Floats, crowd: Crowd) -> Floats:
    """Return each answer's distance from the voters' mean, in standard deviations; else NaN."""
    is_used = crowd.votes & ~np.isnan(scores)
    question, q = crowd.questions, crowd.corpus.n_questions
    n = np.maximum(np.bincount(question[is_used], minlength=q), 1)
    mean = np.bincount(question[is_used], scores[is_used], minlength=q) / n
    offset = scores - mean[question]
    spread = np.sqrt(np.bincount(question[is_used], offset[is_used] ** 2, minlength=q) / n)
    has_spread = spread > 1e-9 * np.maximum(1.0, np.abs(mean))
    spread = np.where(has_spread, spread, np.nan)
    return np.asarray(offset / spread[question])


def _compute_question_weights(z: Floats, crowd: Crowd) -> Floats:
    """Return each question's item-rest correlation of the voters' z-scores; 0 without any."""
    is_used = crowd.votes & ~np.isnan(z)
    weights = np.zeros(crowd.corpus.n_questions)
    if is_used.any():
        worker, workers = encode_labels(crowd.workers[is_used])
        question, questions = encode_labels(crowd.questions[is_used])
        cells = Cells.from_codes(worker, question, len(workers), len(questions))
        item_rest = compute_item_rest_weights(
            z[is_used][cells.row][:, None], np.ones((len(cells), 1)), cells
        )
        weights[questions.astype(np.int64)] = cells.to_questions(item_rest)[:, 0]
    return weights
