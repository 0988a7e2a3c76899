"""Each sentence about languages of texts, once, by its code."""

import pytest

from annotations.languages import LANGUAGES

CASES = [
    ("bad_tag", {}, "a language is written as in BCP 47: en, de, ar, pt-BR"),
    ("original_missing", {}, "first set the language of the texts themselves"),
    ("there_already", {"language": "en"}, "the texts are there in en already"),
    ("too_many", {"most": 30}, "30 further languages are the most"),
]


@pytest.mark.parametrize(("code", "values", "sentence"), CASES)
def test_each_code_has_its_sentence(code, values, sentence):
    assert LANGUAGES.text(code, **values) == sentence


def test_every_code_is_in_the_table():
    assert set(LANGUAGES) == {code for code, *_ in CASES}
