"""``evaluate plan``: the plan of a file, in money, and what it refuses."""

import json

import pytest

from annotations import demo
from tests.evaluation.commands.crowd import table
from tests.evaluation.commands.running import manage

COMMON = ("--embedder", "tfidf-char", "--bootstrap", "50")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    output = tmp_path_factory.mktemp("plan") / "out"
    wishes = ("--pay", ".25", "--currency", "EUR", "--within", ".06", "--most", "60")
    found = manage(
        *("evaluate", "plan", demo.ANSWERS, "--models", demo.MODEL_ANSWERS, "--output", output),
        *COMMON,
        *wishes,
    )
    assert found.code == 0, found.err
    return found, output


@pytest.mark.medium
def test_the_files_agree_with_the_summary_and_the_terminal(ran):
    found, output = ran
    rows = table(output / "plan_questions.csv")
    plan = json.loads((output / "summary.json").read_text())["plan"]
    assert len(rows) == plan["n_questions"] == 16
    assert sum(int(row["more_answers"]) for row in rows) == plan["more_answers"]
    bought = [row for row in rows if row["standing"] == "wanted"]
    assert bought
    for row in bought:
        assert float(row["cost"]) == round(0.25 * int(row["more_answers"]), 2)
        assert float(row["off_then"]) <= 0.06 < float(row["off_now"])
        assert int(row["needed"]) == int(row["answers"]) + int(row["more_answers"])
    assert plan["cost"] == round(0.25 * plan["answers"], 2)
    assert f"So far EUR {plan['cost']:,.2f} for {plan['answers']} answers" in found.out
    assert len(table(output / "plan_workers.csv")) == plan["workers"]["scores"]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (("--pay", "-1"), "less than 0"),
        (("--width", "0"), "above 0"),
        (("--narrow", "nobody"), "invalid choice"),
    ],
)
def test_bad_wishes_are_refused_and_nothing_is_written(tmp_path, wish, said):
    ran = manage("evaluate", "plan", demo.ANSWERS, "--output", tmp_path / "out", *COMMON, *wish)
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "out").exists()
