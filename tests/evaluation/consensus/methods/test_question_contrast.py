"""Question contrast: by hand, against a direct implementation, and on inputs at the edge."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus.methods.question_contrast import (
    FEWER_QUESTIONS,
    ONLY_ANSWER,
    CrowdExemplars,
    list_scopes,
)
from evaluation.core.stats.inference.intervals import compute_t_interval


def cosine(a, b):
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm > 1e-9 else 0.0


def exemplar(answers, question, weights, without=None):
    """Return the weighted mean of the others' answers; None without any."""
    chosen = [(weights[w], x) for (w, q), x in answers.items() if q == question and w != without]
    if not chosen:
        return None
    if sum(w for w, _ in chosen) <= 0:
        chosen = [(1.0, x) for _, x in chosen]
    return sum(w * x for w, x in chosen) / sum(w for w, _ in chosen)


def list_others(question, groups, n_questions):
    group = groups[question]
    mine = [q for q in range(n_questions) if group >= 0 and groups[q] == group]
    return [q for q in (mine if len(mine) >= 5 else range(n_questions)) if q != question]


def contrast_directly(answers, weights, groups):
    """Return each answer's contrast, formed question by question; None for none."""
    n_questions = len(groups)
    found = {}
    for (worker, question), x in answers.items():
        own = exemplar(answers, question, weights, worker)
        others = [
            exemplar(answers, q, weights, worker)
            for q in list_others(question, groups, n_questions)
        ]
        others = [one for one in others if one is not None]
        if own is None or len(others) < 4:
            found[worker, question] = None
            continue
        found[worker, question] = cosine(x, own) - np.mean([cosine(x, one) for one in others])
    return found


def build_crowd(answers, weights, groups=None, convert=np.asarray):
    """Return the exemplary answers of a crowd, and the worker code of each answer."""
    worker, question = np.array(list(answers)).T
    vectors = np.array(list(answers.values()), dtype=float)
    n_questions = question.max() + 1
    shares = np.array(weights, dtype=float)[worker]
    total = np.bincount(question, shares, n_questions)
    shares = np.where(total[question] > 0, shares, 1.0)
    shares /= np.bincount(question, shares, n_questions)[question]
    exemplars = np.zeros((n_questions, vectors.shape[1]))
    np.add.at(exemplars, question, shares[:, None] * vectors)
    codes = None if groups is None else np.array(groups)
    return CrowdExemplars(convert(exemplars), convert(vectors), question, shares, codes), worker


def compare(answers, weights, groups=None, convert=np.asarray):
    crowd, worker = build_crowd(answers, weights, groups, convert)
    return crowd.compare_workers(worker, len(weights))


def draw_answers(rng, n_workers=7, n_questions=14, dimension=6, missing=0.3):
    shape = (n_workers, n_questions, dimension)
    vectors = rng.normal(size=shape) + rng.normal(size=(1, n_questions, dimension)) + 0.5
    there = rng.random(shape[:2]) >= missing
    there[:2] = True
    return {(w, q): vectors[w, q] for w, q in np.argwhere(there).tolist()}


# Questions 0 to 4 have answers along an axis of their own; worker 2 gives (1, 0, 0, 0, 0) to all.
AXES = np.eye(5)
BY_HAND = {(w, q): AXES[0] if w == 2 else AXES[q] for w in range(3) for q in range(5)}


def test_the_answer_to_another_question_loses_what_the_right_one_earns():
    # Weight 1 each. Without worker 0, the exemplary answer of question 0 is axis 0, and that of
    # question q is (axis q + axis 0) / 2 by workers 1 and 2, with cosine 1/sqrt 2 to either axis.
    # Worker 0 on question 0: 1 less the mean of four times 1/sqrt 2. On question 1: 1/sqrt 2 less
    # the mean of axis 1 . axis 0 = 0 and of three times axis 1 . (axis q + axis 0) = 0.
    found = compare(BY_HAND, [1.0, 1.0, 1.0])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found.answers[:5], [1 - half, half, half, half, half])
    assert found.means[0] == pytest.approx((1 + 3 * half) / 5)
    # Worker 2 is compared with axis q of workers 0 and 1: 1 on question 0, and there less 0; on the
    # four others 0, less a quarter of 1 for question 0. In sum 1 - 4 / 4 = 0.
    np.testing.assert_allclose(found.answers[10:], [1, -0.25, -0.25, -0.25, -0.25])
    assert found.means[2] == pytest.approx(0, abs=1e-15)


