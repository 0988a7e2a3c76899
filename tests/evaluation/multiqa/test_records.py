"""Records that are left out of converted items, and how yes, no and options are read."""

import pytest

from evaluation.multiqa.files.field_mapping import load_mapping
from evaluation.multiqa.files.mapping import read_mapped_items
from tests.evaluation.commands.running import manage
from tests.evaluation.multiqa.test_mapping import ARC, written


def test_a_bad_record_among_others_is_left_out_and_counted(tmp_path):
    many = [{"question": f"is it {n}", "answer": n % 2 == 0} for n in range(300)]
    many[6]["answer"] = many[7]["answer"] = -1
    many[8]["answer"] = "entailment"
    del many[9]["question"]
    given = written(tmp_path, many, "jsonl")
    found = read_mapped_items(given, load_mapping("boolq"))
    assert (found.n_rows, len(found.items)) == (300, 296)
    assert [warning.partition(" records")[0] for warning in found.warnings] == [
        "2 of 300",
        "1 of 300",
        "1 of 300",
    ]
    assert "first in line 7" in found.warnings[0]
    assert "'entailment'" in found.warnings[1]
    out = tmp_path / "items.jsonl"
    ran = manage("convert_items", given, "--mapping", "boolq", "--output", out)
    assert (ran.code, len(out.read_text().splitlines())) == (0, 296)
    assert all(warning in ran.out for warning in found.warnings)


def test_of_two_items_with_one_id_the_first_is_taken_and_a_repeated_one_counted(tmp_path):
    rows = [ARC[0], ARC[0], {**ARC[0], "answerKey": "B"}]
    found = read_mapped_items(written(tmp_path, rows, "jsonl"), load_mapping("arc"))
    assert (len(found.items), found.n_repeated, len(found.warnings)) == (1, 1, 1)
    assert " K_1 " in found.warnings[0]


@pytest.mark.parametrize(
    ("given", "answer"),
    [(True, "yes"), (1, "yes"), ("True", "yes"), (0, "no"), ("false", "no"), ("No", "no")],
)
def test_yes_and_no_are_read_as_they_are_written(tmp_path, given, answer):
    rows = [{"question": "is the sea salty", "answer": given}]
    (item,) = read_mapped_items(written(tmp_path, rows, "jsonl"), load_mapping("boolq")).items
    assert item.answers == (answer,)


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ([{"key": "A", "value": "Aspirin"}, {"key": "B", "value": "Salt"}], "B"),
        ([{"label": "A", "text": "Aspirin"}, {"label": "B", "text": "Salt"}], "b"),
        ([{"text": "Aspirin"}, {"text": "Salt"}], "B"),
        ({"A": "Aspirin", "B": "Salt"}, "B"),
        (["Aspirin", "Salt"], "salt\u00a0"),
    ],
)
def test_options_are_read_as_texts_in_every_form(tmp_path, options, answer):
    rows = [{"question": "Which?", "options": options, "answer_idx": answer}]
    (item,) = read_mapped_items(written(tmp_path, rows, "jsonl"), load_mapping("medqa")).items
    assert (item.choices, item.answers) == (("Aspirin", "Salt"), ("Salt",))


def test_rows_of_the_hub_are_unwrapped_and_cut_ones_left_out(tmp_path):
    rows = [
        {"row_idx": 0, "row": {"question": "a", "answer": True}, "truncated_cells": []},
        {"row_idx": 1, "row": {"question": "b", "answer": False}, "truncated_cells": ["passage"]},
    ]
    given = written(tmp_path, {"features": [{"name": "question"}], "rows": rows}, "json")
    found = read_mapped_items(given, load_mapping("boolq"))
    assert [item.question for item in found.items] == ["a"]
    assert ": passage" in found.warnings[0]


def test_a_missing_answer_of_pandas_is_no_accepted_answer(tmp_path):
    given = tmp_path / "given.jsonl"
    given.write_text('{"question": "q", "correct_answers": [NaN]}\n')
    (item,) = read_mapped_items(given, load_mapping("truthfulqa")).items
    assert item.answers == ()
