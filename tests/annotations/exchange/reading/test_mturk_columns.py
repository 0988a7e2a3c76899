"""Batches as they are downloaded: short rows, and fields of the form that are no answers."""

import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.reading.mturk import COLUMNS, MturkRows
from annotations.exchange.reading.mturk_columns import describe_form_fields
from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.problems import faults, raises_problem

GERMAN = {"H1": "Guten Tag", "H2": "Gute Nacht", "H3": "Bis bald"}


def cells(hit, translation, age, **more):
    given = {"Input.sentence": GERMAN[hit], "Input.id": hit}
    given |= {"Answer.age": age, "Answer.sentence": GERMAN[hit], "Answer.translation": translation}
    return given | more


BATCH = (
    ("H1", "ann", cells("H1", "Good day", "31")),
    ("H1", "bob", cells("H1", "Hello", "42")),
    ("H2", "ann", cells("H2", "Good night", "31")),
    ("H2", "bob", cells("H2", "Sleep well", "42")),
    ("H3", "cyd", cells("H3", "See you", "27")),
)


@pytest.fixture
def batch(tmp_path):
    def write(assignments=BATCH):
        path = tmp_path / "Batch_5141_batch_results.csv"
        path.write_text(batch_text(assignments))
        return path

    return write


def read(path, **how):
    rows = MturkRows(path, **how)
    records = [record for record, _ in rows]
    rows.raise_problems()
    return rows, records


def test_rows_that_end_before_approve_and_reject_are_taken(batch):
    header, first, *_ = batch().read_text().splitlines()
    assert header.endswith('"Answer.translation","Approve","Reject"')
    assert first.endswith('"Good day"')
    _, records = read(batch())
    assert [record.text for record in records] == [
        *("Good day", "Hello", "Good night", "Sleep well", "See you")
    ]


def test_a_row_that_lacks_more_than_those_two_is_still_refused(batch):
    path = batch()
    lines = path.read_text().splitlines()
    lines[2] = lines[2].removesuffix(',"Hello"')
    path.write_text("\n".join(lines))
    with raises_problem("row_too_short", line=3, fields="31 fields", width=34):
        read(path)


def test_each_answer_of_an_assignment_that_is_too_long_is_named(batch):
    long = "é" * 50_001  # 100,002 bytes
    path = batch((("H1", "ann", {"Answer.a": long, "Answer.b": long, "Answer.c": "c"}),))
    with pytest.raises(InputError) as caught:
        read(path)
    assert faults(caught.value) == [
        (2, f"Answer.{name}", "assignment_answer_long") for name in "ab"
    ]


def test_rows_with_cells_for_approve_and_reject_are_taken_too(batch):
    path = batch()
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, rows[0] + ',"x",""', rows[1] + ',"x"', *rows[2:]]))
    assert len(read(path)[1]) == 5


def test_columns_that_echo_an_input_or_are_of_the_worker_are_metadata(batch):
    rows, records = read(batch())
    assert {record.question for record in records} == {f"{hit}:translation" for hit in GERMAN}
    assert records[0].facts.extra["Answer.age"] == "31"
    assert records[0].facts.extra["Answer.sentence"] == "Guten Tag"
    assert rows.notes[0] == "5 assignments x 1 Answer columns = 5 answers"
    reasons = [(column.name, column.reason) for column in rows.metadata]
    assert [name for name, _ in reasons] == ["age", "sentence"]
    assert all(f"Answer.{name} ({reason})" in rows.notes[1] for name, reason in reasons)
    assert "Input.sentence" in reasons[1][1]
    assert "Approve, Reject" in rows.notes[2]


