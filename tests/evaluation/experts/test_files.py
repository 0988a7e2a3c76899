"""``manage.py evaluate experts``: judgements in, three tables out, or a reason."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluation.experts.messages import LEVELS
from tests.evaluation.runs.run_types.crowds import write
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.problems import check_problem

HEADER = ("worker", "model", "question", "expert", "grade", "settles")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def files(tmp_path):
    """Judgements of Ed and Eve on 8 of 12 answers each, and the scores of all."""
    folder = tmp_path / "grades"
    folder.mkdir()
    scores = [(who, f"q{at}", 0.5 + at / 40) for who in ("ada", "ben", "cy") for at in range(12)]
    write(folder / "answers.csv", ("worker", "question", "score_leave_one_out"), scores)
    of_model = [("llm", f"q{at}", 0.4 + at / 40) for at in range(12)]
    write(folder / "model_answers.csv", ("model", "question", "score"), of_model)
    judgements = [
        (who, "", f"q{at}", expert, min(5, at / 2 + (expert == "eve") / 2), "")
        for who in ("ada", "ben", "cy")
        for at in range(0, 12, 2)
        for expert in ("ed", "eve")
    ]
    judgements += [("", "llm", "q0", "ed", 1, ""), ("ada", "", "q0", "mo", 4, 1)]
    return write(tmp_path / "judgements.csv", HEADER, judgements), folder


def evaluated(*arguments):
    call_command("evaluate", "experts", *map(str, arguments))


def test_three_tables_are_written(files, tmp_path, capsys):
    judgements, folder = files
    output = tmp_path / "out"
    evaluated(judgements, "--scores", folder, "--output", output)
    said = capsys.readouterr().out
    # Answers graded, experts, graded by two or more, settled by another one, ...
    assert numbers_of(said.splitlines()[0])[:4] == [19, 2, 18, 1]
    assert LEVELS["tentative"] in said  # six questions: the interval is wide
    agreement = {row["metric"]: row for row in rows_of(output / "agreement.csv")}
    assert set(agreement) == {
        *("kappa_linear", "kappa_quadratic", "icc_single", "icc_mean"),
        *("alpha_nominal", "alpha_ordinal", "alpha_interval"),
        *("score_correlation_people", "score_correlation_models"),
    }
    assert float(agreement["icc_single"]["value"]) > 0.9
    assert agreement["score_correlation_models"]["reason"] == "no_correlation"
    hardest, second = rows_of(output / "difficulty.csv")[:2]
    # q2: three times 1.25 of 5; q0: 4 (settled), .25 and .25: 1.5 of 5.
    assert (hardest["question"], second["question"]) == ("q2", "q0")
    assert float(hardest["difficulty"]) == pytest.approx(0.75)
    assert float(second["difficulty"]) == pytest.approx(0.7)
    means = rows_of(output / "estimates.csv")
    assert [(row["kind"], row["n"], row["n_answers"]) for row in means] == [
        *[("worker", "6", "12")] * 3,
        ("model", "1", "12"),
    ]
    assert all(float(row["narrower"]) > 0 for row in means[1:3])
    summary = json.loads((output / "summary.json").read_text())
    assert (summary["level"], summary["counts"]["settled"]) == ("tentative", 1)
    assert set(summary["input_hashes"]) == {"judgements", "answers.csv", "model_answers.csv"}


def test_answers_that_stand_for_more_count_more_in_the_correlation(files, tmp_path):
    rows = [("ada", f"q{at}", "ed", grade, "") for at, grade in enumerate((1, 2, 4, 3))]
    # Scores rise by the question; the last answer counts 3 times.
    rows[3] = (*rows[3][:4], "3")
    header = ("worker", "question", "expert", "grade", "weight")
    told = {}
    for name, given in (("plain", [(*row[:4], "") for row in rows]), ("weighted", rows)):
        path = write(tmp_path / f"{name}.csv", header, given)
        evaluated(path, "--scores", files[1], "--output", tmp_path / name)
        table = rows_of(tmp_path / name / "agreement.csv")
        told[name] = next(row for row in table if row["metric"] == "score_correlation_people")
    x, y, w = np.arange(4), np.array([1, 2, 4, 3]), np.array([1, 1, 1, 3])
    assert float(told["plain"]["value"]) == pytest.approx(np.corrcoef(x, y)[0, 1])
    shared = np.cov(x, y, aweights=w)
    expected = shared[0, 1] / np.sqrt(shared[0, 0] * shared[1, 1])
    assert float(told["weighted"]["value"]) == pytest.approx(expected)


def test_answers_that_stand_for_more_count_more_in_difficulties_and_means(files, tmp_path):
    header = ("worker", "question", "expert", "grade", "weight")
    rows = [("ada", "q0", "ed", 1, ""), ("ben", "q0", "ed", 4, 2)]
    rows += [("ada", f"q{at}", "ed", 3, 1 if at < 4 else 5) for at in range(1, 6)]
    rows += [("ben", f"q{at}", "ed", at / 2, 2) for at in range(1, 6)]
    path = write(tmp_path / "weighted.csv", header, rows)
    evaluated(path, "--scores", files[1], "--output", tmp_path / "out")
    by_question = {row["question"]: row for row in rows_of(tmp_path / "out" / "difficulty.csv")}
    # q0: (1 + 2 x 4) / 3 = 3 of 5. q4: (5 x 3 + 2 x 2) / 7 = 19 / 7.
    assert float(by_question["q0"]["difficulty"]) == pytest.approx(1 - 3 / 5)
    assert float(by_question["q4"]["difficulty"]) == pytest.approx(1 - 19 / 35)
    ada, ben = sorted(rows_of(tmp_path / "out" / "estimates.csv"), key=lambda row: row["name"])
    # Ada: (1 + 3 x 3 + 2 x 5 x 3) / 14; scores are not relied on. Ben's stand for as many each.
    assert float(ada["mean"]) == float(ada["graded"]) == pytest.approx(40 / 14)
    assert float(ada["weight"]) == 0
    assert float(ben["graded"]) == pytest.approx((4 + 0.5 + 1 + 1.5 + 2 + 2.5) / 6)


def test_without_scores_or_with_picked_answers_there_are_no_estimates(files, tmp_path):
    judgements, folder = files
    for place, more in enumerate(([], ["--scores", folder, "--chosen"])):
        output = tmp_path / f"out{place}"
        evaluated(judgements, *more, "--output", output)
        assert rows_of(output / "estimates.csv") == []
        assert len(rows_of(output / "difficulty.csv")) == 6


@pytest.mark.parametrize(
    ("row", "code", "column", "values"),
    [
        (
            ("ada", "", "q1", "ed", "5.0000001", ""),
            *("grade_off_scale", "grade", {"grade": 5.0000001, "low": 0, "high": 5}),
        ),
        (
            ("dan", "", "q1", "ed", 3, ""),
            *("graded_answer_unknown", None, {"name": "dan", "question": "q1"}),
        ),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(
    files, tmp_path, told_problems, row, code, column, values
):
    bad = write(tmp_path / "bad.csv", HEADER, [row])
    with pytest.raises(CommandError) as caught:
        evaluated(bad, "--scores", files[1], "--output", tmp_path / "out")
    assert caught.value.returncode == 2
    (told,) = told_problems
    check_problem(told, code, file="bad.csv", line=2, column=column, **values)
    assert str(told) in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_without_scores_is_refused(files, tmp_path):
    with pytest.raises(CommandError, match=r" answers\.csv"):
        evaluated(files[0], "--scores", tmp_path, "--output", tmp_path / "out")
