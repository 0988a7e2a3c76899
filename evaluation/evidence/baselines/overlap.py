"""Score answers by what they share with the others: words, sequences, tokens, exemplars.

Score answers against unweighted exemplary answers: the modal one, the mean, the reference.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from scipy import sparse

from evaluation.core.backends import BackendError
from evaluation.core.stats.cells import Floats, Integers, divide_where_positive
from evaluation.core.stats.grams import convert_to_dense
from evaluation.core.text.quality import compute_log_words
from evaluation.evidence.baselines.corpus import Corpus, Crowd, MeanAnswerScore, UnavailableError

WORD = re.compile(r"\w+")
ARTICLES = frozenset({"a", "an", "the"})
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
Words = Sequence[str]


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return WORD.findall(text.lower())


@MeanAnswerScore
def score_by_length(crowd: Crowd) -> Floats:
    """Return the logarithm of each answer's number of words.

    A control that reads no answer: its agreement with the truth is due to length alone.
    """
    texts = crowd.corpus.texts
    return crowd.corpus.compute_once("log words", lambda: compute_log_words(texts))[crowd.rows]


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
    # nltk is imported late, because it is slow to import and few methods need it.
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
    """Return the table (question, answer, answer) of the similarity `like` of token lists.

    `tokens` splits a text; `name` identifies the similarity in the corpus's cache.
    """

    def table(rows: Integers) -> Floats:
        """Return the similarities of the token lists of some answers."""
        lists = [tokens(corpus.texts[row]) for row in rows]
        # An answer is not compared with itself: identity, because two workers may write the same.
        return np.array([[0.0 if a is b else like(a, b) for b in lists] for a in lists])

    return corpus.tabulate_pairs(name, table)


def score_by_bleu(crowd: Crowd, order: int) -> Floats:
    """Return each answer's mean sentence BLEU against the other answers to its question.

    Adapted: without a reference, the score is the mean over the other answers as references. (BLEU
    with many references at once requires only that each n-gram occurs in one of them.)
    """
    pairs = tabulate_token_similarity(
        crowd.corpus, f"bleu{order}", split_words, lambda a, b: compute_sentence_bleu(a, b, order)
    )
    return crowd.compute_mean_similarity_to_others(pairs)


@MeanAnswerScore
def score_by_bleu1(crowd: Crowd) -> Floats:
    """Return each answer's mean sentence BLEU-1 against the other answers."""
    return score_by_bleu(crowd, 1)


@MeanAnswerScore
def score_by_bleu4(crowd: Crowd) -> Floats:
    """Return each answer's mean sentence BLEU-4 against the other answers."""
    return score_by_bleu(crowd, 4)


@MeanAnswerScore
def score_by_token_f1(crowd: Crowd) -> Floats:
    """Return each answer's mean token F1 against the other answers to its question.

    Adapted: the other answers to the question replace the missing reference.
    """
    pairs = tabulate_token_similarity(crowd.corpus, "f1", tokenize_squad, compute_token_f1)
    return crowd.compute_mean_similarity_to_others(pairs)


