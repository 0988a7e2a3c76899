"""Prompts of the generating and the verifying model, and the reading of their replies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from evaluation.core.backends.chat.contract import Message
from evaluation.maqa.run.replies import read_answers
from evaluation.runs.flow.asking.reading import PromptWithReminder

Answers = tuple[tuple[str, ...], ...]
"""Right answers of a question, each a tuple of its spellings."""

FORMAT = (
    'Write each question in two lines, and nothing else:\nQuestion: ...\nAnswers: ["...", "..."]'
)
GENERATE = PromptWithReminder(
    "Write {count} questions {about}. Each question must have at least two right answers. List all "
    "of its right answers, short and without explanations. The list must be complete, and must not "
    "change over time. A question must not contain one of its answers, and must not ask for "
    "examples. {batch}\n\n" + FORMAT,
    "Your reply has another format. " + FORMAT,
    ("count", "about", "batch"),
)
VERDICT_FORMAT = (
    "Reply in four lines, and with nothing else:\n"
    "Wrong: the numbers of the answers that are not right, or none\n"
    "Missing: the right answers that are not listed, or none\n"
    "Clear: yes, or no if the question has several readings\n"
    "Reason: one sentence"
)
VERIFY = PromptWithReminder(
    "Check the answers of a question.\n\nQuestion: {question}\nAnswers:\n{answers}\n\n"
    "Are all of them right, and is the list complete?\n\n" + VERDICT_FORMAT,
    "Your reply has another format. " + VERDICT_FORMAT,
    ("question", "answers"),
)


@dataclass(frozen=True)
class Generated:
    """A question with its right answers, as a model wrote it."""

    question: str
    answers: Answers


@dataclass(frozen=True)
class ModelVerdict:
    """Verdict of the verifying model: right, wrong, incomplete or ambiguous, and its reason."""

    code: str
    note: str


def build_batch_messages(
    source: str, is_topic: bool, count: int, batch: int, batches: int
) -> tuple[Message, ...]:
    """Return the conversation that asks for one batch of questions; batches count from 1."""
    about = f"about this topic: {source}" if is_topic else f"on the subject of: {source}"
    # Only batches of the same source differ by number, so that each has a key of its own.
    other = f"This is batch {batch} of {batches}: write others than the most obvious ones."
    return GENERATE.messages(
        {"count": str(count), "about": about, "batch": other if batches > 1 else ""}
    )


def build_check_messages(question: str, answers: Answers) -> tuple[Message, ...]:
    """Return the conversation that asks the verifying model about a candidate."""
    listed = "\n".join(
        f"{number}. {' | '.join(spellings)}" for number, spellings in enumerate(answers, 1)
    )
    return VERIFY.messages({"question": question, "answers": listed})


_QUESTION = re.compile(
    r"^[\s>*#_-]*(?:\d+[.)]\s*)?[*_]*question[*_]*(?:\s*\d+)?[*_]*\s*[:.)]\s*[*_]*", re.I | re.M
)
_ANSWERS = re.compile(r"^[\s>*#_-]*(?:right\s+|correct\s+)?answers?[*_]*\s*:\s*[*_]*", re.I | re.M)


def parse_batch(reply: str) -> list[Generated]:
    """Return the questions in a reply, in JSON or in lines "Question:" and "Answers:".

    A question without a line of answers is left out.
    """
    listed = _parse_json(reply)
    if listed:
        return listed
    starts = list(_QUESTION.finditer(reply))
    generated = []
    for match, following in zip_longest(starts, starts[1:]):
        block = reply[match.end() : following.start() if following else len(reply)]
        marked = _ANSWERS.search(block)
        if marked is None:
            continue
        question = " ".join(block[: marked.start()].split())
        answers = read_answers(block[marked.end() :].strip()).answers
        if question:
            generated.append(Generated(question, tuple((text,) for text in _clean(answers))))
    return generated


def _parse_json(reply: str) -> list[Generated]:
    """Return the questions of a JSON list of objects in a reply; empty if there is none."""
    start, end = reply.find("["), reply.rfind("]")
    try:
        values = json.loads(reply[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(values, list):
        return []
    generated = []
    for value in values:
        entries = value.get("answers", value.get("answer")) if isinstance(value, dict) else None
        if not isinstance(entries, list) or not isinstance(value.get("question"), str):
            continue
        spellings = [
            tuple(_clean(map(str, entry if isinstance(entry, list) else [entry])))
            for entry in entries
        ]
        question = " ".join(value["question"].split())
        if question:
            generated.append(Generated(question, tuple(each for each in spellings if each)))
    return generated


def _clean(answers: object) -> list[str]:
    """Return answers without white space around them and without empty ones."""
    texts = (str(text).strip() for text in answers)  # type: ignore[attr-defined]
    return [text for text in texts if text]


_LINE = re.compile(r"^[\s>*#_-]*(wrong|missing|clear|reason)[*_]*\s*:\s*[*_]*(.*)$", re.I | re.M)
_NONE = re.compile(r"\W*(?:none|no|nothing|n/?a|0)?\W*", re.I)


def parse_verdict(reply: str, n_answers: int) -> ModelVerdict | None:
    """Return the verdict in a reply; None where a line is missing or cannot be read.

    `n_answers` is the number of answers shown: a number beyond it is no verdict.
    """
    lines = {name.casefold(): text.strip() for name, text in _LINE.findall(reply)}
    if not {"wrong", "missing", "clear"} <= lines.keys():
        return None
    note = lines.get("reason", "")
    wrong = [int(number) for number in re.findall(r"\d+", lines["wrong"])]
    is_clear = re.match(r"\W*(yes|no)\b", lines["clear"], re.I)
    if is_clear is None or any(not 1 <= number <= n_answers for number in wrong if number):
        return None
    if any(wrong):
        numbers = ", ".join(map(str, wrong))
        return ModelVerdict("wrong", f"{numbers}: {note}" if note else numbers)
    if not _NONE.fullmatch(lines["wrong"]):
        return None
    if is_clear[1].casefold() == "no":
        return ModelVerdict("ambiguous", note)
    if not _NONE.fullmatch(lines["missing"]):
        return ModelVerdict(
            "incomplete", f"{lines['missing']}: {note}" if note else lines["missing"]
        )
    return ModelVerdict("right", note)


def join_answers(answers: Sequence[Sequence[str]]) -> str:
    """Return the first spelling of each answer in one line, for tables."""
    return "; ".join(spellings[0] for spellings in answers)
