"""Files of a small MAQA for tests."""

import csv
import json
from pathlib import Path

from tests.evaluation.commands.running import Ran, manage

QUESTIONS = [
    {"question": "Who sang?", "answer": ["Bob Dylan", ["Mike Nesmith", "Michael Nesmith"]]},
    {"question": "Which primes divide 60?", "answer": [2, 3, 5], "dataset": "mathematics"},
    {"question": "Which letter?", "answer": ["A"], "id": "letter", "dataset": "choices"},
    {"question": "Where was it filmed?", "answer": ["Shreveport, Louisiana", "Atlanta, Texas"]},
]


def write(folder: Path, replies: list, questions: object = QUESTIONS) -> tuple[Path, Path]:
    one, other = folder / "questions.json", folder / "replies.jsonl"
    one.write_text(json.dumps(questions))
    lines = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    other.write_text("\n".join(lines) + "\n")
    return one, other


def evaluate(folder: Path, replies: list, *options: object, questions: object = QUESTIONS) -> Ran:
    one, other = write(folder, replies, questions)
    output = folder / "out"
    files = (one, "--replies", other, "--output", output)
    # By letters: a model would take seconds to load. The last of two switches counts.
    return manage("evaluate", "maqa", *files, "--embedder", "tfidf-char", *options)


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def metrics(folder: Path, group: str = "", system: str = "model") -> dict[str, dict[str, str]]:
    return {
        row["metric"]: row
        for row in rows(folder, "metrics.csv")
        if (row["group"], row["system"]) == (group, system)
    }


def summary(folder: Path) -> dict:
    return json.loads((folder / "out" / "summary.json").read_text())


def excluded(folder: Path) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in summary(folder)["exclusions"]}