def tabulate_gleu(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of sentence GLEU between answers."""
    return tabulate_token_similarity(corpus, "gleu", split_words, compute_sentence_gleu)


LONGEST = 3
# Most words between two neighbours of a pattern.
GAP = 2
# A pattern that only one answer has is not shared.
FEWEST_ANSWERS = 2

Pattern = tuple[str, ...]


@MeanAnswerScore
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
    tables = crowd.corpus.compute_once("patterns", lambda: _tabulate_patterns(crowd.corpus))
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


def find_word_patterns(words: Sequence[str]) -> set[Pattern]:
    """Return a text's patterns: 1 to 3 words in order, with at most 2 words between neighbours."""
    patterns: set[Pattern] = set()

    def grow(pattern: Pattern, index: int) -> None:
        """Add a pattern that ends at a word's index, and all its continuations."""
        patterns.add(pattern)
        if len(pattern) < LONGEST:
            for place in range(index + 1, min(index + 2 + GAP, len(words))):
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
    """Return each question's 0/1 matrix (answer, word pattern) and its patterns' lengths."""
    return [
        _tabulate_question_patterns([corpus.texts[row] for row in rows]) for rows in corpus.members
    ]


def _tabulate_question_patterns(texts: Sequence[str]) -> tuple[sparse.csr_array, Integers]:
    """Return one question's 0/1 matrix (answer, word pattern) and its patterns' lengths."""
    column: dict[Pattern, int] = {}
    row, columns = [], []
    for index, text in enumerate(texts):
        for pattern in find_word_patterns(stem_words(text)):
            row.append(index)
            columns.append(column.setdefault(pattern, len(column)))
    shape = (len(texts), max(1, len(column)))
    matrix = sparse.csr_array((np.ones(len(row)), (row, columns)), shape)
    lengths = np.array([len(pattern) for pattern in column] or [0], dtype=np.int64)
    return matrix, lengths


@MeanAnswerScore
def score_by_bertscore(crowd: Crowd) -> Floats:
    """Return each answer's mean BERTScore F1 against the other answers to its question.

    Zhang et al. 2020, greedy matching by cosine, without idf and without a baseline to rescale by.
    Adapted: the other answers to the question replace the reference, and the vectors are those
    of the last layer of all-MiniLM-L6-v2, which comes with the platform, instead of RoBERTa's.
    """
    return crowd.compute_mean_similarity_to_others(_tabulate_bertscore(crowd.corpus))


def compute_bertscore_f1(tokens: Sequence[Floats]) -> Floats:
    """Return the matrix of BERTScore F1 between texts, from each text's token vectors.

    Precision [i, j] is the mean, over the tokens of i, of the greatest cosine to a token of j;
    recall is precision [j, i]. 0 for a text without tokens, or where the two sum to 0 or less.
    """
    n = len(tokens)
    sizes = np.array([len(some) for some in tokens])
    precision = np.zeros((n, n))
    some = np.flatnonzero(sizes)
    if not len(some):
        return precision
    x = np.concatenate([tokens[index] for index in some.tolist()])
    # A token vector of zeros has cosine 0 with every other.
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    # Empty texts are left out: `reduceat` would give them the value of the next text.
    starts = np.concatenate([[0], np.cumsum(sizes[some])[:-1]])
    # One product over all tokens, reduced per text, in place of a loop over pairs.
    best = np.maximum.reduceat(x @ x.T, starts, axis=1)
    means = np.add.reduceat(best, starts, axis=0) / sizes[some][:, None]
    precision[np.ix_(some, some)] = means
    total = precision + precision.T
    return divide_where_positive(2 * precision * precision.T, total, 0.0)


def _tabulate_bertscore(corpus: Corpus) -> Floats:
    """Return the table (question, answer, answer) of BERTScore F1 between answers."""

    def tokens() -> list[Floats]:
        """Return the token vectors of all answers."""
        from evaluation.core.backends.embedding.sentences import load_minilm

        try:
            return load_minilm().embed_tokens(corpus.texts)
        except BackendError as error:
            raise UnavailableError("no_minilm") from error

    def table(rows: Integers) -> Floats:
        """Return the BERTScore F1 of some answers."""
        vectors = corpus.compute_once("tokens", tokens)
        return compute_bertscore_f1([vectors[row] for row in rows])

    pairs = corpus.tabulate_pairs("bertscore", table)
    # Vectors of all tokens are far larger than the finished table.
    corpus.forget_value("tokens")
    return pairs


@MeanAnswerScore
def score_by_modal_answer(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the most frequent answer to its question.

    Answers count as equal in lower case and without punctuation. Ties go to the answer that comes
    first in the corpus. Long answers almost always tie, because no two are equal. Adapted: the
    share of answers that equal the mode would be the same for nearly all workers, so likeness to it
    is taken, by the vectors of the study.
    """
    corpus, x = crowd.corpus, _normalise_rows(crowd.corpus.compact_vectors(crowd.corpus.embedder))
    # -1 where there is no vote; the cosines that it selects from the last row are replaced by NaN.
    mode = np.full(corpus.n_questions, -1)
    rows_by_question: dict[int, list[int]] = {}
    for answer in crowd.order[crowd.votes[crowd.order]]:
        rows_by_question.setdefault(int(crowd.questions[answer]), []).append(
            int(crowd.rows[answer])
        )
    for question, rows in rows_by_question.items():
        forms = [" ".join(split_words(corpus.texts[row])) for row in rows]
        # The first of the most common ones: counters keep the order of first appearance.
        mode[question] = rows[forms.index(Counter(forms).most_common(1)[0][0])]
    modal_row = mode[crowd.questions]
    cosine = np.einsum("nd,nd->n", x[crowd.rows], x[modal_row])
    return np.where(modal_row >= 0, cosine, np.nan)


@MeanAnswerScore
def score_by_mean_vote(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the plain mean vector of the voters' answers.

    For workers who all vote this is AQER's first round, under another name.
    """
    corpus = crowd.corpus
    x = corpus.compact_vectors(corpus.embedder)
    mean = np.zeros((corpus.n_questions, x.shape[1]))
    np.add.at(mean, crowd.questions[crowd.votes], x[crowd.rows[crowd.votes]])
    cosine = np.einsum(
        "nd,nd->n", _normalise_rows(x[crowd.rows]), _normalise_rows(mean)[crowd.questions]
    )
    answered = np.bincount(crowd.questions[crowd.votes], minlength=corpus.n_questions) > 0
    return np.where(answered[crowd.questions], cosine, np.nan)


@MeanAnswerScore
def score_by_reference(crowd: Crowd) -> Floats:
    """Return the cosine of each answer to the instructor's reference answer.

    Supervised, so not a baseline: it shows how much the vectors reveal if the key is known.
    """
    corpus = crowd.corpus
    if corpus.references is None:
        raise UnavailableError("no_reference_answers")
    spec, references = corpus.embedder, corpus.references

    def cosines() -> Floats:
        """Return the cosine of each answer to its question's reference answer."""
        x, y = corpus.vectors(spec), references(spec)
        similarities = np.empty(len(corpus.texts))
        for question, rows in enumerate(corpus.members):
            similarities[rows] = (
                _normalise_rows(convert_to_dense(x[rows]))
                @ _normalise_rows(convert_to_dense(y[[question]])).T
            )[:, 0]
        return similarities

    return corpus.compute_once(("reference", spec), cosines)[crowd.rows]


def _normalise_rows(x: Floats) -> Floats:
    """Return the rows scaled to unit length; zero rows stay zero."""
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    return divide_where_positive(x, norm, 0.0)
