import pytest

from annotations.exchange.reading.systems import parameters_of, read_systems
from tests.problems import raises_problem


@pytest.mark.parametrize(
    ("size", "parameters"),
    [
        ("135M", 135e6), ("7B", 7e9), ("1.3 billion", 1.3e9), ("8x7B", 56e9), ("1.5e9", 1.5e9),
        ("350,000,000", 350e6), ("175b parameters", 175e9), ("70 B params", 70e9),
        ("large", None), ("", None), ("0B", None), ("7BB", None), ("-7B", None),
    ],
)  # fmt: skip
def test_a_size_says_how_many_parameters_there_are(size, parameters):
    assert parameters_of(size) == (None if parameters is None else pytest.approx(parameters))


def test_systems_are_read_with_what_is_known(tmp_path):
    path = tmp_path / "systems.csv"
    path.write_text("model,size,tuning\nsmall,135M,instruct\nbig,,\n")
    found = read_systems(path).systems
    assert (found["small"].parameters, found["small"].tuning) == (135e6, "instruct")
    assert (found["big"].parameters, found["big"].family) == (None, "")


@pytest.mark.parametrize(
    ("rows", "code", "expected"),
    [
        ("a,huge\n", "size_unreadable", {"line": 2, "column": "size", "size": "huge"}),
        ("a,7B\na,7B\n", "system_twice", {"line": 3, "column": "system", "name": "a"}),
        (",7B\n", "system_missing", {"line": 2, "column": "system"}),
        ("", "no_rows", {"line": None, "what": "systems"}),
    ],
)
def test_a_bad_row_is_told_with_its_line(tmp_path, rows, code, expected):
    path = tmp_path / "systems.csv"
    path.write_text("system,size\n" + rows)
    with raises_problem(code, **expected):
        read_systems(path)
