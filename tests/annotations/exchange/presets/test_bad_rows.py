"""Each bad row of a survey's file is named, also those after the first one."""

import pytest

from annotations.exchange import InputError
from tests.annotations.exchange.presets.test_attempts import ANN, BOB, row, staged, survey
from tests.problems import faults

LONG = "é" * 50_001  # 100,002 bytes
SAID = ("A short one about the moon", "A short one about the tide", "A short one about the salt")


def refused(source):
    with pytest.raises(InputError) as caught:
        staged(source)
    return faults(caught.value)


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        ((LONG, *SAID[1:]), ["Q1"]),
        ((LONG, SAID[1], LONG), ["Q1", "Q3"]),
    ],
)
def test_two_rows_with_answers_that_are_too_long_are_both_named(texts, columns):
    bad = [row(f"w{n}", "11", "30", texts) for n in range(2)]
    found = refused(survey(row("ann", "09", 25, ANN), bad[0], row("bob", "10", 12, BOB), bad[1]))
    assert found == [(line, name, "foreign_answer_long") for line in (3, 5) for name in columns]


def test_a_row_without_a_question_is_named_by_its_line():
    header = ["Participant", "Item", "Reply"]
    rows = [["ann", "q1", ANN[0]], ["ann", "", ANN[1]], ["bob", "q1", BOB[0]], ["bob", "", BOB[1]]]
    rows += [[who, "q3", text] for who, text in (("ann", ANN[2]), ("bob", BOB[2]))]
    found = refused(survey(*rows, header=header))
    assert found == [(line, "Item", "id_missing") for line in (3, 5)]
