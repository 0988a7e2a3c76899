"""Who stands behind a vote: a worker for itself, a group of copies as one unit, or nobody.

A unit answers a question as the member who is known to have been first (`sources`), else with the
medoid of its members' answers: the one that is nearest to the others. What does not vote is graded
all the same, see `bystanders`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.consensus.methods.electorate import Electorate, RemedyError
from evaluation.consensus.methods.mean_vote import MeanVote
from evaluation.methods.cells import Booleans, Cells, Floats, Integers, codes_of
from evaluation.methods.grams import Vectors, gram_blocks

NOBODY = -1
FEWEST_OUTSIDE = 3


@dataclass(frozen=True)
class Units:
    """Which of N answers vote, and as whom.

    Attributes
    ----------
    of_worker : (M,) unit of each worker, -1 for an excluded one. Units are numbered in the order in
        which their voting answers appear.
    groups : codes of the workers of each group that is one unit.
    rows : (V,) input rows that vote, ascending; `unit` (V,) whose vote each is.
    """

    of_worker: Integers
    groups: tuple[Integers, ...]
    rows: Integers
    unit: Integers

    @property
    def n_units(self) -> int:
        """How many units have a vote."""
        return int(self.unit.max(initial=-1)) + 1

    @property
    def excluded(self) -> Booleans:
        """(M,) workers who belong to no unit."""
        return self.of_worker == NOBODY

    @property
    def collapsed(self) -> Booleans:
        """(U,) units that are groups."""
        out = np.zeros(self.n_units, dtype=bool)
        out[[self.of_worker[group[0]] for group in self.groups]] = True
        return out

    def electorate(self, group_vote: float, base: Electorate) -> Electorate:
        """Return `base` (over units) with the groups' share of a vote, off the scale of grades."""
        if not self.groups:
            return base
        collapsed = self.collapsed
        factor = np.where(collapsed, group_vote, 1.0)
        return Electorate(
            factor=factor if base.factor is None else factor * base.factor,
            on_scale=~collapsed,
            left_out=collapsed,
            start=base.start,
        )


def units_of(
    vectors: Vectors,
    worker: Integers,
    question: Integers,
    n_workers: int,
    excluded: Sequence[int] | Integers = (),
    groups: Sequence[Integers] = (),
    sources: Sequence[int | None] = (),
    *,
    euclidean: bool = False,
) -> Units:
    """Return the units of a crowd.

    Parameters
    ----------
    vectors : (N, d). worker, question : (N,) codes.
    excluded : codes of workers who do not vote. groups : codes of the workers of each group, which
        share nobody with each other nor with the excluded.
    sources : of each group the code of the member who was first, whose answers vote; None where
        nobody knows, () where nobody knows of any.
    euclidean : medoids by distance, not by cosine.

    Raises
    ------
    RemedyError
        Fewer than 3 workers with a vote are in no group: nobody would be left to set the scale.
    """
    owner = np.arange(n_workers)
    owner[np.asarray(excluded, dtype=np.int64)] = NOBODY
    for group in groups:
        owner[group] = group[0]
    votes = owner[worker] != NOBODY
    for group, source in zip(groups, sources or [None] * len(groups), strict=True):
        mine = np.flatnonzero(np.isin(worker, group))
        votes[mine] = False
        if source is not None:
            own = mine[worker[mine] == source]
            votes[own] = True
            mine = mine[~np.isin(question[mine], question[own])]
        if len(mine):
            votes[medoids(vectors, worker, question, mine, euclidean=euclidean)] = True
    rows = np.flatnonzero(votes)
    unit, owners = codes_of(owner[worker[rows]])
    heads = [int(group[0]) for group in groups]
    outside = len(owners) - len(heads)
    if groups and outside < FEWEST_OUTSIDE:
        raise RemedyError("few_outside_groups", outside=outside, fewest=FEWEST_OUTSIDE)
    unit_of_owner = np.full(n_workers + 1, NOBODY)  # its last place is that of the excluded
    unit_of_owner[owners.astype(np.int64)] = np.arange(len(owners))
    return Units(unit_of_owner[owner], tuple(groups), rows, unit.astype(np.int64))


def medoids(
    vectors: Vectors, worker: Integers, question: Integers, rows: Integers, *, euclidean: bool
) -> Integers:
    """Return the row of the medoid of each question, out of some rows.

    It has the highest sum of similarities to the other answers to its question among `rows`; the
    first row wins a tie, as always between two answers.
    """
    who, workers = codes_of(worker[rows])
    asked, questions = codes_of(question[rows])
    cells = Cells.from_codes(who, asked, len(workers), len(questions))
    inside = cells.of_rows(rows)
    vote = MeanVote(inside, gram_blocks(vectors, inside, centred=euclidean), euclidean)
    total = _sums(vote)
    best = np.maximum.reduceat(total, inside.starts)
    near = total >= np.repeat(best - 1e-9 * np.maximum(1.0, np.abs(best)), inside.sizes)
    row = np.where(near, inside.row, np.iinfo(np.int64).max)
    return np.minimum.reduceat(row, inside.starts)


def _sums(vote: MeanVote) -> Floats:
    """(N,) sums of similarities to the others, in cell order."""
    out, start = np.empty(len(vote.cells)), 0
    for block in vote.blocks:
        stop = start + len(block) * block.size
        inner = block.gram(slice(None))
        if vote.euclidean:
            squared = block.own[:, :, None] + block.own[:, None, :] - 2 * inner
            inner = -np.sqrt(np.maximum(squared, 0.0))
        out[start:stop] = inner.sum(axis=2).ravel()
        start = stop
    return out
