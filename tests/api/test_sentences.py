"""Each sentence about texts that are stored by REST, once, by its code."""

import pytest

from annotations.api.translations import TEXTS

CASES = [
    ("unknown_text", {}, "there is no such text in this version"),
    ("not_a_text", {}, "this is a text"),
    ("not_a_list", {}, "this is a list of texts"),
    ("too_many_parts", {"n": 1001, "most": 1000}, "it has 1,001 parts, more than 1000"),
]


@pytest.mark.parametrize(("code", "values", "sentence"), CASES)
def test_each_code_has_its_sentence(code, values, sentence):
    assert TEXTS.text(code, **values) == sentence


def test_every_code_is_in_the_table():
    assert set(TEXTS) == {code for code, *_ in CASES}
