"""Prove from texts that a group of workers copied; vectors alone cannot.

Two texts are the same but for light edits if they share most of their sequences of characters. In
some honest crowds most texts are alike, so members of a group must be alike more often than members
and other workers are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from evaluation.core.stats.cells import Integers
from evaluation.core.text.dont_know import fold
from evaluation.grading.alarms.methods import Group

SEQUENCE = 5
# Dice's coefficient of the sequences of two texts from which on they are the same.
SAME = 0.6
# Share of a group's pairs of answers that must be the same, ...
PROVEN = 0.5
# ... and how much larger it must be than that of members and others.
EXCESS = 0.4
# Pairs of answers that are read.
READ = 400


def extract_sequences(text: str) -> frozenset[str]:
    """Return the set of 5-character sequences of a text, without case and punctuation."""
    plain = fold(unicodedata.normalize("NFC", text))
    return frozenset(plain[at : at + SEQUENCE] for at in range(max(1, len(plain) - SEQUENCE + 1)))


def compute_likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Dice coefficient (0 to 1) of two texts' sets of character sequences."""
    return 2 * len(one & other) / (len(one) + len(other))


def is_copied_group(
    group: Group, texts: Sequence[str], worker: Integers, question: Integers, seed: int = 0
) -> bool:
    """Return whether at least half of a group's answer pairs are the same but for light edits.

    Their share must also exceed, by .4, that of pairs of a member and another worker.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    """
    rng = np.random.default_rng(seed)
    inside = np.isin(worker, group.members)
    group_questions = np.unique(question[inside])
    # Rows by question, of the questions that members answered.
    rows = np.flatnonzero(np.isin(question, group_questions))
    rows = rows[np.argsort(question[rows], kind="stable")]
    parts = np.split(rows, np.flatnonzero(np.diff(question[rows])) + 1)
    within, across = [], []
    for at in rng.permutation(len(parts)).tolist():
        own_rows, other_rows = parts[at][inside[parts[at]]], parts[at][~inside[parts[at]]]
        if len(own_rows) < 2:
            continue
        a, b = rng.choice(own_rows, 2, replace=False)
        within.append((int(a), int(b)))
        if len(other_rows):
            across.append((int(a), int(rng.choice(other_rows))))
        if len(within) >= READ:
            break
    if not within:
        return False
    share_across = _compute_share_alike(texts, across) if across else 0.0
    share_within = _compute_share_alike(texts, within)
    return share_within >= PROVEN and share_within - share_across >= EXCESS


def _compute_share_alike(texts: Sequence[str], rows: Sequence[tuple[int, int]]) -> float:
    """Return the share of answer pairs whose texts are the same but for light edits."""
    same = [
        compute_likeness(extract_sequences(texts[a]), extract_sequences(texts[b])) >= SAME
        for a, b in rows
    ]
    return float(np.mean(same))
