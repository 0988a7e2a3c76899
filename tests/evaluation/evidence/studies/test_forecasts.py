"""Forecasts of plans: on made answers by hand, on real ones within the bounds that pages state."""

import numpy as np
import pytest

from evaluation.evidence.studies.planner import measure_half_distances
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage


def test_independent_errors_are_forecast_as_far_as_they_are():
    # 30 questions of 20 answers, each .7 like the truth, the rest in directions of their own.
    rng = np.random.default_rng(0)
    rest = rng.standard_normal((600, 383))
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    vectors = np.column_stack([np.full(600, 0.7), np.sqrt(1 - 0.49) * rest])
    forecast, seen = measure_half_distances(vectors, np.repeat(np.arange(30), 20), rng)
    assert len(forecast) == 30
    # cos of two means of 10: (.7 sqrt 10 / sqrt(9 x .49 + 1))^2 = 4.9 / 5.41 = .906
    assert seen.mean() == pytest.approx(1 - 4.9 / 5.41, abs=0.01)
    assert forecast.mean() == pytest.approx(seen.mean(), abs=0.01)


def test_questions_with_too_few_answers_are_left_out():
    vectors = np.eye(8)
    forecast, seen = measure_half_distances(
        vectors, np.array([0] * 5 + [1] * 3), np.random.default_rng(0)
    )
    assert len(forecast) == len(seen) == 0


@pytest.mark.long
def test_on_real_answers_forecasts_come_as_near_as_pages_say(data_folder, tmp_path):
    ran = manage(
        *("reproduce", "forecasts", "--data", data_folder, "--output", tmp_path / "out"),
        "--repetitions=3",
    )
    assert (ran.code, ran.err) == (0, "")
    rows = table(tmp_path / "out" / "forecasts.csv")
    assert len(rows) == 7
    for row in rows:
        ratio = float(row["ratio"])
        if row["what"] == "width":
            assert 0.9 <= ratio <= 1.1, row
        else:
            assert 0.85 <= ratio <= 1.05, row
            assert float(row["ratio_95"]) <= 3.0, row
    (empty,) = summary_of(tmp_path / "out")["undefined"]
    assert (empty["column"], empty["count"]) == ("ratio_95", 3)
