"""Case: the whole volume of UMWP classified, 5,200 problems in three forms, files to tables.

``python -m tests.benchmarks.word_problems FOLDER`` evaluates the files of a folder in
a process of its own and prints one JSON object.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tests.benchmarks import memory
from tests.benchmarks.child import measured_by
from tests.benchmarks.results import Claim, Findings, figure

PROBLEMS, LONGEST = 5200, 30
FORMS = ("direct", "instruction", "in-context")

TIME = Claim("at most", 120, "s")


def of_umwp() -> Findings:
    """Time ``evaluate umwp`` over 15,600 replies; the embedding of windows stands apart."""
    n = PROBLEMS * len(FORMS)
    setting = f"UMWP, {n:,} replies of up to {LONGEST} words"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder)
        found = measured_by("word_problems", folder)
    return Findings(
        [
            figure(setting, "evaluate umwp without the embedding", found["rest"], "s", TIME),
            figure(setting, "embedding of the distinct windows", found["embedding"], "s"),
            figure(setting, "peak of memory", found["peak"] / memory.GIGABYTE, "GB"),
        ],
        [
            f"{setting}: {PROBLEMS:,} problems in {len(FORMS)} forms, {found['windows']:,.0f} "
            f"distinct of {found['all_windows']:,.0f} windows, MiniLM, each embedded once; then "
            "expressions, numbers, intervals with 400 draws by form, category and source, what "
            "each part does alone, pairs, and all tables"
        ],
    )


def write(folder: Path) -> None:
    """Write problems.jsonl and replies.csv, made of a small vocabulary as replies are."""
    rng = np.random.default_rng(0)
    sources = ("SVAMP", "GSM8K", "MultiArith", "ASDiv")
    half = PROBLEMS // 2
    with (folder / "problems.jsonl").open("w", encoding="utf-8") as file:
        for number in range(PROBLEMS):
            with_answer = number < half
            problem = {
                "id": number,
                "question": f"Question {number}?",
                "answer": [float(number)] if with_answer else None,
                "answerable": with_answer,
                "category": None if with_answer else 1 + number % 5,
                "relevant_ids": None if with_answer else [number - half],
                "source": sources[number % 4],
            }
            file.write(json.dumps(problem) + "\n")
    with (folder / "replies.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("system", "id", "form", "reply", "status"))
        for form in FORMS:
            for number in range(PROBLEMS):
                table.writerow(("model", number, form, _reply(rng, number, half), "text"))


_NAMES = ("Ann", "Bob", "Tom", "Eva", "Sam", "Mia", "Joe", "Kim")
_THINGS = ("apples", "books", "marbles", "pens", "coins", "cards", "shells", "stamps")
_DOUBTS = (
    "It cannot be determined.",
    "There is not enough information to answer this question.",
    "The problem does not say how many there are.",
    "So the answer is 3n + {number}.",
    "We would need to know the price of one of them.",
)


def _reply(rng: np.random.Generator, number: int, half: int) -> str:
    """Return two or three sentences, which notice a missing answer in four of five cases."""
    name, thing, other = rng.choice(_NAMES), rng.choice(_THINGS), rng.choice(_THINGS)
    first, more = rng.integers(2, 60, 2)
    begin = (
        f"{name} has {first} {thing} at first and then buys {more} {other} in the shop, "
        f"so we add both numbers and get {first + more}."
    )
    notices = (number >= half) == (rng.random() < 0.8)
    if notices:
        end = str(rng.choice(_DOUBTS)).format(number=first)
    else:
        end = f"The answer is {number if rng.random() < 0.7 else first}."
    words = f"{begin} {end}".split()
    return " ".join(words[-LONGEST:])


def measure(folder: Path) -> dict[str, Any]:
    """Evaluate the files of a folder; seconds, those of the embedding, windows, peak of memory."""
    from evaluation.core.backends import get_embedder
    from evaluation.umwp.files import UmwpRequest, evaluate_umwp
    from evaluation.umwp.methods.texts import list_windows
    from evaluation.umwp.options import UmwpParameters

    encoder = get_embedder("minilm")
    encoder.embed(["the model is loaded"])
    request = UmwpRequest(
        folder / "problems.jsonl",
        folder / "replies.csv",
        None,
        UmwpParameters(),
        folder / "out",
    )
    memory.forget_peak()
    embedding, last = 0.0, 0.0

    def progress(stage: str, done: int, _total: int) -> None:
        nonlocal embedding, last
        now = perf_counter()
        if stage == "windows":
            # The first call says that it begins.
            embedding, last = embedding + (now - last if done else 0.0), now

    begin = perf_counter()
    study = evaluate_umwp(request, progress)
    seconds = perf_counter() - begin
    return {
        "seconds": seconds,
        "embedding": embedding,
        "rest": seconds - embedding,
        "windows": len(study.similarity.place),
        "all_windows": sum(
            len(list_windows(one.reply.text)) for many in study.judged.values() for one in many
        ),
        "peak": memory.peak(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
