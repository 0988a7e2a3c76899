"""Score answers by word overlap with the other answers: BLEU, GLEU, token F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.text.length import compute_log_words
from evaluation.evidence.baselines.corpus import Corpus, Crowd
from evaluation.evidence.baselines.mean_of_answers import MeanOfAnswers

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
Words = Sequence[str]


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return WORD.findall(text.lower())


@MeanOfAnswers
def score_by_length(crowd: Crowd) -> Floats:
    """Return the logarithm of each answer's number of words.

    A control: it reads no answer. What it agrees with the truth by, long answers explain.
    """
    texts = crowd.corpus.texts
    return crowd.corpus.cache("log words", lambda: compute_log_words(texts))[crowd.rows]


def tokenize_squad(text: str) -> list[str]:
    """Return the tokens of SQuAD's F1: lower case, without punctuation and articles."""
    return [t for t in text.lower().translate(NO_PUNCTUATION).split() if t not in ARTICLES]


def compute_token_f1(answer: Words, other: Words) -> float:
    """Return the F1 of the tokens that two answers share, 0 to 1 (Rajpurkar et al. 2016).

    Two answers without tokens agree (1), one without and one with tokens do not (0).
    """
    if not answer or not other:
        return float(not answer and not other)
    common = sum((Counter(answer) & Counter(other)).values())
    return 2 * common / (len(answer) + len(other))


def compute_sentence_bleu(answer: Words, reference: Words, order: int) -> float:
    """Return the smoothed sentence BLEU with n-grams up to `order`, 0 to 1 (Papineni et al. 2002).

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


def compute_sentence_gleu(answer: Words, other: Words) -> float:
    """Return the sentence GLEU with n-grams of 1 to 4 words, 0 to 1 (Wu et al. 2016)."""
    from nltk.translate.gleu_score import sentence_gleu as gleu

    if not answer or not other:
        return 0.0
    return float(gleu([other], answer, 1, 4))


def tabulate_token_similarity(
    corpus: Corpus, name: str, tokens: Callable[[str], Words], like: Callable[[Words, Words], float]
) -> Floats:
    """Return the table (question, answer, answer) of a similarity of token lists."""

    def table(rows: Integers) -> Floats:
        lists = [tokens(corpus.texts[row]) for row in rows]
        return np.array([[0.0 if a is b else like(a, b) for b in lists] for a in lists])

    return corpus.tabulate_pairs(name, table)


def score_by_bleu(crowd: Crowd, order: int) -> Floats:
    """Return each answer's mean sentence BLEU against the other answers to its question.

    Adapted: there is no reference, so every other answer to the question is one, and the mean over
    them is taken. (One BLEU with many references asks only that each n-gram stands somewhere.)
    """
    pairs = tabulate_token_similarity(
        crowd.corpus, f"bleu{order}", split_words, lambda a, b: compute_sentence_bleu(a, b, order)
    )
    return crowd.compute_mean_to_others(pairs)


@MeanOfAnswers
def score_by_bleu1(crowd: Crowd) -> Floats:
    """Return each answer's mean sentence BLEU-1 against the other answers."""
    return score_by_bleu(crowd, 1)


@MeanOfAnswers
def score_by_bleu4(crowd: Crowd) -> Floats:
    """Return each answer's mean sentence BLEU-4 against the other answers."""
    return score_by_bleu(crowd, 4)


@MeanOfAnswers
def score_by_token_f1(crowd: Crowd) -> Floats:
    """Return each answer's mean token F1 against the other answers to its question.

    Adapted: the other answers to the question stand for the missing reference.
    """
    pairs = tabulate_token_similarity(crowd.corpus, "f1", tokenize_squad, compute_token_f1)
    return crowd.compute_mean_to_others(pairs)


def tabulate_gleu(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of sentence GLEU between answers."""
    return tabulate_token_similarity(corpus, "gleu", split_words, compute_sentence_gleu)
