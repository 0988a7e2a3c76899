"""What the tests of `manage.py ask` share."""

import csv
import json
import time
from pathlib import Path

from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat


def write_questions(path: Path, count: int, **more) -> Path:
    rows = [{"question": f"q{n}", "text": f"What is number {n}?", **more} for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def ask(questions, output, model, *arguments):
    return manage("ask", questions, "--model", model, "--output", output, *arguments)


def rows_of(output: Path) -> list[dict[str, str]]:
    with (output / "model_answers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines_of(output: Path) -> list[dict]:
    return [json.loads(line) for line in (output / "requests.jsonl").read_text().splitlines()]


def summary_of(output: Path) -> dict:
    return json.loads((output / "summary.json").read_text())


def wait_for(chat: FakeChat, count: int) -> None:
    ends = time.monotonic() + 60
    while len(chat.bodies) < count:
        assert time.monotonic() < ends, f"{len(chat.bodies)} requests came"
        time.sleep(0.002)
