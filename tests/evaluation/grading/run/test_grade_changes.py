"""Two gradings beside each other, by hand."""

import pytest
from scipy import stats

from evaluation.consensus import AQER
from evaluation.grading.run.results import GradeAndRank, GradeChanges, build_grades_and_ranks
from tests.evaluation.core.stats.worlds import crowd

BEFORE = {
    "ada": GradeAndRank(0.9, 0.8, 1),
    "ben": GradeAndRank(0.5, 0.6, 2),
    "cy": GradeAndRank(0.4, 0.5, 3),
    "dee": GradeAndRank(0.1, 0.2, None),
    "eli": GradeAndRank(None, 0.1, None),
}
AFTER = {
    "ada": GradeAndRank(0.2, 0.3, 3),
    "ben": GradeAndRank(0.6, 0.7, 2),
    "cy": GradeAndRank(1.0, 0.9, 1),
    "dee": GradeAndRank(0.3, 0.4, 4),
    "fay": GradeAndRank(0.7, 0.1, 5),
}


def test_every_worker_has_a_row_and_a_better_rank_is_a_positive_change():
    found = GradeChanges.from_gradings(
        ["ada", "ben", "cy", "dee", "eli", "fay", "gus"], BEFORE, AFTER
    )
    assert [tuple(row) for row in found.rows] == [
        ("ada", 0.9, 1, 0.2, 3, -2),
        ("ben", 0.5, 2, 0.6, 2, 0),
        ("cy", 0.4, 3, 1.0, 1, 2),
        ("dee", 0.1, None, 0.3, 4, None),
        ("eli", None, None, None, None, None),
        ("fay", None, None, 0.7, 5, None),
        ("gus", None, None, None, None, None),
    ]
    # Raw scores of those with a grade in both: ada, ben, cy and dee.
    wanted = stats.spearmanr([0.8, 0.6, 0.5, 0.2], [0.3, 0.7, 0.9, 0.4]).statistic
    assert (found.n, found.reason) == (4, None)
    assert found.spearman == pytest.approx(wanted)


def test_movers_are_those_with_another_rank_by_places_then_by_grade():
    found = GradeChanges.from_gradings(BEFORE, BEFORE, AFTER)
    # Both by two places: cy's grade by .6, ada's by .7.
    assert [row.worker for row in found.list_movers()] == ["ada", "cy"]
    assert [row.worker for row in found.list_movers(1)] == ["ada"]
    swapped = {f"w{n}": GradeAndRank(0.1 * n, n, n) for n in range(1, 10)}
    turned = {f"w{n}": GradeAndRank(0.1 * n, n, 10 - n) for n in range(1, 10)}
    found = GradeChanges.from_gradings(swapped, swapped, turned)
    # From the outer ones to the inner; w5 stays. At most five.
    assert [row.worker for row in found.list_movers()] == ["w1", "w9", "w2", "w8", "w3"]
    assert [row.change for row in found.list_movers()] == [-8, 8, -6, 6, -4]


def test_a_grade_that_is_missing_counts_nought_among_movers_of_as_many_places():
    before = {
        "a": GradeAndRank(None, 1, 1),
        "b": GradeAndRank(0.5, 1, 2),
        "c": GradeAndRank(0.2, 1, 3),
    }
    after = {
        "a": GradeAndRank(0.4, 1, 2),
        "b": GradeAndRank(None, 1, 1),
        "c": GradeAndRank(0.2, 1, 4),
    }
    found = GradeChanges.from_gradings("cab", before, after)
    assert [row.worker for row in found.list_movers()] == ["b", "a", "c"]


def test_without_two_workers_or_without_spread_there_is_no_correlation():
    one = GradeChanges.from_gradings(["ada"], BEFORE, AFTER)
    assert (one.spearman, one.n, one.reason) == (None, 1, "fewer_than_2_workers")
    none = GradeChanges.from_gradings([], BEFORE, AFTER)
    assert (none.spearman, none.n, none.reason, none.rows) == (
        None, 0, "fewer_than_2_workers", (),
    )  # fmt: skip
    flat = {worker: GradeAndRank(0.5, 0.5, 1) for worker in BEFORE}
    found = GradeChanges.from_gradings(["ada", "ben"], BEFORE, flat)
    assert (found.spearman, found.n, found.reason) == (None, 2, "no_spread")


def test_the_summary_says_all_of_it():
    found = GradeChanges.from_gradings(BEFORE, BEFORE, AFTER)
    summary = found.build_summary()
    assert (summary["spearman"], summary["n"], summary["reason"]) == (found.spearman, 4, None)
    assert summary["movers"][0] == {
        "worker": "ada", "plain_grade": 0.9, "plain_rank": 1, "grade": 0.2, "rank": 3,
        "change": -2,
    }  # fmt: skip
    assert len(summary["movers"]) == 2


def test_standings_are_those_of_the_estimator_and_none_where_it_has_none():
    x, workers, questions = crowd(3, workers=5, questions=6)
    aqer = AQER(n_draws=0).fit(x, workers, questions)
    found = build_grades_and_ranks(aqer)
    assert list(found) == aqer.workers_.tolist()
    for at, standing in enumerate(found.values()):
        assert standing == (aqer.grades_[at], aqer.raw_[at], int(aqer.ranks_[at]) or None)
    two = AQER(n_draws=0).fit(x[:2], ["a", "b"], [1, 1])
    assert {s.grade for s in build_grades_and_ranks(two).values()} == {None}
    assert {s.rank for s in build_grades_and_ranks(two).values()} == {None}
