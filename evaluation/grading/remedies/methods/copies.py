"""Groups of copies as one unit of the vote, their sources, and excluded workers.

Units of the vote: a worker, or a group of copies as one; excluded workers are in none.

A unit answers a question as the member who is known to have been first (`sources`), else with the
medoid of its members' answers, the one nearest to the others. Answers without a vote are graded
too, see `bystanders`.

Find the source of a group of copies: the worker whose answers came first.

Copies do not show who wrote and who copied; times may. A worker who was first on most questions is
taken for the source and keeps the group's vote. A time says when an answer was sent, not when it
was written: two answers sent in the same batch leave the question open.

Decide which groups of similar workers are copiers, to be collapsed to one voter each.

Where a crowd has camps, members of a camp look like copies of each other, honest ones too. A group
that equals a camp is collapsed only if its answers prove that it copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.scale import Electorate, RemedyError
from evaluation.core.stats.cells import Booleans, Cells, Floats, Integers, encode_labels
from evaluation.core.stats.grams import Vectors, compute_gram_blocks
from evaluation.grading.alarms.methods import CopierGroup, Pairs, find_camps, find_copiers
from evaluation.grading.alarms.methods.findings import IDENTICAL, find_equal_camp

NO_WORKER = -1
FEWEST_OUTSIDE = 3


@dataclass(frozen=True)
class VotingUnits:
    """The units of the vote, each a worker or a group of copiers, and the answers that vote.

    Attributes
    ----------
    of_worker : (M,) unit of each worker, -1 if excluded. Units are numbered in the order of their
        voting answers.
    groups : codes of the workers of each group that is one unit.
    rows, unit : (V,) input rows that vote, ascending, and the unit of each.
    """

    of_worker: Integers
    groups: tuple[Integers, ...]
    rows: Integers
    unit: Integers

    @property
    def n_units(self) -> int:
        """Number of units that vote: workers, or groups of copiers with one vote."""
        return int(self.unit.max(initial=-1)) + 1

    @property
    def excluded(self) -> Booleans:
        """Whether each worker (M,) is excluded from the vote."""
        return self.of_worker == NO_WORKER

    @property
    def collapsed(self) -> Booleans:
        """Whether each unit (U,) is a group of copiers."""
        out = np.zeros(self.n_units, dtype=bool)
        out[[self.of_worker[group[0]] for group in self.groups]] = True
        return out

    def build_electorate(self, group_vote: float, base: Electorate) -> Electorate:
        """Return the voting rules `base` with a reduced vote for each group of copiers."""
        if not self.groups:
            return base
        collapsed = self.collapsed
        factor = np.where(collapsed, group_vote, 1.0)
        return Electorate(
            factor=factor if base.factor is None else factor * base.factor,
            # With groups in the minimum and maximum the others' order agreed by .89 to .96 only.
            on_scale=~collapsed,
            left_out=collapsed,
            start=base.start,
        )


def build_units(
    vectors: Vectors,
    worker: Integers,
    question: Integers,
    n_workers: int,
    excluded: Sequence[int] | Integers = (),
    groups: Sequence[Integers] = (),
    sources: Sequence[int | None] = (),
    *,
    euclidean: bool = False,
) -> VotingUnits:
    """Return the units of the vote: each group of copiers as one, excluded workers in none.

    Parameters
    ----------
    vectors : (N, d). worker, question : (N,) codes.
    excluded : codes of workers who do not vote. groups : codes of the workers of each group; groups
        and excluded workers do not overlap.
    sources : for each group the code of the member who answered first, whose answers vote; None if
        unknown, () if unknown for all groups.
    euclidean : whether medoids are found by distance and not by cosine.

    Raises
    ------
    RemedyError
        Fewer than 3 voting workers are outside the groups: they set the scale of the grades.
    """
    unit_head = np.arange(n_workers)
    unit_head[np.asarray(excluded, dtype=np.int64)] = NO_WORKER
    for group in groups:
        unit_head[group] = group[0]
    is_voting = unit_head[worker] != NO_WORKER
    for group, source in zip(groups, sources or [None] * len(groups), strict=True):
        group_rows = np.flatnonzero(np.isin(worker, group))
        is_voting[group_rows] = False
        if source is not None:
            source_rows = group_rows[worker[group_rows] == source]
            is_voting[source_rows] = True
            # Where the source gave no answer, the medoid of the other members votes.
            group_rows = group_rows[~np.isin(question[group_rows], question[source_rows])]
        if len(group_rows):
            is_voting[find_medoids(vectors, worker, question, group_rows, euclidean=euclidean)] = (
                True
            )
    rows = np.flatnonzero(is_voting)
    unit, owners = encode_labels(unit_head[worker[rows]])
    group_heads = [int(group[0]) for group in groups]
    n_outside = len(owners) - len(group_heads)
    if groups and n_outside < FEWEST_OUTSIDE:
        raise RemedyError("few_outside_groups", outside=n_outside, fewest=FEWEST_OUTSIDE)
    unit_of_owner = np.full(n_workers + 1, NO_WORKER)  # its last place is that of the excluded
    unit_of_owner[owners.astype(np.int64)] = np.arange(len(owners))
    return VotingUnits(unit_of_owner[unit_head], tuple(groups), rows, unit.astype(np.int64))


def find_medoids(
    vectors: Vectors, worker: Integers, question: Integers, rows: Integers, *, euclidean: bool
) -> Integers:
    """Return the row of the most central answer (medoid) to each question, of those in `rows`.

    It has the highest sum of similarities to the other answers to its question among `rows`; the
    first row wins a tie, as always between two answers.
    """
    worker_codes, workers = encode_labels(worker[rows])
    question_codes, questions = encode_labels(question[rows])
    cells = Cells.from_codes(worker_codes, question_codes, len(workers), len(questions))
    inside = cells.renumber_rows(rows)
    vote = MeanVote(inside, compute_gram_blocks(vectors, inside, centred=euclidean), euclidean)
    total = _sum_similarities(vote)
    best = np.maximum.reduceat(total, inside.starts)
    # Sums of equal answers differ by rounding: within a margin they tie, and the first row wins.
    is_best = total >= np.repeat(best - 1e-9 * np.maximum(1.0, np.abs(best)), inside.sizes)
    candidate_rows = np.where(is_best, inside.row, np.iinfo(np.int64).max)
    return np.minimum.reduceat(candidate_rows, inside.starts)


def _sum_similarities(vote: MeanVote) -> Floats:
    """Return each answer's summed similarity (N,) to the other answers to its question."""
    out, start = np.empty(len(vote.cells)), 0
    for block in vote.blocks:
        stop = start + len(block) * block.size
        inner = block.compute_gram(slice(None))
        if vote.euclidean:
            squared = block.own[:, :, None] + block.own[:, None, :] - 2 * inner
            # Of equal answers the terms cancel, and rounding may leave less than 0.
            inner = -np.sqrt(np.maximum(squared, 0.0))
        out[start:stop] = inner.sum(axis=2).ravel()
        start = stop
    return out


