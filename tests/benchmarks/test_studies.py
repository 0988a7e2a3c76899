import csv
import json

import pytest

from tests.benchmarks.studies import measure, write_maqa

pytestmark = pytest.mark.model


@pytest.mark.long
def test_the_made_replies_of_maqa_are_right_as_often_as_they_are_made_to_be(tmp_path):
    write_maqa(tmp_path, 60, 5)
    found = measure("maqa", tmp_path)
    with (tmp_path / "out" / "metrics.csv").open(newline="") as file:
        overall = {row["metric"]: row for row in csv.DictReader(file) if not row["group"]}
    # 70 of 100 replies are the list of right answers; the others add one to three wrong ones.
    assert float(overall["exact_set"]["value"]) == pytest.approx(0.7, abs=0.07)
    assert overall["exact_set"]["n"] == "60"
    for name in ("max_softmax", "verbalised", "semantic_entropy", "semantic_entropy_weighted"):
        assert float(overall[f"coverage_{name}"]["value"]) == 1, name
    assert not json.loads((tmp_path / "out" / "summary.json").read_text())["exclusions"]
    assert found["texts"] > 60
    assert 0 < found["embedding"] < found["seconds"]