def test_one_worker_who_answers_alike_makes_no_column_of_workers(batch):
    # Only ann did two HITs: that she pastes one answer says nothing of the column.
    pasted = (
        ("H1", "ann", cells("H1", "same", "31")),
        ("H2", "ann", cells("H2", "same", "31")),
        ("H3", "bob", cells("H3", "See you", "42")),
    )
    found = {column.name: column for column in describe_form_fields(batch(pasted), COLUMNS)}
    assert found["translation"].is_answer
    assert (found["age"].of_worker, found["age"].of_person) == (False, True)
    assert not found["sentence"].is_answer


def test_where_nothing_would_be_left_every_column_is_an_answer(batch):
    alike = tuple((hit, worker, {"Answer.age": age}) for hit, worker, age in AGES)
    assert [column.is_answer for column in describe_form_fields(batch(alike), COLUMNS)] == [True]


AGES = (("H1", "ann", "31"), ("H2", "ann", "31"), ("H1", "bob", "42"), ("H2", "bob", "42"))


def test_an_empty_column_says_nothing_and_stays(batch):
    empty = tuple(
        (hit, worker, cells(hit, f"{hit} by {worker}", age) | {"Answer.comment": ""})
        for hit, worker, age in AGES
    )
    assert "comment" in {c.name for c in describe_form_fields(batch(empty), COLUMNS) if c.is_answer}


def test_globs_choose_the_columns_of_answers(batch):
    two = tuple(
        (hit, worker, {"Answer.translation_a": "a", "Answer.translation_b": "b", "Answer.x": "c"})
        for hit, worker, _ in AGES
    )
    rows, records = read(batch(two), answers=["Answer.translation*"])
    assert {record.question for record in records} == {
        f"{hit}:translation_{which}" for hit in ("H1", "H2") for which in "ab"
    }
    assert [column.name for column in rows.metadata] == ["x"]
    # A column that was not chosen needs no reason.
    assert rows.notes[1].endswith(": Answer.x")
    # Several globs add up, with and without the prefix; a column that was proposed as metadata too.
    _, records = read(batch(), answers=["translation", "Answer.age"])
    assert {record.question for record in records if record.worker == "cyd"} == {
        *("H3:age", "H3:translation")
    }


def test_a_glob_that_names_nothing_is_told_with_the_columns_there_are(batch):
    found = ", ".join(["Answer.age", "Answer.sentence", "Answer.translation"])
    with raises_problem("answer_column_unknown", glob="Answer.tran", found=found):
        read(batch(), answers=["Answer.translation", "Answer.tran"])


def test_the_fields_of_crowd_elements_come_out_of_their_json(batch):
    def answers(**fields):
        return {"Answer.taskAnswers": json.dumps([fields])}

    tone = {"formal": False, "warm": True}
    crowd = (
        ("H1", "ann", answers(translation="Good day", tone=tone, kind={"label": "greeting"})),
        ("H2", "ann", answers(translation="Good night", tone=tone, sure=3)),
    )
    _, records = read(batch(crowd))
    said = {(record.question): record.text for record in records}
    assert said["H1:translation"] == "Good day"
    assert said["H1:tone"] == "warm"
    assert said["H1:kind"] == "greeting"
    assert (said["H1:sure"], said["H2:sure"], said["H2:kind"]) == ("", "3", "")
    _, records = read(batch(crowd), answers=["translation"])
    assert records[0].facts.extra["Answer.tone"] == "warm"


def test_the_fields_of_several_crowd_forms_come_out_of_their_json(batch):
    forms = [{"why": "The moon pulls", "age": 30}, {"why": "Yeast makes gas"}]
    _, records = read(batch((("H1", "ann", {"Answer.taskAnswers": json.dumps(forms)}),)))
    said = {record.question: record.text for record in records}
    assert said == {"H1:why": "The moon pulls", "H1:age": "30", "H1:why [2]": "Yeast makes gas"}


def test_task_answers_that_are_no_json_stay_a_text(batch):
    _, records = read(batch((("H1", "ann", {"Answer.taskAnswers": "[half"}),)))
    assert [(record.question, record.text) for record in records] == [("H1:taskAnswers", "[half")]
