"""Compose a MAQA question set from files with right answers and a file of yes/no questions.

A composed question lists yes/no questions (or statements) with letters and asks for which of them
the answer is yes (which are true). Its right answers are their letters. This gives commonsense
questions with any number of right answers, including single-answer controls.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from annotations.exchange import OutputFolder
from annotations.exchange.problems import Problems
from annotations.exchange.reading.json_objects import read_value_list
from annotations.exchange.reading.several_answers import read_several_answers
from annotations.exchange.reading.source import make_source
from evaluation.runs.files.metrics import refuse_to_replace_inputs
from evaluation.runs.files.problem_messages import add_problem, build_error

MOST_OPTIONS = len(ascii_uppercase)
QUESTIONS_PROMPT = "To which of these questions is the answer yes? Reply with their letters."
STATEMENTS_PROMPT = "Which of these statements are true? Reply with their letters."
# Least number of true and of false statements, by default, where the number of options is drawn.
FEWEST_OF_RANGE = 2
# Least number of right answers in the category "many".
MANY = 8
SINGLE_ANSWER, FEW_ANSWERS, MANY_ANSWERS = "single", "few", "many"


@dataclass(frozen=True)
class YesNoQuestion:
    """A yes/no question, its answer, and a statement that is true if the answer is yes.

    `statement` is a sentence that is true if the answer is yes; "" without one.
    """

    question: str
    yes: bool
    statement: str = ""


@dataclass(frozen=True)
class ComposedQuestion:
    """A multiple-choice question; its right answers are letters in alphabetical order."""

    text: str
    answers: tuple[str, ...]
    options: int


def compose_questions(
    questions: Sequence[YesNoQuestion],
    options: int,
    fewest: int = 1,
    most: int = 0,
    seed: int = 0,
    largest: int = 0,
) -> Iterator[ComposedQuestion]:
    """Yield multiple-choice questions made of yes/no questions, until too few are left.

    Each yes/no question is used at most once. The number of true ones in a composed question is
    drawn uniformly from `fewest` to `most`, among the numbers that the remaining questions allow.
    The selection and the order are random too. With `largest`, the number of options is drawn
    first, as in the paper: 5 to 15 statements, of which at least 2 are true and 2 are false.

    Parameters
    ----------
    options : yes/no questions in a composed question, 2 to 26.
    fewest, most : bounds of the number of true ones, 1 to `options`; `most` 0 means all but one,
        and with `largest` all but two.
    largest : greatest number of options, `options` being the least; 0 means always `options`.

    Raises
    ------
    ValueError : bounds that contradict each other.
    """
    if not are_bounds_valid(options, fewest, most, largest):
        raise ValueError("2 to 26 options, and 1 <= fewest <= most <= options")
    sizes = range(options, (largest or options) + 1)
    fewest_false = FEWEST_OF_RANGE if largest else 1
    rng = random.Random(seed)  # noqa: S311
    piles = {
        truth: [question for question in questions if question.yes is truth]
        for truth in (True, False)
    }
    for pile in piles.values():
        rng.shuffle(pile)
    # Statements and questions are not mixed in one set.
    has_statements = all(question.statement for question in questions)
    while True:
        possible = {
            size: numbers
            for size in sizes
            if (
                numbers := [
                    n
                    for n in range(fewest, (most or max(1, size - fewest_false)) + 1)
                    if n <= len(piles[True]) and 0 <= size - n <= len(piles[False])
                ]
            )
        }
        if not possible:
            return
        size = rng.choice(list(possible)) if largest else options
        n_true = rng.choice(possible[size])
        chosen = [piles[True].pop() for _ in range(n_true)]
        chosen += [piles[False].pop() for _ in range(size - n_true)]
        rng.shuffle(chosen)
        lines = [
            f"{letter}) {each.statement if has_statements else each.question}"
            for letter, each in zip(ascii_uppercase, chosen, strict=False)
        ]
        right = [letter for letter, each in zip(ascii_uppercase, chosen, strict=False) if each.yes]
        prompt = STATEMENTS_PROMPT if has_statements else QUESTIONS_PROMPT
        yield ComposedQuestion("\n".join([prompt, *lines]), tuple(right), size)


def are_bounds_valid(options: int, fewest: int, most: int, largest: int) -> bool:
    """Return whether questions with these bounds can exist; see `compose_questions`."""
    if largest and not options < largest:
        return False
    # The least size decides: every larger one allows at least as many true statements.
    lowest_most = most or max(1, options - (FEWEST_OF_RANGE if largest else 1))
    return (
        2 <= options <= (largest or options) <= MOST_OPTIONS
        and 1 <= fewest <= lowest_most <= options
    )


def get_size_category(n_answers: int) -> str:
    """Return the size category of a question with `n_answers` right answers; "" for 0."""
    if not n_answers:
        return ""
    if n_answers == 1:
        return SINGLE_ANSWER
    return FEW_ANSWERS if n_answers < MANY else MANY_ANSWERS


LAYOUT = 'Write [{"question": "...", "answer": true, "statement": "..."}, ...].'
COMMONSENSE = "commonsense"
YES = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class ComposingRequest:
    """Input files, output file and options of a question set to compose.

    Attributes
    ----------
    lists : files of questions with their right answers, by the name of the data set.
    yes_no : file of yes/no questions; None without one.
    options, fewest, most, seed, largest : as for `compose_questions`.
    """

    output: Path
    lists: Mapping[str, Path]
    yes_no: Path | None = None
    options: int = 5
    fewest: int = 1
    most: int = 0
    seed: int = 0
    largest: int = 0


@dataclass(frozen=True)
class CompositionCounts:
    """Counts of written questions by data set and category, and of unused yes/no questions."""

    by_dataset: Mapping[str, int]
    by_category: Mapping[str, int]
    left_over: int


def compose_question_file(request: ComposingRequest) -> CompositionCounts:
    """Read the input files, compose questions, and write all questions as one JSON list.

    Raises
    ------
    InputError
        A file is invalid, a yes/no question occurs with both answers, or there is no question.
        Nothing is written then.
    """
    inputs = [*request.lists.values(), *filter(None, [request.yes_no])]
    refuse_to_replace_inputs(request.output.parent, [request.output.name], inputs)
    entries: list[dict[str, Any]] = []
    for dataset, path in request.lists.items():
        for question in read_several_answers(path).questions:
            answers = [
                spellings[0] if len(spellings) == 1 else list(spellings)
                for spellings in question.answers
            ]
            entry = _build_question_entry(dataset, question.id, question.text, answers)
            entries.append({**dict(question.groups), **entry})
    left_over = 0
    if request.yes_no is not None:
        questions = read_yes_no_questions(request.yes_no)
        bounds = (request.options, request.fewest, request.most, request.seed, request.largest)
        composed = list(compose_questions(questions, *bounds))
        left_over = len(questions) - sum(question.options for question in composed)
        entries += [
            _build_question_entry(COMMONSENSE, str(number), question.text, list(question.answers))
            for number, question in enumerate(composed)
        ]
    if not entries:
        raise build_error(str(request.output), "nothing_to_compose")
    with OutputFolder(request.output.parent) as folder:
        folder.write_lines(request.output.name, _format_json_list(entries))
    return CompositionCounts(
        Counter(entry["dataset"] for entry in entries),
        Counter(entry["category"] for entry in entries if entry["category"]),
        left_over,
    )


def read_yes_no_questions(path: Path) -> list[YesNoQuestion]:
    """Read yes/no questions from a file: question, answer and optional statement.

    A repeated question counts once. Raises `InputError` with all problems of the file.
    """
    source = make_source(path)
    problems = Problems(source.name)
    questions: dict[str, YesNoQuestion] = {}
    numbers: dict[str, int] = {}
    for number, (line, entry) in enumerate(
        read_value_list(
            source, problems, "list_missing", what="yes/no questions", layout=LAYOUT
        ).values
    ):
        row, details = line or None, {"entry": number, "layout": LAYOUT}
        if not isinstance(entry, dict):
            add_problem(problems, row, None, "entry_no_object", **details)
            continue
        text, statement = entry.get("question"), entry.get("statement") or ""
        truth = _parse_truth(entry.get("answer"))
        if not isinstance(text, str) or not text.strip():
            add_problem(problems, row, "question", "entry_without_question", **details)
        elif not isinstance(statement, str):
            add_problem(problems, row, "statement", "entry_statement_no_text", **details)
        elif truth is None:
            add_problem(problems, row, "answer", "entry_answer_unknown", **details)
        elif (before := questions.get(text.strip())) is not None and before.yes is not truth:
            contradiction = {"entry": number, "earlier": numbers[text.strip()]}
            add_problem(problems, row, "answer", "entry_contradicts", **contradiction)
        else:
            question = YesNoQuestion(" ".join(text.split()), truth, " ".join(statement.split()))
            questions.setdefault(text.strip(), question)
            numbers.setdefault(text.strip(), number)
    problems.raise_if_any()
    return list(questions.values())


def _parse_truth(value: object) -> bool | None:
    """Return whether a value means true or false (True, "yes", "no"); None for any other."""
    if isinstance(value, bool):
        return value
    return YES.get(value.strip().casefold()) if isinstance(value, str) else None


def _build_question_entry(
    dataset: str, name: str, text: str, answers: Sequence[Any]
) -> dict[str, Any]:
    """Return a question as one entry of a MAQA JSON file, with its size category."""
    return {
        "id": f"{dataset}-{name}",
        "question": text,
        "answer": answers,
        "dataset": dataset,
        "category": get_size_category(len(answers)),
    }


def _format_json_list(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the text of a JSON list piece by piece, one entry per line."""
    for number, entry in enumerate(entries):
        yield ("[\n" if not number else ",\n") + json.dumps(entry, ensure_ascii=False)
    yield "\n]\n"
