"""``manage.py study multiqa``: reword, ask, evaluate; resumed by the same command."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.multiqa.test_evaluate import CITIES, write
from tests.sentences import terminal_sentence

ITEMS = [
    {
        "item": "q1",
        "kind": "choice",
        "question": "What is the capital of France?",
        "choices": CITIES,
        "answers": '["Paris"]',
    },
    {
        "item": "q2",
        "kind": "extractive",
        "context": "The tower was built in 1889.",
        "question": "When was the tower built?",
        "answers": '["1889"]',
    },
]
REPLIES = {
    "q1|reword|1": "1. Which city is the capital of France?\n2. What is the capital of Spain?",
    "q1|reword|2": "1. Which city is the capital of France?",
    "q1|reword|3": "1. France has which capital?",
    "q2|reword|1": "1. In which year was the tower built?\n2. What year was the tower built in?",
    "q1|0": "A",
    "q1|1": "B",
    "q1|2": "Paris",
    "q2|0": "1889",
    "q2|1": "in 1889",
    "q2|2": "1889.",
}


@pytest.fixture
def study(tmp_path):
    """Write items and scripted replies, and run the study."""

    def run(*more, items=ITEMS, replies=REPLIES):
        given = write(tmp_path / "given.csv", items)
        script = tmp_path / "script.csv"
        with script.open("w", newline="") as file:
            csv.writer(file).writerows([("question", "reply"), *replies.items()])
        out = ("--output", tmp_path / "out", "--embedder", "tfidf-char", "--meaning", "0")
        return manage(
            "study",
            "multiqa",
            given,
            "--model",
            f"replies:{script}",
            "--rewordings",
            2,
            *out,
            *more,
        )

    return run


def table(folder, name):
    with (folder / "out" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def summary(folder):
    return json.loads((folder / "out" / "summary.json").read_text())


def journal(folder):
    lines = (folder / "out" / "requests.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def values(folder):
    return {row["metric"]: row["value"] for row in table(folder, "metrics.csv") if not row["group"]}


def test_questions_are_reworded_asked_and_evaluated(study, tmp_path):
    ran = study("--name", "sage")
    assert (ran.code, ran.err) == (0, "")
    kept = [
        (row["item"], row["variant"], row["reason"]) for row in table(tmp_path, "rewordings.csv")
    ]
    assert kept == [
        ("q1", "1", ""),
        ("q1", "", "other_names"),
        ("q2", "1", ""),
        ("q2", "2", ""),
        ("q1", "", "same_words"),
        ("q1", "2", ""),
    ]
    replies = {(row["item"], row["variant"]): row for row in table(tmp_path, "replies.csv")}
    assert len(replies) == 6
    assert replies["q1", "2"]["variant_text"] == "France has which capital?"
    assert replies["q1", "2"]["system"] == "sage"
    found = values(tmp_path)
    # q1: right wrong right; q2: right, wrong (in 1889), right.
    assert float(found["accuracy"]) == 1
    assert float(found["worst_case"]) == 0
    assert float(found["item_difficulty"]) == pytest.approx(2 / 3)
    assert "4 rewordings used, 2 dropped" in ran.out


def test_what_it_wrote_is_what_evaluate_reads(study, tmp_path):
    study()
    again = tmp_path / "again"
    ran = manage(
        *("evaluate", "multiqa", tmp_path / "given.csv"),
        *("--replies", tmp_path / "out" / "replies.csv", "--output", again),
        *("--embedder", "tfidf-char"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert (again / "metrics.csv").read_text() == (tmp_path / "out" / "metrics.csv").read_text()


def test_the_rewriter_is_asked_warmly_and_at_most_three_times_for_others(study, tmp_path):
    study()
    asked = {one["question"]: one["request"] for one in journal(tmp_path)}
    assert asked["q1|reword|1"]["temperature"] == 1.0
    assert asked["q1|0"]["temperature"] == 0.0
    assert "What is the capital of Spain?" in asked["q1|reword|2"]["messages"][0]["content"]
    assert "Write 1 other ways" in asked["q1|reword|3"]["messages"][0]["content"]
    assert "q2|reword|2" not in asked
    # Every wording in a conversation of its own.
    assert all(len(request["messages"]) == 1 for request in asked.values())
    content = asked["q2|1"]["messages"][0]["content"]
    assert "The tower was built in 1889." in content
    assert "In which year was the tower built?" in content


def test_an_item_may_keep_fewer_rewordings_and_says_so(study, tmp_path):
    study(replies={**REPLIES, "q1|reword|3": "1. Where?"} | {"q1|2": ""})
    noted = {one["reason"]: one for one in summary(tmp_path)["exclusions"]}
    assert noted["fewer_rewordings"]["named"] == [{"item": "q1", "rewordings": 1}]
    assert summary(tmp_path)["rewordings"]["dropped"] == {"other_names": 2, "same_words": 1}


def test_without_a_usable_rewording_it_ends_with_reasons_and_then_asks_anew(study, tmp_path):
    bad = {name: "1. Where is Rome?" if "reword" in name else reply
           for name, reply in REPLIES.items()}  # fmt: skip
    bad |= {f"q2|reword|{attempt}": "1. Where is Rome?" for attempt in (2, 3)}
    ran = study(replies=bad)
    # Two questions, three times; Rome is another name, and then a repetition.
    told = {
        "rewordings": 6,
        "reasons": {"other_names": 2, "same_words": 4},
        "silent": {},
        "examples": [
            {"question": item, "text": "Where is Rome?", "reason": reason}
            for item, reason in (("q1", "other_names"), ("q1", "same_words"), ("q2", "other_names"))
        ],
    }
    assert ran.code == 3
    assert terminal_sentence("run.no_usable_rewording", **told) in ran.out
    assert not (tmp_path / "out" / "metrics.csv").exists()
    assert [one.get("rejected") for one in journal(tmp_path)] == [None] * 6 + [True] * 6
    assert study().code == 0
    asked = [one["question"] for one in journal(tmp_path)[12:]]
    assert asked.count("q1|reword|1") == asked.count("q2|reword|1") == 1
    assert summary(tmp_path)["counts"]["rewordings_kept"] == 4
    n_lines = len(journal(tmp_path))
    assert study().code == 0  # what was kept is not asked for again
    assert len(journal(tmp_path)) == n_lines


def test_tokens_and_cost_are_told_by_step(study, tmp_path):
    study()
    steps = {one["step"]: one for one in summary(tmp_path)["asked"]}
    assert list(steps) == ["reword", "answer: choice", "answer: extractive with text"]
    assert steps["reword"]["requests"] == 4
    assert steps["answer: choice"]["statuses"]["text"] == 3
    assert {"prompt_tokens", "completion_tokens", "cost"} <= steps["reword"].keys()


def test_the_same_command_asks_nothing_twice_and_errors_again(study, tmp_path):
    missing = {name: reply for name, reply in REPLIES.items() if name != "q2|1"}
    ran = study(replies=missing)
    assert ran.code == 3
    assert {one["reason"] for one in summary(tmp_path)["exclusions"]} == {"error"}
    before = len(journal(tmp_path))
    ran = study()
    assert ran.code == 0
    assert len(journal(tmp_path)) == before + 1
    assert summary(tmp_path)["exclusions"] == []


def test_wordings_may_be_typed_instead(study, tmp_path):
    typed = write(
        tmp_path / "typed.csv",
        [
            {"item": "q1", "variant_text": "Whit's the capital o France?"},
            {"item": "q1", "variant_text": "what is the capital of france"},
            {"item": "zz", "variant_text": "?"},
        ],
        ("item", "variant_text"),
    )
    ran = study("--variants", typed, replies={**REPLIES, "q1|1": "A"})
    assert (ran.code, ran.err) == (0, "")
    assert [row["variant_text"] for row in table(tmp_path, "replies.csv")][-1].startswith("Whit")
    assert not any("reword" in one["question"] for one in journal(tmp_path))
    noted = {one["reason"]: one["count"] for one in summary(tmp_path)["exclusions"]}
    assert noted == {"unknown_item": 1}
    assert summary(tmp_path)["rewordings"]["dropped"] == {"same_words": 1}


def test_another_model_may_reword(study, tmp_path):
    other = tmp_path / "other.csv"
    rows = {name: reply for name, reply in REPLIES.items() if "reword" in name}
    with other.open("w", newline="") as file:
        csv.writer(file).writerows([("question", "reply"), *rows.items()])
    answers = {name: reply for name, reply in REPLIES.items() if "reword" not in name}
    ran = study("--rewriter", f"replies:{other}", replies=answers)
    assert (ran.code, ran.err) == (0, "")
    models = {one["step"]: one["model"] for one in summary(tmp_path)["asked"]}
    assert models["reword"].startswith("other")
    assert models["answer: choice"].startswith("script")


def test_without_rewordings_there_is_the_original_alone(study, tmp_path):
    assert study("--rewordings", "0").code == 0
    assert values(tmp_path)["fleiss_kappa"] == ""
    assert values(tmp_path)["accuracy"] == "1.0"


def test_items_without_a_question_and_tables_of_others_are_refused(study, tmp_path):
    ran = study(items=[{**ITEMS[0], "question": ""}])
    assert ran.code == 2
    assert ran.refusals == ("given.csv, line 2, column question, item_without_question",)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "metrics.csv").write_text("mine")
    ran = study()
    assert ran.code == 2
    assert ran.refusals == (f"{tmp_path / 'out' / 'metrics.csv'}, folder_of_others",)


def test_a_model_that_is_not_there_is_bad_usage(study, tmp_path):
    ran = study("--nli", str(tmp_path / "nowhere"))
    assert ran.code == 2
    ran = study("--meaning", "2")
    assert ran.code == 2
    assert ran.refusals[0] == "--meaning"
