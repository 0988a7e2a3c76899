"""``study prompting``: the same models by two prompts, scored by AQER and by the baselines."""

import csv
import json
import re

import numpy as np
import pytest

from evaluation.consensus import AQER
from evaluation.core.backends import get_embedder
from evaluation.evidence.baselines import METHODS
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat, said

RIGHT = ["the", "stack", "gives", "back", "last", "what", "came", "in", "first"]
QUESTIONS, WORKERS = 6, 5
FEW = ("aqer", "f1", "mean_vote")


def worded(question, n_wrong, who):
    words = RIGHT[: len(RIGHT) - n_wrong] + [f"{who}x{place}" for place in range(n_wrong)]
    return " ".join([f"q{question}", *words])


def answer_of(model, content):
    """The reply: by the second prompt the small model has 6 wrong words in place of 1."""
    question = int(re.search(r"Q(\d)\?", content)[1])
    second = content.startswith("Slowly")
    if question == 5 and second and model == "small":
        return ""
    return worded(question, {"small": 6 if second else 1, "large": 2, "third": 4}[model], model)


@pytest.fixture
def server():
    made = FakeChat(lambda body: said(answer_of(body["model"], body["messages"][-1]["content"])))
    yield made
    made.close()


@pytest.fixture
def study(tmp_path, server, monkeypatch):
    monkeypatch.setattr(
        "evaluation.evidence.prompting.study.list_methods",
        lambda *, core: [METHODS[name] for name in FEW],
    )

    def write(name, *rows):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return tmp_path / name

    questions = [(f"q{n}", f"Q{n}?") for n in range(QUESTIONS)]
    answers = [
        (f"w{worker}", f"q{question}", worded(question, worker % 3, f"w{worker}"))
        for worker in range(WORKERS)
        for question in range(QUESTIONS)
        if question != 4
    ]
    files = (
        write("questions.csv", ("question", "text"), *questions),
        write("answers.csv", ("worker", "question", "answer"), *answers),
    )
    second = tmp_path / "second.txt"
    second.write_text("Slowly: {question}\n")

    def run(*more):
        others = [
            part for name in ("large", "third")
            for part in ("--also", server.spec.replace("small", name))
        ]  # fmt: skip
        return manage(
            *("study", "prompting", files[0], "--answers", files[1], "--model", server.spec),
            *("--second-template", second, "--embedder", "tfidf-word", "--bootstrap", 50),
            *("--concurrency", 1, "--output", tmp_path / "out", *others, *more),
        )

    return run


def rows(folder, name):
    with (folder / "out" / name).open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.mark.medium
def test_both_replies_of_a_model_are_scored_on_the_same_questions(study, tmp_path, server):
    ran = study()
    assert (ran.code, ran.err) == (0, "")
    assert len(server.bodies) == 3 * 2 * QUESTIONS
    found = {(row["model"], row["method"]): row for row in rows(tmp_path, "prompting.csv")}
    assert set(found) == {(name, method) for name in ("small", "large", "third") for method in FEW}
    # Nobody answered question 4; the small model's second reply to question 5 is empty.
    assert {name: found[name, "aqer"]["n"] for name in ("small", "large", "third")} == {
        "small": "4", "large": "5", "third": "5",
    }  # fmt: skip
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    left_out = {one["reason"]: one["count"] for one in summary["exclusions"]}
    assert left_out == {"no_answers": 3, "no_text_by_both_prompts": 1}

    # The same by the estimator: all workers vote, the replies are scored as models'.
    replies = {
        (row["model"], row["question"]): row["answer"]
        for row in rows(tmp_path, "model_answers.csv")
    }
    kept = [f"q{n}" for n in range(4)]
    texts = [replies["small, first prompt", one] for one in kept]
    texts += [replies["small, second prompt", one] for one in kept]
    for name in ("large", "third"):
        for prompt in ("first", "second"):
            texts += [replies[f"{name}, {prompt} prompt", one] for one in [*kept, "q5"]]
    with (tmp_path / "answers.csv").open() as file:
        answers = list(csv.DictReader(file))
    texts_of_all = [*texts, *(one["answer"] for one in answers)]
    vectors = get_embedder("tfidf-word").fit(texts_of_all).embed(texts_of_all).toarray()
    aqer = AQER(n_draws=0).fit(
        vectors[len(texts) :],
        [one["worker"] for one in answers],
        [one["question"] for one in answers],
    )
    scores = aqer.score_models(vectors[:8], ["first"] * 4 + ["second"] * 4, kept * 2)
    row = found["small", "aqer"]
    assert [float(row["first"]), float(row["second"])] == pytest.approx(list(scores.scores))
    assert float(row["difference"]) == pytest.approx(scores.scores[1] - scores.scores[0])
    # Each reply loses 5 words of 10, so that the differences and their interval are nearly one.
    assert float(row["low"]) <= float(row["difference"]) + 1e-9
    assert float(row["difference"]) - 1e-9 <= float(row["high"]) < 0
    # All 4 differences are negative: 2 of 16 sign patterns are as extreme.
    assert float(row["p_value"]) == pytest.approx(2 / 16)
    assert float(found["large", "aqer"]["difference"]) == pytest.approx(0)
    assert found["small", "f1"]["low"] == ""
    assert float(found["small", "f1"]["difference"]) < 0


@pytest.mark.medium
def test_the_prompts_agreement_is_over_models(study, tmp_path):
    study()
    found = {row["method"]: row for row in rows(tmp_path, "agreement.csv")}
    assert {row["models"] for row in found.values()} == {"3"}
    # First small > large > third, second large > third > small: ranks 3 2 1 and 1 3 2.
    expected = np.corrcoef([3, 2, 1], [1, 3, 2])[0, 1]
    assert float(found["aqer"]["spearman"]) == pytest.approx(expected)


@pytest.mark.medium
def test_the_same_command_asks_nothing_again(study, server):
    study()
    before = len(server.bodies)
    assert study().code == 0
    assert len(server.bodies) == before


def test_equal_prompts_are_refused_before_anything_is_asked(study, tmp_path, server):
    same = tmp_path / "second.txt"
    ran = study("--first-template", same)
    assert (ran.code, server.bodies) == (2, [])
