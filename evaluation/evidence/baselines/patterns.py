"""Score answers by the word sequences that the crowd's answers share (Roy et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import sparse

from evaluation.core.stats.cells import Floats, Integers
from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.lexical import split_words
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers

LONGEST = 3
# Words that may stand between two neighbours of a pattern.
GAP = 2
# A pattern of one answer alone says nothing about the crowd.
FEWEST_ANSWERS = 2

Pattern = tuple[str, ...]


@MeanOfAnswers
def score_by_shared_patterns(crowd: Crowd) -> Floats:
    """Return each answer's weighted share of the crowd's common word sequences, 0 to 1.

    Roy, Dandapat, Nagesh and Narahari 2016, "Wisdom of Students: A Consistent Automatic Short
    Answer Grading Technique", which needs no model answer: sequential patterns are mined out of
    all answers to a question, and an answer is scored by the frequent patterns it holds.

    Adapted, for the published abstract is all that could be read: patterns are 1 to 3 stems
    (Porter) of words that are no stop words, in their order, with at most 2 such words in between,
    held by 2 answers or more; each counts its length times the share of answers that hold it, and
    an answer's score is the sum of its patterns over the sum of all. NaN where none is common.
    """
    tables = crowd.corpus.cache("patterns", lambda: _tabulate_patterns(crowd.corpus))
    scores = np.full(len(crowd.rows), np.nan)
    for question in np.unique(crowd.questions):
        matrix, lengths = tables[question]
        rows = np.flatnonzero(crowd.questions == question)
        voters = rows[crowd.votes[rows]]
        support = matrix[crowd.place[voters]].sum(axis=0)
        value = np.where(support >= FEWEST_ANSWERS, lengths * support, 0.0)
        if value.any():
            scores[rows] = matrix[crowd.place[rows]] @ value / value.sum()
    return scores


def stem_words(text: str) -> list[str]:
    """Return the Porter stems of a text's words, without stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [_stem(word) for word in split_words(text) if word not in ENGLISH_STOP_WORDS]


def find_patterns(words: Sequence[str]) -> set[Pattern]:
    """Return the sequences of 1 to 3 words in order, with at most 2 words between neighbours."""
    patterns: set[Pattern] = set()

    def grow(pattern: Pattern, at: int) -> None:
        patterns.add(pattern)
        if len(pattern) < LONGEST:
            for place in range(at + 1, min(at + 2 + GAP, len(words))):
                grow((*pattern, words[place]), place)

    for place, word in enumerate(words):
        grow((word,), place)
    return patterns


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """Return the Porter stem of a word, cached."""
    from nltk.stem import PorterStemmer

    return str(PorterStemmer().stem(word))


def _tabulate_patterns(corpus: Corpus) -> list[tuple[sparse.csr_array, Integers]]:
    """Return for each question the 0/1 matrix (answer, word pattern) and the pattern lengths."""
    return [
        _tabulate_question_patterns([corpus.texts[row] for row in rows]) for rows in corpus.members
    ]


def _tabulate_question_patterns(texts: Sequence[str]) -> tuple[sparse.csr_array, Integers]:
    """Return the 0/1 matrix (answer, word pattern) of one question and the pattern lengths."""
    column: dict[Pattern, int] = {}
    row, columns = [], []
    for index, text in enumerate(texts):
        for pattern in find_patterns(stem_words(text)):
            row.append(index)
            columns.append(column.setdefault(pattern, len(column)))
    shape = (len(texts), max(1, len(column)))
    matrix = sparse.csr_array((np.ones(len(row)), (row, columns)), shape)
    lengths = np.array([len(pattern) for pattern in column] or [0], dtype=np.int64)
    return matrix, lengths
