import numpy as np
import pytest

from tests.benchmarks.crowds import crowd
from tests.benchmarks.large_alarms import ALARMS, measure, of_a_million
from tests.benchmarks.peers import Stopping, gram_loop, numpy_loop, pair_sums


def test_a_script_in_gram_form_and_one_without_find_the_same():
    made = crowd(20, 30, 8, answers=10)
    codes = np.unique(made.workers, return_inverse=True)[1]
    gram = gram_loop(made.vectors, codes, 10, Stopping())
    plain = numpy_loop(made.vectors.astype(float), codes, made.questions, Stopping())
    assert gram.n_iterations == plain.n_iterations
    assert gram.raw == pytest.approx(plain.raw, abs=1e-10)


def test_sums_of_pairs_by_hand():
    # Workers 0 and 1 share two questions: cosines 0 and 1; 0 and 2 share one: 0.6.
    vectors = np.array([[1, 0], [0, 2], [3, 4], [1, 1], [2, 2]], dtype=float)
    sums, counts = pair_sums(vectors, np.array([0, 1, 2, 1, 0]), np.array([0, 0, 0, 1, 1]))
    assert sums.toarray()[0].tolist() == pytest.approx([0, 1, 0.6])
    assert counts.toarray().tolist() == [[0, 2, 1], [0, 0, 1], [0, 0, 0]]


def test_alarms_and_their_peer_are_measured_on_small_data_alike(tmp_path):
    (tmp_path / "mohler2011").mkdir()
    table = "question_id,answer,grade_average\n1,a stack is last in first out,5\n1,a queue,0\n"
    (tmp_path / "mohler2011/answers.csv").write_text(table)
    found = measure(tmp_path, runs=2, answers=200)
    assert (len(found.alarms.seconds), len(found.pairs.seconds), len(found.peer.seconds)) == (
        2,
        2,
        1,
    )
    assert found.difference < 1e-5


def test_a_million_answers_without_texts_leave_the_reason(tmp_path):
    (row,) = of_a_million(tmp_path).rows
    assert (row.what, row.verdict) == (ALARMS, "not applicable")
    assert "cannot be read" in row.reason
