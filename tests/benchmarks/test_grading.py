import pytest

from tests.benchmarks.crowds import crowd
from tests.benchmarks.grading import BY_SKLEARN, LOOP, OWN, RASA_ANSWERS, compare

pytest.importorskip("crowdkit", reason="crowd-kit is not installed: `make benchmark` installs it")

SAME = "greatest difference: "


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("slow_rounds", [None, 2])
def test_a_comparison_times_every_peer_and_finds_the_same_grades(slow_rounds):
    found = compare("tiny", crowd(5, 4, 8), slow_runs=1, slow_rounds=slow_rounds)
    rows = {row.what: row for row in found.rows}
    assert (rows[OWN].ratio, rows[OWN].runs) == (None, 7)
    assert (rows[LOOP].runs, rows[RASA_ANSWERS].runs, rows[BY_SKLEARN].runs) == (7, 7, 1)
    assert rows[BY_SKLEARN].claim == "at least 200 times"
    assert rows[RASA_ANSWERS].claim == "at least 40 times"
    assert rows[LOOP].claim is None
    assert rows[SAME + LOOP].verdict == rows[SAME + BY_SKLEARN].verdict == "met"
    # The per-pair peer that stops early is compared with a fit that stops as early.
    base = rows[OWN] if slow_rounds is None else rows[f"{OWN}, 2 rounds"]
    assert rows[BY_SKLEARN].ratio == pytest.approx(rows[BY_SKLEARN].median / base.median)
