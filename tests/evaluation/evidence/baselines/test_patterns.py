import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS
from evaluation.evidence.baselines.overlap import find_word_patterns, stem_words
from tests.evaluation.evidence.baselines.world import corpus, crowd


def test_stems_leave_out_stop_words():
    assert stem_words("The pointers are holding an address.") == ["pointer", "hold", "address"]


def test_sequences_keep_the_order_and_skip_two_words_at_most():
    found = find_word_patterns("abcde")
    assert ("a",) in found
    assert ("a", "d") in found  # b and c in between
    assert ("a", "e") not in found
    assert ("b", "a") not in found
    assert ("a", "d", "e") in found
    assert max(map(len, found)) == 3
    assert find_word_patterns("") == set()


def test_an_answer_is_worth_the_common_patterns_it_holds():
    # Common: x (3 answers), y (2), x-y (2); z and its patterns stand in one answer only.
    # Worth: x 1 * 3, y 1 * 2, x-y 2 * 2: 9 in all.
    of = corpus(["xx yy", "xx yy", "xx zz"], [1, 1, 1], np.eye(3))
    found = METHODS["roy2016"].score(crowd(of=of, workers=np.arange(3)))
    np.testing.assert_allclose(found, [1, 1, 3 / 9])


def test_a_question_without_a_common_pattern_says_nothing():
    of = corpus(["xx", "yy", "zz", "xx", "xx", "yy"], [1, 1, 1, 2, 2, 2], np.eye(6))
    found = METHODS["roy2016"].score(crowd(of=of, workers=np.array([0, 1, 2, 0, 1, 2])))
    assert found == pytest.approx([1, 1, 0])
