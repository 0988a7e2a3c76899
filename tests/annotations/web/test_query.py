import re

import pytest
from django.http import Http404

from annotations.web.query import (
    QueryError,
    parse_choice,
    parse_flag,
    parse_number,
    parse_public_id,
)

ID = "01980000-0000-7000-8000-00000000a001"


def test_what_is_not_named_has_no_value_or_the_default_one():
    assert parse_public_id({}, "worker") is None
    assert parse_number({}, "limit", 1, 200) is None
    assert parse_choice({}, "by", ("position", "dispersion"), "position") == "position"
    assert parse_flag({}, "pseudonyms") is False


def test_what_stands_there_is_read():
    assert str(parse_public_id({"worker": ID}, "worker")) == ID
    assert [parse_number({"n": text}, "n", 1, 200) for text in ("1", "200", "007")] == [1, 200, 7]
    assert parse_choice({"by": "b"}, "by", ("a", "b"), "a") == "b"
    assert [parse_flag({"f": word}, "f") for word in ("true", "TRUE", "false")] == [
        True,
        True,
        False,
    ]


def test_an_empty_one_counts_as_none_only_where_a_form_sends_it():
    assert parse_public_id({"worker": ""}, "worker", blank=True) is None
    assert parse_number({"n": ""}, "n", 0, 9, blank=True) is None
    with pytest.raises(QueryError):
        parse_public_id({"worker": ""}, "worker")
    with pytest.raises(QueryError):
        parse_number({"n": ""}, "n", 0, 9)


@pytest.mark.parametrize("text", ["0", "201", "-1", "1.5", "x", " 1", "٣", "1" * 5000, "0001"])
def test_a_number_is_whole_and_within_its_bounds(text):
    with pytest.raises(QueryError) as caught:
        parse_number({"limit": text}, "limit", 1, 200)
    assert (caught.value.name, caught.value.code) == ("limit", "invalid")
    assert re.findall(r"\d+", caught.value.detail) == ["1", "200"]


def test_what_will_not_do_names_the_parameter_and_is_not_found_on_a_page():
    with pytest.raises(Http404) as caught:
        parse_choice({"by": "x"}, "by", ("position", "dispersion", "difficulty"), "position")
    assert isinstance(caught.value, QueryError)
    assert (caught.value.name, caught.value.code) == ("by", "invalid")
    assert caught.value.detail == "write position, dispersion or difficulty"
