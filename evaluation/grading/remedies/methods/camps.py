"""Candidate rankings of a crowd with camps, and the choice among them by anchors.

Find the candidate rankings of a crowd that has camps (groups with one opinion each).

They are the run itself, AQER started from each camp, and AQER in which only one camp votes. No
statistic of the answers shows which one is right; a few answers graded by an expert do, see
`anchors`.

Choose among candidate rankings by a few answers that an expert graded (anchors).

Suggested answers are the candidates' favourites on the questions where these differ most. The
candidate whose scores of the graded answers correlate best with the grades wins. Six anchors are
enough where a crowd has two camps; graded answers as permanent votes did worse.

Label each answer with its camp, on questions whose answers fall into two camps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluation.consensus.methods.estimator import AQER
from evaluation.consensus.methods.exemplary_answers import MeanVote
from evaluation.consensus.methods.scale import EVERYBODY, Electorate
from evaluation.consensus.methods.votes import scale_to_unit_length
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.statistics.descriptive import pearson, spearman
from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import find_question_camps

# Rankings that correlate this much are one candidate.
SAME = 0.9
# Camps are looked for inside camps, so often ...
DEPTH = 3
# ... and in those of so many workers.
FEWEST_WORKERS = 6


@dataclass(frozen=True)
class CandidateRanking:
    """A possible ranking of the workers, with the voting rules that produce it.

    Attributes
    ----------
    name : "default", "from_camp_1", "only_camp_1" ...
    electorate : voting rules of this ranking, over units.
    aqer : fitted with these rules, without draws.
    """

    name: str
    electorate: Electorate
    aqer: AQER = field(repr=False)


@dataclass(frozen=True)
class CandidateRankings:
    """All possible rankings of a crowd with camps, with the camps and the test for camps.

    A camp is a group of workers with one opinion.

    Attributes
    ----------
    rankings : candidate rankings, the default first; only the default without two camps, or if
        all candidates give the same ranking.
    camps : codes of the units of each camp, the largest first; () without two camps.
    alarm : result of the test for two camps.
    same : by name of a dropped candidate, the name of the candidate with the same ranking.
    reason : code of why there is only the default; None if there are more.
    """

    rankings: tuple[CandidateRanking, ...]
    camps: tuple[Integers, ...]
    alarm: Camps
    same: dict[str, str]
    reason: str | None


def find_camps_within(pairs: Pairs, seed: int, depth: int = DEPTH) -> tuple[Camps, list[Integers]]:
    """Return the test for two camps, and the camps; a camp that has camps itself is split again."""
    alarm = find_camps(pairs, seed)
    if not alarm.is_raised:
        return alarm, []
    leaves: list[Integers] = []
    for members in alarm.members:
        inner_camps: list[Integers] = []
        if depth > 1 and len(members) >= FEWEST_WORKERS:
            chosen = np.zeros(pairs.n_workers, dtype=bool)
            chosen[members] = True
            _, inner_camps = find_camps_within(pairs.select_workers(chosen), seed, depth - 1)
        leaves += inner_camps or [members]
    return alarm, sorted(leaves, key=len, reverse=True)


def find_candidates(
    pairs: Pairs, fit: Callable[[Electorate], AQER], seed: int, cap: float | None = None
) -> CandidateRankings:
    """Return the possible rankings of a crowd with camps; only the default without camps.

    `fit` grades the crowd with given voting rules.
    """
    alarm, groups = find_camps_within(pairs, seed)
    default = CandidateRanking("default", EVERYBODY, fit(EVERYBODY))
    # Without two camps there is only the default: grading by a part of an honest crowd harms it.
    if not groups:
        return CandidateRankings((default,), (), alarm, {}, alarm.reason or "no_camps")
    kept_candidates, dropped = [default], {}
    for name, electorate in _iterate_electorates(groups, pairs.n_workers, cap):
        aqer = fit(electorate)
        twin = next(
            (c.name for c in kept_candidates if _has_same_ranking(c.aqer.raw_, aqer.raw_)), ""
        )
        if twin:
            dropped[name] = twin
        else:
            kept_candidates.append(CandidateRanking(name, electorate, aqer))
    reason = None if len(kept_candidates) > 1 else "one_ranking"
    return CandidateRankings(tuple(kept_candidates), tuple(groups), alarm, dropped, reason)


def _iterate_electorates(
    groups: list[Integers], n_units: int, cap: float | None
) -> Iterable[tuple[str, Electorate]]:
    """Yield (name, voting rules) of candidates: started from a camp, or only that camp votes."""
    for alone in (False, True):
        for number, members in enumerate(groups, 1):
            inside = np.zeros(n_units)
            inside[members] = 1.0
            start = inside / inside.sum()
            if not alone:
                yield f"from_camp_{number}", Electorate(start=start)
            # Under a cap the weights of a small camp cannot sum to 1.
            elif cap is None or cap * len(members) >= 1.0:
                yield f"only_camp_{number}", Electorate(factor=inside, start=start)


def _has_same_ranking(raw: Floats, other: Floats) -> bool:
    """Return whether two sets of raw scores rank the workers alike (Spearman 0.9 or more)."""
    correlation = spearman(raw, other)
    if correlation is not None:
        return correlation >= SAME
    is_compared = ~np.isnan(raw) & ~np.isnan(other)
    # Without a correlation one of them has no spread: alike if both have none.
    return not is_compared.any() or bool(np.ptp(raw[is_compared]) == np.ptp(other[is_compared]))


# Correlations closer than this are tied.
TIE = 1e-9

EQUAL_GRADES = "equal_grades"
TOO_FEW = "fewer_than_2_anchors"
NO_SCORES = "no_scores"


@dataclass(frozen=True)
class RankingChoice:
    """The candidate ranking that experts' grades select, and each candidate's correlation.

    Attributes
    ----------
    place : index of the ranking among the candidates; 0, the default, if the grades select none.
    correlations : Pearson's correlation of each candidate with the grades; None if undefined.
    reason : code of why the grades select none; None if they do.
    """

    place: int
    correlations: tuple[float | None, ...]
    reason: str | None


def choose_candidate(scores: Sequence[Floats], grades: Floats) -> RankingChoice:
    """Return the candidate ranking whose answer scores correlate best with experts' grades.

    Parameters
    ----------
    scores : by candidate, (A,) scores of the graded answers, NaN if undefined.
    grades : (A,) experts' grades, on any scale.
    """
    if len(grades) < 2:
        return RankingChoice(0, (None,) * len(scores), TOO_FEW)
    if np.ptp(grades) == 0:
        return RankingChoice(0, (None,) * len(scores), EQUAL_GRADES)
    correlations = tuple(pearson(values, grades) for values in scores)
    best, place = -np.inf, None
    for index, value in enumerate(correlations):
        # Rounding must not decide: ties keep the earlier candidate.
        if value is not None and value > best + TIE:
            best, place = value, index
    return (
        RankingChoice(0, correlations, NO_SCORES)
        if place is None
        else RankingChoice(place, correlations, None)
    )


def suggest_anchors(
    candidates: Sequence[CandidateRanking], vectors: Vectors, count: int
) -> Integers:
    """Return the rows of answers whose grading by an expert best separates the candidates.

    The favourite of a candidate is the answer nearest to its exemplary answer. Questions are
    taken by decreasing distance of the candidates' favourites (mean of 1 - cosine over pairs of
    candidates; ties keep the questions' order), and each favourite once.

    `vectors` (N, d) are those by which the candidates were fitted. Answers without a vote are never
    favourites.
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
    """Return, per question (Q,), the mean distance between the candidates' favourite answers."""
    units = [convert_to_dense(scale_to_unit_length(vectors[rows])) for rows in favourites]
    total, pairs = np.zeros(favourites.shape[1]), 0
    for index, units_of_candidate in enumerate(units):
        for units_of_other in units[index + 1 :]:
            total += 1.0 - np.einsum("qd,qd->q", units_of_candidate, units_of_other)
            pairs += 1
    return total / max(1, pairs)


