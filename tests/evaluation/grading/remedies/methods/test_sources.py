"""Who of a group was first: times, ties and times that nobody took."""

import numpy as np
import pytest

from evaluation.grading.remedies.methods.copies import CopySource, build_units, find_copy_source

NONE = np.nan
# Workers 0, 1 and 2 copy; 3, 4 and 5 do not. Four questions, which everybody answered.
WORKER = np.tile(np.arange(6), 4)
QUESTION = np.repeat(np.arange(4), 6)
GROUP = np.array([0, 1, 2])


def times(*of_questions):
    """Times of the answers: those of the three members on each question, the others' before."""
    return np.array([[*of, 0.0, 0.0, 0.0] for of in of_questions], dtype=float).ravel()


@pytest.mark.parametrize(
    ("when", "wanted"),
    [
        # Worker 1 is first on all four.
        ([(5, 1, 9)] * 4, CopySource(1, 4, 4)),
        # On three of four, which are more than half.
        ([(5, 1, 9)] * 3 + [(1, 5, 9)], CopySource(1, 3, 4)),
        # On two of four, which are not.
        ([(5, 1, 9)] * 2 + [(1, 5, 9)] * 2, None),
        # Two first ones at the same time tell nothing: 2 of 4 is not more than half.
        ([(5, 1, 9)] * 2 + [(1, 1, 9)] * 2, None),
        ([(5, 1, 9)] * 3 + [(1, 1, 9)], CopySource(1, 3, 4)),
        ([(1, 1, 1)] * 4, None),
        # One time of three is missing, so that two questions of four tell: just enough.
        ([(5, 1, 9)] * 2 + [(5, 1, NONE)] * 2, CopySource(1, 2, 2)),
        # One of four is too little, whatever it says.
        ([(5, 1, 9)] + [(NONE, 1, 9)] * 3, None),
        ([(NONE, NONE, NONE)] * 4, None),
    ],
)
def test_the_source_was_first_on_most_of_the_questions_whose_times_tell(when, wanted):
    assert find_copy_source(GROUP, WORKER, QUESTION, times(*when)) == wanted


def test_nobody_took_times_and_nobody_is_the_source():
    assert find_copy_source(GROUP, WORKER, QUESTION, np.empty(0)) is None


def test_a_question_that_one_member_answered_tells_nothing():
    # On question 0 worker 1 stands alone, on the others worker 2 is first.
    kept = np.flatnonzero(~((QUESTION == 0) & np.isin(WORKER, [0, 2])))
    when = times((5, 1, 9), (5, 3, 1), (5, 3, 1), (5, 3, 1))[kept]
    assert find_copy_source(GROUP, WORKER[kept], QUESTION[kept], when) == CopySource(2, 3, 3)


def vectors():
    """Workers 0 and 2 give the same answers, worker 1 another: the medoid is that of 0."""
    rng = np.random.default_rng(0)
    found = rng.standard_normal((24, 5))
    found[WORKER == 2] = found[WORKER == 0]
    return found


def test_the_source_keeps_the_vote_and_the_medoid_votes_where_nobody_knows():
    of_medoid = build_units(vectors(), WORKER, QUESTION, 6, groups=[GROUP])
    assert set(WORKER[of_medoid.rows]) == {0, 3, 4, 5}
    of_source = build_units(vectors(), WORKER, QUESTION, 6, groups=[GROUP], sources=[1])
    assert set(WORKER[of_source.rows]) == {1, 3, 4, 5}
    assert of_source.n_units == of_medoid.n_units == 4
    unknown = build_units(vectors(), WORKER, QUESTION, 6, groups=[GROUP], sources=[None])
    np.testing.assert_array_equal(unknown.rows, of_medoid.rows)


def test_where_the_source_did_not_answer_the_medoid_of_the_others_votes():
    kept = np.flatnonzero(~((QUESTION == 2) & (WORKER == 1)))
    worker, question = WORKER[kept], QUESTION[kept]
    found = build_units(vectors()[kept], worker, question, 6, groups=[GROUP], sources=[1])
    mine = [(worker[row], question[row]) for row in found.rows if worker[row] < 3]
    assert mine == [(1, 0), (1, 1), (0, 2), (1, 3)]
