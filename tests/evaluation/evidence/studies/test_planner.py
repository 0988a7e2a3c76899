"""Figure 1: the formulas' check values, and a simulation that knows nothing of them."""

import numpy as np
import pytest

from evaluation.evidence.studies.planner import simulate_errors
from tests.evaluation.commands.crowd import header_of, summary_of, table
from tests.evaluation.commands.running import manage


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("planner")
    ran = manage(
        *("reproduce", "planner", "--data", output, "--output", output / "out"),
        "--repetitions=1",
    )
    assert (ran.code, ran.err) == (0, "")
    return output / "out"


@pytest.mark.parametrize(
    ("mu", "workers", "average", "worst"),
    [
        ("0.5", "10", 0.1229, 0.7818),
        ("0.5", "20", 0.0675, 0.3329),
        ("0.5", "40", 0.0355, 0.1169),
        ("0.8", "40", 0.0070, 0.0232),
    ],
)
def test_the_table_holds_the_check_values(folder, mu, workers, average, worst):
    (row,) = (
        row for row in table(folder / "planner.csv") if (row["mu"], row["M"]) == (mu, workers)
    )
    assert float(row["error_average"]) == pytest.approx(average, abs=5e-5)
    assert float(row["error_worst"]) == pytest.approx(worst, abs=5e-5)


def test_simulated_errors_agree_with_the_formula_and_keep_the_bound(folder):
    rows = table(folder / "planner.csv")
    for row in rows:
        # 20 draws in 384 dimensions scatter by less than .01.
        assert float(row["error_simulated"]) == pytest.approx(float(row["error_average"]), abs=0.02)
    exceeded = [float(row["exceeded_simulated"]) for row in rows if row["error_worst"]]
    assert np.mean(exceeded) <= 0.05


def test_an_undefined_bound_is_an_empty_cell_with_a_reason(folder):
    rows = table(folder / "planner.csv")
    empty = [[float(row["mu"]), int(row["M"])] for row in rows if not row["error_worst"]]
    assert [0.5, 6] in empty
    assert [0.5, 8] not in empty  # t = sqrt(ln 40 / 16) = .48
    found = {entry["column"]: entry for entry in summary_of(folder)["undefined"]}
    assert set(found) == {"error_worst", "exceeded_simulated"}
    assert found["error_worst"]["rows"] == empty
    assert header_of(folder / "planner.csv")[:5] == [
        *("mu", "delta", "M", "error_average", "error_worst")
    ]
    assert {path.suffix for path in folder.iterdir()} == {".csv", ".md", ".json", ".svg"}


def test_errors_of_known_vectors():
    rng = np.random.default_rng(0)
    # All workers right: no error. One worker at .6: 1 - .6. One at 0: 1.
    assert simulate_errors(np.ones((1, 5)), 9, rng) == pytest.approx([0.0])
    assert simulate_errors(np.array([[0.6]]), 9, rng) == pytest.approx([0.4])
    assert simulate_errors(np.zeros((1, 1)), 9, rng) == pytest.approx([1.0])
