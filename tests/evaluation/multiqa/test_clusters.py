import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from evaluation.multiqa.methods import cluster_answers, find_best_members, find_representatives


def cosines(vectors):
    units = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return units @ units.swapaxes(-1, -2)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == one)) for one in set(labels.tolist())}


@given(st.integers(0, 10_000), st.integers(2, 7), st.floats(0.05, 0.95))
@settings(max_examples=100, deadline=None)
def test_clusters_are_those_of_scipys_average_linkage(seed, r, threshold):
    vectors = np.random.default_rng(seed).normal(size=(r, 3))
    similarity = cosines(vectors)
    upper = np.triu_indices(r, 1)
    tree = linkage(1 - similarity[upper], "average")
    theirs = fcluster(tree, 1 - threshold, "distance")
    ours = cluster_answers(similarity[None], np.ones((1, r)), threshold)[0]
    assert partition(ours) == partition(theirs)


def test_many_questions_are_clustered_as_each_alone():
    vectors = np.random.default_rng(2).normal(size=(40, 6, 4))
    there = np.random.default_rng(3).random((40, 6)) > 0.2
    together = cluster_answers(cosines(vectors), there, 0.4)
    for row in range(40):
        alone = cluster_answers(cosines(vectors[row : row + 1]), there[row : row + 1], 0.4)
        np.testing.assert_array_equal(together[row], alone[0])
    assert ((together >= 0) == there).all()


def test_what_must_not_join_does_not_even_through_a_third():
    similarity = np.ones((1, 3, 3))
    similarity[0, 0, 2] = similarity[0, 2, 0] = -np.inf
    assert cluster_answers(similarity, np.ones((1, 3)), 0.6)[0].tolist() == [0, 0, 2]


def test_the_bound_itself_is_not_enough():
    similarity = np.full((1, 2, 2), 0.6)
    assert cluster_answers(similarity, np.ones((1, 2)), 0.6)[0].tolist() == [0, 1]


def test_the_member_nearest_the_centre_stands_for_its_cluster():
    angles = np.radians([0, 20, 30, 170])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    similarity = cosines(vectors)[None]
    labels = cluster_answers(similarity, np.ones((1, 4)), 0.6)
    assert labels[0].tolist() == [0, 0, 0, 3]
    # The centre of 0, 20, 30 degrees is near 17: 20 is nearest.
    assert find_representatives(similarity, labels)[0].tolist() == [1, 1, 1, 3]


def test_of_equal_members_the_earliest_stands_for_the_cluster():
    similarity = np.ones((1, 3, 3))
    there = np.array([[True, False, True]])
    labels = cluster_answers(similarity, there, 0.6)
    assert labels.tolist() == [[0, -1, 0]]
    assert find_representatives(similarity, labels).tolist() == [[0, -1, 0]]


def test_one_answer_is_a_cluster():
    assert cluster_answers(np.ones((2, 1, 1)), [[True], [False]], 0.6).tolist() == [[0], [-1]]
    assert cluster_answers(np.ones((0, 3, 3)), np.ones((0, 3)), 0.6).shape == (0, 3)
    with pytest.raises(IndexError):
        cluster_answers(np.ones((1, 2, 2)), [[True]], 0.6)


def test_the_member_with_the_greatest_score_stands_and_of_equal_ones_the_earliest():
    labels = [[0, 1, 0, 1, -1, 0]]
    scores = [[1.0, -3.0, 2.0, -2.0, 9.0, 2.0]]
    # Of 0, 2 and 5 the third has 2 first; of 1 and 3 the latter; nobody is there at 4.
    assert find_best_members(scores, labels).tolist() == [[2, 3, 2, 3, -1, 2]]
