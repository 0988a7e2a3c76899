"""Find the source of a group of copies: the worker whose answers came first.

Copies do not show who wrote and who copied; times may. A worker who was first on most questions is
taken for the source and keeps the group's vote. A time says when an answer was sent, not when it
was written: two answers sent in the same batch leave the question open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Floats, Integers

# On more than so many of the questions whose times tell ...
MOST = 0.5
# ... which are at least so many of those that two members answered.
TOLD = 0.5


@dataclass(frozen=True)
class Source:
    """The member of a group of copiers whom the others may have copied.

    Attributes
    ----------
    worker : code. n_first : questions on which he was first. n_timed : questions that at least two
        members answered, each at a known time, those with two first ones too.
    """

    worker: int
    n_first: int
    n_timed: int


def find_source(
    members: Integers, worker: Integers, question: Integers, times: Floats
) -> Source | None:
    """Return the group member who was first on most questions; None if times do not show it.

    Parameters
    ----------
    members : codes of the group's workers.
    worker, question : (N,) codes, each pair at most once.
    times : (N,) of the answers, in any unit, NaN for none; () where nobody took any.
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
        if np.isnan(answer_times).any():
            continue
        n_timed += 1
        first = part[answer_times == answer_times.min()]
        if len(first) == 1:
            firsts.append(int(worker[first[0]]))
    if not firsts or n_timed < TOLD * n_shared:
        return None
    codes, counts = np.unique(firsts, return_counts=True)
    most_frequent = int(np.argmax(counts))
    if counts[most_frequent] <= MOST * n_timed:
        return None
    return Source(int(codes[most_frequent]), int(counts[most_frequent]), n_timed)
