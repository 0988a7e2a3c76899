"""``manage.py evaluate experts``: judgements in, three tables out, or a reason."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.kinds.crowds import write

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
    assert "19 answers graded by 2 experts, 18 by two or more, 1 settled by another one" in said
    assert "allow tentative conclusions" in said  # six questions: the interval is wide
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


def test_without_scores_or_with_picked_answers_there_are_no_estimates(files, tmp_path):
    judgements, folder = files
    for place, more in enumerate(([], ["--scores", folder, "--chosen"])):
        output = tmp_path / f"out{place}"
        evaluated(judgements, *more, "--output", output)
        assert rows_of(output / "estimates.csv") == []
        assert len(rows_of(output / "difficulty.csv")) == 6


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("ada", "", "q1", "ed", 5.5, ""), "the grade 5.5 is not from 0 to 5"),
        (("ada", "", "q1", "ed", 3, "yes"), "yes is neither 0 nor 1"),
        (("dan", "", "q1", "ed", 3, ""), "dan gave no answer with a text to question q1"),
        (("ada", "", "q1", "ed", "1,50", ""), "line 2"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(files, tmp_path, row, said):
    bad = write(tmp_path / "bad.csv", HEADER, [row])
    with pytest.raises(CommandError, match=said) as caught:
        evaluated(bad, "--scores", files[1], "--output", tmp_path / "out")
    assert caught.value.returncode == 2
    assert not (tmp_path / "out").exists()


def test_a_folder_without_scores_is_refused(files, tmp_path):
    with pytest.raises(CommandError, match=r"there is no answers\.csv in it"):
        evaluated(files[0], "--scores", tmp_path, "--output", tmp_path / "out")
