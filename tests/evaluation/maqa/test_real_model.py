"""`study maqa` on a real model, SmolLM2-135M: twenty questions with its real distributions."""

import csv
import json

import httpx
import numpy as np
import pytest

from evaluation.core.backends.chat import smollm2
from evaluation.maqa.run.replies import INSTRUCTION
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import needs_packaged_model

LISTS = {
    "colours of the French flag": ["blue", "white", "red"],
    "primary colours": ["red", "blue", "yellow"],
    "days of the weekend": ["Saturday", "Sunday"],
    "states of matter": ["solid", "liquid", "gas"],
    "seasons": ["spring", "summer", "autumn", "winter"],
}
FORMS = ("What are the {}?", "Name all {}.", "List the {}.", "Which are the {}?")


def write_questions(path):
    questions = [
        {"question": form.format(name), "answer": answers}
        for name, answers in LISTS.items()
        for form in FORMS
    ]
    path.write_text(json.dumps(questions))
    return path


def rows(folder, name):
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.model
def test_twenty_questions_are_asked_with_the_whole_distribution_at_each_answer(tmp_path):
    needs_packaged_model()
    out = tmp_path / "out"
    command = (
        *("study", "maqa", write_questions(tmp_path / "q.json"), "--model", "local:smollm2"),
        *("--samples", 2, "--temperature", 0.7, "--max-tokens", 16, "--output", out),
    )
    ran = manage(*command)
    assert (ran.code, ran.err) == (0, "")
    summary = json.loads((out / "summary.json").read_text())
    assert (summary["complete"], summary["first_tokens"]) == (True, "all")
    assert summary["counts"]["replies"] == 40
    answers, items = rows(out, "answers.csv"), rows(out, "items.csv")
    told = [row for row in answers if row["entropy"]]
    # Where tokens and text do not meet a distribution is left out, and counted; seldom.
    assert len(told) > 0.8 * len(answers) > 10
    # The whole distribution: no interval. Where the beginning of a reply falls into other tokens
    # than it was made of, the likeliest tokens of the reply count, and it is told.
    excluded = {one["reason"]: one["count"] for one in summary["exclusions"]}
    partly = sum(row["entropy"] != row["entropy_high"] for row in told)
    assert partly == excluded.get("distribution_of_another_place", 0) < 0.3 * len(told)
    assert all(0 <= float(row["entropy"]) < np.log(49_152) for row in told)
    assert all(0 < float(row["max_softmax"]) <= 1 for row in told)
    assert {row["meanings"] for row in items} <= {"1", "2"}
    assert all(row["semantic_entropy_weighted"] for row in items)
    _agrees_with_the_server(out, told)
    before = (out / "requests.jsonl").read_bytes()
    assert manage(*command).code == 0
    assert (out / "requests.jsonl").read_bytes() == before


def _agrees_with_the_server(out, told):
    """Compare with numpy over all tokens that the model's own server sends for the same place."""
    lines = [json.loads(line) for line in (out / "requests.jsonl").read_text().splitlines()]
    asked = {
        line["question"]: line["request"]
        for line in lines
        if "first tokens" in line["model"] and line.get("request")  # a copy has none
    }
    # The first answer of a reply, with something of the reply before it.
    body, first = next(
        (asked[name], row)
        for row in told
        if row["position"] == "1" and row["entropy"] == row["entropy_high"]
        if (name := f"{row['item']}|{row['sample']}|0") in asked
        if asked[name]["messages"][-1]["role"] == "assistant"
    )
    assert body["messages"][0]["content"] == INSTRUCTION
    with smollm2.run_server(smollm2.find_model_file()) as address:
        answer = httpx.post(f"{address}/v1/chat/completions", json=body, timeout=60).json()
    listed = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    assert len(listed) == 49_152
    p = np.exp([one["logprob"] for one in listed])
    p /= p.sum()
    assert float(first["entropy"]) == pytest.approx(-(p * np.log(p)).sum(), rel=0.02)
    assert float(first["max_softmax"]) == pytest.approx(p.max(), rel=0.05)
    one, other = np.sort(p)[-2:][::-1]
    assert float(first["margin"]) == pytest.approx(one - other, rel=0.1, abs=0.01)
