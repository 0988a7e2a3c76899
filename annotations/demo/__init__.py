"""Data of the demo: two passages, their questions, invented answers, recorded model answers.

Whoever shows any of it shows the label beside it: `LABEL` with the workers' answers,
`MODEL_LABEL` with the models'. `README.md` in this folder describes how the content was made.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
PASSAGES = FOLDER / "passages.jsonl"
QUESTIONS = FOLDER / "questions.jsonl"
ANSWERS = FOLDER / "answers.csv"
MODEL_ANSWERS = FOLDER / "model_answers.csv"
RECORDING = FOLDER / "recording.json"

LABEL = (
    "Demo data: passages, questions and answers were written for this demo; "
    "no real people answered."
)
MODEL_LABEL = "Recorded from a real, very small language model"

# What `written_as` in answers.csv may say: the part an author wrote, not a measurement.
KINDS = ("expert", "average", "careless", "copy", "paste", "dont_know")


@dataclass(frozen=True)
class Passage:
    """Passage of the demo: a text about which its questions ask."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """Question of the demo; `passage` is the id of the passage that answers it."""

    id: str
    passage: str
    text: str


def load_passages() -> list[Passage]:
    """Return the demo's passages, in the order of the file."""
    return [Passage(**row) for row in _load_json_lines(PASSAGES)]


def load_questions() -> list[Question]:
    """Return the demo's questions, in the order of the file, passage after passage."""
    return [Question(**row) for row in _load_json_lines(QUESTIONS)]


def load_recording() -> dict[str, Any]:
    """Return how the model answers were recorded: file hash, versions, prompts, settings, date."""
    details: dict[str, Any] = json.loads(RECORDING.read_text(encoding="utf-8"))
    return details


def _load_json_lines(path: Path) -> list[dict[str, str]]:
    """Return the JSON objects of a JSON Lines file, in its order; empty lines are skipped."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]
