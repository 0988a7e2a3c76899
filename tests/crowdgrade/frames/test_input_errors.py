"""Unusable input raises `InputError` with the codes of the file readers, row by row."""

import pickle

import pandas as pd
import polars as pl
import pytest

import crowdgrade
from evaluation.core.backends import BackendError

WORKERS, QUESTIONS = ("ann", "ben", "cy"), ("q1", "q2")
FAST = {"embedder": "tfidf-word", "bootstrap": 0, "facts": False}


def build_answers(**columns: list[object]) -> pd.DataFrame:
    rows = [(w, q, f"{w} says {q}") for w in WORKERS for q in QUESTIONS]
    return pd.DataFrame(rows, columns=["worker", "question", "answer"]).assign(**columns)


def find_problems(frame: object, **arguments: object) -> list[tuple[int | None, object, str]]:
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(frame, **{**FAST, **arguments})
    assert {problem.argument for problem in caught.value.problems} == {"answers"}
    return [(problem.row, problem.column, problem.code) for problem in caught.value.problems]


def test_a_missing_column_lists_those_that_are_there() -> None:
    frame = build_answers().rename(columns={"answer": "text"})
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(frame, **FAST)
    (problem,) = caught.value.problems
    assert (problem.code, problem.values["name"]) == ("column_missing", "answer")
    assert problem.values["found"] == "worker, question, text"


def test_a_missing_id_is_named_by_its_row_and_the_callers_column() -> None:
    frame = build_answers().rename(columns={"worker": "who"})
    frame.loc[3, "who"] = None
    assert find_problems(frame, worker="who") == [(3, "who", "id_missing")]


def test_rows_are_counted_where_answers_have_line_breaks() -> None:
    frame = build_answers(answer=["one\ntwo\r\nthree", "a\rb", "c", "d", "e", "f"])
    frame.loc[4, "question"] = ""
    assert find_problems(frame) == [(4, "question", "id_missing")]


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas])
def test_two_answers_to_a_question_name_both_rows(library) -> None:
    frame = pd.concat([build_answers(), build_answers(answer=["x", *["same"] * 5])[:1]])
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(library(frame), **FAST)
    (problem,) = caught.value.problems
    assert (problem.row, problem.code) == (6, "answers_differ")
    assert problem.values["first_row"] == 0
    assert (
        crowdgrade.grade(library(frame), duplicates="last", **FAST).summary["counts"][
            "superseded_rows"
        ]
        == 1
    )


@pytest.mark.parametrize("cell", [True, ["a", "b"], {"a": 1}, b"bytes", 1 + 2j])
def test_an_answer_that_is_neither_text_nor_number_is_refused(cell: object) -> None:
    frame = build_answers(answer=["a", cell, "c", "d", cell, "f"])
    expected = [(1, "answer", "cell_not_text"), (4, "answer", "cell_not_text")]
    assert find_problems(frame) == expected


def test_half_a_surrogate_pair_is_refused() -> None:
    frame = build_answers(answer=["a", "\ud800", "c", "d", "e", "f"])
    assert find_problems(frame) == [(1, "answer", "cell_unwritable")]


def test_a_column_that_occurs_twice_is_refused() -> None:
    frame = build_answers()
    frame.columns = pd.Index(["worker", "question", "question"])
    assert find_problems(frame) == [(None, "question", "column_twice")]


def test_names_of_columns_that_are_numbers_are_texts() -> None:
    frame = build_answers().set_axis([0, 1, 2], axis=1)
    named = crowdgrade.grade(frame, worker=0, question=1, answer=2, **FAST)
    plain = crowdgrade.grade(build_answers(), **FAST)
    assert named.workers["worker"].tolist() == plain.workers["worker"].tolist() == list(WORKERS)
    assert list(frame.columns) == [0, 1, 2]  # the caller's frame is unchanged
    extra = build_answers().assign(note="x").rename(columns={"note": 5})
    assert crowdgrade.grade(extra, **FAST).files["workers.csv"] == plain.files["workers.csv"]


