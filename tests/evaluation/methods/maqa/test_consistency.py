from itertools import combinations

import pytest

from evaluation.methods.maqa.consistency import consistency

AB, AC, A = frozenset("ab"), frozenset("ac"), frozenset("a")


def test_consistency_is_the_mean_similarity_of_all_pairs():
    # Of the pairs (ab, ab), (ab, ac), (ab, ac) one is the same set: 2 / (3 * 2) * 1.
    assert consistency([AB, AB, AC]) == pytest.approx(1 / 3)
    # Of what is in either, ab and ac share one of three: (1 + 1/3 + 1/3) / 3.
    assert consistency([AB, AB, AC], "jaccard") == pytest.approx(5 / 9)
    # Of the smaller one, one of two: (1 + 1/2 + 1/2) / 3.
    assert consistency([AB, AB, AC], "overlap") == pytest.approx(2 / 3)


def test_a_part_of_a_set_overlaps_it_wholly():
    assert consistency([AB, A], "overlap") == 1
    assert consistency([AB, A], "jaccard") == 1 / 2


def test_pairs_are_counted_as_if_one_by_one():
    replies = [AB, A, AC, A, AB, frozenset(), A]

    def jaccard(one, other):
        return len(one & other) / len(one | other) if one | other else 1.0

    pairs = [jaccard(*pair) for pair in combinations(replies, 2)]
    assert consistency(replies, "jaccard") == pytest.approx(sum(pairs) / len(pairs))


def test_two_replies_without_answers_say_the_same_and_one_says_nothing_like_it():
    for similarity in ("exact", "overlap", "jaccard"):
        assert consistency([frozenset(), frozenset()], similarity) == 1
        assert consistency([frozenset(), A], similarity) == 0


def test_one_reply_has_no_consistency():
    assert consistency([A]) is None
    assert consistency([]) is None


def test_an_unknown_similarity_is_an_error():
    with pytest.raises(ValueError, match="unknown similarity"):
        consistency([A, A], "dice")
