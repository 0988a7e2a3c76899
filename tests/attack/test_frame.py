"""Attacks are found by their place, and what does not hold is exit code 1."""

import random
from datetime import date
from pathlib import Path

import pytest

from tests.attack import __main__ as command
from tests.attack.declaration import Attack, Finding, Scale, at_most, attacks, exactly
from tests.attack.report import BEGIN, END, table, write

FOLDER = Path(__file__).parent / "attacks"


class Standing:
    """A site that is up, or not."""

    def __init__(self, up=True):
        self.up = up

    def answers(self):
        return self.up


def run_by(findings):
    return Attack("it", "what it does", lambda site, scale: findings)


SCALE = Scale(True, random.Random(0))


def test_every_module_of_the_folder_is_an_attack_of_its_own_name():
    modules = [path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"]
    assert sorted(attacks()) == sorted(name.replace("_", "-") for name in modules)


def test_the_document_has_the_table_of_all_attacks():
    text = command.DOCUMENT.read_text(encoding="utf-8")
    rows = text.partition(BEGIN)[2].partition(END)[0]
    assert [name for name in attacks() if f"**{name}**: " not in rows] == []


def test_a_number_beyond_its_bound_is_a_finding():
    assert at_most("page", 9.9, 10.0, "s").met
    assert not at_most("page", 10.1, 10.0, "s").met
    assert not exactly("lost", 1, 0).met


def test_an_attack_that_breaks_off_is_a_finding_and_so_is_a_site_that_is_down():
    def breaks(site, scale):
        raise ValueError("no form")

    broken, up = command.told(Attack("it", "", breaks), Standing(), SCALE)
    assert (broken.figure, broken.met, up.met) == ("ValueError: no form", False, True)
    assert [one.met for one in command.told(run_by([]), Standing(up=False), SCALE)] == [False]


@pytest.mark.parametrize(("met", "code"), [(True, 0), (False, 1)])
def test_the_exit_code_says_whether_everything_holds(monkeypatch, capsys, met, code):
    finding = Finding("page", "3 s", "at most 2 s", met)
    monkeypatch.setattr(command, "attacks", lambda: {"it": run_by([finding])})
    monkeypatch.setattr(command, "attacked", lambda *_: {"it": [finding]})
    assert command.main([]) == code
    said = capsys.readouterr()
    figure = "3 s" if met else "**3 s**"
    assert f"| **it**: what it does ({date.today()}) | page | {figure} | at most 2 s |" in said.out
    assert ("it: page: 3 s, must be at most 2 s" in said.err) is not met


def test_the_table_is_written_between_its_marks_and_nothing_else_changes(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    rows = table({"it": [exactly("a|b", 1, 1)]}, {"it": run_by([])}, "2026-11-22")
    write(document, rows, date(2026, 11, 22), "`make attack`", ["it"])
    assert document.read_text() == (
        f"before\n{BEGIN}\n\nLast run: 2026-11-22, `make attack`.\n\n{rows}\n{END}\nafter\n"
    )
    assert rows.splitlines()[2:] == ["| **it**: what it does (2026-11-22) | a\\|b | 1 | 1 |"]
    document.write_text("no place")
    with pytest.raises(ValueError, match="one place"):
        write(document, rows, date(2026, 11, 22), "", ["it"])


def test_attacks_that_were_not_run_keep_their_rows_and_removed_ones_lose_them(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(f"{BEGIN}{END}")

    def put(day, figure, *names):
        found = {name: [exactly("a", figure, 1), exactly("b", 2, 2)] for name in names}
        rows = table(found, dict.fromkeys(names, run_by([])), f"day {day}")
        write(document, rows, date(2026, 11, day), "", ["kept", "run-again"])

    put(1, 1, "run-again", "kept", "removed")
    put(2, 7, "run-again")
    assert [line for line in document.read_text().splitlines() if line.startswith("| ")][1:] == [
        "| **kept**: what it does (day 1) | a | 1 | 1 |",
        "|  | b | 2 | 2 |",
        "| **run-again**: what it does (day 2) | a | **7** | 1 |",
        "|  | b | 2 | 2 |",
    ]
