"""Replies of one system to all wordings as arrays, and clusters of equal meaning.

Votes count how often each answer to an item was given, and find the modal answer. The metrics of
the items are averaged over groups of items; an undefined metric has a reason.

Clusters of answers with the same meaning: average linkage over many questions at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.stats.cells import divide_where_positive, find_equal_rows

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

NO_VOTE = -1


@dataclass(frozen=True)
class Panel:
    """Replies of one system, one row per item, one column per wording (column 0: original).

    Attributes
    ----------
    answers : (n, R) code of each reply's answer: the number of a choice, or of a text. Equal
        answers have the same code in all items. `NO_VOTE` where the reply is refused, empty or
        missing.
    right : (n, R) whether the reply is right; refused and empty replies are not.
    has_reply : (n, R) whether there is a reply; every item has one to its original wording.
    n_possible : (n,) K_j, the number of different answers that an item can have.
    n_choices : (n,) number of choices of the item; 0 for an item without choices.
    representatives : (n, R) column of the reply that represents all replies with this answer. A
        modal answer is right if its representative is right. A reply represents itself, except in
        a cluster of free texts.
    n_guesses : (n,) number of equally likely guesses: the number of choices, or with m right
        choices the number of sets of m; 0 for an item without choices.
    """

    answers: Ints
    right: Bools
    has_reply: Bools
    n_possible: Ints
    n_choices: Ints
    representatives: Ints
    n_guesses: Ints

    @classmethod
    def from_arrays(
        cls,
        answers: ArrayLike,
        right: ArrayLike,
        n_choices: ArrayLike = 0,
        has_reply: ArrayLike | None = None,
        representatives: ArrayLike | None = None,
        n_guesses: ArrayLike | None = None,
    ) -> Self:
        """Return the panel of validated arrays, with defaults for those that are missing.

        K_j is the number of choices, or of replies for an item without choices. A reply that
        names no choice is an answer too, so K_j is never below the number of different answers.

        Parameters
        ----------
        n_choices : (n,) or one number for all items.
        has_reply : None if every item has R replies.
        representatives : None if every reply represents itself.
        n_guesses : None if one choice of each item is right.

        Raises
        ------
        ValueError : shapes differ; an item lacks a reply to its original wording; a missing reply
            has a vote; a reply without a vote is right.
        """
        codes = np.asarray(answers, dtype=np.int64)
        correct = np.asarray(right, dtype=np.bool_)
        exists = np.ones(codes.shape, bool) if has_reply is None else np.asarray(has_reply, bool)
        if codes.ndim != 2 or codes.shape != correct.shape or codes.shape != exists.shape:
            raise ValueError("answers, right and has_reply must have one shape (items, answers)")
        # Accuracy and the tie rule of the plurality need the original wording of every item.
        if len(codes) and (not codes.shape[1] or not exists[:, 0].all()):
            raise ValueError("every item needs a reply to its original wording")
        if (~exists & (correct | (codes >= 0))).any() or (correct & (codes < 0)).any():
            raise ValueError(
                "a missing reply can have no vote, and a reply without a vote is wrong"
            )
        offered = np.broadcast_to(np.asarray(n_choices, dtype=np.int64), len(codes)).copy()
        possible = np.where(
            offered > 0,
            np.maximum(offered, _count_distinct(codes)),
            exists.sum(axis=1, dtype=np.int64),
        )
        own = np.broadcast_to(np.arange(codes.shape[1]), codes.shape)
        columns = own
        if representatives is not None:
            columns = np.where(codes >= 0, np.asarray(representatives), own)
        guesses = offered if n_guesses is None else np.asarray(n_guesses, dtype=np.int64)
        return cls(codes, correct, exists, possible, offered, columns.astype(np.int64), guesses)

    def __len__(self) -> int:
        return len(self.answers)

    def select_items(self, items: ArrayLike) -> Panel:
        """Return the panel of the items that `items` selects by index or mask."""
        rows = np.asarray(items)
        return Panel(
            self.answers[rows],
            self.right[rows],
            self.has_reply[rows],
            self.n_possible[rows],
            self.n_choices[rows],
            self.representatives[rows],
            self.n_guesses[rows],
        )

    def find_profiles(self) -> tuple[Panel, Ints]:
        """Return the panel of the distinct items (profiles), and each item's row in that panel.

        A profile is the first item of all items with equal rows. Hundreds of thousands of choice
        items have a few thousand profiles, so metrics are computed once for each profile.
        """
        columns = [
            *self.answers.T,
            *self.right.T,
            *self.has_reply.T,
            *self.representatives.T,
        ]
        first, profile_numbers = find_equal_rows(
            [*columns, self.n_possible, self.n_choices, self.n_guesses], len(self)
        )
        return self.select_items(first), profile_numbers


def _count_distinct(answers: Ints) -> Ints:
    """Return the number of different answers that have a vote, one value per item."""
    if not answers.size:
        return np.zeros(len(answers), dtype=np.int64)
    ordered = np.sort(answers, axis=1)
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return (new & (ordered >= 0)).sum(axis=1, dtype=np.int64)


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Votes:
    """Votes of each item's replies for answers; refused and empty replies have none.

    Attributes
    ----------
    n_votes : (n,) number of replies with a vote.
    times : (n, R) how often the answer of each reply was given; 0 without a vote.
    mode : (n,) column of a reply with the modal answer; -1 without a vote. Of tied answers the
        one to the original wording counts, else the earliest.
    n_modes : (n,) number of answers that were given most often; 0 without a vote.
    right_modes : (n,) number of these that are right.
    """

    n_votes: Ints
    times: Ints
    mode: Ints
    n_modes: Ints
    right_modes: Ints

    @classmethod
    def from_panel(cls, panel: Panel) -> Self:
        """Return the votes counted from a panel of replies."""
        answers = panel.answers
        votes = answers >= 0
        times = np.zeros(answers.shape, dtype=np.int64)
        first = votes.copy()  # whether no earlier reply gave this answer
        for column in range(answers.shape[1]):
            same = (answers == answers[:, column, None]) & votes[:, column, None]
            times[:, column] = same.sum(axis=1)
            first[:, column] &= ~same[:, :column].any(axis=1)
        most = times.max(axis=1, initial=0)
        modal = votes & (times == most[:, None])
        # Column 0 is the original, so the first modal column satisfies both tie rules.
        mode = np.where(modal.any(axis=1), modal.argmax(axis=1), -1) if answers.size else most - 1
        distinct = modal & first
        right = np.take_along_axis(panel.right, panel.representatives, axis=1)
        return cls(
            votes.sum(axis=1, dtype=np.int64),
            times,
            mode.astype(np.int64),
            distinct.sum(axis=1, dtype=np.int64),
            (distinct & right).sum(axis=1, dtype=np.int64),
        )

    def sum_squared_frequencies(self) -> Ints:
        """Return, for each item, the sum of squared frequencies of its different answers."""
        # Each of the f replies with an answer holds f, so their sum is f^2.
        return self.times.sum(axis=1)

    def compute_negative_entropy(self) -> Floats:
        """Return, for each item, the sum of p log p over its answers; NaN without a vote."""
        share = divide_where_positive(self.times, self.n_votes[:, None])
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        # Each of the f replies with an answer holds log p, and p is f divided by n_votes.
        return divide_where_positive(np.where(self.times > 0, logs, 0.0).sum(axis=1), self.n_votes)

    def score_modal_answers(self, panel: Panel) -> Floats:
        """Return, for each item, 1 if the most frequent answer is right, else 0."""
        # Without votes the mode is -1, which would be the last column; such items are masked below.
        rows, mode = np.arange(len(self.mode)), np.maximum(self.mode, 0)
        if panel.right.size:
            right = panel.right[rows, panel.representatives[rows, mode]]
        else:
            right = self.mode > 0
        return np.where(self.mode >= 0, right, False).astype(np.float64)


NO_VOTES = "no_votes"
ONE_VOTE = "fewer_than_2_votes"
ONE_POSSIBLE = "one_possible_answer"

ITEM_METRICS = (
    *("accuracy", "worst_case", "best_case", "plurality", "plurality_fractional", "tie_rate"),
    *("item_difficulty", "certainty", "m2_certainty", "agreement", "free_marginal_kappa"),
)


@dataclass(frozen=True)
class ItemMetrics:
    """Metrics of each item by name (`ITEM_METRICS`), one value per item.

    All are in 0..1; only free_marginal_kappa may be negative.

    Attributes
    ----------
    values : each metric; NaN where it is undefined.
    reasons : for each metric and reason, (n,) whether it is undefined for that reason.
    votes : votes of the items.
    n_replies : (n,) number of replies.
    """

    values: Mapping[str, Floats]
    reasons: Mapping[str, Mapping[str, Bools]]
    votes: Votes
    n_replies: NDArray[np.int64]

    def find_reason(self, name: str, item: int) -> str | None:
        """Return the reason code why an item's metric is undefined; None if it is defined."""
        matching = (why for why, items in self.reasons.get(name, {}).items() if items[item])
        return next(matching, None)


