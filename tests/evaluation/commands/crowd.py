"""A small crowd in files: five workers, some gaps, three models, vectors made elsewhere."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WORKERS = ("Ana", "Ben", "Cem", "Dora", "Eli")
QUESTIONS = ("q1", "q2", "q3", "q4", "q5", "q6")
# Ben skipped q4, Eli q1 and q2, and only Dora answered q7.
SKIPPED = {("Ben", "q4"), ("Eli", "q1"), ("Eli", "q2")}
EMPTY = ("Ben", "q4")
ALONE = ("Dora", "q7")
REPEATED = ("Ana", "q1")
MODEL_ROWS = (
    ("m-1", "q1", "a moon", "text"),
    ("m-1", "q2", "two moons", ""),
    ("m-1", "q3", "", "EMPTY"),
    ("m-1", "q9", "nobody was asked this", "text"),
    ("m-2", "q1", "no moon", "text"),
    ("m-2", "q2", "I must not say", "Refused"),
    ("m-2", "q3", "three moons", "text"),
    ("m-3", "q1", "", "error"),
    ("m-3", "q2", "the sun", "text"),
)


@dataclass(frozen=True)
class Crowd:
    """Files, and the vectors they were made from, by worker (or model) and question."""

    answers: Path
    models: Path
    vectors: Path
    of_workers: dict[tuple[str, str], np.ndarray]
    of_models: dict[tuple[str, str], np.ndarray]


def text_of(worker: str, question: str) -> str:
    return f"{worker} thinks of {question}, the moon\nand {len(worker)} tides"


def answer_rows() -> list[tuple[str, str, str]]:
    rows = [
        (worker, question, text_of(worker, question))
        for question in QUESTIONS
        for worker in WORKERS
        if (worker, question) not in SKIPPED
    ]
    rows.insert(7, (*EMPTY, "  "))
    rows.append((*ALONE, "a lone answer"))
    rows.insert(12, (*REPEATED, text_of(*REPEATED)))
    return rows


def write_csv(path: Path, header: tuple[str, ...], rows: list, encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def make_crowd(folder: Path, dtype: str = "float64") -> Crowd:
    """Workers err around a common direction of each question, Ana least and Eli most."""
    rng = np.random.default_rng(11)
    right = {question: rng.normal(size=8) for question in (*QUESTIONS, "q7", "q9")}
    error = dict(zip(WORKERS, (0.3, 0.5, 0.8, 1.2, 2.0), strict=True))
    rows = answer_rows()
    values = np.array([right[q] + error[w] * rng.normal(size=8) for w, q, _ in rows], dtype=dtype)
    of_workers, seen = {}, set()
    for row, (worker, question, text) in enumerate(rows):
        if not text.strip() or (worker, question) in seen:
            values[row] = np.nan  # of an empty answer, and of a row that repeats an earlier one
            continue
        seen.add((worker, question))
        of_workers[worker, question] = values[row].astype(float)
    spoken = np.array([right[q] + rng.normal(size=8) for _, q, _, _ in MODEL_ROWS], dtype=dtype)
    of_models = {}
    for row, (model, question, _, status) in enumerate(MODEL_ROWS):
        if status.lower() in ("", "text"):
            of_models[model, question] = spoken[row].astype(float)
        else:
            spoken[row] = np.inf
    np.savez(folder / "vectors.npz", answers=values, models=spoken)
    return Crowd(
        write_csv(folder / "crowd.csv", ("worker", "question", "answer"), rows),
        write_csv(folder / "llms.csv", ("model", "question", "answer", "status"), list(MODEL_ROWS)),
        folder / "vectors.npz",
        of_workers,
        of_models,
    )


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def header_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def summary_of(folder: Path) -> dict:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in summary.json")

    return json.loads((folder / "summary.json").read_text("utf-8"), parse_constant=refuse)


# The columns that name a row, by file; of the others, these may be empty without a reason.
KEYS = {
    "workers.csv": 1,
    "answers.csv": 2,
    "exemplars.csv": 1,
    "models.csv": 1,
    "model_answers.csv": 2,
    "remedies.csv": 1,  # only with remedies
}
MAY_BE_EMPTY = {("model_answers.csv", "reason")}


def assert_every_gap_has_its_reason(folder: Path) -> None:
    said = {
        (entry["file"], entry["column"], tuple(row) if isinstance(row, list) else (row,))
        for entry in summary_of(folder)["undefined"]
        for row in entry["rows"]
        if entry["reason"]
    }
    empty = set()
    for name, n_keys in KEYS.items():
        for row in table(folder / name) if (folder / name).exists() else ():
            cells = list(row.items())
            assert not {"nan", "inf", "-inf"} & {value.lower() for _, value in cells}, row
            key = tuple(value for _, value in cells[:n_keys])
            empty |= {
                (name, column, key)
                for column, value in cells[n_keys:]
                if not value and (name, column) not in MAY_BE_EMPTY
            }
    assert empty == said
