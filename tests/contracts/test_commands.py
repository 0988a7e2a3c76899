"""Every command has the results that it had when saved/ was made.

Exit codes, places, codes, names of files, columns and options are compared exactly, the words of
sentences not at all (see `replay.without_sentences`), numbers to a relative
1e-12 (and an absolute 1e-12, for those that are nought but for rounding): another processor adds
in another order, which moves the last two or three of sixteen digits and no more, while a changed
formula moves far more. For the same reason the commands use embedders that count words: a neural
model differs between machines in the seventh digit.

When a change is meant, say so in the changelog and save anew:

    rm -r tests/contracts/saved && .venv/bin/python -m tests.contracts.replay tests/contracts/saved

and look at what git shows: nothing but that change may have come in.
"""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.inputs import write_input
from tests.contracts.replay import (
    COMMANDS,
    HERE,
    NUMBER,
    WIDEST,
    digest,
    options_of_all_commands,
    replay,
)

SAVED = HERE / "saved"
OPTIONS = "options.txt"
RELATIVE = ABSOLUTE = 1e-12
DIGEST = re.compile(r"^\.\.\. \d+ lines, \d+ numbers, words ", re.MULTILINE)
FEW = 10  # digits that a line of numbers may lose by rounding


def replayed(folder: Path, *groups: str) -> dict[str, str]:
    command = [sys.executable, "-m", "tests.contracts.replay", str(folder), *groups]
    done = subprocess.run(command, cwd=HERE.parents[1], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return texts(folder)


def texts(folder: Path, *groups: str) -> dict[str, str]:
    """The text of every file below a folder (of some groups only), by its path."""
    paths = [path for path in sorted(folder.rglob("*.txt")) if path.is_file()]
    names = {path.relative_to(folder): path for path in paths}
    return {
        str(name): path.read_text("utf-8")
        for name, path in names.items()
        if not groups or name.parts[0] in groups
    }


def difference(before: str, now: str) -> str:
    """The first line that differs by more than rounding, before and now; empty if none does."""
    # A digit more or less moves a text over the length from which its digest is saved.
    if is_digest(before) != is_digest(now):
        before, now = (text if is_digest(text) else digest(text) for text in (before, now))
    old, new = before.splitlines(), now.splitlines()
    for number, (was, has) in enumerate(zip(old, new, strict=False), start=1):
        same_words = words_of(was) == words_of(has)
        # Where digits less end the one within the width, only the other was cut.
        if max(len(was), len(has)) == WIDEST and min(len(was), len(has)) > WIDEST - FEW:
            one, other = words_of(whole(was)), words_of(whole(has))
            same_words = one.startswith(other) or other.startswith(one)
            was, has = whole(was), whole(has)
        pairs = zip(NUMBER.findall(was), NUMBER.findall(has), strict=False)
        if not (same_words and all(near(float(one), float(two)) for one, two in pairs)):
            return f"line {number}\n  was {was[:300]}\n  is  {has[:300]}"
    return "" if len(old) == len(new) else f"{len(old)} lines were, {len(new)} are"


def is_digest(text: str) -> bool:
    return DIGEST.search(text) is not None


def words_of(line: str) -> str:
    return NUMBER.sub("#", line)


def whole(line: str) -> str:
    """A line without the word or number that it was cut in."""
    return re.sub(r"[-+\w.]*$", "", line)


def near(was: float, has: float) -> bool:
    return math.isclose(was, has, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def assert_same(now: dict[str, str], before: dict[str, str]) -> None:
    assert sorted(now) == sorted(before), "files are missing, or are new"
    found = {name: difference(text, now[name]) for name, text in before.items()}
    told = "\n".join(f"{name}: {what}" for name, what in found.items() if what)
    assert not told, f"saved results differ:\n{told}"


def assert_no_option_is_gone(now: str, before: str) -> None:
    # A new option breaks nothing, one that is gone does.
    gone = set(before.splitlines()) - set(now.splitlines())
    assert not gone, f"options are gone, or take something else: {sorted(gone)}"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """Where the commands find the files of commands.toml."""
    folder = tmp_path_factory.mktemp("replay")
    write_input(folder / "in", HERE.parents[1] / "annotations" / "demo")
    return folder


@pytest.mark.parametrize("name", COMMANDS["quick"])
def test_files_in_give_the_files_out_that_they_gave_before(name, scratch, tmp_path, monkeypatch):
    # In this process, unlike the others: they need no database, and Python starts but once.
    monkeypatch.chdir(HERE.parents[1])
    monkeypatch.setenv("COLUMNS", "100")
    now = tmp_path / "quick" / name
    now.mkdir(parents=True)
    replay(COMMANDS["quick"][name], scratch, now)
    assert_same(texts(now), texts(SAVED / "quick" / name))


def test_no_option_is_gone():
    assert_no_option_is_gone(options_of_all_commands(), (SAVED / OPTIONS).read_text("utf-8"))


@pytest.mark.parametrize(
    "group",
    [
        pytest.param("longer", marks=pytest.mark.long),
        pytest.param("database", marks=pytest.mark.slow),
        pytest.param("evidence", marks=pytest.mark.long),
    ],
)
def test_the_other_commands_have_the_results_that_they_had_before(tmp_path, group):
    now, before = replayed(tmp_path, group), texts(SAVED, group)
    assert_no_option_is_gone(now.pop(OPTIONS), (SAVED / OPTIONS).read_text("utf-8"))
    assert_same(now, before)


def test_every_saved_result_is_of_a_command_that_is_replayed():
    saved = {(path.parent.parent.name, path.parent.name) for path in SAVED.rglob("terminal.txt")}
    assert saved == {(group, name) for group, lines in COMMANDS.items() for name in lines}


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("a,0.1,ok", "a,0.10000000000000002,ok", True),  # the next number of sixteen digits
        ("a,0.1,ok", "a,0.10000000001,ok", False),
        ("a,1e-17", "a,-3e-17", True),  # both are nought but for rounding
        ("a,0.1,ok", "a,0.1,too_few", False),
        ("a,0.1", "a,", False),
        ("a,7", "a,8", False),
        ("a", "a\nb", False),
        # Lines that were cut: a digit less in one number is a digit more of the next.
        (140 * "x" + ",0.540788225232809,0", 140 * "x" + ",0.54078822523281,0.", True),
        (140 * "x" + ",0.540788225232809,0", 140 * "x" + ",0.54078822523381,0.", False),
        (140 * "x" + ",0.540788225232809,0", 140 * "y" + ",0.540788225232809,0", False),
        # Digits less, and the last number ends within the width: the other may have been cut in it.
        (139 * "x" + ",0.540788225232809,1.", 139 * "x" + ",0.54078822523281,1.0", True),
        (139 * "x" + ",0.540788225232809,1.", 139 * "x" + ",0.54078822523281,1", True),
        (139 * "x" + ",0.540788225232809,1.", 139 * "x" + ",0.54078822523381,1.0", False),
        (139 * "x" + ",0.540788225232809,1.", 139 * "x", False),
        # A text, and the digest of one with a digit less.
        ("a,0.540788225232809\nb,2", digest("a,0.54078822523281\nb,2"), True),
        (digest("a,0.54078822523281\nb,2"), "a,0.540788225232809\nb,2", True),
        ("a,0.540788225232809\nb,2", digest("a,0.54078822533281\nb,2"), False),
        ("a,0.540788225232809\nb,2", digest("a,0.54078822523281\nc,2"), False),
    ],
)
def test_numbers_may_differ_by_rounding_and_words_not_at_all(before, now, same):
    assert (difference(before, now) == "") is same
