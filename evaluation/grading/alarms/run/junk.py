"""Find junk answers, which ignore their question: repeated texts and "I don't know".

Workers who give mostly junk are reported and left out of the tests for camps and copies: answers
that ignore the question agree with each other for no reason that these tests are about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Booleans, Integers
from evaluation.core.text.dont_know import fold
from evaluation.grading.alarms.methods import Finding

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
    """Workers with mostly junk answers, and the finding on repeated answers.

    Attributes
    ----------
    workers : (M,) whether more than half of the worker's answers are junk.
    repeated : the finding about repeated own answers; None without any.
    """

    workers: Booleans
    repeated: Finding | None = None


def find_junk(
    texts: Sequence[str],
    worker: Integers,
    question: Integers,
    n_workers: int,
    is_dont_know: Booleans,
) -> Junk:
    """Return the workers with mostly junk answers, and the finding on repeated answers.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    is_dont_know : (N,) answers that say no more than that the worker does not know.
    """
    plain = [fold(text) for text in texts]
    is_counted = ~is_dont_know & ~_find_shared_texts(plain, worker, question)
    total = np.bincount(worker, minlength=n_workers)
    repeated_share = np.zeros(n_workers)
    is_repeated = np.zeros(len(texts), dtype=bool)
    for code in np.flatnonzero(np.bincount(worker[is_counted], minlength=n_workers)).tolist():
        rows = np.flatnonzero(is_counted & (worker == code))
        times = Counter(plain[row] for row in rows)
        # Ordered pairs of equal texts, compared with all ordered pairs below.
        same = sum(n * (n - 1) for n in times.values())
        repeated_rows = [row for row in rows.tolist() if times[plain[row]] > 1]
        pairs = len(rows) * (len(rows) - 1)
        if len(repeated_rows) >= FEWEST_REPEATED and same >= REPEATED * pairs:
            repeated_share[code] = same / pairs
            is_repeated[repeated_rows] = True
    n_junk = np.bincount(worker[is_repeated | is_dont_know], minlength=n_workers)
    workers = n_junk > MOSTLY * total
    named = np.flatnonzero(repeated_share)
    if not len(named):
        return Junk(workers)
    rows = np.flatnonzero(is_repeated)[:SHOWN]
    exhibits = np.stack([worker[rows], np.full(len(rows), -1), question[rows]], axis=1)
    finding = Finding(
        "repeated",
        "alarm",
        "workers",
        float(repeated_share.max()),
        REPEATED,
        workers=named,
        exhibits=exhibits,
    )
    return Junk(workers, finding)


def _find_shared_texts(plain: Sequence[str], worker: Integers, question: Integers) -> Booleans:
    """Return, per answer, whether enough other workers gave the same text to the question.

    Shape (N,).
    """
    n_givers = Counter(zip(question.tolist(), plain, strict=True))
    answers = np.bincount(question)
    found = np.zeros(len(plain), dtype=bool)
    for row, (code, text) in enumerate(zip(question.tolist(), plain, strict=True)):
        others = n_givers[code, text] - 1
        is_short = len(text) < SHORT and len(text.split()) < FEW_WORDS
        found[row] = others and (is_short or others >= SHARED * (answers[code] - 1))
    return found
