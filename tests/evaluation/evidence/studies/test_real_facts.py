"""Why facts are silent on real students' explanations, and what they would flag."""

import numpy as np
import pytest

from annotations.exchange import OutputFolder
from evaluation.evidence.data_sets import StudentAnswers, load_beetle, load_beetle_questions
from evaluation.evidence.studies.real_workers import write_fact_tables
from tests.evaluation.commands.crowd import table

ASKED = {"when": "When was it?", "why": "Why?"}


def students():
    """Ten students: seven say 1858 and one 1857, two of whom nobody counts; why is explained."""
    when = [*["It was in 1858"] * 7, "It was in 1857", "long ago", "yesterday"]
    why = ["because it broke in 1999", *["it broke"] * 9]
    labels = [*["correct"] * 7, *["contradictory"] * 3]
    names = np.array([f"s{n}" for n in range(10)] * 2)
    return StudentAnswers(
        names, np.array(["when"] * 10 + ["why"] * 10), [*when, *why], np.array(labels * 2)
    )


def written(path, answers, asked):
    with OutputFolder(path) as folder:
        write_fact_tables(folder, answers, asked)
    names = ("fact_questions", "fact_gates", "fact_flags")
    return [table(path / f"{name}.csv") for name in names]


def test_a_question_is_silent_with_the_share_that_states_its_fact(tmp_path):
    questions, gates, flags = written(tmp_path / "out", students(), ASKED)
    # 8 of 10 state a year; of the other question's answers 1 of 10.
    assert [(r["question"], r["slot"], float(r["stated"]), r["silent"]) for r in questions] == [
        ("when", "year", 0.8, ""),
        ("why", "year", 0.1, "no_shared_slot"),
    ]
    assert [(float(r["stated"]), r["questions"]) for r in gates][-2:] == [(0.1, "2"), (0, "2")]
    (flag,) = flags
    assert (flag["worker"], flag["label"], flag["value"]) == ("s7", "contradictory", "1857")
    assert (flag["crowd"], flag["n"], flag["of"]) == ("1858", "7", "7")
    assert {(r["flagged"], r["not_correct"], r["share"]) for r in gates} == {("1", "1", "1.0")}


@pytest.mark.data
@pytest.mark.long
def test_beetle_states_no_fact_often_enough_and_its_flags_are_as_told(tmp_path, data_folder):
    asked = load_beetle_questions(data_folder)
    questions, gates, flags = written(tmp_path / "out", load_beetle(data_folder), asked)
    assert len(questions) == 56
    assert {row["silent"] for row in questions} == {"no_shared_slot"}
    assert float(questions[0]["stated"]) == pytest.approx(30 / 70)
    found = {float(r["stated"]): (r["questions"], r["flagged"], r["not_correct"]) for r in gates}
    assert found[0.6] == ("0", "0", "0")
    assert found[0.4] == ("2", "5", "5")
    assert found[0.0] == ("46", "16", "13")
    assert len(flags) == 16
