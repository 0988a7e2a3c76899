import pytest

from annotations.exchange.reading.systems import parse_parameters, read_systems


def test_a_size_says_how_many_parameters_there_are():
    sizes = {
        "135M": 135e6, "7B": 7e9, "1.3 billion": 1.3e9, "8x7B": 56e9, "1.5e9": 1.5e9,
        "350,000,000": 350e6, "175b parameters": 175e9, "70 B params": 70e9,
    }  # fmt: skip
    assert {size: parse_parameters(size) for size in sizes} == pytest.approx(sizes)
    none = ("large", "", "0B", "7BB", "-7B")
    assert [parse_parameters(size) for size in none] == [None] * len(none)


def test_systems_are_read_with_what_is_known(tmp_path):
    path = tmp_path / "systems.csv"
    path.write_text("model,size,tuning\nsmall,135M,instruct\nbig,,\n")
    found = read_systems(path).systems
    assert (found["small"].parameters, found["small"].tuning) == (135e6, "instruct")
    assert (found["big"].parameters, found["big"].family) == (None, "")
