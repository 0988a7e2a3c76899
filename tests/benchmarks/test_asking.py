import pytest

from tests.benchmarks.asking import Load, against_bare_loop


@pytest.mark.medium
def test_both_ask_every_question_through_faults_and_a_row_compares_them():
    loads = (Load(5, 0.001, 0.1, 0.0), Load(2, 0.001, 0.0, 0.0))
    found = against_bare_loop(questions=30, loads=loads, runs=1)
    assert [(row.setting, row.what) for row in found.rows] == [
        ("5 at once, 1 ms, 10% faults", "ask"),
        ("5 at once, 1 ms, 10% faults", "bare httpx loop"),
        ("2 at once, 1 ms", "ask"),
        ("2 at once, 1 ms", "bare httpx loop"),
    ]
    own, bare = found.rows[:2]
    assert bare.ratio == bare.median / own.median
    assert own.median > 0.5  # three faults, each waited for
