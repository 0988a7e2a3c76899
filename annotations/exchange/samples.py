"""Sample files for download, one for each kind of upload."""

from __future__ import annotations

FOLDER = "crowdgrade/samples/"
"""Their folder among the static files."""

SAMPLES = {
    "questions": "questions.csv",
    "passages": "passages.csv",
    "answers": "answers.csv",
    "import": "answers.csv",
    "model-answers": "model-answers.csv",
    "several-answers": "several-answers.json",
    "word-problems": "word-problems.jsonl",
    "prompts": "prompts.json",
    "decisions": "decisions.csv",
    "graded": "graded.csv",
}
"""File names by the slug of the kind of upload."""


def find_sample_file(slug: str) -> str:
    """Return the static path of the sample file for a kind of upload; "" if there is none."""
    return f"{FOLDER}{SAMPLES[slug]}" if slug in SAMPLES else ""
