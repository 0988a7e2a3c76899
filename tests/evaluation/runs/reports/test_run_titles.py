"""Titles of runs in a list: no two runs look the same."""

from datetime import UTC, datetime

from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.reports.about import build_run_titles


def titled(*runs):
    """Return the full titles of runs with these parameters and seconds of their start."""
    rows = [
        Run(parameters=parameters, created_at=datetime(2026, 11, 26, 17, 30, second, tzinfo=UTC))
        for parameters, second in runs
    ]
    return [one.full for one in build_run_titles([(row, AqerParameters) for row in rows])]


def test_runs_with_the_same_settings_get_the_time_of_their_start():
    title = "Run of 26 November 2026, 17:30 UTC"
    found = titled(({}, 5), ({"bootstrap": 20}, 6), ({}, 7))
    assert found[0] == f"{title} (26 Nov 2026, 17:30:05 UTC)"
    assert found[2] == f"{title} (26 Nov 2026, 17:30:07 UTC)"
    assert "17:30:06" not in found[1]  # no other run has its title
    assert len(set(found)) == 3


def test_a_run_alone_keeps_its_title():
    assert titled(({}, 5)) == ["Run of 26 November 2026, 17:30 UTC"]
