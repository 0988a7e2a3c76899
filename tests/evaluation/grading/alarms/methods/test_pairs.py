"""Cosines of answers and their means by pair of workers, against loops over vectors."""

import numpy as np
import pytest
from scipy import sparse

from evaluation.consensus import AQER
from evaluation.consensus.methods.scale import Electorate
from evaluation.grading.alarms.methods import Pairs
from evaluation.grading.alarms.methods.pairs import fit_loadings, fit_worker_effects
from tests.evaluation.core.stats.worlds import crowd
from tests.evaluation.grading.alarms.methods.crowds import fitted, pairs_of


def looped(vectors, workers, questions):
    """Cosine of every two answers to the same question, by worker, worker and question."""
    found = {}
    for a in range(len(vectors)):
        for b in range(len(vectors)):
            if a != b and questions[a] == questions[b]:
                norm = np.linalg.norm(vectors[a]) * np.linalg.norm(vectors[b])
                key = workers[a], workers[b], questions[a]
                found[key] = vectors[a] @ vectors[b] / norm if norm else 0.0
    return found


def listed(aqer, pairs):
    """The same out of `Pairs`."""
    found = {}
    for pair, question, cosine in zip(pairs.pair, pairs.question, pairs.cosine, strict=True):
        both = aqer.workers_[[pairs.left[pair], pairs.right[pair]]].tolist()
        asked = aqer.questions_[question]
        found[both[0], both[1], asked] = found[both[1], both[0], asked] = cosine
    return found


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("dimension", [2, 9], ids=["more answers than dimensions", "fewer"])
@pytest.mark.parametrize("made", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_all_pairs_are_there_once_with_their_cosine(similarity, dimension, made):
    vectors, workers, questions = crowd(3, workers=6, dimension=dimension)
    vectors[4] = 0.0
    aqer = fitted(made(vectors), workers, questions, similarity=similarity)
    pairs = Pairs.from_vote(aqer.mean_vote_)
    expected = looped(vectors, workers.tolist(), questions.tolist())
    assert len(pairs.pair) == len(expected) / 2
    assert listed(aqer, pairs) == pytest.approx(expected, abs=1e-12)
    assert (pairs.left < pairs.right).all()


def test_sums_and_the_symmetric_matrix_by_hand():
    # a and b meet on two questions with cosines 1 and 0, b and c on one with cosine .6.
    vectors = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [3, 4], [1, 0]], float)
    pairs = pairs_of(vectors, ["a", "b", "a", "b", "b", "c"], [1, 1, 2, 2, 3, 3])
    assert pairs.shared.tolist() == [2, 1]
    assert pairs.total == pytest.approx([1.0, 0.6])
    assert pairs.build_symmetric_matrix(pairs.shared).toarray().tolist() == [
        [0, 2, 0],
        [2, 0, 1],
        [0, 1, 0],
    ]
    assert pairs.pairs_of_question.tolist() == [1, 1, 1]


def test_nobody_shares_a_question_and_there_are_no_pairs():
    pairs = pairs_of(np.eye(3), ["a", "b", "c"], [1, 2, 3])
    assert len(pairs) == len(pairs.pair) == 0
    assert pairs.build_symmetric_matrix(pairs.shared).upper.nnz == 0


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_a_crowd_with_too_many_pairs_is_judged_by_a_sample_of_its_workers(similarity):
    vectors, workers, questions = crowd(5, workers=20, questions=8, dimension=4, answered=0.9)
    aqer = fitted(vectors, workers, questions, similarity=similarity)
    whole = listed(aqer, Pairs.from_vote(aqer.mean_vote_))
    pairs = Pairs.from_vote(aqer.mean_vote_, most=300)
    found = listed(aqer, pairs)
    assert 150 < len(pairs.pair) <= 300
    assert found == pytest.approx({key: whole[key] for key in found}, abs=1e-12)
    seen = {worker for worker, _, _ in found}
    assert pairs.sampled == len(seen)
    inside = {key for key in whole if key[0] in seen and key[1] in seen}
    assert inside == set(found)


