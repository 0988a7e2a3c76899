import mmap
from pathlib import Path

import pytest

from tests.benchmarks import installation, large, machine, memory
from tests.benchmarks.timing import Contestant, take_turns


def test_contestants_take_turns_after_a_warm_up():
    calls = []
    timings = take_turns(
        [
            Contestant("quick", lambda: calls.append("q"), runs=3),
            Contestant("slow", lambda: calls.append("s"), runs=1, warm_up=False),
        ]
    )
    assert len(timings["quick"].seconds) == 3
    assert len(timings["slow"].seconds) == 1
    # One warm-up, then the rounds; a brief one is warmed again before its later runs.
    assert "".join(calls) == "q" + "qs" + "qq" + "qq"


@pytest.mark.skipif(not memory.STATUS.exists(), reason="no /proc here: peaks are not forgotten")
def test_the_peak_sees_memory_that_was_given_back():
    memory.forget_peak()
    before = memory.resident()
    # Mapped anew: memory from the heap may be what this process has held before.
    with mmap.mmap(-1, 50_000_000) as held:
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
    assert memory.peak() - before > 45_000_000


def test_large_cases_measure_small_data_alike():
    found = large.measure_million(runs=2, answers=2000)
    assert len(found.seconds) == 2
    assert found.data == 2000 * 384 * 4
    assert found.converged
    fed = large.measure_ten_million(runs=1, n_blocks=3, answers=1000)
    assert fed.data == 3 * 1000 * 384 * 4
    assert fed.seconds[0] > 0
    assert fed.making[0] > 0
    assert fed.peak >= fed.before


def test_the_processor_is_named(tmp_path):
    listing = tmp_path / "cpuinfo"
    listing.write_text("processor\t: 0\nmodel name\t: Abacus 2000\n")
    assert machine.processor_name(listing) == "Abacus 2000"


def test_what_running_needs_leaves_out_test_tools():
    needed = installation.needed("crowdgrade")
    assert {"crowdgrade", "numpy", "django", "torch"} <= needed
    assert not {"pytest", "ruff", "crowd-kit"} & needed


def test_sizes_count_every_file_once(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(b"12345")
    (tmp_path / "two").write_bytes(b"123")
    assert installation.folder_size(Path(tmp_path)) == 8
