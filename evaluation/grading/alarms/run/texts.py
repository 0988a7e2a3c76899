"""Alarms that texts prove: copied, identical and junk answers.

Prove from texts that a group of workers copied; vectors alone cannot.

Two texts are the same but for light edits if they share most of their sequences of characters. In
some honest crowds most texts are alike, so members of a group must be alike more often than members
and other workers are.

Identical texts of two workers who share too few questions for the copy statistic (kappa).

Find junk answers, which ignore their question: repeated texts and "I don't know".

Workers who give mostly junk are reported and left out of the tests for camps and copies: answers
that ignore the question agree with each other for no reason that these tests are about.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from evaluation.consensus.methods.votes import scale_to_unit_length
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.core.text.quality import fold_text
from evaluation.grading.alarms.methods import CopierGroup, Finding, RunChecks
from evaluation.grading.alarms.methods.copies import find_connected_groups
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.summary import CheckResult

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
    """Return the set of 5-character sequences of a text, ignoring case and punctuation."""
    plain = fold_text(unicodedata.normalize("NFC", text))
    return frozenset(
        plain[index : index + SEQUENCE] for index in range(max(1, len(plain) - SEQUENCE + 1))
    )


def compute_dice_coefficient(sequences: frozenset[str], other: frozenset[str]) -> float:
    """Return the similarity (Dice coefficient, 0 to 1) of two sets of character sequences."""
    return 2 * len(sequences & other) / (len(sequences) + len(other))


def is_copied_group(
    group: CopierGroup, texts: Sequence[str], worker: Integers, question: Integers, seed: int = 0
) -> bool:
    """Return whether at least half of a group's pairs of answers differ by light edits only.

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
    for index in rng.permutation(len(parts)).tolist():
        own_rows, other_rows = (
            parts[index][inside[parts[index]]],
            parts[index][~inside[parts[index]]],
        )
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
    share_across = _compute_equal_share(texts, across) if across else 0.0
    share_within = _compute_equal_share(texts, within)
    return share_within >= PROVEN and share_within - share_across >= EXCESS


def _compute_equal_share(texts: Sequence[str], rows: Sequence[tuple[int, int]]) -> float:
    """Return the share of answer pairs whose texts differ by light edits only."""
    same = [
        compute_dice_coefficient(extract_sequences(texts[a]), extract_sequences(texts[b])) >= SAME
        for a, b in rows
    ]
    return float(np.mean(same))


# Two workers are named above this share of their common questions, ...
THRESHOLD = 0.5
# ... and at so many of them; ...
FEWEST = 3
# ... a text counts from so many characters on, ...
LONG = 30
# ... unless it is what most people answered.
USUAL = 0.5
CHECK = "identical_answers"


