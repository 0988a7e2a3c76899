"""Cases: the paper's whole volume of MultiQ&A evaluated, and free texts clustered by meaning.

``python -m tests.benchmarks.robustness FOLDER`` evaluates the files of a folder in a
process of its own and prints one JSON object.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from tests.benchmarks import memory
from tests.benchmarks.child import measured_by
from tests.benchmarks.results import Claim, Findings, figure

ITEMS, WORDINGS, CHOICES = 383_000, 6, 4
FREE_ITEMS = 10_000
RIGHT = 0.7

TIME = Claim("at most", 60, "s")
MEMORY = Claim("at most", 2, "GB")


def whole_volume() -> Findings:
    """Time ``evaluate multiqa`` over 383,000 items with 6 choice replies each, files to tables."""
    setting = f"{ITEMS:,} items x {WORDINGS} choice replies, 12 data sets"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_choices(folder, ITEMS)
        found = measured_by("robustness", folder)
        free = folder / "free"
        free.mkdir()
        write_free(free, FREE_ITEMS)
        of_free = measured_by("robustness", free)
    clustered = f"{FREE_ITEMS:,} free-text items x {WORDINGS}"
    return Findings(
        [
            figure(setting, "evaluate multiqa", found["seconds"], "s", TIME),
            figure(setting, "processor time of the same", found["processor"], "s"),
            figure(setting, "peak of memory", found["peak"] / memory.GIGABYTE, "GB", MEMORY),
            figure(clustered, "embedding", of_free["embedding"], "s"),
            figure(clustered, "all the rest, clusters too", of_free["rest"], "s"),
        ],
        [
            f"{setting}: from two CSV files ({found['megabytes']:.0f} MB) to metrics.csv with "
            "every item, items.csv and summary.json, 400 draws",
            f"{clustered}: MiniLM, {of_free['texts']:,} different texts of 3 to 8 words",
        ],
    )


def write_choices(folder: Path, n: int) -> None:
    """Write items.csv and replies.csv: four choices, replied to by text, letter or bracket."""
    rng = np.random.default_rng(0)
    right = rng.integers(0, CHOICES, n)
    picked = np.where(
        rng.random((n, WORDINGS)) < RIGHT,
        right[:, None],
        rng.integers(0, CHOICES, (n, WORDINGS)),
    )
    forms = rng.integers(0, 3, (n, WORDINGS))
    names = rng.integers(0, 10**6, n)
    with _tables(folder) as (items, replies):
        for item in range(n):
            texts = [f"choice {names[item]} {letter}" for letter in "wxyz"]
            listed, key = json.dumps(texts), json.dumps([texts[right[item]]])
            of = (f"q{item}", "choice", f"set {item % 12}", "", f"Question {item}?")
            items.writerow((*of, listed, key, ""))
            for variant in range(WORDINGS):
                at = picked[item, variant]
                said = (texts[at], "ABCD"[at], f"({'abcd'[at]})")[forms[item, variant]]
                replies.writerow(("model", f"q{item}", variant, said, "text"))


def write_free(folder: Path, n: int) -> None:
    """Write the same for free texts, made of a few hundred words."""
    rng = np.random.default_rng(1)
    words = [a + b for a in ("kel", "mor", "tin", "sal", "ver") for b in _ENDINGS]
    with _tables(folder) as (items, replies):
        for item in range(n):
            answer = " ".join(rng.choice(words, rng.integers(3, 8)))
            of = (f"q{item}", "free", "made", "", f"Question {item}?", "")
            items.writerow((*of, json.dumps([answer]), ""))
            for variant in range(WORDINGS):
                other = " ".join(rng.choice(words, rng.integers(3, 8)))
                said = f"{answer} {rng.choice(words)}" if rng.random() < RIGHT else other
                replies.writerow(("model", f"q{item}", variant, said, "text"))


_ENDINGS = ("an", "os", "ia", "ud", "en", "art", "olm", "ick", "une", "ar")


@contextmanager
def _tables(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Open items.csv and replies.csv with their headers written."""
    with (
        (folder / "items.csv").open("w", newline="", encoding="utf-8") as of_items,
        (folder / "replies.csv").open("w", newline="", encoding="utf-8") as of_replies,
    ):
        items, replies = csv.writer(of_items), csv.writer(of_replies)
        items.writerow(
            ("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher")
        )
        replies.writerow(("system", "item", "variant", "reply", "status"))
        yield items, replies


def measure(folder: Path) -> dict[str, float]:
    """Evaluate the files of a folder; seconds, those of the embedding, and bytes at the peak."""
    from evaluation.multiqa.files.evaluation import MultiqaRequest, evaluate_files
    from evaluation.multiqa.options import MultiqaParameters

    files = (folder / "items.csv", folder / "replies.csv")
    request = MultiqaRequest(*files, MultiqaParameters(), folder / "out")
    embedding, last, texts = 0.0, 0.0, 0

    def progress(stage: str, _done: int, total: int) -> None:
        nonlocal embedding, last, texts
        now = perf_counter()
        if stage == "embedding":
            # From the first batch that is done on: the model's loading is no part of it.
            embedding, texts = embedding + (now - last if last else 0.0), total
            last = now

    memory.forget_peak()
    begin, used = perf_counter(), process_time()
    evaluate_files(request, progress)
    seconds = perf_counter() - begin
    return {
        "seconds": seconds,
        "processor": process_time() - used,
        "peak": memory.peak(),
        "embedding": embedding,
        "rest": seconds - embedding,
        "texts": texts,
        "megabytes": sum(file.stat().st_size for file in files) / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
