"""Problems that contradict each other: texts that are the same, or nearly, with other labels.

Unanswerable problems are made of answerable ones, so partners are alike on purpose; partners whose
texts are the same but for case and punctuation differ in nothing that a reader could notice.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from annotations.exchange.reading.word_problems import WordProblem

SAME, SPELLING, ALIKE = "same_text", "same_but_for_marks", "alike"
LABELS, ANSWERS = "labels", "answers"
GRAM = 3
BLOCK = 1024
# Marks that say nothing of the numbers: not the point of 2.5, the minus of -$3, %, $ or /.
_MARKS = re.compile(r"[.,](?!\d)|[!?;:\"'’‘“”`´()\[\]]|[-–—](?!\s*[$€£]?\d)")


class NoiseRow(NamedTuple):
    """A row of noise.csv: two problems that contradict each other.

    `kind` is same_text (but for white space), same_but_for_marks (case and punctuation), or alike;
    `contradiction` labels, or answers (both answerable, with other numbers). `similarity` is the
    Jaccard index of their runs of three letters, 0 to 1. `partners`: one was made of the other.
    """

    kind: str
    contradiction: str
    similarity: float
    partners: bool
    one: str
    other: str
    one_label: str
    other_label: str
    one_text: str
    other_text: str


@dataclass(frozen=True)
class Noise:
    """What a set of problems contradicts itself in, the likest first."""

    rows: tuple[NoiseRow, ...]
    problems: int
    partners_missing: tuple[str, ...]
    without_partner: tuple[str, ...]
    partners_unanswerable: tuple[str, ...]
    gold_of_unanswerable: tuple[str, ...]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many pairs there are of each kind, those that are partners apart."""
        found = Counter(
            f"{row.kind}_{row.contradiction}" + ("_of_partners" if row.partners else "")
            for row in self.rows
        )
        return dict(sorted(found.items()))


def noise(problems: Sequence[WordProblem], least: float) -> Noise:
    """Find pairs that contradict each other.

    Parameters
    ----------
    least : similarity from which two problems are alike, 0 to 1.
    """
    known = {problem.id: problem for problem in problems}
    told = [problem for problem in problems if problem.answerable is not None]
    unanswerable = [problem for problem in told if not problem.answerable]
    return Noise(
        tuple(sorted(_rows(told, least), key=_order)),
        len(problems),
        tuple(one.id for one in unanswerable if any(r not in known for r in one.relevant)),
        tuple(one.id for one in unanswerable if not one.relevant),
        tuple(
            one.id
            for one in unanswerable
            if any(r in known and known[r].answerable is False for r in one.relevant)
        ),
        tuple(one.id for one in unanswerable if one.answers),
    )


def _order(row: NoiseRow) -> tuple[int, float]:
    return (SAME, SPELLING, ALIKE).index(row.kind), -row.similarity


def _rows(problems: Sequence[WordProblem], least: float) -> Iterator[NoiseRow]:
    plain = [_without_marks(problem.text) for problem in problems]
    for at, other, similarity in _alike(plain, least):
        first, second = problems[at], problems[other]
        if first.answerable != second.answerable:
            contradiction = LABELS
        elif first.answerable and set(first.answers) != set(second.answers):
            contradiction = ANSWERS
        else:
            continue
        same = " ".join(first.text.split()) == " ".join(second.text.split())
        kind = SAME if same else SPELLING if plain[at] == plain[other] else ALIKE
        if kind == ALIKE and contradiction == ANSWERS:
            continue  # another number in the text, and another answer: nothing is wrong
        yield NoiseRow(
            kind,
            contradiction,
            similarity,
            first.id in second.relevant or second.id in first.relevant,
            *(first.id, second.id, _label(first), _label(second), first.text, second.text),
        )


def _label(problem: WordProblem) -> str:
    """Return the answers, or the category of what has none."""
    if problem.answerable:
        return " or ".join(f"{answer:g}" for answer in problem.answers)
    return "unanswerable" + (f" ({problem.category})" if problem.category else "")


def _without_marks(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_MARKS.sub(" ", folded).split())


def _alike(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of places whose texts share at least that part of their runs of letters."""
    runs: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        padded = f" {text} "
        for run in {padded[at : at + GRAM] for at in range(max(1, len(padded) - GRAM + 1))}:
            rows.append(row)
            columns.append(runs.setdefault(run, len(runs)))
    shape = (len(texts), max(1, len(runs)))
    held = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    sizes = np.asarray(held.sum(axis=1)).ravel()
    for start in range(0, len(texts), BLOCK):
        shared = (held[start : start + BLOCK] @ held.T).toarray()
        joined = sizes[start : start + BLOCK, None] + sizes[None, :] - shared
        jaccard = shared / np.maximum(joined, 1.0)
        for at, other in np.argwhere(jaccard >= least):
            if start + at < other:
                yield int(start + at), int(other), min(1.0, float(jaccard[at, other]))