@pytest.mark.parametrize("most", [10**6, 60], ids=["everybody", "a sample of workers"])
def test_pairs_taken_in_parts_are_those_taken_at_once(monkeypatch, most):
    # Blocks of 3, 2 and 4 questions with 4, 5 and 7 answers; of the last, three at once and one.
    sizes = [4] * 3 + [5] * 2 + [7] * 4
    workers = np.concatenate([np.arange(size) for size in sizes])
    questions = np.repeat(np.arange(9), sizes)
    vectors = np.random.default_rng(4).standard_normal((len(workers), 5))
    expected = looped(vectors, workers.tolist(), questions.tolist())
    monkeypatch.setattr("evaluation.grading.alarms.methods.pairs.AT_ONCE", 3 * 7**2)
    aqer = fitted(vectors, workers, questions)
    found = listed(aqer, Pairs.from_vote(aqer.mean_vote_, most=most))
    seen = {worker for worker, _, _ in found}
    inside = {k: v for k, v in expected.items() if {k[0], k[1]} <= seen}
    assert len(seen) == 7 if most > 60 else 3 <= len(seen) < 7
    assert found == pytest.approx(inside, abs=1e-12)


def test_pairs_among_some_workers_keep_codes_and_cosines():
    vectors, workers, questions = crowd(7, workers=6)
    aqer = fitted(vectors, workers, questions)
    pairs = Pairs.from_vote(aqer.mean_vote_)
    chosen = np.array([True, False, True, True, False, True])
    names = set(aqer.workers_[chosen].tolist())
    some = listed(aqer, pairs.select_workers(chosen))
    assert some == {k: v for k, v in listed(aqer, pairs).items() if {k[0], k[1]} <= names}


@pytest.mark.parametrize("workers", [7, 400], ids=["solved at once", "by conjugate gradients"])
def test_additive_effects_and_one_factor_are_found_again(workers):
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((workers * 3, 4))
    who, asked = np.repeat(np.arange(workers), 3), rng.integers(0, workers // 2, workers * 3)
    _, once = np.unique(np.stack([who, asked]), axis=1, return_index=True)
    pairs = pairs_of(vectors[once], who[once], asked[once])
    met = pairs.build_symmetric_matrix(pairs.shared) @ np.ones(workers) > 0
    effect = rng.uniform(0.2, 0.9, workers)
    sums = effect[pairs.left] + effect[pairs.right]
    found = fit_worker_effects(pairs, sums, pairs.shared)
    # Two workers who only meet each other have no effects of their own, but their sum is known.
    assert found[pairs.left] + found[pairs.right] == pytest.approx(sums, abs=1e-4)
    assert (found[~met] == 0).all()
    product = effect[pairs.left] * effect[pairs.right]
    q = fit_loadings(pairs, product, pairs.shared, rounds=2000)
    assert q[pairs.left] * q[pairs.right] == pytest.approx(product, abs=1e-3)


def test_the_same_pairs_stand_behind_every_kind_of_vote():
    vectors, workers, questions = crowd(9, workers=6, dimension=8, binary=True)
    expected = looped(vectors, workers.tolist(), questions.tolist())
    left_out = Electorate(left_out=np.arange(6) == 2)
    for aqer in (
        AQER(aggregation="majority", n_draws=0).fit(vectors, workers, questions),
        AQER(n_draws=0).fit(
            vectors,
            workers,
            questions,
            camps=vectors[:, 0].astype(int),
            electorate=left_out,
        ),
        AQER(n_draws=0).fit_blocks([(vectors, workers, questions)]),
    ):
        assert listed(aqer, Pairs.from_vote(aqer.mean_vote_)) == pytest.approx(expected, abs=1e-12)
