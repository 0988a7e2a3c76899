"""What rows of a table tell of a model and a question."""

import pytest

from evaluation.runs.flow.stored import (
    Aspect,
    Measure,
    MeasureSource,
    build_column_reader,
    parse_number,
    read_measures,
)

NEAR = Measure("near", Aspect.CROWD, "Near", "How near.")
APART = Measure("apart", Aspect.CROWD, "Apart", "How far apart.", better="", of="question")
BEST = Measure("best", Aspect.CROWD, "Best", "Of all.", of="model")
HEADER = ("system", "item", "near", "reason")


def told(viewed, header, rows):
    return [tuple(one.observation) for one in read_measures([viewed], header, rows)]


def test_a_file_and_a_run_tell_the_same():
    of_file = [("Elk", "q1", "0.5", ""), ("Elk", "q2", "", "refused"), ("Ox", "q1", "true", "")]
    of_run = [("Elk", "q1", 0.5, None), ("Elk", "q2", None, "refused"), ("Ox", "q1", True, None)]
    expected = [("Elk", "q1", 0.5, ""), ("Elk", "q2", None, "refused"), ("Ox", "q1", 1.0, "")]
    assert told(MeasureSource(NEAR), HEADER, of_file) == expected
    assert told(MeasureSource(NEAR), HEADER, of_run) == expected


def test_a_number_that_no_row_explains_is_missing_with_a_reason():
    assert told(MeasureSource(NEAR), HEADER[:3], [("Elk", "q1", "")]) == [
        ("Elk", "q1", None, "no_number_told")
    ]


def test_views_of_questions_and_of_models_name_nothing_else():
    header = ("system", "item", "apart", "best", "group")
    rows = [("Elk", "q1", 0.2, 7, ""), ("Elk", "q2", 0.3, 8, "part")]
    assert told(MeasureSource(APART), header, rows) == [("", "q1", 0.2, ""), ("", "q2", 0.3, "")]
    # Only the row of all questions counts.
    assert told(MeasureSource(BEST, only={"group": ""}), header, rows) == [("Elk", "", 7.0, "")]


def test_parts_that_must_not_be_pooled_are_views_of_their_own():
    header = ("system", "item", "form", "near")
    rows = [("Elk", "q1", "direct", 1), ("Elk", "q1", "in-context", 0), ("Elk", "q2", "direct", 0)]
    found = list(read_measures([MeasureSource(NEAR, split="form")], header, rows))
    assert [(one.view.name, one.view.title, one.observation.value) for one in found] == [
        ("near:direct", "Near (direct)", 1.0),
        ("near:in-context", "Near (in-context)", 0.0),
        ("near:direct", "Near (direct)", 0.0),
    ]


def test_several_views_are_read_from_one_row_by_what_reads_them():
    taken = MeasureSource(
        Measure("taken", Aspect.ANSWERABILITY, "Taken", "As what."),
        lambda row: None if row["near"] == "" else float(row["near"] == "no"),
    )
    found = list(
        read_measures(
            [taken, MeasureSource(APART, build_column_reader("depth"))],
            (*HEADER, "depth"),
            [("Elk", "q1", "no", "", 0.1)],
        )
    )
    assert [(one.view.name, one.observation.value) for one in found] == [
        ("taken", 1.0),
        ("apart", 0.1),
    ]


@pytest.mark.parametrize("cell", ["much", "nan", float("inf"), object()])
def test_what_is_no_number_is_refused(cell):
    with pytest.raises(ValueError, match=r"no number|not finite"):
        parse_number(cell)
