"""The remedies repair what they are for, on fresh seeds."""

import numpy as np
import pytest

from evaluation.evidence.studies.simulated_crowds import HEADER, edit_text
from tests.evaluation.commands.crowd import header_of, table
from tests.evaluation.commands.running import manage


def test_a_lightly_edited_answer_differs_by_little():
    rng = np.random.default_rng(0)
    text = "a pointer holds the address of a variable"
    new = [edit_text(text, rng) for _ in range(20)]
    assert text not in new
    for one in new:
        assert len(one.split()) in (7, 8)  # one word fewer, perhaps a mark at the end
        assert abs(len(one) - len(text)) <= 12


@pytest.mark.long
@pytest.mark.data
@pytest.mark.model
def test_anchors_and_collapsing_reach_their_goals(data_folder, tmp_path):
    ran = manage(
        *("reproduce", "remedies", "--data", data_folder, "--output", tmp_path / "out"),
        *("--repetitions", 10, "--seed", 40_000),
    )
    assert ran.code == 0, ran.err
    assert header_of(tmp_path / "out" / "remedies.csv") == list(HEADER)
    rows = table(tmp_path / "out" / "remedies.csv")
    assert len(rows) == 10
    for row in rows:
        assert float(row["reached"]) >= 0.95, row
        assert float(row["named"]) >= 0.95, row
        if row["remedy"] == "6 anchors":
            assert float(row["plain_mean"]) < 0
