"""The study on a real model, SmolLM2-135M: ten problems and ten without an answer, in each form."""

import csv
import json

import pytest

from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import needs_packaged_model

THINGS = ("books", "apples", "pens", "coins", "cards", "shells", "stamps", "keys", "cups", "hats")
FORMS = ("direct", "instruction", "in-context")


def write_problems(path):
    """Each has a partner of which the first number is left out."""
    with path.open("w") as file:
        for number, thing in enumerate(THINGS, 1):
            asks = f"buys {number} more. How many {thing} has Tom then?"
            told = {
                "id": number, "question": f"Tom has {number + 3} {thing} and {asks}",
                "answer": [2 * number + 3], "answerable": True, "category": None,
                "relevant_ids": None, "source": "own",
            }  # fmt: skip
            left_out = {
                "id": 100 + number, "question": f"Tom has some {thing} and {asks}",
                "answer": None, "answerable": False, "category": 1 + number % 2,
                "relevant_ids": [number], "source": "own",
            }  # fmt: skip
            for problem in (told, left_out):
                file.write(json.dumps(problem) + "\n")
    return path


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.model
def test_twenty_problems_are_asked_in_three_forms_and_classified(tmp_path):
    needs_packaged_model()
    problems, out = write_problems(tmp_path / "problems.jsonl"), tmp_path / "out"
    command = (
        *("study", "umwp", problems, "--model", "local:smollm2", "--max-tokens", "16"),
        *("--output", out),
    )
    ran = manage(*command)
    assert (ran.code, ran.err) == (0, "")
    replies = rows(out / "replies.csv")
    assert [row["form"] for row in replies] == [form for form in FORMS for _ in range(20)]
    assert {row["status"] for row in replies} <= {"text", "empty"}
    items = {(row["item"], row["form"]): row for row in rows(out / "items.csv")}
    assert len(items) == 60
    decided = {row["decided_by"] for row in items.values()}
    assert decided <= {"template", "expression", "nothing", "empty"}
    for row in items.values():  # what decided is what the row shows
        above = row["similarity"] and float(row["similarity"]) > 0.5818
        assert (row["decided_by"] == "template") == bool(above)
        assert (row["decided_by"] == "expression") == bool(row["expression"])
    found = {(row["group"], row["metric"]): row for row in rows(out / "metrics.csv")}
    for form in FORMS:
        of_form = [row for (_, asked), row in items.items() if asked == form]
        positive = [row for row in of_form if row["taken_as"] == "unanswerable"]
        right = sum(row["answerable"] == "false" for row in positive)
        assert found[f"form:{form}", "true_positives"]["value"] == str(right)
        assert found[f"form:{form}", "recall"]["n"] == "10"
        assert float(found[f"form:{form}", "recall"]["value"]) == pytest.approx(right / 10)
    # The replies that came say the same when they are evaluated as a file.
    again = manage(
        *("evaluate", "umwp", problems, "--replies", out / "replies.csv"),
        *("--output", tmp_path / "again"),
    )
    assert again.code == 0
    for name in ("metrics.csv", "items.csv", "pairs.csv", "ablation.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes(), name
    before = (out / "requests.jsonl").read_bytes()
    assert manage(*command).code == 0
    assert (out / "requests.jsonl").read_bytes() == before
