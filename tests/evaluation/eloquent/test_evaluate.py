"""``evaluate eloquent``: prompts, replies and judgements in, tables and a picture out."""

import csv
import json
from xml.etree import ElementTree as ET

import pytest

from evaluation.core.messages.reasons import describe_reason
from tests.contracts.replay import facts_of
from tests.evaluation.commands.running import manage

ITEMS = [
    ("001", "style", [("en", "The rules?"), ("en", "What rules?"), ("sv", "Reglerna?")]),
    ("002", "closeness", [("en", "Write to mum."), ("en", "Write to mother.")]),
]


def prompts_text():
    items = [
        {
            "id": name,
            "variation": variation,
            "variants": [{"language": language, "prompt": prompt} for language, prompt in variants],
        }
        for name, variation, variants in ITEMS
    ]
    test = {"source": "us", "year": "2024", "items": items}
    return json.dumps({"eloquent-robustness-test": test}, indent=1)


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.json"
    path.write_text(prompts_text())
    return path


@pytest.fixture
def evaluated(prompts, tmp_path):
    """Runs the command; returns how it ended and the folder."""

    def run(*arguments, file=prompts):
        output = tmp_path / "out"
        command = ("evaluate", "eloquent", file, "--embedder=tfidf-word", "--bootstrap=20")
        return manage(*command, *arguments, "--output", output), output

    return run


def written(path, text):
    path.write_text(text)
    return path


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def metric(folder, system, name, group=""):
    (found,) = [
        row
        for row in rows(folder / "metrics.csv")
        if (row["system"], row["group"], row["metric"]) == (system, group, name)
    ]
    return found


JUDGEMENTS = """item,system,language,judge,repeat,score,judge_reply
001,a,en,small,1,,"They agree.

**Similarity score: 4/5**"
002,a,en,small,1,2.5,
001,b,en,small,1,5,
002,b,en,small,1,,Similarity score: 0-5
003,b,en,small,1,5,
001,b,sv,small,1,5,
"""
REPLIES = """system,item,language,variant,reply,status
a,001,en,0,eleven a side,
a,001,en,1,eleven a side,
a,001,sv,0,elva,
a,002,en,0,dear mum,
a,002,en,1,,
a,099,en,1,who knows,
"""


def test_prompts_alone_are_reported(evaluated):
    ran, folder = evaluated()
    assert (ran.code, ran.err) == (0, "")
    assert "2 items, 5 prompts, 2 languages (us, 2024)" in ran.out
    assert "prompts by language: en 4, sv 1" in ran.out
    assert [row["variant"] for row in rows(folder / "prompts.csv")] == ["1", "2", "1", "1", "2"]
    assert metric(folder, "", "prompts", "language:en")["value"] == "4.0"
    assert sorted(path.name for path in folder.iterdir()) == [
        "items.csv",
        "metrics.csv",
        "prompts.csv",
        "summary.json",
    ]


def test_a_missing_comma_is_an_error_and_repair_mends_and_tells_it(evaluated, tmp_path):
    broken = prompts_text().replace("},\n", "}\n", 1)
    path = written(tmp_path / "broken.json", broken)
    ran, folder = evaluated(file=path)
    assert (ran.code, ran.out) == (2, "")
    assert "broken.json, line 14, column 6" in ran.err
    assert not folder.exists()
    ran, folder = evaluated("--repair", file=path)
    assert ran.code == 0
    assert "13 6" in [facts_of(line) for line in ran.out.splitlines()]
    summary = json.loads((folder / "summary.json").read_text())
    (repair,) = summary["prompts"]["repairs"]
    assert (repair["line"], repair["after_line"], repair["after_column"]) == (14, 13, 6)
    assert json.loads((folder / "prompts.json").read_text()) == json.loads(prompts_text())