def compute_item_metrics(panel: Panel) -> ItemMetrics:
    """Return the metrics of every item of a panel of replies.

    Refused and empty replies are wrong and have no vote. Without a vote the modal answer is wrong
    and agreement is undefined.

    Raises
    ------
    AssertionError : worst case <= plurality, accuracy <= best case does not hold.
    """
    votes = Votes.from_panel(panel)
    right, has_reply = panel.right, panel.has_reply
    n_replies = has_reply.sum(axis=1)
    none, single = votes.n_votes == 0, votes.n_votes < 2
    one_possible = panel.n_possible < 2
    # K_j of 1 would divide by log 1 = 0; such items become undefined below.
    log_k = np.log(np.maximum(panel.n_possible, 2))
    certainty = 1.0 + votes.compute_negative_entropy() / log_k
    k = np.maximum(panel.n_possible, 2).astype(np.float64)
    squares = votes.sum_squared_frequencies().astype(np.float64)
    m2 = 1.0 - k / (k - 1.0) * (
        1.0 - divide_where_positive(squares, votes.n_votes.astype(np.float64) ** 2)
    )
    pairs = votes.n_votes * (votes.n_votes - 1.0)
    agreement = divide_where_positive(squares - votes.n_votes, pairs)
    free_marginal = (agreement - 1.0 / k) / (1.0 - 1.0 / k)
    # The formulas above used K_j = 2 for these items to avoid a division by zero.
    for metric in (certainty, m2, free_marginal):
        metric[one_possible] = np.nan
    values: dict[str, Floats] = {
        "accuracy": right[:, 0].astype(np.float64) if len(panel) else np.empty(0),
        "worst_case": np.asarray((right | ~has_reply).all(axis=1), dtype=np.float64),
        "best_case": np.asarray(right.any(axis=1), dtype=np.float64),
        "plurality": votes.score_modal_answers(panel),
        "plurality_fractional": divide_where_positive(
            votes.right_modes, votes.n_modes, undefined=0.0
        ),
        "tie_rate": np.where(none, np.nan, votes.n_modes > 1),
        "item_difficulty": divide_where_positive(right.sum(axis=1), n_replies),
        # Rounding errors can exceed the range by 1e-16.
        "certainty": np.clip(certainty, 0.0, 1.0),
        "m2_certainty": np.clip(m2, 0.0, 1.0),
        "agreement": agreement,
        "free_marginal_kappa": free_marginal,
    }
    # Holds because the modal answer is one of the replies, judged by the same matcher.
    least = np.minimum(values["plurality"], values["accuracy"])
    most = np.maximum(values["plurality"], values["accuracy"])
    assert (values["worst_case"] <= least).all()
    assert (most <= values["best_case"]).all()
    needs_vote = {NO_VOTES: none, ONE_POSSIBLE: one_possible & ~none}
    needs_pair = {NO_VOTES: none, ONE_VOTE: single & ~none}
    reasons = {
        "tie_rate": {NO_VOTES: none},
        "certainty": needs_vote,
        "m2_certainty": needs_vote,
        "agreement": needs_pair,
        "free_marginal_kappa": {**needs_pair, ONE_POSSIBLE: one_possible & ~single},
    }
    return ItemMetrics(values, reasons, votes, n_replies.astype(np.int64))