def test_one_sentence_pasted_everywhere_earns_nothing_whatever_the_others_say():
    answers = draw_answers(np.random.default_rng(1), missing=0.0)
    pasted = np.random.default_rng(2).normal(size=6)
    answers |= {(3, q): pasted for q in range(14)}
    weights = np.random.default_rng(3).random(7)
    found = compare(answers, weights)
    assert found.means[3] == pytest.approx(0, abs=1e-12)
    assert np.abs(np.delete(found.means, 3)).min() > 0.05
    # Pasted by three: the sentence is in the exemplary answers, of every question alike.
    answers |= {(w, q): pasted for w in (4, 5) for q in range(14)}
    np.testing.assert_allclose(compare(answers, weights).means[3:6], 0, atol=0.05)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "groups",
    [[-1] * 14, [0] * 5 + [1] * 6 + [2] * 2 + [-1], [0] * 5 + [1] * 9],
    ids=["no groups", "two groups and a rest", "groups only"],
)
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.75])
def test_it_agrees_with_a_direct_implementation(missing, groups, convert):
    rng = np.random.default_rng(4)
    for _ in range(3):
        answers = draw_answers(rng, missing=missing)
        answers[0, 3] = np.zeros(6)
        weights = rng.random(7) * (rng.random(7) > 0.3)  # some vote with weight 0
        found = compare(answers, weights, groups, convert)
        expected = contrast_directly(answers, weights, groups)
        expected = np.array([np.nan if c is None else c for c in expected.values()])
        np.testing.assert_allclose(found.answers, expected, atol=1e-12)
        worker = np.array(list(answers))[:, 0]
        for code in range(7):
            assert found.means[code] == pytest.approx(np.nanmean(expected[worker == code]))


def test_a_heavy_voter_is_left_out_without_losing_digits():
    rng = np.random.default_rng(5)
    answers = draw_answers(rng, missing=0.0)
    weights = [1.0, 1e-9, 1e-9, 0, 0, 0, 0]
    found = compare(answers, weights)
    expected = list(contrast_directly(answers, weights, [-1] * 14).values())
    np.testing.assert_allclose(found.answers, expected, atol=1e-12)


def test_models_are_compared_with_all_voters_and_leave_nobody_out():
    rng = np.random.default_rng(6)
    answers = draw_answers(rng)
    weights = rng.random(7)
    crowd, _ = build_crowd(answers, weights, [0] * 6 + [-1] * 8)
    of_model = rng.normal(size=(14, 6))
    found = crowd.compare_others(of_model, np.repeat([0, 1], 7), np.arange(14), 2)
    full = [exemplar(answers, q, weights) for q in range(14)]
    groups = [0] * 6 + [-1] * 8
    expected = [
        cosine(of_model[q], full[q])
        - np.mean([cosine(of_model[q], full[k]) for k in list_others(q, groups, 14)])
        for q in range(14)
    ]
    np.testing.assert_allclose(found.answers, expected, atol=1e-12)
    np.testing.assert_allclose(found.means, [np.mean(expected[:7]), np.mean(expected[7:])])


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_vectors_of_both_kinds_of_scipy_give_the_contrast_of_dense_ones(convert):
    # scikit-learn may return the old kind, whose * multiplies matrices.
    rng = np.random.default_rng(9)
    answers = {key: np.resize(x, 14) for key, x in draw_answers(rng, missing=0.0).items()}
    nobody = np.zeros(14, dtype=int)
    u = rng.normal(size=(14, 14))
    dense, _ = build_crowd(answers, np.ones(7))
    crowd, _ = build_crowd(answers, np.ones(7), convert=convert)
    expected = dense.compare_others(u, nobody, np.arange(14), 1).answers
    found = crowd.compare_others(convert(u), nobody, np.arange(14), 1).answers
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_standard_error_counts_a_question_among_the_others_of_the_rest():
    # With c_jk the cosine of answer j to exemplary answer k, and question j counted t_j times, the
    # contrast is the mean of c_jj less the mean over k of c_jk. The standard error is that of the
    # infinitesimal jackknife: n times its derivatives at t = 1 are the influences of the questions.
    rng = np.random.default_rng(7)
    crowd, _ = build_crowd(draw_answers(rng, missing=0.0), np.ones(7))
    u = rng.normal(size=(14, 6))
    found = crowd.compare_others(u, np.zeros(14, dtype=int), np.arange(14), 1)
    c = np.array([[cosine(x, e) for e in np.asarray(crowd.exemplars)] for x in u])
    off = c - np.diag(np.diag(c))

    def contrast(t):
        return (t @ (np.diag(c) - off @ t / (t.sum() - t))) / t.sum()

    step = 1e-5 * np.eye(14)
    influence = np.array(
        [(contrast(1 + one) - contrast(1 - one)) / 2e-5 for one in step]
    ) * 14  # fmt: skip
    error = np.sqrt((influence**2).sum() / (14 * 13))
    assert found.errors[0] == pytest.approx(error, rel=1e-6)
    spread = found.pseudovalues.std(ddof=1) / np.sqrt(14)
    assert (found.pseudovalues.mean(), spread) == pytest.approx((found.means[0], error), rel=1e-6)
    interval = compute_t_interval(found.means, [error], [14])[0]
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))