def test_judgements_alone_make_the_table(evaluated, tmp_path):
    path = written(tmp_path / "judgements.csv", JUDGEMENTS)
    ran, folder = evaluated("--judgements", path)
    assert ran.code == 0, ran.err
    assert metric(folder, "a", "sum")["value"] == "6.5"
    assert metric(folder, "a", "mean")["value"] == "3.25"
    assert metric(folder, "a", "n")["value"] == "2.0"
    assert metric(folder, "b", "sum")["value"] == "5.0"
    assert metric(folder, "", "average", "item:001")["value"] == "4.5"
    rank = metric(folder, "a", "rank")
    assert (rank["value"], rank["reason"]) == ("", "different_counts")
    assert describe_reason("different_counts") in ran.out
    table = (folder / "items_by_system.csv").read_text().splitlines()
    assert table == ["item,a,b,average", "001,4.0,5.0,4.5", "002,2.5,,2.5"]
    notes = {(row["item"], row["system"]): row["notes"] for row in rows(folder / "judgements.csv")}
    assert notes["001", "a"] == "They agree."
    summary = json.loads((folder / "summary.json").read_text())
    counts = {entry["reason"]: entry["count"] for entry in summary["exclusions"]}
    assert counts == {
        "fewer_than_2_variants": 1,
        "judgement_of_fewer_than_2_variants": 1,
        "unknown_item": 1,
        "score_is_a_range": 1,
    }
    assert summary["signature"].startswith("eloquent|embedder:tfidf-word|")


def test_replies_alone_are_compared_by_their_vectors(evaluated, tmp_path):
    path = written(tmp_path / "replies.csv", REPLIES)
    ran, folder = evaluated("--replies", path)
    assert ran.code == 0, ran.err
    # 001: two equal replies; 002: one answer and none.
    assert float(metric(folder, "a", "similarity")["value"]) == pytest.approx(0.5)
    assert float(metric(folder, "a", "similarity_answered")["value"]) == pytest.approx(1.0)
    assert metric(folder, "a", "sum")["reason"] == "no_score"
    assert [row["status"] for row in rows(folder / "replies.csv")] == [*["text"] * 4, "empty"]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["variant_numbers"] == {"from": 0, "within": "language"}
    assert {e["reason"]: e["count"] for e in summary["exclusions"]}["unknown_item"] == 1
    (last,) = [row for row in rows(folder / "items.csv") if row["item"] == "002"]
    assert (last["n_no_answer"], last["score"], last["reason"]) == ("1", "", "not_judged")


def test_a_submission_is_read_with_its_follow_up_turns_and_changed_prompts(evaluated, tmp_path):
    questions = [
        {"questionid": 1, "turns": [{"question": "The rules?", "answer": "eleven a side"}]},
        {
            "questionid": "001",
            "turns": [
                {"question": "Which rules?", "answer": "eleven a side"},
                {"question": "All of them?", "answer": "eleven"},
            ],
        },
    ]
    form = {"team": "us", "system": "small", "submissionid": "1", "language": "en"}
    form |= {"date": "2025-05-01", "label": "eloquent-2025-robustness", "questions": questions}
    path = written(tmp_path / "small.json", json.dumps(form))
    ran, folder = evaluated("--replies", path)
    assert ran.code == 0, ran.err
    first, second = rows(folder / "replies.csv")
    assert (first["changed"], second["changed"]) == ("no", "yes")
    assert (second["prompt"], second["follow_ups"]) == ("Which rules?", "All of them?")
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["counts"]["changed_prompts"] == summary["counts"]["follow_up_turns"] == 1
    assert summary["submissions"][0]["team"] == "us"


def test_the_picture_is_sound_and_names_the_systems(evaluated, tmp_path):
    path = written(tmp_path / "judgements.csv", JUDGEMENTS)
    _, folder = evaluated("--judgements", path)
    picture = ET.parse(folder / "figure1.svg")
    texts = ["".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    # The least average first: 002 (2.5) before 001 (4.5).
    names = [text for text in texts if text.startswith("00")]
    assert names == ["002 closeness", "001 style"]
    assert {"a", "b"} <= set(texts)
    assert len([text for text in texts if text.startswith("average")]) == 1


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        (
            "replies.csv",
            "item,variant,reply,status\n001,1,x,odd\n",
            "line 2, column status, status_unknown",
        ),
        ("replies.json", '{"questions": [}', "line 1, column 16, json_expected"),
        (
            "replies.json",
            '{"system": "x"}',
            "line 1, column questions, submission_without_questions",
        ),
    ],
)
def test_replies_that_cannot_be_read_are_refused_with_their_place(
    evaluated, tmp_path, name, text, fault
):
    ran, folder = evaluated("--replies", written(tmp_path / name, text))
    assert (ran.code, ran.out) == (2, "")
    assert ran.refusals == (f"{name}, {fault}",)
    assert name in ran.err
    assert not folder.exists()


def test_a_file_that_is_read_is_never_replaced(tmp_path, prompts):
    ran = manage("evaluate", "eloquent", prompts, "--output", tmp_path)
    assert ran.code == 2
    assert ran.refusals == (f"{prompts}, file_replaced",)
    assert prompts.read_text() == prompts_text()
