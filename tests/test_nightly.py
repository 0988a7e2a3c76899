"""Every test runs somewhere: on each push, or in one part of the long run."""

import argparse
import re
from pathlib import Path

import pytest

from tests import nightly
from tests.nightly import PARTS, Step, chosen_of_commit, is_below, named

ROOT = Path(__file__).resolve().parents[1]
LONG_MARK = re.compile(r"mark\.long\b|\b(?:PAGE_)?LOOKS\b|\bIN_BOTH_WINDOWS\b")
ALONE_MARK = re.compile(r"mark\.alone\b")


def steps_with(marker):
    return [step for steps in PARTS.values() for step in steps if step.marker == marker]


def modules_with(mark):
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if mark.search(path.read_text("utf-8")):
            yield str(path.relative_to(ROOT))


def test_every_module_with_long_tests_is_selected_by_one_step():
    for path in modules_with(LONG_MARK):
        marker = "browser and long" if is_below(path, ["tests/browser"]) else nightly.LONG
        selecting = [step.name for step in steps_with(marker) if step.selects(path)]
        assert len(selecting) == 1, (path, selecting)


def test_every_module_with_tests_that_run_alone_is_selected_by_one_step():
    for path in modules_with(ALONE_MARK):
        selecting = [step for step in steps_with("alone and not browser") if step.selects(path)]
        assert len(selecting) == 1, path


def test_every_path_of_a_step_exists():
    paths = [path.lstrip("!") for steps in PARTS.values() for step in steps for path in step.paths]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_step_names_its_paths_and_what_it_leaves_out():
    step = Step("s", marker="long", paths=("tests/a", "!tests/a/b.py"), processes=("-n", "2"))
    assert step.arguments()[3:] == [
        "-m",
        "long",
        "--durations=8",
        "-n",
        "2",
        "--ignore=tests/a/b.py",
        "tests/a",
    ]
    assert step.selects("tests/a/c.py")
    assert not step.selects("tests/a/b.py")
    assert not step.selects("tests/ab/c.py")


@pytest.mark.parametrize(
    ("commit", "part"),
    # The first eight hexadecimal digits modulo 6: 0 -> 0, 7 -> 1, 0xb = 11 -> 5.
    [("00000000ffff", "evidence"), ("00000007", "commands"), ("0000000b", "databases")],
)
def test_the_hash_of_a_commit_chooses_the_part(commit, part):
    assert chosen_of_commit(commit) == part


def test_a_part_has_a_number_and_a_name():
    assert named("1") == named("evidence") == "evidence"
    assert named("6") == "databases"
    for wrong in ("0", "7", "walk"):
        with pytest.raises(argparse.ArgumentTypeError):
            named(wrong)


def test_a_failed_step_is_in_the_summary_and_the_others_still_run(monkeypatch, capfd):
    steps = (Step("first", command=("false",)), Step("second", command=("true",)))
    monkeypatch.setattr(nightly, "PARTS", {"one": steps})
    assert nightly.main(["--part", "one"]) == 1
    out = capfd.readouterr().out
    assert re.search(r"one +first +FAILED \(1\)", out)
    assert re.search(r"one +second +passed", out)


def test_the_numbers_of_tests_are_read_from_the_last_line_of_pytest():
    line = "====== 12 passed, 3 skipped, 1 warning in 4.20s ======\n"
    assert nightly.COUNTS.match(line)[1] == "12 passed, 3 skipped, 1 warning"
    assert nightly.COUNTS.match("198 passed in 326.87s (0:05:26)\n")[1] == "198 passed"
    assert nightly.COUNTS.match("of 12 tests in 4.20s\n") is None
