"""The same texts from two workers, where too few questions are shared for the copy statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.grading.alarms.methods import Finding, Survey
from evaluation.grading.alarms.methods.copies import groups_of
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.summary import Looked
from evaluation.methods.cells import Booleans, Floats, Integers
from evaluation.texts.dont_know import folded

# Two workers are named above this share of their common questions, ...
THRESHOLD = 0.5
# ... and at so many of them; ...
FEWEST = 3
# ... a text counts from so many characters on, ...
LONG = 30
# ... unless it is what most people answered.
USUAL = 0.5
CHECK = "identical_answers"


@dataclass(frozen=True)
class Identical:
    """What the check found; nothing where the copy statistic itself could be computed."""

    findings: tuple[Finding, ...] = ()
    checks: tuple[Looked, ...] = ()


def identical(
    seen: Survey, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> Identical:
    """Find workers whose texts are the same, without case, blanks and punctuation.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    left_out : (N,) answers that do not count.
    """
    pairs = seen.pairs
    if seen.kinship.reason is None:
        return Identical()
    able = pairs.shared >= FEWEST
    if not able.any():
        return Identical((), (Looked(CHECK, None, THRESHOLD, False, "no_pair_shares_3_questions"),))
    alike = _same_texts(pairs, texts, worker, question, left_out)
    share = alike / pairs.shared
    named = able & (alike >= FEWEST) & (share > THRESHOLD)
    found = []
    for group in groups_of(pairs, named, share):
        inside = np.isin(pairs.left, group.members) & np.isin(pairs.right, group.members)
        n_alike, n_pairs = int(alike[inside].sum()), int(pairs.shared[inside].sum())
        figures = {
            "n_alike": n_alike,
            "n_pairs": n_pairs,
            "mostly_alike": 2 * n_alike >= n_pairs,
            "mean_cosine": group.mean_cosine,
        }
        found.append(
            Finding(
                "copies",
                "alarm",
                "identical",
                None,
                None,
                workers=group.members,
                exhibits=group.alike,
                figures=figures,
            )
        )
    largest = float(share[able].max())
    return Identical(tuple(found), (Looked(CHECK, largest, THRESHOLD, bool(found)),))


def _same_texts(
    pairs: Pairs, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> Floats:
    """Return (P,) on how many questions two workers gave the same long text."""
    plain = [folded(text) for text in texts]
    codes: dict[str, int] = {}
    code = np.array([codes.setdefault(text, len(codes)) for text in plain], dtype=np.int64)
    counts = np.array([len(text) >= LONG for text in plain], dtype=bool) & ~left_out
    # A text that most people gave to a question is the usual answer, and no copy.
    place = question * len(codes) + code
    _, at, givers = np.unique(place, return_inverse=True, return_counts=True)
    answers = np.bincount(question, minlength=pairs.n_questions)[question]
    counts &= givers[at] <= np.maximum(2, USUAL * answers)
    key = worker * pairs.n_questions + question
    order = np.argsort(key, kind="stable")
    sides = [
        order[np.searchsorted(key[order], side[pairs.pair] * pairs.n_questions + pairs.question)]
        for side in (pairs.left, pairs.right)
    ]
    same = (code[sides[0]] == code[sides[1]]) & counts[sides[0]] & counts[sides[1]]
    return pairs.sum_by_pair(same.astype(np.float64))