def cluster_answers(similarity: ArrayLike, present: ArrayLike, threshold: float) -> Ints:
    """Return the cluster of each answer to each question, by average linkage.

    The two clusters with the greatest mean similarity join first. Of equally similar pairs the
    earlier joins first. Joining stops when no mean similarity is above the threshold.

    Parameters
    ----------
    similarity : (n, R, R) similarities of the R answers to each of n questions, symmetric. -inf
        keeps two answers out of one cluster.
    present : (n, R) whether the answer exists.
    threshold : a pair joins only if its mean similarity is greater.

    Returns
    -------
    (n, R) column of the first member of each answer's cluster; -1 where there is no answer.
    """
    exists = np.asarray(present, dtype=np.bool_)
    # Sums of similarities between clusters: a join adds two rows, and a mean needs one division.
    sums = np.array(similarity, dtype=np.float64)
    n, r = exists.shape
    sums[~(exists[:, :, None] & exists[:, None, :])] = -np.inf
    sums[:, np.arange(r), np.arange(r)] = -np.inf
    sizes = np.ones((n, r))
    labels = np.where(exists, np.arange(r), -1)
    active = np.arange(n)
    # All questions take one join per round; questions without a further join leave `active`.
    for _ in range(r - 1):
        if not len(active):
            break
        mean = sums[active] / (sizes[active][:, :, None] * sizes[active][:, None, :])
        flat = mean.reshape(len(active), r * r)
        # argmax takes the first of equal maxima, so the earlier pair joins first.
        best = flat.argmax(axis=1)
        joins = flat[np.arange(len(active)), best] > threshold
        active, best = active[joins], best[joins]
        first, second = np.divmod(best, r)
        first, second = np.minimum(first, second), np.maximum(first, second)
        merged = sums[active, first] + sums[active, second]
        sums[active, first] = merged
        sums[active, :, first] = merged
        sums[active, first, first] = -np.inf
        sums[active, second] = -np.inf
        sums[active, :, second] = -np.inf
        sizes[active, first] += sizes[active, second]
        labels[active] = np.where(labels[active] == second[:, None], first[:, None], labels[active])
    return labels


