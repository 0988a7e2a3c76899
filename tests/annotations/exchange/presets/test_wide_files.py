"""Files of very many columns: refused by their number; others take time by their length alone."""

import json
from fnmatch import fnmatchcase

import pytest

from annotations.exchange.header import MOST_COLUMNS
from annotations.exchange.presets import (
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
)
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.table import Head
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import make_bytes_source


def wide_file(n, ending=".csv"):
    names = ["worker", *(f"q{i}" for i in range(n - 1))]
    if ending == ".json":
        return make_bytes_source(
            f"wide{ending}", json.dumps([dict.fromkeys(names, "a b c d")]).encode()
        )
    rows = [names, ["w1", *(f"an answer of words {i}" for i in range(n - 1))]]
    return make_bytes_source(f"wide{ending}", "\n".join(",".join(row) for row in rows).encode())


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_more_columns_than_a_workbook_may_have_are_refused_by_their_number(ending):
    with pytest.raises(InputError) as caught:
        read_head(wide_file(MOST_COLUMNS + 1, ending))
    (problem,) = caught.value.problems
    assert problem.code == "too_many_columns"
    assert problem.values == {"n": MOST_COLUMNS + 1, "most": MOST_COLUMNS}


class CountedName(str):
    """A name of a column that counts how often it is compared with another."""

    __slots__ = ()
    n = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        CountedName.n += 1
        return str.__eq__(self, other)


def comparisons(n):
    """How often names are compared while the columns of a file are proposed and checked."""
    # Names of their own for each number: what is cached of a name is compared with it.
    names = [CountedName(name) for name in ["worker", *(f"q{n}-{i}" for i in range(n - 1))]]
    cells = ("w1", *(f"some words of {i}" for i in range(n - 1)))
    head = Head("wide.csv", names, [cells], {})
    CountedName.n = 0
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, make_bytes_source("wide.csv", b""))
    mapping = Mapping(mapping.worker, "", mapping.answers)
    assert len(mapping.find_positions(names, "wide.csv")) == n
    return CountedName.n


def test_the_comparisons_of_names_grow_with_the_number_of_columns_and_not_its_square():
    few, many = comparisons(200), comparisons(800)
    assert many < 6 * few  # 4 times the columns; the square would be 16 times


def test_a_file_of_the_most_columns_is_read():
    source = wide_file(MOST_COLUMNS)
    head = read_head(source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source)
    assert preset.slug == "wide"
    rows = list(open_answer_rows(source, preset, mapping))
    assert len(rows) == len(mapping.answers) == MOST_COLUMNS - 1
    assert all(fnmatchcase(name, "q*") for name in mapping.answers)
