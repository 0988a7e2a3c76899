"""How well a set of answers covers the set of right ones (Yang, Yoo and Lee 2024, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SetScore(NamedTuple):
    """How well one reply did, each number from 0 to 1.

    `exact_set` is 1 where nothing is missing and nothing too much. A reply without any answer has
    found nothing: all four are 0, as a model's empty reply is wrong everywhere else.
    """

    precision: float
    recall: float
    f1: float
    exact_set: float


def set_score(n_right: int, n_answers: int, n_found: int, n_gold: int) -> SetScore:
    """Return the scores of a reply with `n_answers` answers, `n_right` of them right.

    `n_found` of the `n_gold` (1 or more) right answers are among them; that is `n_right` where
    each answer finds at most one of them. F1 is the harmonic mean of precision and recall.
    """
    precision = n_right / n_answers if n_answers else 0.0
    recall = n_found / n_gold
    f1 = 2 * precision * recall / (precision + recall) if n_right and n_found else 0.0
    exact = n_right == n_answers and n_found == n_gold
    return SetScore(precision, recall, f1, float(exact))


def one_to_one(fits: Sequence[Sequence[int]]) -> list[int | None]:
    """Give as many answers as possible a right answer of their own.

    A right answer has several spellings, and two answers may fit one of them, or one answer two.
    Augmenting paths (Kuhn 1955, Berge 1957) find the largest matching; an answer that has a
    partner never loses it to a later one, so among repetitions the first counts.

    Parameters
    ----------
    fits : for each answer, the numbers of the right answers it fits.

    Returns
    -------
    For each answer the number of its right answer, None for one that has none left.
    """
    taken: dict[int, int] = {}

    def place(answer: int, tried: set[int]) -> bool:
        for gold in fits[answer]:
            if gold in tried:
                continue
            tried.add(gold)
            if gold not in taken or place(taken[gold], tried):
                taken[gold] = answer
                return True
        return False

    for answer in range(len(fits)):
        place(answer, set())
    found: list[int | None] = [None] * len(fits)
    for gold, answer in taken.items():
        found[answer] = gold
    return found
