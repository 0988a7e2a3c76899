import numpy as np
import pytest
from scipy import sparse

from evaluation.evidence.baselines import METHODS, Corpus, Crowd, UnavailableError, list_methods
from tests.evaluation.evidence.baselines.world import corpus, crowd, random_corpus, random_crowd


def table_of_ones(rows):
    return np.ones((len(rows), len(rows)))


def test_a_crowd_needs_different_answers_and_a_worker_for_each():
    of = corpus()
    with pytest.raises(ValueError, match="different rows"):
        Crowd(of, np.array([0, 0]), np.array([0, 1]))
    with pytest.raises(ValueError, match="worker for each"):
        Crowd(of, np.array([0, 1]), np.array([0]))
    with pytest.raises(ValueError, match="1 texts for 2 questions"):
        Corpus(["x"], [1, 2], lambda spec: None)


def test_pairs_are_computed_once_and_an_answer_is_not_compared_with_itself():
    of, calls = corpus(), []

    def table(rows):
        calls.append(rows.tolist())
        return table_of_ones(rows)

    pairs = of.tabulate_pairs("ones", table)
    assert of.tabulate_pairs("ones", table) is pairs
    assert calls == [[0, 1, 2], [3, 4, 5]]
    np.testing.assert_array_equal(pairs[0], 1 - np.eye(3))


def test_an_answer_is_compared_with_those_of_its_crowd_only():
    of = corpus(["a", "b", "c", "d"], [1, 1, 1, 1], np.eye(4))
    likeness = np.arange(16.0).reshape(4, 4)
    drawn = Crowd(of, np.array([3, 1, 0]), np.array([0, 1, 2]))
    # Rows 3, 1, 0: (12 + 13) / 2, (4 + 7) / 2, (1 + 3) / 2; row 2 is not in the crowd.
    found = drawn.compute_mean_similarity_to_others(
        of.tabulate_pairs("numbers", lambda rows: likeness)
    )
    np.testing.assert_allclose(found, [12.5, 5.5, 2.0])


def test_who_does_not_vote_is_compared_with_all_voters_and_nobody_with_it():
    of = corpus(["a", "b", "c"], [1, 1, 1], np.eye(3))
    drawn = crowd(of=of, workers=np.arange(3), voting=np.array([True, True, False]))
    found = drawn.compute_mean_similarity_to_others(
        of.tabulate_pairs("numbers", lambda rows: np.arange(9.0).reshape(3, 3))
    )
    np.testing.assert_allclose(found, [1.0, 3.0, (6 + 7) / 2])


def test_the_only_answer_to_a_question_has_no_others():
    of = corpus(["a", "b", "c"], [1, 1, 2], np.eye(3))
    drawn = crowd(of=of, workers=np.array([0, 1, 0]))
    found = drawn.compute_mean_similarity_to_others(of.tabulate_pairs("ones", table_of_ones))
    np.testing.assert_allclose(found, [1, 1, np.nan])
    np.testing.assert_allclose(drawn.compute_worker_means(found), [1, 1])
    np.testing.assert_allclose(
        drawn.select_answers(np.array([False, True, True])).compute_worker_means(
            np.array([1, np.nan])
        ),
        [np.nan, 1],
    )


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_compact_vectors_have_the_inner_products_of_the_long_ones(make):
    of = random_corpus(d=40)
    x = of.vectors("any")
    short = corpus(of.texts, of.question, make(x)).compact_vectors("any")
    assert short.shape == (len(x), 9)
    for rows in of.members:
        np.testing.assert_allclose(short[rows] @ short[rows].T, x[rows] @ x[rows].T, atol=1e-12)


def test_compact_vectors_of_fewer_dimensions_than_answers_fit_too():
    of = random_corpus(d=3)
    x, short = of.vectors("any"), of.compact_vectors("any")
    for rows in of.members:
        np.testing.assert_allclose(short[rows] @ short[rows].T, x[rows] @ x[rows].T, atol=1e-12)


MISSING = {
    "aqer_entailment_init": "no_nli_model",
    "judge": "no_judge",
    "reference_answer": "no_reference_answers",
}
# BERTScore, which loads a model, has tests of its own.
COMPUTED = [name for name in METHODS if name not in (*MISSING, "bertscore")]


def scored(name, drawn):
    of = drawn.corpus
    if METHODS[name].name == "bow_majority":
        bags = (of.vectors("any") > 0.7).astype(float)
        drawn = Crowd(
            corpus(of.texts, of.question, bags), drawn.rows, drawn.workers, drawn.voting, drawn.seed
        )
    return METHODS[name].score(drawn)


@pytest.mark.parametrize("name", COMPUTED)
def test_every_method_scores_each_worker_and_the_order_of_answers_is_nothing_to_it(name):
    drawn = random_crowd(3, leave_out=0.2)
    found = scored(name, drawn)
    assert found.shape == (7,)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0
    mixed = np.random.default_rng(1).permutation(len(drawn.rows))
    again = Crowd(drawn.corpus, drawn.rows[mixed], drawn.workers[mixed])
    if name != "aqer_random_init":  # whose start goes by the order in which workers come
        np.testing.assert_allclose(scored(name, again), found, rtol=1e-6)


@pytest.mark.parametrize("name", COMPUTED)
def test_who_does_not_vote_changes_nobodys_score(name):
    drawn = random_crowd(5)
    voting = np.arange(7) < 6
    outsider = Crowd(drawn.corpus, drawn.rows, drawn.workers, voting)
    without = drawn.select_answers(drawn.workers < 6)
    found, alone = scored(name, outsider), scored(name, without)
    np.testing.assert_allclose(found[:6], alone[:6], rtol=1e-9)
    assert np.isfinite(found[6])
    assert np.isnan(alone[6])


@pytest.mark.parametrize("name", MISSING)
def test_a_method_without_its_model_says_what_is_missing(name):
    with pytest.raises(UnavailableError) as caught:
        METHODS[name].score(crowd())
    assert caught.value.reason == MISSING[name]


def test_core_methods_leave_out_what_takes_a_model():
    left_out = {m.name for m in list_methods()} - {m.name for m in list_methods(core=True)}
    assert "aqer_entailment_init" in left_out
    assert "aqer" not in left_out