def find_identical_texts(
    seen: RunChecks, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> tuple[tuple[Finding, ...], CheckResult]:
    """Return findings on groups of workers who gave the same texts, and the check for them.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    left_out : (N,) answers that do not count.
    """
    pairs = seen.pairs
    # Where the copy statistic could be computed it sees more than equal texts do.
    if seen.kinship.reason is None:
        return (), CheckResult(CHECK, None, THRESHOLD, False, "copies_were_checked")
    is_testable = pairs.shared >= FEWEST
    if not is_testable.any():
        reason = "no_pair_shares_3_questions"
        return (), CheckResult(CHECK, None, THRESHOLD, False, reason)
    n_same = _count_same_texts(pairs, texts, worker, question, left_out)
    share = n_same / pairs.shared
    named = is_testable & (n_same >= FEWEST) & (share > THRESHOLD)
    findings = []
    for group in find_connected_groups(pairs, named, share):
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
    return tuple(findings), CheckResult(CHECK, largest, THRESHOLD, bool(findings))


def _count_same_texts(
    pairs: Pairs, texts: Sequence[str], worker: Integers, question: Integers, left_out: Booleans
) -> Floats:
    """Return, per worker pair (P,), the number of questions with the same long text by both."""
    folded_texts = [fold_text(text) for text in texts]
    codes: dict[str, int] = {}
    text_codes = np.array(
        [codes.setdefault(text, len(codes)) for text in folded_texts], dtype=np.int64
    )
    is_counted = np.array([len(text) >= LONG for text in folded_texts], dtype=bool) & ~left_out
    # A text that most people gave to a question is the usual answer, and no copy.
    question_text = question * len(codes) + text_codes
    _, at, n_givers = np.unique(question_text, return_inverse=True, return_counts=True)
    answers = np.bincount(question, minlength=pairs.n_questions)[question]
    # Two givers always count: of three answers, two copies would be "most people".
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


# A worker's own answers are the same in so many of their pairs, and so many answers are. The
# largest share of an honest student was 2.0%, of a translator 0% (platform/docs/alarms.md).
REPEATED = 0.2
FEWEST_REPEATED = 3
# Two answers are nearly the same text from this cosine on, ...
NEARLY = 0.95
# ... unless their numbers differ: "about 5 kilometres an hour" and "about 8" have cosine .965, and
# each answers its own question.
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Answers that are compared with all others at once, so that memory grows with their number only.
BLOCK = 512
# Answers to a question that a text is compared with: more are sampled.
OTHERS = 1000
# Part of a worker's answers that makes the worker no part of the tests for groups: in one crowd
# three such workers formed two camps, which named 28 honest ones.
MOSTLY = 0.5
# A text that so many of the others gave to the question as well is an answer to it.
SHARED = 1 / 3
# Any other worker is enough where the text has fewer characters and words: yes, no, a number.
SHORT, FEW_WORDS = 20, 3
MAX_SHOWN = 50


@dataclass(frozen=True)
class JunkResult:
    """Workers whose answers are mostly junk, with the check and finding on repeated answers.

    Attributes
    ----------
    workers : (M,) whether more than half of the worker's answers are junk.
    check : the statistic is the largest share of pairs of own answers that are alike, of workers
        with at least 3 such answers; 0 if there are none.
    repeated : the finding about repeated own answers; None without any.
    """

    workers: Booleans
    check: CheckResult
    repeated: Finding | None = None


def find_junk(
    texts: Sequence[str],
    vectors: Vectors,
    worker: Integers,
    question: Integers,
    n_workers: int,
    is_dont_know: Booleans,
    seed: int = 0,
) -> JunkResult:
    """Return the workers with mostly junk answers, and the finding on repeated answers.

    Two answers of a worker are alike if they are the same text, without case and punctuation, or
    nearly so by their vectors. An answer that enough others gave to the question does not count.

    Parameters
    ----------
    texts, worker, question : (N,) the answers, with the codes of their workers and questions.
    vectors : (N, d) their vectors, dense or sparse.
    is_dont_know : (N,) answers that mean only that the worker does not know.
    seed : of the sample of others' answers, for questions with more than 1,000.
    """
    plain = [fold_text(text) for text in texts]
    likeness = _AnswerComparison.from_answers(texts, plain, vectors)
    is_counted = ~is_dont_know & ~_find_shared_texts(plain, worker, question)
    n_alike = np.zeros(len(texts), dtype=np.int64)
    suspects, is_testable = [], bool((np.bincount(worker) >= FEWEST_REPEATED).any())
    for rows in _group_rows_by_code(worker, np.flatnonzero(is_counted)):
        if len(rows) >= FEWEST_REPEATED:
            n_alike[rows] = likeness.count_alike(rows)
            if _is_repeating(n_alike[rows]):
                suspects.append(rows)
    if suspects:
        of_suspects = np.concatenate(suspects)
        is_counted[of_suspects[likeness.find_shared_answers(of_suspects, question, seed)]] = False
    repeated_share, largest = np.zeros(n_workers), 0.0
    is_repeated = np.zeros(len(texts), dtype=bool)
    for suspected in suspects:
        rows = suspected[is_counted[suspected]]
        alike = n_alike[rows] if len(rows) == len(suspected) else likeness.count_alike(rows)
        # Ordered pairs of answers that are alike, compared with all ordered pairs.
        share = alike.sum() / max(1, len(rows) * (len(rows) - 1))
        if not _is_repeating(alike):
            continue
        largest = max(largest, float(share))
        if share >= REPEATED:
            code = worker[rows[0]]
            repeated_share[code] = share
            # The same text elsewhere is a repetition, too, where many others gave it.
            own = np.flatnonzero((worker == code) & ~is_dont_know)
            is_repeated[own[likeness.find_alike(own, rows[alike > 0])]] = True
    total = np.bincount(worker, minlength=n_workers)
    n_junk = np.bincount(worker[is_repeated | is_dont_know], minlength=n_workers)
    workers = n_junk > MOSTLY * total
    named = np.flatnonzero(repeated_share)
    check = CheckResult("repeated", largest, REPEATED, len(named) > 0)
    if not is_testable:
        check = CheckResult("repeated", None, REPEATED, False, "no_worker_with_3_answers")
    if not len(named):
        return JunkResult(workers, check)
    rows = np.flatnonzero(is_repeated)[:MAX_SHOWN]
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
    return JunkResult(workers, check, finding)


def _is_repeating(n_alike: Integers) -> bool:
    """Return whether enough of a worker's answers resemble another answer of that worker."""
    return int((n_alike > 0).sum()) >= FEWEST_REPEATED


def _group_rows_by_code(codes: Integers, rows: Integers) -> list[Integers]:
    """Return the rows in one array per code, by ascending code, each in its original order."""
    ordered = rows[np.argsort(codes[rows], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(codes[ordered])) + 1)


@dataclass(frozen=True)
class _AnswerComparison:
    """Comparison of answers: whether two are the same text, or nearly so by their vectors.

    Attributes
    ----------
    vectors : (N, d) of the answers. text, numbers : (N,) codes of the text without case and
        punctuation, and of the numbers in it.
    """

    vectors: Vectors
    text: Integers
    numbers: Integers

    @classmethod
    def from_answers(
        cls, texts: Sequence[str], plain: Sequence[str], vectors: Vectors
    ) -> _AnswerComparison:
        """Return the comparison of answers with codes of equal texts and equal numbers.

        `texts` are the answers as written, `plain` without case and punctuation.
        """
        numbers = ["|".join(_NUMBER.findall(text)) for text in texts]
        return cls(vectors, _encode_labels(plain), _encode_labels(numbers))

    def count_alike(self, rows: Integers) -> Integers:
        """Return, for each row, the number of other rows with a nearly equal answer."""
        return self._count_nearly_equal(rows, rows) - 1

    def find_alike(self, rows: Integers, others: Integers) -> Booleans:
        """Return, for each row, whether a row in `others` (or itself) has a nearly equal answer."""
        return self._count_nearly_equal(rows, others) > 0

    def find_shared_answers(self, rows: Integers, question: Integers, seed: int) -> Booleans:
        """Return, for each row, whether a third of the question's other answers nearly equal it."""
        rng = np.random.default_rng(seed)
        order = np.argsort(question, kind="stable")
        starts = np.searchsorted(question[order], np.arange(int(question.max()) + 2))
        is_shared = np.zeros(len(rows), dtype=bool)
        for places in _group_rows_by_code(question[rows], np.arange(len(rows))):
            code = int(question[rows[places[0]]])
            others = order[starts[code] : starts[code + 1]]
            if len(others) > OTHERS:
                others = rng.choice(others, OTHERS, replace=False)
            # The sample may or may not hold the answer itself.
            itself = np.isin(rows[places], others)
            n_alike = self._count_nearly_equal(rows[places], others) - itself
            is_shared[places] = (n_alike > 0) & (n_alike >= SHARED * (len(others) - itself))
        return is_shared

    def _count_nearly_equal(self, rows: Integers, others: Integers) -> Integers:
        """Return, for each row, how many rows in `others` have a nearly equal answer.

        A row counts itself.
        """
        x = scale_to_unit_length(self.vectors[others]).astype(np.float32)
        y = x
        if others is not rows:
            y = scale_to_unit_length(self.vectors[rows]).astype(np.float32)
        counts = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), BLOCK):
            part = rows[start : start + BLOCK]
            cosines: Any = y[start : start + BLOCK] @ x.T
            if sparse.issparse(cosines):
                cosines = cosines.toarray()
            is_near = cosines >= NEARLY
            is_near &= self.numbers[part, None] == self.numbers[others]
            is_near |= self.text[part, None] == self.text[others]
            counts[start : start + BLOCK] = is_near.sum(axis=1)
        return counts


def _encode_labels(labels: Sequence[str]) -> Integers:
    """Return integer codes of labels; equal labels have equal codes. Shape (N,)."""
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64)


def _find_shared_texts(plain: Sequence[str], worker: Integers, question: Integers) -> Booleans:
    """Return, for each answer (N,), whether enough other workers gave the question that text."""
    n_givers = Counter(zip(question.tolist(), plain, strict=True))
    answers = np.bincount(question)
    shared_texts = np.zeros(len(plain), dtype=bool)
    for row, (code, text) in enumerate(zip(question.tolist(), plain, strict=True)):
        others = n_givers[code, text] - 1
        is_short = len(text) < SHORT and len(text.split()) < FEW_WORDS
        shared_texts[row] = others and (is_short or others >= SHARED * (answers[code] - 1))
    return shared_texts
