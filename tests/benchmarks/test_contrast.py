"""The case of question contrast, on a small crowd."""

from tests.benchmarks.contrast import CONTRAST, FIT, cost_of_contrast


def test_a_small_crowd_has_all_figures():
    found = cost_of_contrast(n_questions=40, workers=20)
    assert [row.what for row in found.rows][:2] == [FIT, CONTRAST]
    assert all(row.median > 0 for row in found.rows)
    assert {row.setting for row in found.rows} == {
        "400 answers, 20 workers, 40 questions in a group"
    }
