"""Answers that say nothing about their question: one text again and again, or "I don't know".

Whoever gives them is reported for that, and is no part of the tests for camps and copies: answers
that ignore the question agree with each other for no reason that these tests are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.grading.alarms.methods import Finding
from evaluation.methods.cells import Booleans, Integers
from evaluation.texts.dont_know import folded

# A worker's own answers are the same in so many of their pairs, and so many answers are.
REPEATED = 0.2
FEWEST_REPEATED = 3
# Part of a worker's answers that makes the worker no part of the tests for groups.
MOSTLY = 0.5
# A text that so many of the others gave to the question as well is an answer to it.
SHARED = 1 / 3
# Any other worker is enough where the text has fewer characters and words: yes, no, a number.
SHORT, FEW_WORDS = 20, 3
SHOWN = 50


@dataclass(frozen=True)
class Junk:
    """Who gives junk.

    Attributes
    ----------
    workers : (M,) whether more than half of the worker's answers are junk.
    repeated : the finding about repeated own answers; None without any.
    """

    workers: Booleans
    repeated: Finding | None = None


def junk_of(
    texts: Sequence[str], worker: Integers, question: Integers, n_workers: int, said: Booleans
) -> Junk:
    """Find workers whose answers are mostly junk.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    said : (N,) answers that say no more than that the worker does not know.
    """
    plain = [folded(text) for text in texts]
    counts = ~said & ~_are_shared(plain, worker, question)
    total = np.bincount(worker, minlength=n_workers)
    share = np.zeros(n_workers)
    again = np.zeros(len(texts), dtype=bool)
    for code in np.flatnonzero(np.bincount(worker[counts], minlength=n_workers)).tolist():
        rows = np.flatnonzero(counts & (worker == code))
        times = Counter(plain[row] for row in rows)
        same = sum(n * (n - 1) for n in times.values())
        found = [row for row in rows.tolist() if times[plain[row]] > 1]
        pairs = len(rows) * (len(rows) - 1)
        if len(found) >= FEWEST_REPEATED and same >= REPEATED * pairs:
            share[code] = same / pairs
            again[found] = True
    junk = np.bincount(worker[again | said], minlength=n_workers)
    workers = junk > MOSTLY * total
    named = np.flatnonzero(share)
    if not len(named):
        return Junk(workers)
    rows = np.flatnonzero(again)[:SHOWN]
    exhibits = np.stack([worker[rows], np.full(len(rows), -1), question[rows]], axis=1)
    found_here = Finding(
        "repeated",
        "alarm",
        "workers",
        float(share.max()),
        REPEATED,
        workers=named,
        exhibits=exhibits,
    )
    return Junk(workers, found_here)


def _are_shared(plain: Sequence[str], worker: Integers, question: Integers) -> Booleans:
    """Return (N,) which texts others gave to the same question too, so that they may answer it."""
    given = Counter(zip(question.tolist(), plain, strict=True))
    answers = np.bincount(question)
    found = np.zeros(len(plain), dtype=bool)
    for row, (asked, text) in enumerate(zip(question.tolist(), plain, strict=True)):
        others = given[asked, text] - 1
        is_short = len(text) < SHORT and len(text.split()) < FEW_WORDS
        found[row] = others and (is_short or others >= SHARED * (answers[asked] - 1))
    return found
