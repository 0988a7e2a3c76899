"""Overlap of words between answers: BLEU, GLEU, token F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers
from evaluation.methods.cells import Floats, Integers

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
Words = Sequence[str]


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return WORD.findall(text.lower())


def squad_tokens(text: str) -> list[str]:
    """Return tokens as SQuAD's F1 has them: lower case, no punctuation, no articles."""
    return [t for t in text.lower().translate(NO_PUNCTUATION).split() if t not in ARTICLES]


def token_f1(answer: Words, other: Words) -> float:
    """Return the F1 of the tokens two answers share, 0 to 1 (Rajpurkar et al. 2016).

    Two answers without tokens agree (1), one without and one with tokens do not (0).
    """
    if not answer or not other:
        return float(not answer and not other)
    common = sum((Counter(answer) & Counter(other)).values())
    return 2 * common / (len(answer) + len(other))


def sentence_bleu(answer: Words, reference: Words, order: int) -> float:
    """Return nltk's sentence BLEU up to n-grams of `order`, 0 to 1 (Papineni et al. 2002).

    Counts of zero become .1 (Chen and Cherry 2014, method 1), without which almost all short
    answers have a BLEU-4 of 0. An answer without words scores 0.
    """
    from nltk.translate.bleu_score import SmoothingFunction
    from nltk.translate.bleu_score import sentence_bleu as bleu

    if not answer or not reference:
        return 0.0
    weights = (1 / order,) * order
    smoothing = SmoothingFunction().method1
    return float(bleu([reference], answer, weights, smoothing_function=smoothing))


def sentence_gleu(answer: Words, other: Words) -> float:
    """Return nltk's sentence GLEU with n-grams of 1 to 4 words, 0 to 1 (Wu et al. 2016)."""
    from nltk.translate.gleu_score import sentence_gleu as gleu

    if not answer or not other:
        return 0.0
    return float(gleu([other], answer, 1, 4))


def pairwise(
    corpus: Corpus, name: str, tokens: Callable[[str], Words], like: Callable[[Words, Words], float]
) -> Floats:
    """Return the (Q, k, k) table of a similarity of token lists; see `Corpus.pairs`."""

    def table(rows: Integers) -> Floats:
        lists = [tokens(corpus.texts[row]) for row in rows]
        return np.array([[0.0 if a is b else like(a, b) for b in lists] for a in lists])

    return corpus.pairs(name, table)


def bleu_scores(crowd: Crowd, order: int) -> Floats:
    """Return (N,) mean sentence BLEU of the answers against each of the others.

    Adapted: there is no reference, so every other answer to the question is one, and the mean over
    them is taken. (One BLEU with many references asks only that each n-gram stands somewhere.)
    """
    pairs = pairwise(
        crowd.corpus, f"bleu{order}", words_of, lambda a, b: sentence_bleu(a, b, order)
    )
    return crowd.against_others(pairs)


@MeanOfAnswers
def bleu1(crowd: Crowd) -> Floats:
    """Return `bleu_scores` of single words."""
    return bleu_scores(crowd, 1)


@MeanOfAnswers
def bleu4(crowd: Crowd) -> Floats:
    """Return `bleu_scores` of n-grams up to 4 words."""
    return bleu_scores(crowd, 4)


@MeanOfAnswers
def f1(crowd: Crowd) -> Floats:
    """Return (N,) mean token F1 of the answers against each of the others.

    Adapted: the other answers to the question stand for the missing reference.
    """
    pairs = pairwise(crowd.corpus, "f1", squad_tokens, token_f1)
    return crowd.against_others(pairs)


def gleu_pairs(corpus: Corpus) -> Floats:
    """Return the (Q, k, k) table of sentence GLEU, for HRRASA."""
    return pairwise(corpus, "gleu", words_of, sentence_gleu)
