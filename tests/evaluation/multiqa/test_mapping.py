"""Benchmarks in the shapes in which they are published, with questions of our own."""

import csv
import json

import pytest

from evaluation.multiqa.files.field_mapping import READY, load_mapping
from evaluation.multiqa.files.mapping import read_mapped_items
from tests.contracts.replay import facts_of
from tests.evaluation.commands.running import manage
from tests.evaluation.multiqa.published_records import (
    ARC,
    BOOLQ,
    CASES,
    MMLU_ROWS,
    SQUAD,
    TRIVIA,
    WIKIQA,
)


def written(folder, content, ending):
    path = folder / f"given.{ending}"
    if ending == "json":
        path.write_text(json.dumps(content))
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in content))
    elif ending == "tsv":
        path.write_text(content)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(content)
    return path


@pytest.mark.parametrize("case", CASES, ids=str)
def test_records_as_published_become_items(tmp_path, case):
    name, ending = case[0].strip(), case[1]
    content, expected = CASES[case]
    found = read_mapped_items(written(tmp_path, content, ending), load_mapping(name))
    assert [
        (one.item, one.kind, one.question, one.choices, one.answers) for one in found.items
    ] == list(expected)


def test_every_ready_mapping_is_tried():
    assert {name.strip() for name, _ in CASES} == set(READY)


def test_context_data_set_and_matcher_come_along(tmp_path):
    (kite, _) = read_mapped_items(written(tmp_path, SQUAD, "json"), load_mapping("squad2")).items
    assert kite.context == "The red kite was made in 1921 of silk."
    assert (kite.dataset, kite.matcher) == ("squad2", "exact")
    (first, _) = read_mapped_items(
        written(tmp_path, MMLU_ROWS, "jsonl"), load_mapping("mmlu")
    ).items
    assert (first.dataset, first.matcher) == ("kites", "choice")
    (trivia,) = read_mapped_items(written(tmp_path, TRIVIA, "json"), load_mapping("triviaqa")).items
    assert trivia.matcher == "exact"


def test_rows_of_one_question_are_counted_as_one_item_and_no_row_as_repeated(tmp_path):
    found = read_mapped_items(written(tmp_path, WIKIQA, "tsv"), load_mapping("wikiqa"))
    assert (found.n_rows, len(found.items), found.n_repeated) == (5, 2, 0)
    other = WIKIQA + "Q1\tanother question\tD1\tKite\tD1-3\tYes .\t1\n"
    found = read_mapped_items(written(tmp_path, other, "tsv"), load_mapping("wikiqa"))
    assert len(found.items) == 2
    assert len(found.warnings) == 1


def test_replies_to_published_records_are_evaluated(tmp_path):
    given = written(tmp_path, SQUAD, "json")
    replies = tmp_path / "replies.csv"
    replies.write_text("item,variant,reply\n56be,0,Silk!\n5a7d,0,nobody\n")
    ran = manage(
        *("evaluate", "multiqa", given, "--mapping", "squad2", "--replies", replies),
        *("--output", tmp_path / "out"),
    )
    assert (ran.code, ran.err) == (0, "")
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["item"], row["accuracy"], row["dataset"]) == ("56be", "1.0", "squad2")
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert found["exclusions"][0]["reason"] == "no_accepted_answer"


def test_records_are_converted_once_and_a_sample_drawn(tmp_path):
    given = written(tmp_path, SQUAD, "json")
    out = tmp_path / "items.jsonl"
    ran = manage("convert_items", given, "--mapping", "squad2", "--output", out)
    assert ran.code == 0
    assert facts_of(ran.out).split()[:2] == ["1", "1"]
    (line,) = out.read_text().splitlines()
    assert json.loads(line)["answers"] == ["silk", "of silk"]
    many = [{**BOOLQ[0], "question": f"is it {n}"} for n in range(30)]
    given = written(tmp_path, many, "jsonl")
    drawn = []
    for seed in ("0", "0", "1"):
        manage(
            *("convert_items", given, "--mapping", "boolq", "--output", out),
            *("--first", "20", "--sample", "5", "--seed", seed),
        )
        drawn.append([json.loads(line)["item"] for line in out.read_text().splitlines()])
    assert len(drawn[0]) == 5
    assert max(map(int, drawn[0])) <= 20
    assert drawn[0] == drawn[1] != drawn[2]
    replies = tmp_path / "replies.csv"
    replies.write_text("item,variant,reply\n" + "".join(f"{one},0,yes\n" for one in drawn[2]))
    ran = manage("evaluate", "multiqa", out, "--replies", replies, "--output", tmp_path / "out")
    assert (ran.code, ran.err) == (0, "")


OWN = {
    "kind": "choice",
    "records": "tests.*.tasks.*",
    "item": "no",
    "question": "asks",
    "context": "^.about",
    "dataset_from": "^^.school",
    "choices": "one,two,three",
    "answers": "key",
    "answers_are": "place",
}
SCHOOL = {
    "school": "north",
    "tests": [
        {
            "about": "kites",
            "tasks": [{"no": 1, "asks": "What?", "one": "x", "two": "y", "three": "z", "key": 2}],
        }
    ],
}


