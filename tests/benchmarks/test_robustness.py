import csv

import pytest

from tests.benchmarks.robustness import measure, write_choices, write_free


def overall(folder):
    with (folder / "out" / "metrics.csv").open(newline="") as file:
        return {row["metric"]: row for row in csv.DictReader(file) if not row["group"]}


def test_the_made_choices_are_as_often_right_as_they_are_made_to_be(tmp_path):
    write_choices(tmp_path, 400)
    found = measure(tmp_path)
    # 70 of 100 are right, and of the others one in four: .7 + .3 / 4
    assert float(overall(tmp_path)["item_difficulty"]["value"]) == pytest.approx(0.775, abs=0.03)
    assert overall(tmp_path)["accuracy"]["n"] == "400"
    assert found["texts"] == 0
    assert found["seconds"] == pytest.approx(found["rest"])


@pytest.mark.slow
@pytest.mark.model
def test_the_made_free_texts_are_embedded_and_clustered(tmp_path):
    write_free(tmp_path, 5)
    found = measure(tmp_path)
    assert found["texts"] > 10
    assert 0 < float(overall(tmp_path)["item_difficulty"]["value"]) <= 1
