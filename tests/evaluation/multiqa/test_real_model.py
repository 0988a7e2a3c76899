"""The study on a real model, SmolLM2-135M: twenty items, of which nothing is said but the form."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import needs_packaged_model

COLOURS = ("red", "green", "blue", "yellow")
THINGS = ("sky", "grass", "blood", "sun", "coal", "snow", "leaf", "sea", "rose", "lemon")


def write_items(path):
    with path.open("w") as file:
        for number, thing in enumerate(THINGS):
            choice = {
                "item": f"c{number}",
                "kind": "choice",
                "dataset": "colours",
                "question": f"Which colour has the {thing}?",
                "choices": COLOURS,
                "answers": [COLOURS[number % 4]],
            }
            text = {
                "item": f"x{number}",
                "kind": "extractive" if number % 2 else "free",
                "dataset": "places",
                "context": f"The {thing} is in room {number + 3}." if number % 2 else "",
                "question": f"Where is the {thing} kept?",
                "answers": [f"room {number + 3}"],
            }
            for item in (choice, text):
                file.write(json.dumps(item) + "\n")
    return path


@pytest.mark.long
@pytest.mark.model
def test_twenty_items_are_reworded_asked_and_evaluated_by_a_real_model(tmp_path):
    needs_packaged_model()
    out = tmp_path / "out"
    command = (
        *("study", "multiqa", write_items(tmp_path / "items.jsonl"), "--model", "local:smollm2"),
        *("--rewordings", "2", "--max-tokens", "12", "--rewriter-tokens", "48"),
        *("--meaning", "0.3", "--output", out),
    )
    ran = manage(*command)
    assert (ran.code, ran.err) == (0, "")
    with (out / "replies.csv").open(newline="") as file:
        replies = list(csv.DictReader(file))
    assert len([row for row in replies if row["variant"] == "0"]) == 20
    assert {row["status"] for row in replies} <= {"text", "empty"}
    with (out / "metrics.csv").open(newline="") as file:
        found = {row["metric"]: row["value"] for row in csv.DictReader(file) if not row["group"]}
    worst, best = float(found["worst_case"]), float(found["best_case"])
    for name in ("accuracy", "plurality", "item_difficulty"):
        assert worst <= float(found[name]) <= best
    summary = json.loads((out / "summary.json").read_text())
    kept = summary["counts"]["rewordings_kept"]
    assert len(replies) == 20 + kept
    assert summary["asked"][0]["step"] == "reword"
    assert sum(one["requests"] for one in summary["asked"][1:]) == len(replies)
    before = (out / "requests.jsonl").read_bytes()
    assert manage(*command).code == 0
    assert (out / "requests.jsonl").read_bytes() == before