def test_a_mapping_of_ones_own_says_where_the_fields_are(tmp_path):
    mapping = tmp_path / "school.json"
    mapping.write_text(json.dumps(OWN))
    (one,) = read_mapped_items(written(tmp_path, SCHOOL, "json"), load_mapping(str(mapping))).items
    assert (one.item, one.question, one.context) == ("1", "What?", "kites")
    assert (one.choices, one.answers, one.dataset) == (("x", "y", "z"), ("z",), "north")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"kind": "essay"}, "kind, field_no_choice"),
        ({"colour": "red"}, "colour, field_unknown"),
        ({"question": 3}, "question, field_no_path"),
        ({"matcher": ["exact"]}, "matcher, field_no_text"),
        ({"answers_are": "runes"}, "answers_are, field_no_choice"),
    ],
)
def test_a_mapping_that_will_not_do_is_refused(tmp_path, change, fault):
    mapping = tmp_path / "school.json"
    mapping.write_text(json.dumps({**OWN, **change}))
    given = written(tmp_path, SCHOOL, "json")
    out = ("--output", tmp_path / "items.jsonl")
    ran = manage("convert_items", given, "--mapping", mapping, *out)
    assert (ran.code, ran.refusals) == (2, (f"school.json, column {fault}",))


@pytest.mark.parametrize(
    ("content", "mapping", "fault", "named"),
    [
        ([{**ARC[0], "answerKey": "F"}], "arc", "column answers, answer_not_among", " 'F' "),
        ([{**MMLU_ROWS[0], "answer": 7}], "mmlu", "column answers, answer_no_choice", " '7' "),
        (
            [{"question": "what", "options": {"A": "x", "B": "y"}}],
            "medqa",
            "column answers, answer_not_found",
            "(searched: answer_idx, answer)",
        ),
        (
            [{"answer": True}],
            "boolq",
            "column question, question_not_found",
            "(searched: question)",
        ),
        (
            [{"question": "q", "mc1_targets": {"choices": ["a", "b"], "labels": [1]}}],
            "truthfulqa-mc",
            "column answers, flags_uneven",
            "",
        ),
        (
            [{"question": "q", "answer": -1}],
            "boolq",
            "column answers, answer_neither",
            "'-1'",
        ),
        ([{"question": "q", "label": 2}], "boolq", "column answers, answer_neither", "'2'"),
        ([{"question": "q", "answer": "?"}], "boolq", "column answers, answer_neither", "'?'"),
        (
            [{"question": "q", "choices": ["a", "b"], "answer": -1}],
            "mmlu",
            "column answers, answer_not_among",
            "'-1'",
        ),
        (
            [{"question": "q", "mc1_targets": {"choices": ["a", "b"], "labels": [1, -1]}}],
            "truthfulqa-mc",
            "column answers, flag_neither",
            "'-1'",
        ),
        (
            [{"question": "q", "question_id": "Q1", "answer": "a", "label": "?"}],
            "wikiqa",
            "column answers, flag_neither",
            "'?'",
        ),
        (
            [{"Problem": "p", "options": "a ) 1 , b ) 2", "correct": "e"}],
            "mathqa",
            "column answers, answer_not_among",
            "'e'",
        ),
        (
            [{"question": "q", "options": [{"a": 1}, {"a": 2}], "answer_idx": "A"}],
            "medqa",
            "column choices, options_without_text",
            "",
        ),
    ],
)
def test_a_record_that_will_not_do_is_named(tmp_path, content, mapping, fault, named):
    given = written(tmp_path, content, "jsonl")
    ran = manage("convert_items", given, "--mapping", mapping, "--output", tmp_path / "items.jsonl")
    refusal = f"given.jsonl, line {len(content)}, {fault}"
    assert (ran.code, ran.refusals) == (2, (refusal,))
    assert f": record {len(content)}: " in ran.err
    assert named in ran.err
    assert not (tmp_path / "items.jsonl").exists()


def test_broken_files_and_unknown_mappings_are_refused(tmp_path):
    given = tmp_path / "given.json"
    given.write_text('{"data": [\n{"title": }')
    out = ("--output", tmp_path / "items.jsonl")
    ran = manage("convert_items", given, "--mapping", "squad2", *out)
    assert ran.code == 2
    assert ran.refusals == ("given.json, line 2, column 11, record_of_json",)
    given.write_text("{}")
    ran = manage("convert_items", given, "--mapping", "squad2", *out)
    assert ran.refusals == ("given.json, no_records",)
    assert "data.*.paragraphs.*.qas.*, *" in ran.err
    ran = manage("convert_items", given, "--mapping", "squad3", *out)
    assert ran.code == 2
    assert ran.refusals == ("squad3, mapping_unknown",)
    ran = manage("convert_items", tmp_path / "given.xlsx", "--mapping", "squad2", *out)
    assert ran.code == 2