def find_representatives(similarity: ArrayLike, labels: ArrayLike) -> Ints:
    """Return, for each answer, the column of the most central answer of its cluster.

    The centre is the mean of the members' unit vectors. The nearest member therefore has the
    greatest sum of cosines to all members. Of equal sums the earliest counts. -1 where there is no
    answer.

    Parameters
    ----------
    similarity : (n, R, R) cosines.
    labels : (n, R) clusters as `cluster_answers` returns them.
    """
    cosines = np.asarray(similarity, dtype=np.float64)
    sums = np.where(_is_same_cluster(labels), cosines, 0.0).sum(axis=2)
    # Sums of equal texts differ by rounding errors only; rounding makes the earliest one win.
    return find_best_members(np.round(sums, 9), labels)


def find_best_members(scores: ArrayLike, labels: ArrayLike) -> Ints:
    """Return, for each answer, the column of its cluster's member with the greatest score.

    Of equal scores the earliest counts. -1 where there is no answer.

    Parameters
    ----------
    scores : (n, R) scores of the answers.
    labels : (n, R) clusters as `cluster_answers` returns them.
    """
    clusters = np.asarray(labels, dtype=np.int64)
    members = _is_same_cluster(clusters)
    in_cluster = np.where(members, np.asarray(scores, dtype=np.float64)[:, None, :], -np.inf)
    return np.where(clusters >= 0, in_cluster.argmax(axis=2), -1)


def _is_same_cluster(labels: ArrayLike) -> Bools:
    """Return (n, R, R) whether each two answers to a question are in one cluster."""
    clusters = np.asarray(labels, dtype=np.int64)
    same: Bools = (clusters[:, :, None] == clusters[:, None, :]) & (clusters >= 0)[:, :, None]
    return same
