"""The case of the Python interface: a small crowd, the import, a failed process."""

from pathlib import Path

import pytest

from tests.benchmarks.python import FIT, LOADED, beside_crowd_kit, run_python
from tests.benchmarks.results import FailedError

ROOT = Path(__file__).resolve().parents[2]


def test_a_small_crowd_has_all_figures():
    pytest.importorskip("crowdkit")
    rows = beside_crowd_kit(n_workers=4, n_questions=5, runs=1)
    assert [row.what for row in rows] == [FIT, "crowd-kit's RASA", "crowd-kit's HRRASA"]
    assert all(row.median > 0 for row in rows)
    assert [row.ratio is None for row in rows] == [True, False, False]


def test_importing_loads_no_heavy_library():
    assert run_python(ROOT, ["-c", LOADED]) == "0\n"


def test_a_process_that_fails_is_named_with_its_last_line():
    with pytest.raises(FailedError, match="ValueError: why"):
        run_python(ROOT, ["-c", "raise ValueError('why')"])
