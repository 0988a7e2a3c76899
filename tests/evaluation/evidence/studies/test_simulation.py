"""The stress tests on simulated crowds, through the command, and what they call broken."""

import numpy as np
import pytest

from evaluation.evidence.studies.simulated_crowds import (
    METHODS,
    SCRIPT,
    TESTS,
    find_breaking_levels,
    remove_mean,
    scale_to_unit_length,
)
from evaluation.evidence.tables import EvidenceRow
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage

LEVELS = [test.format_setting(level) for test in TESTS for level in test.levels]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("simulation")
    ran = manage(
        *("reproduce", "simulation", "--data", output, "--output", output / "out"),
        *("--repetitions=1", "--seed=3"),
    )
    assert (ran.code, ran.err) == (0, "")
    return output / "out"


@pytest.mark.long
def test_every_level_has_every_method_with_both_truths(folder):
    found = [(row["setting"], row["method"]) for row in table(folder / "table.csv")]
    expected = [
        (level + truth, method) for level in LEVELS for truth in ("", SCRIPT) for method in METHODS
    ]
    assert found == expected
    assert summary_of(folder)["seeds"] == [1003, 1003]


@pytest.mark.medium
def test_a_picture_stands_beside_each_test(folder):
    for test in TESTS:
        picture = (folder / f"{test.name.replace('.', '')}.svg").read_text()
        assert picture.count("<polyline") == len(METHODS) + 1


def test_the_ranking_is_inverted_where_half_of_the_crowd_errs_together(folder):
    rows = {(row["setting"], row["method"]): row for row in table(folder / "table.csv")}
    assert float(rows["rho=0.5", "aqer"]["pearson_mean"]) > 0.99
    assert float(rows["rho=0.8", "aqer"]["pearson_mean"]) < -0.99
    broken = {
        (row["test"], row["truth"], row["method"]): row for row in table(folder / "breaks.csv")
    }
    assert float(broken["rho", "right", "aqer"]["inverted_at"]) in (0.65, 0.7)


def test_a_method_breaks_at_the_first_level_below_nine_tenths():
    # Right truth of the first test: .95, .95, .85, .95 ..., then -.5 at the last level.
    values = {}
    for test in TESTS:
        for at, level in enumerate(test.levels):
            r = 0.95
            if test is TESTS[0]:
                r = 0.85 if at == 2 else -0.5 if at == len(test.levels) - 1 else 0.95
            values[test.format_setting(level)] = r
    rows = [
        EvidenceRow(setting + truth, method, r if not truth else 0.1, None, r, 1)
        for setting, r in values.items()
        for truth in ("", SCRIPT)
        for method in METHODS
    ]
    found = {row[:3]: row[3:] for row in find_breaking_levels(rows)}
    levels = TESTS[0].levels
    assert found["workers", "right", "aqer"] == (levels[1], levels[2], 0.85, levels[-1])
    assert found["noise", "right", "aqer"] == (TESTS[1].levels[-1], None, None, None)
    assert found["noise", "script", "aqer"] == (None, TESTS[1].levels[0], 0.1, None)


def test_changes_of_the_vectors_do_what_they_are_called():
    x = np.array([[3.0, 4.0], [0.0, 2.0]])
    assert scale_to_unit_length(x).tolist() == [[0.6, 0.8], [0.0, 1.0]]
    # The mean of both is (1.5, 3).
    assert remove_mean(x).tolist() == [[1.5, 1.0], [-1.5, -1.0]]
