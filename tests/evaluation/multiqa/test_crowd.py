"""People's consensus as the ruler: evaluate and study multiqa with --crowd."""

import csv
import json
from statistics import mean, stdev

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.multiqa.test_evaluate import write, write_replies

SUN = ["the sun is a star", "the sun is a star of gas", "it is a star", "cheese"]
TIDE = ["the moon pulls the sea", "the moon pulls water", "moon and sea", "wind"]
WORKERS = ["ann", "bob", "cy", "dee"]
ITEMS = [
    {
        "item": "sun",
        "kind": "free",
        "dataset": "sky",
        "question": "What is the sun?",
        "answers": "",
    },
    {"item": "tide", "kind": "free", "question": "Why is there a tide?", "answers": ""},
]
REPLIES = [
    ("sun", 0, "the sun is a star", ""),
    ("sun", 1, "a star of gas", ""),
    ("sun", 2, "", "refused"),
    ("tide", 0, "the moon pulls the sea", ""),
    ("tide", 1, "", "error"),
    ("tide", 2, "the moon pulls", ""),
]


@pytest.fixture
def crowd(tmp_path):
    rows = [
        {"worker": worker, "question": item, "answer": text}
        for item, texts in (("sun", SUN), ("tide", TIDE))
        for worker, text in zip(WORKERS, texts, strict=True)
    ]
    return write(tmp_path / "crowd.csv", rows, ("worker", "question", "answer"))


@pytest.fixture
def evaluate(tmp_path, crowd):
    def run(*more, items=ITEMS, replies=REPLIES):
        given = write(tmp_path / "given.csv", items)
        said = write_replies(tmp_path / "replies.csv", replies)
        out = ("--output", tmp_path / "out", "--embedder", "tfidf-word", "--crowd", crowd)
        return manage("evaluate", "multiqa", given, "--replies", said, *out, *more)

    return run


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def numbers(folder, group=""):
    rows = table(folder / "out" / "metrics.csv")
    return {row["metric"]: row for row in rows if row["group"] == group}


def test_replies_are_measured_by_the_consensus_without_any_key(evaluate, crowd, tmp_path):
    ran = evaluate()
    assert (ran.code, ran.err) == (0, "")
    # The same replies as answers of models in AQER have the same scores.
    models = [
        {"model": f"v{variant}", "question": item, "answer": reply, "status": status or "text"}
        for item, variant, reply, status in REPLIES
    ]
    spoken = write(tmp_path / "m.csv", models, ("model", "question", "answer", "status"))
    graded = tmp_path / "graded"
    out = ("--models", spoken, "--output", graded, "--embedder", "tfidf-word", "--bootstrap", "0")
    assert manage("evaluate", "aqer", crowd, *out).code == 0
    scores = {
        (row["question"], row["model"]): float(row["score"])
        for row in table(graded / "model_answers.csv")
        if row["score"]
    }
    people = {}
    for row in table(graded / "answers.csv"):
        people.setdefault(row["question"], []).append(float(row["score_leave_one_out"]))
    sun = [scores["sun", "v0"], scores["sun", "v1"], 0.0]
    tide = [scores["tide", "v0"], scores["tide", "v2"]]  # the error is missing
    found = {name: float(row["value"]) for name, row in numbers(tmp_path).items() if row["value"]}
    assert found["crowd_score"] == pytest.approx(mean([mean(sun), mean(tide)]))
    assert found["crowd_score_original"] == pytest.approx(mean([sun[0], tide[0]]))
    assert found["crowd_worst"] == pytest.approx(mean([0.0, min(tide)]))
    assert found["crowd_best"] == pytest.approx(mean([max(sun), max(tide)]))
    over_wordings = mean([stdev(sun), stdev(tide)])
    over_people = mean([stdev(people["sun"]), stdev(people["tide"])])
    assert found["spread_rewordings"] == pytest.approx(over_wordings)
    assert found["spread_people"] == pytest.approx(over_people)
    assert found["spread_ratio"] == pytest.approx(over_wordings / over_people)


