"""Identical texts of two workers who share too few questions for the copy statistic (kappa)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.text.dont_know import fold
from evaluation.grading.alarms.methods import Finding, Survey
from evaluation.grading.alarms.methods.copies import find_groups
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.summary import Looked

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
class IdenticalTexts:
    """Findings and checks on identical texts; empty if the copy statistic could be computed."""

    findings: tuple[Finding, ...] = ()
    checks: tuple[Looked, ...] = ()


def find_identical_texts(
    seen: Survey, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> IdenticalTexts:
    """Find groups of workers who gave the same texts, ignoring case and punctuation.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    left_out : (N,) answers that do not count.
    """
    pairs = seen.pairs
    if seen.kinship.reason is None:
        return IdenticalTexts()
    is_testable = pairs.shared >= FEWEST
    if not is_testable.any():
        return IdenticalTexts(
            (), (Looked(CHECK, None, THRESHOLD, False, "no_pair_shares_3_questions"),)
        )
    n_same = _count_same_texts(pairs, texts, worker, question, left_out)
    share = n_same / pairs.shared
    named = is_testable & (n_same >= FEWEST) & (share > THRESHOLD)
    findings = []
    for group in find_groups(pairs, named, share):
        inside = np.isin(pairs.left, group.members) & np.isin(pairs.right, group.members)
        n_alike, n_pairs = int(n_same[inside].sum()), int(pairs.shared[inside].sum())
        figures = {
            "n_alike": n_alike,
            "n_pairs": n_pairs,
            "mostly_alike": 2 * n_alike >= n_pairs,
            "mean_cosine": group.mean_cosine,
        }
        findings.append(
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
    largest = float(share[is_testable].max())
    return IdenticalTexts(tuple(findings), (Looked(CHECK, largest, THRESHOLD, bool(findings)),))


def _count_same_texts(
    pairs: Pairs, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> Floats:
    """Return, per pair of workers, the number of questions with the same long text from both.

    Shape (P,).
    """
    folded_texts = [fold(text) for text in texts]
    codes: dict[str, int] = {}
    text_codes = np.array(
        [codes.setdefault(text, len(codes)) for text in folded_texts], dtype=np.int64
    )
    is_counted = np.array([len(text) >= LONG for text in folded_texts], dtype=bool) & ~left_out
    # A text that most people gave to a question is the usual answer, and no copy.
    question_text = question * len(codes) + text_codes
    _, at, n_givers = np.unique(question_text, return_inverse=True, return_counts=True)
    answers = np.bincount(question, minlength=pairs.n_questions)[question]
    is_counted &= n_givers[at] <= np.maximum(2, USUAL * answers)
    # Find the row of each pair's two answers by a sorted key of worker and question.
    key = worker * pairs.n_questions + question
    order = np.argsort(key, kind="stable")
    sides = [
        order[np.searchsorted(key[order], side[pairs.pair] * pairs.n_questions + pairs.question)]
        for side in (pairs.left, pairs.right)
    ]
    same = (
        (text_codes[sides[0]] == text_codes[sides[1]]) & is_counted[sides[0]] & is_counted[sides[1]]
    )
    return pairs.sum_by_pair(same.astype(np.float64))
