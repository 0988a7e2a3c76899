"""``evaluate aqer --nli``: a real cross-encoder, tiny and at random, and what it says written."""

import csv
import json

import numpy as np
import pytest

from evaluation.grading.facts.run.meaning import THRESHOLD
from tests.evaluation.commands.running import manage
from tests.evaluation.cross_encoders import logits, save_cross_encoder

LABELS = ["contradiction", "entailment", "neutral"]
TEXTS = [
    "the gap is open here",
    "there is a gap in the path",
    "the path is closed",
    "it is not in a closed path",
    "a blue wire hums",
    "the bulb is in the path of the battery",
]
PLAIN = ("--embedder", "tfidf-word", "--bootstrap", "0")


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def answers(folder, texts=TEXTS, question="q"):
    rows = [(f"w{at}", question, text) for at, text in enumerate(texts)]
    return write(folder / "answers.csv", [("worker", "question", "answer"), *rows])


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def evaluate(folder, file, *more, out="out"):
    ran = manage("evaluate", "aqer", file, "--output", folder / out, *PLAIN, *more)
    return folder / out, ran


@pytest.fixture
def nli(tmp_path):
    return save_cross_encoder(tmp_path / "nli", TEXTS, LABELS)


def both_ways(nli, one, other):
    rows = [np.exp(row) / np.exp(row).sum() for row in logits(nli, [(one, other), (other, one)])]
    return min(row[0] for row in rows), max(row[1] for row in rows)


def test_what_the_model_says_by_itself_stands_in_the_tables_and_no_grade_moves(tmp_path, nli):
    file = answers(tmp_path)
    models = write(
        tmp_path / "models.csv",
        [("model", "question", "answer"), ("small", "q", "the path is open"), ("mute", "q", "")],
    )
    out, ran = evaluate(tmp_path, file, "--nli", nli, "--models", models)
    assert (ran.code, ran.err) == (0, "")
    exemplar = table(out / "exemplars.csv")[0]["nearest_answer"]
    by_name = {row["name"]: row for row in table(out / "answer_facts.csv")}
    assert set(by_name) == {f"w{at}" for at in range(len(TEXTS))} | {"small"}
    for name, row in by_name.items():
        text = "the path is open" if name == "small" else TEXTS[int(name[1:])]
        assert (row["question"], row["slot"]) == ("q", "meaning")
        if text == exemplar:
            continue
        contradict, entail = both_ways(nli, exemplar, text)
        assert float(row["value"]) == pytest.approx(contradict, abs=6e-4)
        if contradict < THRESHOLD:
            assert row["verdict"] == ("agrees" if entail >= THRESHOLD else "open")
        else:
            assert row["verdict"] in ("contradicts", "contested")
    assert (by_name["small"]["kind"], by_name["small"]["of"]) == ("model", "6")
    [claim] = table(out / "facts.csv")
    assert (claim["slot"], claim["value"], claim["of"]) == ("meaning", exemplar, "6")
    found = json.loads((out / "summary.json").read_text())["facts"]["meaning"]
    assert (found["model"], found["threshold"], found["questions"]) == (str(nli), 0.5, 1)
    # Five workers and the model beside the exemplary answer, and that beside the next one.
    assert found["pairs"] == 7
    verdicts = [row["verdict"] for row in by_name.values()]
    for verdict in ("agrees", "contradicts", "contested", "open", "too_few"):
        assert found[verdict] == verdicts.count(verdict)
    assert f"By meaning ({nli}), in no grade:" in " ".join(ran.out.split()).replace("- ", "-")

    plain, plain_ran = evaluate(tmp_path, file, "--models", models, out="plain")
    for name in ("workers.csv", "models.csv", "answers.csv"):
        kept = [
            [list(row.values())[:-4] if name != "answers.csv" else list(row.values())
             for row in table(folder / name)]
            for folder in (out, plain)
        ]  # fmt: skip
        assert kept[0] == kept[1]
    told = json.loads((plain / "summary.json").read_text())
    assert "meaning" not in told["facts"]
    assert told["contradictions"]["checked"] is False
    assert told["contradictions"]["code"] == "meaning.unseen"
    compared = json.loads((out / "summary.json").read_text())["contradictions"]
    assert (compared["checked"], compared["code"]) == (True, "meaning.found")
    # Printed in both runs, so that a run without the model does not look as if it had one.
    assert compared["message"] in " ".join(ran.out.split()).replace("- ", "-")
    assert told["contradictions"]["message"] in " ".join(plain_ran.out.split())
    assert told["contradictions"]["message"] not in " ".join(ran.out.split())
    assert told["signature"] == json.loads((out / "summary.json").read_text())["signature"]


@pytest.mark.parametrize(
    "texts",
    [
        ["only one"],
        ["", "", "one of three"],
        ["الدائرة مفتوحة", "هناك فجوة", "الدائرة مغلقة", "لا أعرف"],
        ["回路は開いている", "隙間がある", "回路は閉じている", "わかりません"],
        ["7" * 100_000, "the gap", "the path", "a wire"],
    ],
)
def test_one_answer_empty_ones_other_scripts_and_long_ones_are_no_crash(tmp_path, nli, texts):
    file = answers(tmp_path, texts)
    out, ran = evaluate(tmp_path, file, "--nli", nli, "--embedder", "tfidf-char")
    assert ran.code == 0, ran.err
    verdicts = [row["verdict"] for row in table(out / "answer_facts.csv")]
    assert len(verdicts) >= sum(map(bool, texts))
    assert ("too_few" in verdicts) == (len(texts) < 4)


def test_a_model_that_is_not_there_or_knows_no_contradiction_is_refused(tmp_path):
    file = answers(tmp_path)
    out, ran = evaluate(tmp_path, file, "--nli", tmp_path / "nowhere")
    assert ran.code == 2
    assert ran.refusals == ("backend",)
    assert f" {tmp_path / 'nowhere'}: " in ran.err
    two = save_cross_encoder(tmp_path / "two", TEXTS, ["entailment", "not_entailment"])
    out, ran = evaluate(tmp_path, file, "--nli", two)
    assert ran.code == 2
    assert ran.refusals == ("no_class",)
    assert " contradiction " in ran.err
    assert "entailment, not_entailment" in ran.err
    assert not out.exists()


def test_a_model_that_nothing_would_read_is_refused(tmp_path):
    _, ran = evaluate(tmp_path, answers(tmp_path), "--nli", "some-model", "--no-facts")
    assert ran.code == 2
    assert ran.refusals == ("nli, nli_idle",)
