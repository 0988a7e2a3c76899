"""What students' answers have in common: mined sequences of words (Roy et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import sparse

from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.lexical import words_of
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers
from evaluation.methods.cells import Floats, Integers

LONGEST = 3
# Words that may stand between two neighbours of a pattern.
GAP = 2
# A pattern of one answer alone says nothing about the crowd.
FEWEST_ANSWERS = 2

Pattern = tuple[str, ...]


@MeanOfAnswers
def roy2016(crowd: Crowd) -> Floats:
    """Return (N,) shares of the crowd's common word sequences in the answers, 0 to 1.

    Roy, Dandapat, Nagesh and Narahari 2016, "Wisdom of Students: A Consistent Automatic Short
    Answer Grading Technique", which needs no model answer: sequential patterns are mined out of
    all answers to a question, and an answer is scored by the frequent patterns it holds.

    Adapted, for the published abstract is all that could be read: patterns are 1 to 3 stems
    (Porter) of words that are no stop words, in their order, with at most 2 such words in between,
    held by 2 answers or more; each counts its length times the share of answers that hold it, and
    an answer's score is the sum of its patterns over the sum of all. NaN where none is common.
    """
    held = crowd.corpus.once("patterns", lambda: _patterns(crowd.corpus))
    scores = np.full(len(crowd.rows), np.nan)
    for question in np.unique(crowd.questions):
        matrix, lengths = held[question]
        here = np.flatnonzero(crowd.questions == question)
        voters = here[crowd.votes[here]]
        support = matrix[crowd.place[voters]].sum(axis=0)
        value = np.where(support >= FEWEST_ANSWERS, lengths * support, 0.0)
        if value.any():
            scores[here] = matrix[crowd.place[here]] @ value / value.sum()
    return scores


def stems_of(text: str) -> list[str]:
    """Return the stems of a text's words, without stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [_stem(word) for word in words_of(text) if word not in ENGLISH_STOP_WORDS]


def sequences(words: Sequence[str]) -> set[Pattern]:
    """Return the patterns of 1 to 3 words in their order, with at most 2 words in between."""
    found: set[Pattern] = set()

    def grow(pattern: Pattern, at: int) -> None:
        found.add(pattern)
        if len(pattern) < LONGEST:
            for place in range(at + 1, min(at + 2 + GAP, len(words))):
                grow((*pattern, words[place]), place)

    for place, word in enumerate(words):
        grow((word,), place)
    return found


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    from nltk.stem import PorterStemmer

    return str(PorterStemmer().stem(word))


def _patterns(corpus: Corpus) -> list[tuple[sparse.csr_array, Integers]]:
    """For each question (answers, patterns) zeros and ones, and the patterns' lengths."""
    return [_held([corpus.texts[row] for row in rows]) for rows in corpus.members]


def _held(texts: Sequence[str]) -> tuple[sparse.csr_array, Integers]:
    column: dict[Pattern, int] = {}
    row, held = [], []
    for at, text in enumerate(texts):
        for pattern in sequences(stems_of(text)):
            row.append(at)
            held.append(column.setdefault(pattern, len(column)))
    shape = (len(texts), max(1, len(column)))
    matrix = sparse.csr_array((np.ones(len(row)), (row, held)), shape)
    lengths = np.array([len(pattern) for pattern in column] or [0], dtype=np.int64)
    return matrix, lengths