def test_names_of_several_levels_are_refused() -> None:
    frame = build_answers()
    frame.columns = pd.MultiIndex.from_product([["all"], frame.columns])
    assert find_problems(frame) == [(None, None, "column_nested")]


def test_a_nul_character_is_named_by_its_row_and_column() -> None:
    frame = build_answers(answer=["a", "b\0c", "c", "d", "e", "f"])
    assert find_problems(frame) == [(1, "answer", "cell_unwritable")]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0]] * 5, "vectors has 5 rows, answers has 6 data rows"),
        ([1.0] * 6, "the shape (6,)"),
        ([["a"]] * 6, "vectors holds <U1 instead of numbers"),
        ([[1.0], *[[float("nan")]] * 5], "vectors, row 1 "),
    ],
    ids=["rows", "shape", "texts", "nan"],
)
def test_unusable_vectors_are_described_without_files(vectors: object, message: str) -> None:
    with pytest.raises(BackendError) as caught:
        crowdgrade.grade(build_answers(), vectors=vectors, bootstrap=0, facts=False)
    assert message in str(caught.value)
    assert ".npz" not in str(caught.value)
    assert ".csv" not in str(caught.value)


def test_a_frame_without_rows_is_refused() -> None:
    assert find_problems(build_answers()[:0]) == [(None, None, "no_rows")]


def test_answers_that_are_all_missing_are_refused() -> None:
    assert find_problems(build_answers(answer=[None] * 6)) == [(None, None, "answers_all_empty")]


@pytest.mark.parametrize("value", [5, {"worker": ["ann"]}, pl.LazyFrame({"worker": ["ann"]})])
def test_what_is_no_frame_is_refused(value: object) -> None:
    assert find_problems(value) == [(None, None, "type_unknown")]


def test_a_missing_answer_is_counted_as_the_command_counts_it() -> None:
    frame = build_answers(answer=["red", None, "blue", float("nan"), "red", ""])
    assert crowdgrade.grade(frame, **FAST).summary["counts"]["empty_answers"] == 3


def test_a_single_worker_is_graded_with_the_reasons_of_the_command() -> None:
    result = crowdgrade.grade(build_answers()[:2], **FAST)
    assert result.workers["worker"].tolist() == ["ann"]
    reasons = {entry["reason"] for entry in result.summary["undefined"]}
    assert "no_shared_question" in reasons


def test_an_unknown_worker_in_a_list_is_named() -> None:
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(build_answers(), exclude_workers=["ann", "Zoe"], **FAST)
    (problem,) = caught.value.problems
    expected = ("exclude_workers", 1, "listed_worker_unknown")
    assert (problem.argument, problem.row, problem.code) == expected


def test_a_problem_of_the_models_names_their_frame() -> None:
    models = pd.DataFrame({"model": ["m", None], "question": ["q1", "q2"], "answer": ["a", "b"]})
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(build_answers(), models=models, **FAST)
    (problem,) = caught.value.problems
    assert (problem.argument, problem.row, problem.code) == ("models", 1, "id_missing")


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({"bootstrap": 1}, ["min_value"]),
        ({"similarity": "manhattan"}, ["invalid_choice"]),
        ({"group_vote": 5}, ["max_value"]),
        ({"facts": "no"}, []),
        ({"weight_cap": True}, []),
        ({"facts_model": "openai:m@http://127.0.0.1:9"}, []),
        ({"vectors": [[1.0]]}, []),
        ({"embedder": None, "vectors": [[1.0], [1.0, 2.0]]}, []),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], codes: list[str]) -> None:
    with pytest.raises(crowdgrade.OptionsError) as caught:
        crowdgrade.grade(build_answers(), **{**FAST, **options})
    assert caught.value.codes == codes


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="bootstrap"):
        crowdgrade.grade(build_answers(), boostrap=20)


def test_errors_survive_pickling() -> None:
    with pytest.raises(crowdgrade.InputError) as caught:
        crowdgrade.grade(build_answers()[:0], **FAST)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.codes, str(copy)) == (["no_rows"], str(caught.value))
