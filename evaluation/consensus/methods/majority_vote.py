"""Similarity to an exemplary binary bag of words, made by majority vote (appendix G).

A word belongs to the exemplary answer of a question if the answers that hold it carry more than
half of the voting weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.core.stats.cells import Cells, Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.undefined import divide_where_positive

# Above this share of the weight a word is in; the margin keeps a rounded tie a tie.
MAJORITY = 0.5 + 1e-12


@dataclass(frozen=True)
class MajorityVote:
    """Binary bags of words of all answers, one dense array for each question.

    Attributes
    ----------
    cells : the answered cells.
    bags : for each question in cell order (m, words of that question), zeros and ones.
    words : for each question in cell order, the columns that its words have in the vectors.
    mean_vote : the same answers under the mean vote, for what does not depend on the vote.
    """

    cells: Cells
    bags: list[Floats]
    words: list[Integers]
    mean_vote: MeanVote
    euclidean: bool

    @classmethod
    def from_vectors(cls, vectors: Vectors, cells: Cells, similarity: str) -> MajorityVote:
        """Build the vote; each question keeps only the columns of words that its answers use.

        Raises
        ------
        ValueError
            The vectors hold something else than zeros and ones.
        """
        values = vectors.data if sparse.issparse(vectors) else np.asarray(vectors)
        if not np.isin(values, (0, 1)).all():
            raise ValueError("majority vote needs binary bags of words (zeros and ones)")
        bags, words = [], []
        for start, size in zip(cells.starts, cells.sizes, strict=True):
            bag = convert_to_dense(vectors[cells.row[start : start + size]])
            words.append(np.flatnonzero(bag.any(axis=0)))
            bags.append(bag[:, words[-1]])
        mean_vote = MeanVote.from_vectors(vectors, cells, similarity)
        return cls(cells, bags, words, mean_vote, similarity == "euclidean")

    def similarity(self, weights: Floats, *, leave_one_out: bool) -> Floats:
        """Return each answer's similarity to the exemplary bag, one column per weighting."""
        out = np.empty((len(self.cells), weights.shape[1]))
        for place, bag in enumerate(self.bags):
            start, size = self.cells.starts[place], self.cells.sizes[place]
            part = slice(start, start + size)
            v = self.gather_votes(place, weights)
            if not leave_one_out:
                exemplar = find_majority_words(bag, v)
                out[part] = self.compare(bag, exemplar)
            elif size == 1:
                out[part] = np.nan
            else:
                for i in range(size):
                    others = _use_equal_votes_if_none(np.delete(v, i, axis=0), axis=0)
                    exemplar = find_majority_words(np.delete(bag, i, axis=0), others)
                    out[start + i] = self.compare(bag[i : i + 1], exemplar)[0]
        return out

    def exemplars(self, vectors: Vectors, weights: Floats) -> sparse.csr_array:
        """Return one sparse exemplary bag of words per question, in code order."""
        cells, dimension = self.cells, vectors.shape[1]
        rows = []
        for place, (bag, words) in enumerate(zip(self.bags, self.words, strict=True)):
            chosen = words[
                find_majority_words(bag, self.gather_votes(place, weights[:, None]))[:, 0] > 0
            ]
            rows.append(
                sparse.csr_array(
                    (np.ones(len(chosen)), (np.zeros_like(chosen), chosen)), shape=(1, dimension)
                )
            )
        stacked = sparse.vstack(rows, format="csr")
        return sparse.csr_array(stacked[np.argsort(cells.questions_in_order)])

    def dispersion(self, weights: Floats) -> Floats:
        """Return one dispersion per question, from the answers' vectors as under mean vote."""
        return self.mean_vote.dispersion(weights)

    def gather_votes(self, place: int, weights: Floats) -> Floats:
        """Return the votes on one question, answers x draws, by its position.

        Ones if all are 0.
        """
        start = self.cells.starts[place]
        part = slice(start, start + self.cells.sizes[place])
        return _use_equal_votes_if_none(weights[self.cells.worker[part]], axis=0)

    def compare(self, bag: Floats, exemplar: Floats, words: Floats | None = None) -> Floats:
        """Return similarities of a question's answers with one exemplary bag per draw.

        `words` (m,) says how many words each bag has where `bag` holds only some of them.
        """
        inner = bag @ exemplar
        own = (bag.sum(axis=1) if words is None else words)[:, None]
        others = exemplar.sum(axis=0)[None, :]
        if self.euclidean:
            return np.asarray(0.0 - np.sqrt(own + others - 2 * inner))
        norm = np.sqrt(own * others)
        return divide_where_positive(inner, norm, 0.0)


def _use_equal_votes_if_none(v: Floats, axis: int) -> Floats:
    """Return votes, replaced by 1 along `axis` where none is above 0."""
    nobody = ~(v > 0).any(axis=axis, keepdims=True)
    return np.where(nobody, 1.0, v)


def find_majority_words(bag: Floats, v: Floats) -> Floats:
    """Return ones for majority words, words x draws, from one bag and vote row per answer."""
    return ((bag.T @ v) / v.sum(axis=0) > MAJORITY).astype(np.float64)