@pytest.mark.long
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_95_percent_intervals_hold_the_truth_in_new_draws_of_questions(share):
    # Answers a + b_q + noise, exemplary answers b_q + noise with b_q new in each of 1,000 crowds of
    # 24 questions of which the model answers a share; the truth is the mean over all crowds.
    rng = np.random.default_rng(8)
    means, inside = [], []
    for _ in range(1000):
        b = rng.normal(size=(24, 8)) + 0.7
        crowd, _ = build_crowd(
            {(w, q): b[q] + rng.normal(size=8) for w in range(3) for q in range(24)}, np.ones(3)
        )
        asked = np.flatnonzero(rng.permutation(24) < 24 * share)
        u = b[asked] + 1.5 * rng.normal(size=(len(asked), 8)) + 0.5
        found = crowd.compare_others(u, np.zeros(len(asked), dtype=int), asked, 1)
        means.append(found.means[0])
        inside.append((found.low[0], found.high[0]))
    truth = np.mean(means)
    low, high = np.array(inside).T
    coverage = np.mean((low <= truth) & (truth <= high))
    # Monte Carlo error .007, three times.
    assert coverage == pytest.approx(0.95, abs=0.021)


def test_below_5_questions_there_is_no_contrast_and_a_reason():
    for n_questions in (1, 4):
        answers = draw_answers(np.random.default_rng(9), n_questions=n_questions, missing=0.0)
        found = compare(answers, np.ones(7))
        assert np.isnan(found.answers).all()
        assert np.isnan(found.means).all()
        assert set(found.reasons) == {FEWER_QUESTIONS}
        assert found.n.tolist() == [0] * 7
        assert np.isnan(found.low).all()
    found = compare(draw_answers(np.random.default_rng(9), n_questions=5, missing=0.0), np.ones(7))
    assert not np.isnan(found.answers).any()


def test_a_group_of_one_question_is_compared_with_all_the_others():
    answers = draw_answers(np.random.default_rng(10), n_questions=6, missing=0.0)
    alone = compare(answers, np.ones(7), [0, 0, 0, 0, 0, 1])
    whole = compare(answers, np.ones(7))
    of_last = np.array(list(answers))[:, 1] == 5
    np.testing.assert_allclose(alone.answers[of_last], whole.answers[of_last])
    assert np.abs(alone.answers[~of_last] - whole.answers[~of_last]).max() > 0.001


def test_equal_answers_everywhere_contrast_with_nothing():
    found = compare({(w, q): np.ones(3) for w in range(3) for q in range(6)}, np.ones(3))
    np.testing.assert_allclose(found.answers, 0, atol=1e-15)
    np.testing.assert_allclose([found.low, found.high], 0, atol=1e-12)


def test_one_worker_alone_has_nothing_to_compare_with():
    found = compare({(0, q): np.eye(6)[q] for q in range(6)}, [1.0])
    assert set(found.reasons) == {ONLY_ANSWER}
    assert np.isnan(found.means[0])


def test_answers_that_cancel_give_a_cosine_of_0():
    # Two opposite answers have no mean direction; the third worker's answers are compared with it.
    answers = {(w, q): AXES[q] * (1, -1)[w] for w in range(2) for q in range(5)}
    answers |= {(2, q): AXES[q] for q in range(5)}
    found = compare(answers, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(found.answers[10:], 0)


def test_no_answers_of_models_are_no_error():
    crowd, _ = build_crowd(BY_HAND, np.ones(3))
    nothing = np.empty(0, dtype=np.int64)
    found = crowd.compare_others(np.empty((0, 5)), nothing, nothing, 0)
    assert len(found.answers) == len(found.means) == 0


def test_ten_thousand_questions_in_a_group_take_linear_memory():
    n, d = 10_000, 16
    rng = np.random.default_rng(11)
    question, worker = np.tile(np.arange(n), 3), np.repeat(np.arange(3), n)
    vectors = rng.normal(size=(3 * n, d)).astype(np.float32)
    exemplars = vectors.reshape(3, n, d).mean(axis=0, dtype=np.float64)
    crowd = CrowdExemplars(exemplars, vectors, question, np.full(3 * n, 1 / 3))
    tracemalloc.start()
    found = crowd.compare_workers(worker, 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * exemplars.nbytes  # n x n numbers would be 625 times as many
    assert np.abs(found.means).max() < 0.05


def test_scopes_are_groups_of_5_or_more_and_everything_for_the_rest():
    groups, answered = np.array([7, 7, 7, 7, 7, 2, 2, -1, 7]), np.arange(9) < 8
    of_groups, of_rest = list_scopes(groups, answered)
    assert of_groups.group.tolist() == [0, 0, 0, 0, 0, -1, -1, -1, -1]
    assert of_groups.sizes.tolist() == [5]
    assert of_rest.sizes.tolist() == [8]
    assert of_rest.targets.tolist() == [False] * 5 + [True] * 3 + [False]
