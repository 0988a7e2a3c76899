"""`manage.py study umwp` and `study maqa`: asked of scripted replies, evaluated as files are."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.umwp.test_files import PROBLEMS, QUICK, UNKNOWN

FORMS = ("direct", "instruction", "in-context")


def rows(folder, name):
    with (folder / "out" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def value(folder, group, metric):
    (found,) = [
        row
        for row in rows(folder, "metrics.csv")
        if (row["group"], row["metric"]) == (group, metric)
    ]
    return float(found["value"])


@pytest.fixture
def scripted(tmp_path):
    def write(lines):
        file = tmp_path / "scripted.csv"
        with file.open("w", newline="") as handle:
            csv.writer(handle).writerows([("question", "sample", "reply", "status"), *lines])
        return f"replies:{file}"

    return write


def test_umwp_is_asked_in_three_forms_and_goes_on_where_it_was(tmp_path, scripted):
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in PROBLEMS[:4]))
    said = {1: "The answer is 460.", 2: "2.5", 3: UNKNOWN, 4: UNKNOWN}
    # With examples everything is taken for unanswerable.
    lines = [
        (f"{form}-{item}", "", UNKNOWN if form == "in-context" else text, "")
        for form in FORMS
        for item, text in said.items()
    ]
    command = ("study", "umwp", tmp_path / "p.jsonl", "--model", scripted(lines), "--output")
    ran = manage(*command, tmp_path / "out", *QUICK)
    assert ran.code == 0, ran.err
    assert value(tmp_path, "form:direct", "f1") == value(tmp_path, "form:instruction", "f1") == 1
    assert value(tmp_path, "form:in-context", "precision") == 1 / 2
    replies = rows(tmp_path, "replies.csv")
    assert [(row["id"], row["form"]) for row in replies[:5]] == [
        *((str(item), "direct") for item in said),
        ("1", "instruction"),
    ]
    journal = (tmp_path / "out" / "requests.jsonl").read_text()
    asked = [json.loads(line) for line in journal.splitlines()]
    messages = [len(one["request"]["messages"]) for one in asked if "request" in one]
    # Alone; after one instruction; after four examples with and four without an answer.
    assert messages == [1] * 4 + [2] * 4 + [17] * 4
    assert manage(*command, tmp_path / "out", *QUICK).code == 0
    assert (tmp_path / "out" / "requests.jsonl").read_text() == journal
    # What it wrote is what `evaluate` takes.
    written = tmp_path / "out" / "replies.csv"
    arguments = (tmp_path / "p.jsonl", "--replies", written, "--output", tmp_path / "again")
    assert manage("evaluate", "umwp", *arguments, *QUICK).code == 0
    both = [(tmp_path / name / "metrics.csv").read_text() for name in ("out", "again")]
    assert both[0] == both[1]


def test_a_form_that_there_is_not_is_refused(tmp_path):
    ran = manage("study", "umwp", "p", "--model", "x", "--output", tmp_path, "--forms", "rude")
    assert ran.code == 2
    assert "'rude' is no form" in ran.err


def test_maqa_is_asked_for_a_list_and_a_confidence_several_times(tmp_path, scripted):
    questions = [
        {"question": "Which?", "answer": ["A1", "B1"]},
        {"question": "What?", "answer": ["C1"]},
        {"question": "Not asked", "answer": ["D1"]},
    ]
    (tmp_path / "q.json").write_text(json.dumps(questions))
    lines = [
        ("0", "0", '["A1", "B1"]\nConfidence: 90', ""),
        ("0", "1", '["B1", "A1"]\nConfidence: 80', ""),
        ("1", "0", '["X1"]\nConfidence: 20', ""),
        ("1", "1", '["C1"]\nConfidence: 10', ""),
    ]
    ran = manage(
        "study", "maqa", tmp_path / "q.json", "--model", scripted(lines), "--output",
        tmp_path / "out", "--samples", 2, "--first", 2, "--bootstrap", 0,
        "--embedder", "tfidf-char",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    # 1 and 1 to the first question, 0 and 1 to the second.
    assert value(tmp_path, "", "f1") == (1 + 1 / 2) / 2
    # Sure 90, 80, 10 where right and 20 where wrong: two of three pairs.
    assert value(tmp_path, "", "auroc_verbalised") == pytest.approx(2 / 3)
    assert [row["consistency"] for row in rows(tmp_path, "items.csv")] == ["1.0", "0.0"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["asked"][0]["requests"] == 4
