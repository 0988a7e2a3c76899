"""The list of mutants fits the checkout, and the operators change what they name."""

import ast

import pytest

from tests.mutation_check import (
    ROOT,
    Mutant,
    Result,
    apply_change,
    find_row,
    list_logic_lines,
    print_totals,
    read_list,
)

MODULE = '''"""A module with a condition: not logic."""

LIMIT = 3 + 4


def choose(rows, limit=1 + 1):
    """Return rows, or None if not a list."""
    found = []
    for row in rows:
        if row.text == "a and b" and not row.hidden:
            continue
        if len(row.text) < limit:
            found.append(row.number + 1)
        if row.hidden:
            return f"{1 + 1}"
    return found or None
'''


@pytest.mark.parametrize("mutant", read_list(), ids=lambda mutant: mutant.id)
def test_a_mutant_of_the_list_has_one_place_and_existing_test_modules(mutant):
    source = (ROOT / mutant.file).read_text("utf-8")
    row = find_row(mutant, source)
    lines = source.splitlines()
    assert lines[row].strip() == mutant.line
    lines[row] = lines[row].replace(mutant.line, mutant.mutant)
    assert ast.dump(ast.parse("\n".join(lines))) != ast.dump(ast.parse(source))
    assert mutant.expected in ("killed", "survives")
    assert mutant.tests
    for test in (*mutant.tests, *mutant.slow):
        assert (ROOT / test).is_file(), test


def test_operators_change_lines_of_functions_only(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    lines = MODULE.splitlines()
    found = {
        (row + 1, change.operator): apply_change(lines[row], change).strip()
        for _, row, changes in list_logic_lines(path, "module.py")
        for change in changes
    }
    assert found == {
        (10, "negate the condition"): 'if not (row.text == "a and b" and not row.hidden):',
        (10, "== to !="): 'if row.text != "a and b" and not row.hidden:',
        (10, "and to or"): 'if row.text == "a and b" or not row.hidden:',
        (10, "drop not"): 'if row.text == "a and b" and row.hidden:',
        (11, "continue to break"): "break",
        (12, "negate the condition"): "if not (len(row.text) < limit):",
        (12, "< to <="): "if len(row.text) <= limit:",
        (13, "+ to -"): "found.append(row.number - 1)",
        (14, "negate the condition"): "if not (row.hidden):",
        (15, "return None"): "return None",
        (16, "or to and"): "return found and None",
        (16, "return None"): "return None",
    }


def mutant_of(function, line, occurrence=1):
    return Mutant("A1", "module.py", function, line, "pass", "", (), occurrence=occurrence)


def test_a_line_is_found_again_after_it_moved_and_by_its_function_and_occurrence():
    moved = "\n\n\n" + MODULE
    assert find_row(mutant_of("choose", "continue"), MODULE) == 10
    assert find_row(mutant_of("renamed", "continue"), moved) == 13
    twice = "def one():\n    a()\n    a()\n\nclass C:\n    def two(self):\n        a()\n"
    assert find_row(mutant_of("one", "a()", 2), twice) == 2
    assert find_row(mutant_of("C.two", "a()"), twice) == 6
    with pytest.raises(SystemExit, match="A1"):
        find_row(mutant_of("C.two", "a()", 2), twice)
    with pytest.raises(SystemExit, match="A1"):
        find_row(mutant_of("choose", "break"), MODULE)


def test_totals_show_each_list_and_both_with_wilsons_interval(capsys):
    mutants = {one.id: one for one in read_list()}
    killers = {"A1": "t", "A2": "t", "A3": "", "B1": "t"}
    print_totals([Result(mutants[key], 1, killer, 0.0) for key, killer in killers.items()])
    # 2 of 3, z = 1.96: centre (2/3 + z²/6) / (1 + z²/3) = 0.573,
    # half width z √(2/27 + z²/36) / (1 + z²/3) = 0.365.
    assert capsys.readouterr().out.splitlines() == [
        "A: 2 of 3 killed, 1 survive: 67% (95% 21% to 94%)",
        "B: 1 of 1 killed, 0 survive: 100% (95% 21% to 100%)",
        "all: 3 of 4 killed, 1 survive: 75% (95% 30% to 95%)",
    ]
