"""The same models and questions through the evaluations of every kind, as folders of files.

Elk answers all twelve questions rightly and always the same; Ox says something else each time.
"""

import csv
import json

from tests.evaluation.commands.running import manage
from tests.evaluation.model_overview.world import QUESTIONS, write_files

MODELS = ("Elk", "Ox")
QUICK = ("--bootstrap", "20")
RIGHT = ["north sea", "baltic sea"]


def said_by(model, number, again):
    """Return a reply: Elk knows and repeats itself, Ox drifts from one thing to another."""
    if model == "Elk":
        return RIGHT[0]
    return ("lamp", RIGHT[0], "spoon of salt", "a door")[(number + again) % 4]


def csv_of(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def aqer(folder):
    people, models = write_files(folder)
    return ("evaluate", "aqer", people, "--models", models, "--embedder", "tfidf-word")


def multiqa(folder):
    items = [
        (question, "free", "", "", f"What is {question}?", "", json.dumps(RIGHT[:1]), "exact")
        for question in QUESTIONS
    ]
    header = ("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher")
    replies = [
        (model, question, variant, f"wording {variant}", said_by(model, number, variant), "")
        for model in MODELS
        for number, question in enumerate(QUESTIONS)
        for variant in range(4)
    ]
    of_replies = ("system", "item", "variant", "variant_text", "reply", "status")
    return (
        *("evaluate", "multiqa", csv_of(folder / "items.csv", header, items)),
        *("--replies", csv_of(folder / "replies.csv", of_replies, replies)),
        *("--embedder", "tfidf-word"),
    )


def maqa(folder):
    questions = [{"id": name, "question": f"{name}?", "answer": RIGHT} for name in QUESTIONS]
    replies = [
        {
            "system": model,
            "item": question,
            "sample": sample,
            "answers": [said_by(model, number, sample)],
            "confidence": 90 if model == "Elk" else 10 + 5 * number,
        }
        for model in MODELS
        for number, question in enumerate(QUESTIONS)
        for sample in range(3)
    ]
    (folder / "several.json").write_text(json.dumps(questions))
    (folder / "several.jsonl").write_text("".join(json.dumps(one) + "\n" for one in replies))
    return ("evaluate", "maqa", folder / "several.json", "--replies", folder / "several.jsonl")


def umwp(folder):
    problems = [
        {
            "id": question,
            "question": f"{question}: how many?",
            "answer": [number] if number % 2 else None,
            "answerable": bool(number % 2),
            "category": None if number % 2 else 1,
            "relevant_ids": None,
            "source": "made",
        }
        for number, question in enumerate(QUESTIONS)
    ]
    unknown = "It cannot be determined because information is missing."
    replies = [
        (model, question, form, unknown if model == "Elk" and not number % 2 else "4", "")
        for model in MODELS
        for form in ("direct", "instruction")
        for number, question in enumerate(QUESTIONS)
    ]
    (folder / "problems.jsonl").write_text("".join(json.dumps(one) + "\n" for one in problems))
    templates = folder / "templates.txt"
    templates.write_text(unknown + "\n")
    header = ("system", "id", "form", "reply", "status")
    return (
        *("evaluate", "umwp", folder / "problems.jsonl"),
        *("--replies", csv_of(folder / "problem_replies.csv", header, replies)),
        *("--encoder", "tfidf-char", "--threshold", "0.8", "--templates", templates),
    )


def eloquent(folder):
    items = [
        {
            "id": question,
            "variation": "style",
            "variants": [{"language": "en", "prompt": f"{question}, {way}?"} for way in "abc"],
        }
        for question in QUESTIONS
    ]
    document = {"eloquent-robustness-test": {"source": "made", "year": "2024", "items": items}}
    (folder / "prompts.json").write_text(json.dumps(document))
    replies = [
        (model, question, "en", place + 1, said_by(model, number, place))
        for model in MODELS
        for number, question in enumerate(QUESTIONS)
        for place in range(3)
    ]
    header = ("system", "item", "language", "variant", "reply")
    return (
        *("evaluate", "eloquent", folder / "prompts.json"),
        *("--replies", csv_of(folder / "prompt_replies.csv", header, replies)),
        *("--embedder", "tfidf-word"),
    )


COMMANDS = {
    "aqer": aqer,
    "multiqa": multiqa,
    "maqa": maqa,
    "umwp": umwp,
    "eloquent": eloquent,
}


def evaluated(kind, folder):
    """Return the output folder of a kind's command."""
    inputs, out = folder / f"{kind}-in", folder / kind
    inputs.mkdir()
    ran = manage(*COMMANDS[kind](inputs), *QUICK, "--output", out)
    assert ran.code == 0, ran.err
    return out
