"""Which answers to put side by side, so that a person can see what a statistic says."""

from __future__ import annotations

import numpy as np

from evaluation.methods.alarms.pairs import Pairs
from evaluation.methods.alarms.questions import QuestionCamps
from evaluation.methods.cells import Integers

# Questions shown of two camps.
SHOWN = 5


def of_camps(pairs: Pairs, members: tuple[Integers, ...]) -> Integers:
    """Return (k, 3) a worker of each of two camps and a question on which they differ most.

    Each camp speaks by the answer that is most like the others of its camp.
    """
    label = np.full(pairs.n_workers, -1)
    for at, camp in enumerate(members):
        label[camp] = at
    a, b = label[pairs.left], label[pairs.right]
    kind = np.where((a < 0) | (b < 0), 2, (a != b).astype(np.int64))
    place = pairs.question * 3 + kind[pairs.pair]
    shape = (pairs.n_questions, 3)
    count = np.bincount(place, minlength=3 * pairs.n_questions).reshape(shape)[:, :2]
    total = np.bincount(place, pairs.cosine, 3 * pairs.n_questions).reshape(shape)[:, :2]
    able = np.flatnonzero((count > 0).all(axis=1))
    mean = total[able] / count[able]
    order = able[np.argsort(mean[:, 1] - mean[:, 0], kind="stable")][:SHOWN]
    return _medoids(pairs, [(question, members) for question in order.tolist()])


def of_questions(pairs: Pairs, found: QuestionCamps) -> Integers:
    """Return (k, 3) a worker of each camp of the most separated questions, and the question."""
    some = found.listed[:SHOWN].tolist()
    return _medoids(pairs, list(zip(some, found.camps, strict=False)))


def _medoids(pairs: Pairs, asked: list[tuple[int, tuple[Integers, ...]]]) -> Integers:
    rows = []
    for question, camps in asked:
        here = np.flatnonzero(pairs.question == question)
        left, right = pairs.left[pairs.pair[here]], pairs.right[pairs.pair[here]]
        speakers = []
        for camp in camps:
            inside = np.isin(left, camp) & np.isin(right, camp)
            likeness = np.zeros(pairs.n_workers)
            np.add.at(likeness, left[inside], pairs.cosine[here][inside])
            np.add.at(likeness, right[inside], pairs.cosine[here][inside])
            answered = np.intersect1d(camp, np.concatenate([left, right]))
            if len(answered):
                speakers.append(int(answered[np.argmax(likeness[answered])]))
        if len(speakers) == 2:
            rows.append([*speakers, question])
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
