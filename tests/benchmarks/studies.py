"""Case: the studies of answers at the size of the papers, from files to tables.

``python -m tests.benchmarks.studies maqa FOLDER`` evaluates the files of a folder in
a process of its own and prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from tests.benchmarks import memory, word_problems
from tests.benchmarks.child import measured_by
from tests.benchmarks.results import Claim, Figure, Findings, figure

# MAQA: questions, replies to each, right answers to each, and words for them.
QUESTIONS, SAMPLES, GOLD = 10_000, 10, 4
NAMES = 20_000
KNOWN = 0.7

MAQA_TIME = Claim("at most", 30, "s")


def of_answers() -> Findings:
    """Time each study over files of the size of its paper."""
    rows: list[Figure] = []
    remarks: list[str] = []
    for part in (of_maqa, word_problems.of_umwp):
        found = part()
        rows += found.rows
        remarks += found.remarks
    return Findings(rows, remarks)


def of_maqa() -> Findings:
    """Time ``evaluate maqa`` over 100,000 replies with 400 draws."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_maqa(folder, QUESTIONS, SAMPLES)
        found = measured_by("studies", "maqa", folder)
    setting = f"MAQA, {QUESTIONS * SAMPLES:,} replies to {QUESTIONS:,} questions"
    rest = found["seconds"] - found["embedding"]
    return Findings(
        [
            figure(setting, "evaluate maqa, its embedding apart", rest, "s", MAQA_TIME),
            figure(setting, "processor time of the same, embedding too", found["processor"], "s"),
            figure(setting, "embedding", found["embedding"], "s"),
            figure(setting, "peak of memory", found["peak"] / memory.GIGABYTE, "GB"),
        ],
        [
            f"{setting}: JSON Lines ({found['megabytes']:.0f} MB) with a list, a confidence, the "
            "probabilities of five tokens for each answer and of the reply's, to all tables, 400 "
            f"draws; {found['texts']:,.0f} answers embedded by MiniLM for the semantic entropy",
        ],
    )


def write_maqa(folder: Path, questions: int, samples: int) -> None:
    """Write questions.json and replies.jsonl: lists of two words each, most of them right."""
    rng = np.random.default_rng(0)
    names = _names(rng, NAMES)
    listed = []
    with (folder / "replies.jsonl").open("w", encoding="utf-8") as file:
        for item in range(questions):
            words = [names[place] for place in rng.integers(0, NAMES, 2 * GOLD)]
            n_gold = int(rng.integers(1, GOLD + 1))
            gold, others = words[:n_gold], words[n_gold:]
            listed.append({"question": f"Which are of {names[item % NAMES]}?", "answer": gold})
            known = rng.random(samples) < KNOWN
            for sample in range(samples):
                said = gold if known[sample] else [gold[0], *others[: int(rng.integers(1, 4))]]
                file.write(json.dumps(_reply(rng, item, sample, said)) + "\n")
    (folder / "questions.json").write_text(json.dumps(listed), encoding="utf-8")


def _names(rng: np.random.Generator, n: int) -> list[str]:
    starts = ("Kel", "Mor", "Tin", "Sal", "Ver", "Bran", "Hol", "Dun", "Ash", "Wes")
    ends = ("an", "os", "ia", "ud", "en", "art", "olm", "ick", "une", "ar", "ford", "ley")
    first = [a + b for a in starts for b in ends]
    pairs = rng.choice(len(first) ** 2 * 10, n, replace=False)
    return [
        f"{first[pair // 10 % len(first)]} {first[pair // 10 // len(first)]}{ends[pair % 10]}"
        for pair in pairs.tolist()
    ]


def _reply(rng: np.random.Generator, item: int, sample: int, said: list[str]) -> dict[str, object]:
    logs = np.log(rng.dirichlet([4, 1, 1, 0.5, 0.5, 1], len(said))[:, :5]).round(4)
    tops = -np.sort(-logs, axis=1)
    text = f"{json.dumps(said)}\nConfidence: {int(rng.integers(0, 101))}"
    return {
        "system": "model",
        "item": item,
        "sample": sample,
        "reply": text,
        "first_token": [
            {"answer": answer, "top_logprobs": top, "vocabulary": 49_152}
            for answer, top in zip(said, tops.tolist(), strict=True)
        ],
        "logprobs": (-rng.exponential(0.3, 4 * len(said))).round(4).tolist(),
    }


def measure(study: str, folder: Path) -> dict[str, float]:
    """Evaluate the files of a folder; seconds, those of the embedding, and bytes at the peak."""
    embedding, texts = 0.0, 0
    last = begin = perf_counter()
    used = process_time()

    def progress(stage: str, _done: int, total: int) -> None:
        nonlocal embedding, last, texts
        now = perf_counter()
        if stage == "embedding":
            # With the loading of the model: the stage before has told its end.
            embedding, texts = embedding + now - last, total
        last = now

    memory.forget_peak()
    MEASURED[study](folder, progress)
    return {
        "seconds": perf_counter() - begin,
        "processor": process_time() - used,
        "peak": memory.peak(),
        "embedding": embedding,
        "texts": texts,
        "megabytes": sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6,
    }


def _maqa(folder: Path, progress: Callable[[str, int, int], None]) -> None:
    from evaluation.maqa.files import MaqaRequest, evaluate_reply_file
    from evaluation.maqa.options import MaqaParameters

    files = (folder / "questions.json", folder / "replies.jsonl")
    evaluate_reply_file(MaqaRequest(*files, MaqaParameters(), folder / "out"), progress)


MEASURED: dict[str, Callable[[Path, Callable[[str, int, int], None]], None]] = {"maqa": _maqa}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
