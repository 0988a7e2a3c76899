"""How much of a ranking length explains, and what that is worth beside experts' grades."""

from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.backends.embedding.contract import LexicalEmbedder
from evaluation.core.stats.cells import encode_labels
from evaluation.core.stats.statistics.descriptive import compute_partial_correlation, pearson
from evaluation.core.text.quality import compute_log_words, count_words
from evaluation.evidence.data_sets import load_labelled_beetle
from evaluation.grading.run.length import build_length_warning, compute_length_effect
from evaluation.grading.summary import LengthEffect
from evaluation.runs.reports.judging import JudgedAnswer, correlate_at_equal_length


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("a gap, in the path", 5),
        ("12.5 V at 12:25", 4),  # 12.5, V, at, 12:25
        ("电池和灯泡", 5),  # each letter
        ("バッテリー", 5),
        ("die Batterie ist leer", 4),
    ],
)
def test_words_and_numbers_are_counted_in_languages_with_and_without_spaces(text, words):
    assert count_words(text) == words
    assert compute_log_words([text]).tolist() == [np.log(max(1, words))]


def fitted(raw, n_questions=2, contrast=None):
    """A fit of workers 0, 1, ... who answered all questions with these raw scores."""
    m = len(raw)
    return SimpleNamespace(
        workers_=np.arange(m),
        ranks_=np.ones(m, dtype=int),
        leave_one_out_scores_=np.repeat(raw, n_questions),
        question_contrast=contrast is not None,
        raw_=contrast,
    )


def test_raw_scores_are_correlated_with_the_mean_log_words_of_each_worker():
    raw = np.array([0.1, 0.4, 0.2, 0.5, 0.6, 0.3, 0.7, 0.9])
    n_words = [(1, 3), (2, 2), (1, 1), (4, 6), (5, 5), (2, 8), (9, 7), (9, 9)]
    texts = [" ".join(["word"] * n) for pair in n_words for n in pair]
    expected = np.corrcoef(raw, np.log(n_words).mean(axis=1))[0, 1]
    found = compute_length_effect(fitted(raw), texts, np.repeat(np.arange(8), 2).tolist())
    assert (found.correlation, found.n) == (pytest.approx(expected), 8)
    warning = build_length_warning(found)
    assert warning.code == "length_explains"
    assert warning.values["share"] == pytest.approx(expected**2)


def test_with_question_contrast_the_raw_scores_are_the_contrasts():
    contrast = np.array([0.4, 0.1, 0.3, 0.2, 0.0, 0.6, 0.5, 0.7])
    texts = [" ".join(["word"] * (n // 2 + 1)) for n in range(16)]
    fit = fitted(np.linspace(0, 1, 8), contrast=contrast)
    found = compute_length_effect(fit, texts, np.repeat(np.arange(8), 2).tolist())
    expected = np.corrcoef(contrast, np.log(np.arange(8) + 1))[0, 1]
    assert found.correlation == pytest.approx(expected)


def test_workers_without_a_rank_do_not_count_and_eight_are_needed():
    fit = fitted(np.linspace(0, 1, 8))
    texts = ["a b c"] * 15 + ["a"]
    workers = np.repeat(np.arange(8), 2).tolist()
    assert compute_length_effect(fit, texts, workers).n == 8
    fit.ranks_[3] = 0
    found = compute_length_effect(fit, texts, workers)
    assert (found.correlation, found.n, found.reason) == (None, 7, "too_few_ranked_workers")
    fit.ranks_[3] = 1
    assert compute_length_effect(fit, ["a b"] * 16, workers).reason == "no_spread"


@pytest.mark.parametrize(
    ("correlation", "is_warned"), [(0.7, False), (0.71, True), (-0.71, True), (None, False)]
)
def test_a_warning_is_given_above_a_correlation_of_7(correlation, is_warned):
    assert (build_length_warning(LengthEffect(correlation, 20)) is not None) == is_warned


def test_a_partial_correlation_is_that_of_the_residuals():
    rng = np.random.default_rng(3)
    length, one, other = rng.standard_normal((3, 40))
    one, other = one + length, other - 0.5 * length + 0.4 * one
    residuals = []
    for column in (one, other):
        slope, level = np.polyfit(length, column, 1)
        residuals.append(column - slope * length - level)
    found = compute_partial_correlation(
        pearson(one, other), pearson(one, length), pearson(other, length)
    )
    assert found == pytest.approx(np.corrcoef(*residuals)[0, 1])
    assert compute_partial_correlation(0.5, 1.0, 0.5) is None
    assert compute_partial_correlation(None, 0.5, 0.5) is None


def judged(score, grade, text):
    return JudgedAnswer(
        *(0, None, "q", "", text, "", None, None, "w", score, {"expert": grade}, None, None)
    )


def test_agreement_with_experts_at_equal_length_needs_20_grades():
    """Score and grade both follow length, and differ from it by one and the same +-1."""
    answers = []
    for at in range(20):
        n, sign = 1 + at // 2 % 5, 1 if at % 2 else -1
        answers.append(judged(np.log(n) + sign, np.log(n) + sign, " ".join(["w"] * n)))
    assert correlate_at_equal_length(answers, None) == pytest.approx(1.0)
    assert correlate_at_equal_length(answers[:19], None) is None


def test_length_explains_most_of_the_ranking_of_beetle(data_folder):
    """By letters here; by MiniLM .812, and .582 and .586 for the others (platform/docs)."""
    students = load_labelled_beetle(data_folder)
    worker = encode_labels(students.workers)[0]
    vectors = LexicalEmbedder("tfidf-char").fit_and_embed(students.texts)
    aqer = AQER(n_draws=0).fit(vectors, worker, students.questions)
    found = compute_length_effect(aqer, students.texts, worker.tolist())
    assert found.n == 73
    correct = np.bincount(worker, students.labels == "correct") / np.bincount(worker)
    log_words = compute_log_words(students.texts)
    length = np.bincount(worker, log_words) / np.bincount(worker)
    assert pearson(length, correct) == pytest.approx(0.582, abs=0.005)
    assert found.correlation > 0.5
