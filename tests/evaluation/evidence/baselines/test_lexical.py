import math

import numpy as np
import pytest
from nltk.translate.bleu_score import SmoothingFunction
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu

from evaluation.evidence.baselines import METHODS
from evaluation.evidence.baselines.overlap import (
    compute_sentence_bleu,
    compute_sentence_gleu,
    compute_token_f1,
    split_words,
    tokenize_squad,
)
from tests.evaluation.evidence.baselines.world import corpus, crowd, random_crowd


def test_words_are_lower_case_without_punctuation():
    assert split_words("Last-in, FIRST out!") == ["last", "in", "first", "out"]
    assert tokenize_squad("A stack: the last in.") == ["stack", "last", "in"]


def test_token_f1_counts_repeats_once_for_each_pair():
    # 2 common tokens (x, y); precision 2/3, recall 2/2: F1 = 2 * 2 / (3 + 2).
    assert compute_token_f1(["x", "x", "y"], ["y", "x"]) == pytest.approx(0.8)
    assert compute_token_f1([], []) == 1
    assert compute_token_f1([], ["x"]) == 0


def test_bleu_1_is_clipped_precision_times_the_penalty_for_shortness():
    # "the the cat" in "the cat sat down": 2 of 3 words, exp(1 - 4/3).
    found = compute_sentence_bleu(["the", "the", "cat"], ["the", "cat", "sat", "down"], 1)
    assert found == pytest.approx(2 / 3 * math.exp(1 - 4 / 3))


def test_bleu_4_smooths_counts_of_zero():
    # n = 1: 3/3; 2: 2/2; 3: 1/1; there is no n-gram of 4 words, counted as .1 of 1; length 3 = 3.
    found = compute_sentence_bleu(["a", "b", "c"], ["a", "b", "c"], 4)
    assert found == pytest.approx((1 * 1 * 1 * 0.1) ** 0.25)


def test_gleu_is_the_lesser_of_precision_and_recall_of_all_n_grams():
    # "a b" has 3 n-grams, "a b c" 6; 3 are common: min(3/3, 3/6).
    assert compute_sentence_gleu(["a", "b"], ["a", "b", "c"]) == pytest.approx(0.5)


def test_texts_without_words_score_0():
    assert compute_sentence_bleu([], ["x"], 4) == compute_sentence_gleu(["x"], []) == 0


def test_f1_of_a_worker_is_the_mean_over_its_answers_and_over_the_others():
    # Question 1, tokens: "stack is last in first out" twice (ann, bob), "queue is first in first
    # out" (cy): ann-bob 1; with cy is, in, first, out are common, 2 * 4 / 12. Question 2: ann and
    # bob write the same, cy shares nothing.
    question_1 = np.array([(1 + 8 / 12) / 2, (1 + 8 / 12) / 2, 8 / 12])
    question_2 = np.array([0.5, 0.5, 0])
    expected = (question_1 + question_2) / 2
    np.testing.assert_allclose(METHODS["f1"].score(crowd()), expected)


@pytest.mark.parametrize("order", [1, 4])
def test_bleu_of_a_crowd_is_nltks_for_each_pair(order):
    drawn = random_crowd(2, leave_out=0.3)
    smoothing = SmoothingFunction().method1
    texts = [split_words(drawn.corpus.texts[row]) for row in drawn.rows]
    weights = (1 / order,) * order
    expected = np.zeros(drawn.n_workers)
    for worker in range(drawn.n_workers):
        answers = []
        for i in np.flatnonzero(drawn.workers == worker):
            others = np.flatnonzero(drawn.questions == drawn.questions[i])
            answers.append(
                np.mean(
                    [
                        nltk_bleu([texts[j]], texts[i], weights, smoothing_function=smoothing)
                        for j in others
                        if j != i
                    ]
                )
            )
        expected[worker] = np.mean(answers)
    np.testing.assert_allclose(METHODS[f"bleu{order}"].score(drawn), expected)


def test_equal_answers_of_two_workers_are_compared_with_each_other():
    found = METHODS["bleu1"].score(
        crowd(of=corpus(["x y", "x y"], [1, 1], np.eye(2)), workers=np.arange(2))
    )
    np.testing.assert_allclose(found, [1, 1])
