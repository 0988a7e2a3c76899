"""Each sentence about conflicts and about texts of a version, once, by its code."""

import pytest

from annotations.api.translations import PUBLISHED, TEXTS
from evaluation.runs.rest.views import CONFLICTS

TEXT_CASES = [
    ("unknown_text", {}, "there is no such text in this version"),
    ("not_a_text", {}, "this is a text"),
    ("not_a_list", {}, "this is a list of texts"),
    ("too_many_parts", {"n": 1001, "most": 1000}, "it has 1,001 parts, more than 1000"),
]
CONFLICT_CASES = [
    (
        "too_few_people",
        {"people": 0, "needed": 3},
        "0 of the 3 people that a grading needs have handed in.",
    ),
    ("nobody_left", {}, "There is no worker left to accept."),
    (
        "people_changed",
        {},
        "The list has changed: read who would be accepted, and send the request again.",
    ),
    ("nothing_to_take_back", {}, "Nothing of it is left to take back."),
    (
        "decided_meanwhile",
        {"by": "rana", "kind": "open", "decision": "d1"},
        "rana decided meanwhile: open (d1).",
    ),
    ("nothing_to_answer", {}, "They wrote nothing to answer to."),
    ("answered", {}, "Another answer was given before, and only one is possible."),
    (
        "nothing_left",
        {"noun": "bonus", "held_back": ""},
        "No confirmed bonus was left to be sent.",
    ),
    (
        "nothing_left",
        {"noun": "bonus", "held_back": "Left out: 1 of them"},
        "No confirmed bonus was left to be sent. Left out: 1 of them.",
    ),
    (
        "other_total",
        {"said": 1.44, "total": 1.5},
        "You sent 1.44, but the total is now 1.50. Nothing was changed; check the list again.",
    ),
    ("rule_changed", {}, "Who gets the bonus has changed since: try the rule again."),
]
CASES = [(TEXTS, TEXT_CASES), (CONFLICTS, CONFLICT_CASES)]


@pytest.mark.parametrize(
    ("sentences", "code", "values", "sentence"),
    [(sentences, *case) for sentences, cases in CASES for case in cases],
)
def test_each_code_has_its_sentence(sentences, code, values, sentence):
    assert sentences.text(code, **values) == sentence


@pytest.mark.parametrize(("sentences", "cases"), CASES)
def test_every_code_is_in_the_table(sentences, cases):
    assert set(sentences) == {code for code, *_ in cases}


def test_a_published_version_is_told_to_keep_its_words():
    assert PUBLISHED == "The latest version is published and keeps its words in every language."
