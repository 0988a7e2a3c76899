"""What ``evaluate aqer`` writes of facts: two tables, four columns, a sentence."""

import csv
import json

import pytest
from django.core.management import call_command

from evaluation.core.messages.reasons import WHY_EMPTY
from tests.sentences import terminal_sentence

WHO = ("ada", "ben", "cy", "dee", "eli", "fay", "gus", "hal")
FACT_COLUMNS = ["facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high"]
CENTURY = {"q1": 1858, "q2": 1901, "q3": 1776, "q4": 1815, "q5": 1492}


@pytest.fixture
def files(tmp_path):
    """Eight people date five events, fay each a year late; one question wants an explanation."""
    rows = [("worker", "question", "answer")]
    for who in WHO:
        for question, year in CENTURY.items():
            rows.append((who, question, f"It was in {year + (who == 'fay')}."))
        rows.append((who, "why", f"because {who} likes to tell so"))
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    models = [("model", "question", "answer"), *(("m", q, f"in {y}") for q, y in CENTURY.items())]
    with (tmp_path / "models.csv").open("w", newline="") as file:
        csv.writer(file).writerows(models)
    return tmp_path


def evaluate(files, *more):
    out = files / "out"
    call_command(
        *("evaluate", "aqer", str(files / "answers.csv"), "--models", str(files / "models.csv")),
        *("--output", str(out), "--embedder", "bow", "--bootstrap", "0", *more),
    )
    return out


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def other_cells(path):
    """Return the cells of a table's rows but those of facts."""
    return [
        {column: cell for column, cell in row.items() if column not in FACT_COLUMNS}
        for row in table(path)
    ]


SAID = (
    "I think that the tall tower in the city was designed by {} and by the people of his office",
    "as far as I know the whole thing was designed by {} long before it was built there",
    "it is said that the tower was designed by {} who also built many bridges in his time",
    "the tall tower was designed by {} for the great fair that was held there in those days",
    "surely it was designed by {} and built by hundreds of workers over two long years",
    "we learned at school that the tower was designed by {} for a great fair in the city",
    "the man who designed the tall tower was called {} and it was built for a great fair",
    "I believe that the tall tower in the city was designed by {} and by a few of his friends",
)


@pytest.mark.parametrize(
    ("question", "n_contradicted"), [("Who designed the tower?", 2), ("tower-1", 0)]
)
def test_names_are_contradicted_where_the_id_asks_who(files, question, n_contradicted):
    with (files / "answers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("worker", "question", "answer"))
        for who, text in zip(WHO, SAID, strict=True):
            name = "Antoni Gaudi" if who == "hal" else "Gustave Eiffel"
            rows.writerow((who, question, text.format(name)))
    found = [row["verdict"] for row in table(evaluate(files) / "answer_facts.csv")]
    # Both of his names are others than those that seven of eight give.
    assert found.count("contradicts") == n_contradicted


def test_the_crowds_years_and_who_contradicts_them_are_written(files, capsys):
    out = evaluate(files)
    facts = [tuple(row.values()) for row in table(out / "facts.csv")]
    # Seven of eight say the year, fay the next one; 1 of 8 is no majority.
    assert facts[:2] == [
        ("q1", "year", "1858", "7", "8", "agreed"),
        ("q1", "year", "1859", "1", "8", "open"),
    ]
    assert len(facts) == 2 * len(CENTURY)
    said = [tuple(row.values()) for row in table(out / "answer_facts.csv")]
    assert ("worker", "ada", "q1", "year", "1858", "agrees", "7") in said
    assert ("worker", "fay", "q1", "year", "1859", "contradicts", "7") in said
    assert ("model", "m", "q5", "year", "1492", "agrees", "8") in said
    assert len(said) == (len(WHO) + 1) * len(CENTURY)
    rows = {row["worker"]: row for row in table(out / "workers.csv")}
    assert (rows["ada"]["facts"], rows["ada"]["fact_agreement"]) == ("5", "1.0")
    # Wilson, 5 of 5: 5 / (5 + 1.96^2) = .5655.
    assert float(rows["ada"]["fact_agreement_low"]) == pytest.approx(0.5655, abs=1e-4)
    assert (rows["fay"]["facts"], rows["fay"]["fact_agreement"]) == ("5", "0.0")
    # After them: the raw score of workers alone, then three columns of question contrast.
    assert list(rows["ada"])[-10:-6] == FACT_COLUMNS
    assert list(table(out / "models.csv")[0])[-7:-3] == FACT_COLUMNS
    summary = json.loads((out / "summary.json").read_text())
    assert summary["facts"] == {
        "questions": 6, "spoken": 5, "agreed": 5, "contested": 0, "silent": {"no_shared_slot": 1},
    }  # fmt: skip
    said = " ".join(capsys.readouterr().out.split())
    silent = {"n": 1, "why": WHY_EMPTY["no_shared_slot"]}
    found = {**summary["facts"], "meaning": None, "read_by": None}
    for message in (
        terminal_sentence("facts.found", **found),
        terminal_sentence("facts.silent", **silent),
    ):
        assert message in said


def test_without_facts_no_grade_is_another_one_and_their_cells_say_why(files):
    with_facts = other_cells(evaluate(files) / "workers.csv")
    (files / "out" / "facts.csv").unlink()
    (files / "out" / "answer_facts.csv").unlink()
    out = evaluate(files, "--no-facts")
    assert not list(out.glob("*facts.csv"))
    without = table(out / "workers.csv")
    assert with_facts == other_cells(out / "workers.csv")
    assert {row[column] for row in without for column in FACT_COLUMNS} == {""}
    undefined = json.loads((out / "summary.json").read_text())["undefined"]
    why = [one["reason"] for one in undefined if one["column"] == "facts"]
    assert why == ["not_asked_for"] * 2


def test_what_a_question_states_is_no_fact_of_an_answer_to_it(files):
    asked = files / "questions.csv"
    asked.write_text("question,text\nq1,What happened in 1858?\nq2,When?\n")
    spoken = {row["question"] for row in table(evaluate(files) / "facts.csv")}
    out = evaluate(files, "--questions", str(asked))
    read = {row["question"] for row in table(out / "facts.csv")}
    assert spoken - read == {"q1"}
    assert "questions" in json.loads((out / "summary.json").read_text())["input_hashes"]
