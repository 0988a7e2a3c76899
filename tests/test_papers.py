"""papers.md has every part of the five papers once, numbers without a hole, or the reason."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import get_commands

from evaluation.runs.run_types import list_kinds
from tests.test_docs import DOCS, OURS, resolved, text_of

PAPERS = tomllib.loads(Path(__file__).with_name("papers.toml").read_text("utf-8"))
UNREAD = "only its number is known"


def parts_of(section: str) -> list[list[str]]:
    """Part, what it is, and where, of every row of a section's table."""
    text = text_of(DOCS / "papers.md")
    (own,) = re.findall(rf"^### {re.escape(section)}\n(.*?)(?=^#)", text, re.DOTALL | re.MULTILINE)
    rows = [line.strip("| ").split(" | ") for line in own.splitlines() if line.startswith("| ")]
    return rows[1:]


def expected_of(paper: dict) -> list[str]:
    """The parts that a paper has, every number up to the highest one that is known."""
    return [
        *(f"equation: {name}" for name in paper["equations"]),
        *(f"Figure {number}" for number in range(1, paper["figures"] + 1)),
        *(f"Table {number}" for number in range(1, paper["tables"] + 1)),
        *(f"appendix {name}" for name in paper["appendices"]),
        *(f"results: {name}" for name in paper["results"]),
    ]


def test_there_are_five_papers():
    assert len(PAPERS) == 5


@pytest.mark.parametrize("name", PAPERS)
def test_every_part_of_a_paper_stands_there_once_and_nothing_else(name):
    rows = parts_of(PAPERS[name]["section"])
    assert [len(row) for row in rows] == [3] * len(rows)
    found, expected = Counter(row[0] for row in rows), expected_of(PAPERS[name])
    assert {part: n for part, n in found.items() if n > 1} == {}
    assert len(set(expected)) == len(expected)
    assert set(found) == set(expected)


@pytest.mark.parametrize("name", PAPERS)
def test_every_part_is_made_by_something_that_exists_or_has_a_reason(name):
    for part, what, where in parts_of(PAPERS[name]["section"]):
        if where.startswith("not here: "):
            assert len(where.split()) > 6, part
            continue
        functions = re.findall(OURS, where)
        commands = re.findall(r"`manage\.py (\w+) ([\w-]+)`", where)
        assert functions or commands, (part, what)
        for function in functions:
            assert callable(resolved(function)), part
        for command, sub in commands:
            assert command in get_commands(), part
            assert sub in subcommands(command), part


def subcommands(command: str) -> set[str]:
    """What a command can be told to do."""
    if command == "reproduce":
        from evaluation.management.commands.reproduce import STUDIES

        return set(STUDIES)
    kinds = list_kinds().values()
    wanted = {"evaluate": lambda kind: kind.evaluate, "study": lambda kind: kind.study}[command]
    return {kind.name for kind in kinds if wanted(kind)}


@pytest.mark.parametrize("name", PAPERS)
def test_what_could_not_be_read_is_said_to_be_so(name):
    rows = parts_of(PAPERS[name]["section"])
    unread = [part for part, what, _ in rows if what == UNREAD]
    assert unread == PAPERS[name]["unread"]
    assert all("could not be read" in where for _, what, where in rows if what == UNREAD)