# On more than so many of the questions whose times tell ...
MOST = 0.5
# ... which are at least so many of those that two members answered.
MIN_SHARE = 0.5


@dataclass(frozen=True)
class CopySource:
    """The member of a group of copiers that the others may have copied.

    Attributes
    ----------
    worker : code. n_first : number of questions that this worker answered first. n_timed : number
        of questions that two or more members answered at known times, ties included.
    """

    worker: int
    n_first: int
    n_timed: int


def find_copy_source(
    members: Integers, worker: Integers, question: Integers, times: Floats
) -> CopySource | None:
    """Return the member of a group who answered most questions first; None if unknown.

    Parameters
    ----------
    members : codes of the group's workers.
    worker, question : (N,) codes, each pair at most once.
    times : (N,) of the answers, in any unit, NaN if unknown; () without any times.
    """
    if not len(times):
        return None
    rows = np.flatnonzero(np.isin(worker, members))
    rows = rows[np.argsort(question[rows], kind="stable")]
    firsts: list[int] = []
    n_shared = n_timed = 0
    for part in np.split(rows, np.flatnonzero(np.diff(question[rows])) + 1):
        if len(part) < 2:
            continue
        n_shared += 1
        answer_times = times[part]
        # Whoever has no known time may have been first.
        if np.isnan(answer_times).any():
            continue
        n_timed += 1
        first = part[answer_times == answer_times.min()]
        if len(first) == 1:
            firsts.append(int(worker[first[0]]))
    if not firsts or n_timed < MIN_SHARE * n_shared:
        return None
    codes, counts = np.unique(firsts, return_counts=True)
    most_frequent = int(np.argmax(counts))
    if counts[most_frequent] <= MOST * n_timed:
        return None
    return CopySource(int(codes[most_frequent]), int(counts[most_frequent]), n_timed)


COPIES, PROVED, CAMP = "copies", "camp_proved_by_answers", "camp"
# Of a group that was not asked for.
LEFT = "not_asked_for"


@dataclass(frozen=True)
class JudgedGroup:
    """A group of workers with similar answers, with the verdict whether it has one vote only.

    Attributes
    ----------
    members : codes. statistic : mean kappa of the suspected pairs. mean_cosine : of the members'
        answers to the same question.
    verdict : "copies" (no camp), "camp_proved_by_answers", or "camp" and "not_asked_for", which
        are not collapsed.
    source : member who answered first; None if the times do not show it.
    """

    members: Integers
    statistic: float
    mean_cosine: float
    verdict: str
    source: CopySource | None = None

    @property
    def is_collapsed(self) -> bool:
        """Whether the group has one vote instead of one per worker."""
        return self.verdict in (COPIES, PROVED)

    @property
    def is_requested(self) -> bool:
        """Whether the caller asked to give the group one vote."""
        return self.verdict != LEFT


def judge_copier_groups(
    pairs: Pairs,
    proved_by_texts: Callable[[CopierGroup], bool],
    seed: int = 0,
    of_workers: Integers | None = None,
) -> list[JudgedGroup]:
    """Return the groups of similar workers, each with the verdict whether it has one vote.

    Parameters
    ----------
    proved_by_texts : is asked of groups that are camps and whose answers are not identical.
    of_workers : codes; of groups without any of these the verdict is "not_asked_for". None for all.
    """
    groups = find_copiers(pairs).groups
    alarm = find_camps(pairs, seed) if groups else None
    judged_groups = []
    for group in groups:
        verdict = COPIES
        if of_workers is not None and not np.isin(group.members, of_workers).any():
            verdict = LEFT
        elif alarm is not None and find_equal_camp(group, alarm) is not None:
            proved = group.mean_cosine >= IDENTICAL or proved_by_texts(group)
            verdict = PROVED if proved else CAMP
        judged_groups.append(
            JudgedGroup(group.members, group.statistic, group.mean_cosine, verdict)
        )
    return judged_groups
