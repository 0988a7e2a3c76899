import numpy as np

from tests.benchmarks.crowds import blocks, crowd


def test_a_worker_answers_a_question_once_at_most():
    made = crowd(25, 200, 2, answers=10)
    assert len(made) == 2000
    pairs = set(zip(made.workers.tolist(), made.questions.tolist(), strict=True))
    assert len(pairs) == 2000
    assert set(made.workers.tolist()) == set(range(25))


def test_answers_to_a_question_resemble_each_other_more_than_others():
    made = crowd(6, 2, 500)
    unit = made.vectors / np.linalg.norm(made.vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    assert cosines[0, 1] > 0.5
    assert abs(cosines[0, 6]) < 0.2


def test_blocks_hold_the_same_workers_and_other_questions():
    first, second = blocks(2, n_workers=10, n_questions=4, dimension=2, answers=5)
    assert first.questions.tolist() == np.repeat([0, 1, 2, 3], 5).tolist()
    assert second.questions.tolist() == np.repeat([4, 5, 6, 7], 5).tolist()
    assert second.workers.max() < 10
    assert not np.array_equal(first.vectors, second.vectors)