@dataclass(frozen=True)
class QuestionWithCamps:
    """A question whose answers form two camps of similar answers, with the camps' sizes.

    Attributes
    ----------
    question : its code. separation : .4 to 1, see `alarms.questions`. sizes : answers in each camp,
        the larger first.
    """

    question: Any
    separation: float
    sizes: tuple[int, ...]


def label_camps(
    vote: MeanVote, vectors: Vectors, seed: int
) -> tuple[Integers, list[QuestionWithCamps]]:
    """Return the camp of each answer (1 in the smaller camp, else 0), and questions with camps.

    The labels are (N,), in the order of the input rows. Also return the questions with two camps.
    Where a question's camps were found on a sample of its answers, the other answers join the camp
    with the nearer mean direction. `vectors` (N, d) are those of the vote.
    """
    cells = vote.cells
    question_camps = find_question_camps(vote, seed)
    camp = np.zeros(len(cells), dtype=np.int64)
    listed = []
    starts = cells.to_questions(cells.starts)
    sizes = cells.to_questions(cells.sizes)
    for question, (larger, smaller) in zip(
        question_camps.listed.tolist(), question_camps.camps, strict=True
    ):
        question_cells = slice(int(starts[question]), int(starts[question] + sizes[question]))
        worker = cells.worker[question_cells]
        in_second = np.isin(worker, smaller)
        not_sampled = ~in_second & ~np.isin(worker, larger)
        if not_sampled.any():
            x = convert_to_dense(scale_to_unit_length(vectors[cells.row[question_cells]]))
            mean_of_first = x[~in_second & ~not_sampled].mean(axis=0)
            mean_of_second = x[in_second].mean(axis=0)
            nearer = x @ (mean_of_second / np.linalg.norm(mean_of_second)) > x @ (
                mean_of_first / np.linalg.norm(mean_of_first)
            )
            in_second = np.where(not_sampled, nearer, in_second)
        camp[question_cells] = in_second
        count = int(in_second.sum())
        listed.append(
            QuestionWithCamps(
                question,
                float(question_camps.separation[question]),
                (len(worker) - count, count),
            )
        )
    return cells.to_rows(camp), listed
