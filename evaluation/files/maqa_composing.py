"""A set for MAQA, composed of lists that are there and of yes/no questions: files in, one out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotations.exchange import OutputFolder
from annotations.exchange.problems import Problems
from annotations.exchange.reading.objects import read_listed
from annotations.exchange.reading.several_answers import read_several_answers
from annotations.exchange.reading.source import source_of
from evaluation.files.metrics import refuse_to_replace
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.flow.maqa.composing import YesNo, compose, size_of

LAYOUT = 'Write [{"question": "...", "answer": true, "statement": "..."}, ...].'
COMMONSENSE = "commonsense"
YES = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class ComposingRequest:
    """What is composed.

    Attributes
    ----------
    lists : files of questions with their right answers, by the name of the data set.
    yes_no : a file of yes/no questions, None for none. options, fewest, most, seed : as for
        `compose`.
    """

    output: Path
    lists: Mapping[str, Path]
    yes_no: Path | None = None
    options: int = 5
    fewest: int = 1
    most: int = 0
    seed: int = 0


@dataclass(frozen=True)
class ComposedFile:
    """How many questions there are by data set, by category, and what was left over."""

    by_dataset: Mapping[str, int]
    by_category: Mapping[str, int]
    left_over: int


def compose_file(request: ComposingRequest) -> ComposedFile:
    """Read everything, compose, and write one JSON list; nothing is written if anything fails.

    Raises
    ------
    InputError
        A file will not do; a yes/no question stands there with both answers; no question at all.
    """
    inputs = [*request.lists.values(), *filter(None, [request.yes_no])]
    refuse_to_replace(request.output.parent, [request.output.name], inputs)
    entries: list[dict[str, Any]] = []
    for dataset, path in request.lists.items():
        for one in read_several_answers(path).questions:
            answers = [
                spelled[0] if len(spelled) == 1 else list(spelled) for spelled in one.answers
            ]
            entries.append({**dict(one.groups), **_entry(dataset, one.id, one.text, answers)})
    left_over = 0
    if request.yes_no is not None:
        questions = read_yes_no(request.yes_no)
        bounds = (request.options, request.fewest, request.most, request.seed)
        composed = list(compose(questions, *bounds))
        left_over = len(questions) - request.options * len(composed)
        entries += [
            _entry(COMMONSENSE, str(number), one.text, list(one.answers))
            for number, one in enumerate(composed)
        ]
    if not entries:
        raise file_error(str(request.output), "nothing_to_compose")
    with OutputFolder(request.output.parent) as folder:
        folder.write_lines(request.output.name, _lines(entries))
    return ComposedFile(
        Counter(one["dataset"] for one in entries),
        Counter(one["category"] for one in entries if one["category"]),
        left_over,
    )


def read_yes_no(path: Path) -> list[YesNo]:
    """Read yes/no questions: `question`, `answer` (true, false, yes, no), perhaps `statement`.

    A question that stands there twice counts once. Raises `InputError`.
    """
    source = source_of(path)
    problems = Problems(source.name)
    found: dict[str, YesNo] = {}
    lines: dict[str, int] = {}
    for place, (line, one) in enumerate(
        read_listed(source, problems, "list_missing", what="yes/no questions", layout=LAYOUT).values
    ):
        at, of_entry = line or None, {"entry": place, "layout": LAYOUT}
        if not isinstance(one, dict):
            note_problem(problems, at, None, "entry_no_object", **of_entry)
            continue
        text, statement = one.get("question"), one.get("statement") or ""
        truth = _truth(one.get("answer"))
        if not isinstance(text, str) or not text.strip():
            note_problem(problems, at, "question", "entry_without_question", **of_entry)
        elif not isinstance(statement, str):
            note_problem(problems, at, "statement", "entry_statement_no_text", **of_entry)
        elif truth is None:
            note_problem(problems, at, "answer", "entry_answer_unknown", **of_entry)
        elif (before := found.get(text.strip())) is not None and before.yes is not truth:
            earlier = lines[text.strip()]
            note_problem(problems, at, "answer", "entry_contradicts", entry=place, earlier=earlier)
        else:
            asked = " ".join(text.split())
            found.setdefault(text.strip(), YesNo(asked, truth, " ".join(statement.split())))
            lines.setdefault(text.strip(), place)
    problems.raise_if_any()
    return list(found.values())


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return YES.get(value.strip().casefold()) if isinstance(value, str) else None


def _entry(dataset: str, name: str, text: str, answers: Sequence[Any]) -> dict[str, Any]:
    return {
        "id": f"{dataset}-{name}",
        "question": text,
        "answer": answers,
        "dataset": dataset,
        "category": size_of(len(answers)),
    }


def _lines(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a JSON list, an entry a line."""
    for place, one in enumerate(entries):
        yield ("[\n" if not place else ",\n") + json.dumps(one, ensure_ascii=False)
    yield "\n]\n"