def test_items_have_their_rows_and_groups(evaluate, tmp_path):
    evaluate()
    rows = {row["item"]: row for row in table(tmp_path / "out" / "crowd.csv")}
    assert (rows["sun"]["n_replies"], rows["sun"]["n_workers"]) == ("3", "4")
    assert rows["tide"]["n_replies"] == "2"
    assert numbers(tmp_path, "dataset:sky")["crowd_worst"]["value"] == "0.0"
    assert numbers(tmp_path, "kind:free")["crowd_score"]["n"] == "2"
    found = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (found["counts"]["crowd_workers"], found["counts"]["crowd_items"]) == (4, 2)
    assert found["exclusions"][0]["reason"] == "no_accepted_answer"
    assert "embedder:Tfidf" in found["signature"]


def test_right_and_wrong_stand_beside_it_where_there_is_a_key(evaluate, tmp_path):
    items = [{**ITEMS[0], "answers": json.dumps(["the sun is a star"])}, ITEMS[1]]
    evaluate(items=items)
    found = numbers(tmp_path)
    assert (found["accuracy"]["value"], found["accuracy"]["n"]) == ("1.0", "1")
    assert found["crowd_score"]["n"] == "2"


def test_one_reply_has_no_spread_and_says_so(evaluate, tmp_path):
    evaluate(replies=[("sun", 0, "a star", "")])
    found = numbers(tmp_path)
    assert (found["spread_rewordings"]["value"], found["spread_rewordings"]["reason"]) == (
        "",
        "no_crowd",
    )
    assert found["spread_ratio"]["value"] == ""


def test_answers_of_people_to_something_else_are_told(evaluate, crowd, tmp_path):
    crowd.write_text(crowd.read_text() + "eve,rain,drops\n")
    evaluate()
    noted = json.loads((tmp_path / "out" / "summary.json").read_text())["exclusions"]
    assert {"item": "rain", "line": 10} in noted[0]["named"]
    crowd.write_text("worker,question,answer\nann,rain,drops\n")
    ran = evaluate()
    assert (ran.code, ran.refusals) == (2, (f"{crowd.name}, answers_to_others",))


def test_a_study_asks_what_people_answered_even_without_a_key(crowd, tmp_path):
    given = write(tmp_path / "given.csv", ITEMS)
    script = tmp_path / "script.csv"
    script.write_text(
        "question,reply\nsun|reword|1,1. It is what?\ntide|reword|1,1. A tide is there why?\n"
        "sun|0,a star\nsun|1,a star of gas\ntide|0,the moon\ntide|1,the moon pulls\n"
    )
    ran = manage(
        *("study", "multiqa", given, "--model", f"replies:{script}", "--rewordings", "1"),
        *("--crowd", crowd, "--output", tmp_path / "out", "--embedder", "tfidf-word"),
        *("--meaning", "0"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert numbers(tmp_path)["crowd_score"]["n"] == "2"
    assert len(table(tmp_path / "out" / "replies.csv")) == 4


@pytest.mark.parametrize("typed", ["101", "101.0"])
def test_decimal_ids_of_the_crowd_are_those_of_the_items(evaluate, crowd, tmp_path, typed):
    """`typed` is the id of the item; the crowd's file has the other spelling."""
    other = {"101": "101.0", "101.0": "101"}[typed]
    items = [{**ITEMS[0], "item": typed}]
    replies = [(typed, *reply[1:]) for reply in REPLIES if reply[0] == "sun"]
    names = ("worker", "question", "answer")

    def read(question, *more):
        people = [
            {"worker": f"{number}.0", "question": question, "answer": f"<b>{text}</b>"}
            for number, text in enumerate(SUN, 1)
        ]
        write(crowd, people, names)
        ran = evaluate(*more, items=items, replies=replies)
        return ran.code, numbers(tmp_path) if ran.code == 0 else ran.err

    same_code, same = read(typed)
    code, found = read(other)
    assert (same_code, code) == (0, 0)
    assert found["crowd_score"]["value"] == same["crowd_score"]["value"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert sum("HTML" in text for text in summary["warnings"]) == 1
    assert read(other, "--keep-ids")[0] == 2
