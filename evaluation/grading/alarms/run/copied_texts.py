"""Whether the texts of a group prove that they were copied, which vectors alone cannot.

Two texts are the same but for light edits if they share most of their sequences of characters. In
some crowds everybody's answers are: a group's must be so more often than its answers and those of
others are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from evaluation.grading.alarms.methods import Group
from evaluation.methods.cells import Integers
from evaluation.texts.dont_know import folded

SEQUENCE = 5
# Dice's coefficient of the sequences of two texts from which on they are the same.
SAME = 0.6
# Share of a group's pairs of answers that must be the same, ...
PROVEN = 0.5
# ... and how much larger it must be than that of members and others.
EXCESS = 0.4
# Pairs of answers that are read.
READ = 400


def sequences(text: str) -> frozenset[str]:
    """Return the sequences of 5 characters of a text, without case and punctuation."""
    plain = folded(unicodedata.normalize("NFC", text))
    return frozenset(plain[at : at + SEQUENCE] for at in range(max(1, len(plain) - SEQUENCE + 1)))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return Dice's coefficient of two sets of sequences, 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other))


def are_copies(
    group: Group, texts: Sequence[str], worker: Integers, question: Integers, seed: int = 0
) -> bool:
    """Whether at least half of the answers within a group are the same but for light edits.

    And by .4 of the pairs more than those of members and others to the same questions.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    """
    rng = np.random.default_rng(seed)
    inside = np.isin(worker, group.members)
    asked = np.unique(question[inside])
    # Rows by question, of the questions that members answered.
    rows = np.flatnonzero(np.isin(question, asked))
    rows = rows[np.argsort(question[rows], kind="stable")]
    parts = np.split(rows, np.flatnonzero(np.diff(question[rows])) + 1)
    within, across = [], []
    for at in rng.permutation(len(parts)).tolist():
        mine, others = parts[at][inside[parts[at]]], parts[at][~inside[parts[at]]]
        if len(mine) < 2:
            continue
        a, b = rng.choice(mine, 2, replace=False)
        within.append((int(a), int(b)))
        if len(others):
            across.append((int(a), int(rng.choice(others))))
        if len(within) >= READ:
            break
    if not within:
        return False
    usual = _share_of_same(texts, across) if across else 0.0
    share = _share_of_same(texts, within)
    return share >= PROVEN and share - usual >= EXCESS


def _share_of_same(texts: Sequence[str], rows: Sequence[tuple[int, int]]) -> float:
    same = [likeness(sequences(texts[a]), sequences(texts[b])) >= SAME for a, b in rows]
    return float(np.mean(same))
