"""The replies of one system to all wordings of all items, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.methods.cells import alike

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

NO_VOTE = -1


@dataclass(frozen=True)
class Panel:
    """n items with up to R answers each; column 0 is the answer to the original wording.

    Attributes
    ----------
    answers : (n, R) what was answered, a number for each answer that may be given, the same one in
        all items: the letter of a choice, or a text. `NO_VOTE` where the reply was refused or
        empty, and where there is none.
    right : (n, R) whether the reply is right; refused and empty ones are not.
    given : (n, R) whether there is a reply; every item has one to its original wording.
    possible : (n,) K_j, how many different answers an item can have.
    choices : (n,) how many choices an item offers, 0 where it offers none.
    stands : (n, R) the column of the reply that stands for all who gave this answer, and is judged
        in their place where it is the modal one: itself, but for texts that mean the same.
    sets : (n,) how many sets of choices a guess is one of: the choices, or where m of them are
        right the sets of m; 0 where the item offers none.
    """

    answers: Ints
    right: Bools
    given: Bools
    possible: Ints
    choices: Ints
    stands: Ints
    sets: Ints

    @classmethod
    def of(
        cls,
        answers: ArrayLike,
        right: ArrayLike,
        choices: ArrayLike = 0,
        given: ArrayLike | None = None,
        stands: ArrayLike | None = None,
        sets: ArrayLike | None = None,
    ) -> Self:
        """Return a panel; K_j is the number of choices, of open items that of their replies.

        Choices that are not enough for what was answered (a reply that is none of them is an
        answer, too) count as many as there are different answers.

        Parameters
        ----------
        choices : (n,) or a number for all. given : None where every item has R replies.
        stands : None where every reply stands for itself.
        sets : None where one choice is right.

        Raises
        ------
        ValueError : shapes differ, an item lacks its first reply, or a vote or a right reply is
            where there is none.
        """
        said = np.asarray(answers, dtype=np.int64)
        good = np.asarray(right, dtype=np.bool_)
        there = np.ones(said.shape, dtype=np.bool_) if given is None else np.asarray(given, bool)
        if said.ndim != 2 or said.shape != good.shape or said.shape != there.shape:
            raise ValueError("answers, right and given must have one shape (items, answers)")
        if len(said) and (not said.shape[1] or not there[:, 0].all()):
            raise ValueError("every item needs a reply to its original wording")
        if (~there & (good | (said >= 0))).any() or (good & (said < 0)).any():
            raise ValueError("what is not there, or no vote, can be no vote and not right")
        offered = np.broadcast_to(np.asarray(choices, dtype=np.int64), len(said)).copy()
        possible = np.where(
            offered > 0, np.maximum(offered, _distinct(said)), there.sum(axis=1, dtype=np.int64)
        )
        own = np.broadcast_to(np.arange(said.shape[1]), said.shape)
        of = own if stands is None else np.where(said >= 0, np.asarray(stands), own)
        guesses = offered if sets is None else np.asarray(sets, dtype=np.int64)
        return cls(said, good, there, possible, offered, of.astype(np.int64), guesses)

    def __len__(self) -> int:
        return len(self.answers)

    def of_items(self, items: ArrayLike) -> Panel:
        """Return the panel of some items, by their numbers or a mask."""
        at = np.asarray(items)
        return Panel(
            self.answers[at],
            self.right[at],
            self.given[at],
            self.possible[at],
            self.choices[at],
            self.stands[at],
            self.sets[at],
        )

    def profiles(self) -> tuple[Panel, Ints]:
        """Return a panel of the items that differ, and (n,) which of these each item is alike.

        Of hundreds of thousands of items with choices only some thousand differ, and everything
        that is computed of an item is computed of its profile. The first item comes first.
        """
        columns = [*self.answers.T, *self.right.T, *self.given.T, *self.stands.T]
        first, place = alike([*columns, self.possible, self.choices, self.sets], len(self))
        return self.of_items(first), place


def _distinct(answers: Ints) -> Ints:
    """Return (n,) how many different answers have a vote."""
    if not answers.size:
        return np.zeros(len(answers), dtype=np.int64)
    ordered = np.sort(answers, axis=1)
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return (new & (ordered >= 0)).sum(axis=1, dtype=np.int64)
