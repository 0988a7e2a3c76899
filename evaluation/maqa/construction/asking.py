"""Requests of a construction run: prompts, the reading of replies, and the filters of questions.

The codes of reasons are those of `annotations.writing.candidates.FILTER_REASONS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from evaluation.core.backends.chat.contract import Message
from evaluation.core.text.matching import NUMBER_WORDS, normalise_for_matching
from evaluation.maqa.run.replies import read_answer_list
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import PromptWithReminder
from evaluation.runs.steps.asking.stored_replies import StoredReply
from evaluation.runs.steps.asking.study_asking import Round, StudyAsker
from evaluation.runs.steps.checkpoints import Turn

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
class GeneratedQuestion:
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
    return GENERATE.build_messages(
        {"count": str(count), "about": about, "batch": other if batches > 1 else ""}
    )


def build_verification_messages(question: str, answers: Answers) -> tuple[Message, ...]:
    """Return the conversation that asks the verifying model about a candidate."""
    listed = "\n".join(
        f"{number}. {' | '.join(spellings)}" for number, spellings in enumerate(answers, 1)
    )
    return VERIFY.build_messages({"question": question, "answers": listed})


_QUESTION = re.compile(
    r"^[\s>*#_-]*(?:\d+[.)]\s*)?[*_]*question[*_]*(?:\s*\d+)?[*_]*\s*[:.)]\s*[*_]*", re.I | re.M
)
_ANSWERS = re.compile(r"^[\s>*#_-]*(?:right\s+|correct\s+)?answers?[*_]*\s*:\s*[*_]*", re.I | re.M)


def parse_batch(reply: str) -> list[GeneratedQuestion]:
    """Return the questions in a reply, in JSON or in lines "Question:" and "Answers:".

    A question without a line of answers is left out.
    """
    listed = _parse_json_questions(reply)
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
        answers = read_answer_list(block[marked.end() :].strip()).answers
        if question:
            generated.append(
                GeneratedQuestion(question, tuple((text,) for text in _strip_answers(answers)))
            )
    return generated


def _parse_json_questions(reply: str) -> list[GeneratedQuestion]:
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
            tuple(_strip_answers(map(str, entry if isinstance(entry, list) else [entry])))
            for entry in entries
        ]
        question = " ".join(value["question"].split())
        if question:
            generated.append(GeneratedQuestion(question, tuple(each for each in spellings if each)))
    return generated


def _strip_answers(answers: object) -> list[str]:
    """Return the nonempty answers as texts, without white space around them."""
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


def join_first_spellings(answers: Sequence[Sequence[str]]) -> str:
    """Return the first spelling of each answer in one line, for tables."""
    return "; ".join(spellings[0] for spellings in answers)


AGAIN = "asking again"
Reader = Callable[[str], Any]
"""Returns what a reply holds; None if it cannot be read."""


@dataclass(frozen=True)
class ParsedReply:
    """Last reply to a request, with the number of attempts and the value parsed from it."""

    reply: StoredReply
    attempts: int
    value: Any


def read_nonempty_batch(reply: str) -> list[GeneratedQuestion] | None:
    """Return the questions in a reply; None if there is none."""
    return parse_batch(reply) or None


@dataclass(frozen=True)
class VerdictReader:
    """Reads the verdict of the verifying model on a candidate with so many answers."""

    n_answers: int

    def __call__(self, reply: str) -> ModelVerdict | None:
        """Return the verdict in a reply; None if it cannot be read."""
        return parse_verdict(reply, self.n_answers)


def request_parsed_replies(
    asking: StudyAsker,
    step: str,
    round_: Round,
    prompt: PromptWithReminder,
    readers: Mapping[str, Reader],
) -> tuple[dict[str, ParsedReply], list[Round]]:
    """Return the parsed reply of each request, by item id, and the requests that failed.

    A request without a readable reply is sent once more. The second request has the reminder in its
    conversation, so that it is not taken for the one that failed.
    """
    first = _request_and_parse(asking, step, round_, readers, 1)
    failed = _select_unreadable_items(round_, first)
    if not failed or asking.get_give_up_reason(round_.model):
        return first, [replace(round_, items=failed)]
    again = [
        Item(item.id, prompt.build_second_request(item.messages, first[item.id].reply.text))
        for item in failed
    ]
    second_round = replace(round_, items=again)
    second = _request_and_parse(asking, f"{step}, {AGAIN}", second_round, readers, 2)
    return first | second, [
        replace(round_, items=failed),
        replace(round_, items=_select_unreadable_items(second_round, second)),
    ]


def _select_unreadable_items(round_: Round, read: Mapping[str, ParsedReply]) -> Sequence[Item]:
    """Return the items of a round whose replies could not be read."""
    return [item for item in round_.items if read[item.id].value is None]


def _request_and_parse(
    asking: StudyAsker, step: str, round_: Round, readers: Mapping[str, Reader], attempts: int
) -> dict[str, ParsedReply]:
    """Send the requests of a round; return each reply with what its reader finds, by item id."""
    replies = asking.ask_step(step, [round_])[0]
    return {
        item: ParsedReply(
            reply, attempts, None if reply.status.is_missing else readers[item](reply.text)
        )
        for (item, _), reply in replies.items()
    }


def reject_unreadable_replies(asking: StudyAsker, turn: Turn, failed: Sequence[Round]) -> None:
    """Mark replies that could not be read, so that a later run sends their requests again."""
    with turn.open_fenced_transaction():
        for round_ in failed:
            if round_.items:
                asking.reject_round(round_)


LEAST_WORDS, LEAST_CHARACTERS = 3, 12
LONGEST_QUESTION, LONGEST_ANSWER = 500, 200
MOST_ANSWERS = 50

# Larger numbers of answers are written as digits.
COUNTS: Final = {word: int(n) for word, n in NUMBER_WORDS.items() if 2 <= int(n) <= 12}
_NUMBER = rf"(\d{{1,2}}|{'|'.join(COUNTS)})"
_ANY_NUMBER = re.compile(rf"^\W*(?:name|list|give|mention|state)\s+(?:any\s+)?{_NUMBER}\b", re.I)
_EXACT_NUMBER = re.compile(
    rf"^\W*(?:(?:name|list|give|what\s+are|who\s+are|which\s+are)\s+the|which|what)\s+{_NUMBER}\b",
    re.I,
)
_VAGUE = re.compile(
    r"\b(?:(?:name|list|give|mention|what\s+are|which\s+are)\s+(?:me\s+)?(?:some|several|a\s+few|"
    r"a\s+couple|various|many|multiple)|examples?\s+of|for\s+example|at\s+least|up\s+to)\b",
    re.I,
)
_OPEN = re.compile(
    r"(?:^|\b)(?:etc|and\s+so\s+on|and\s+more|and\s+others|among\s+others|many\s+others?)\.?$|"
    r"(?:\.\.\.|…)$",
    re.I,
)
_ASKS = re.compile(
    r"[?？؟;]\s*$|[?？؟]|^\W*(?:name|list|give|state|mention|find|which|what)\b", re.I
)
_QUESTION_WORDS = frozenset(
    (
        "which", "what", "who", "whom", "whose", "where", "when", "are", "is", "was", "were", "do",
        "does", "did", "of", "in", "that", "name", "list", "give", "all", "for", "to", "and",
    )
)  # fmt: skip


class Rejection(NamedTuple):
    """Reason code of the filter that leaves a candidate out, with the text that it found."""

    reason: str
    detail: str = ""


class CandidateFilters:
    """Filters of one run's candidates, which also compare each question with earlier ones.

    `known` are questions that exist already, in the set and among earlier candidates.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._texts = {_collect_content_words(text): text for text in known}
        # (content words, answers) of each question of this run, with its text.
        self._asked: list[tuple[frozenset[str], frozenset[str], str]] = []

    def check_candidate(self, question: str, answers: Answers) -> Rejection | None:
        """Return why a candidate is left out; None if it passes and is added for later checks."""
        rejection = check_single_question(question, answers)
        if rejection is not None:
            return rejection
        key = _collect_content_words(question)
        if key in self._texts:
            return Rejection("duplicate", self._texts[key])
        named = frozenset(normalise_for_matching(spellings[0]) for spellings in answers)
        for words, others, text in self._asked:
            # The same answers to a question of mostly the same words: one question twice.
            shared = len(words & key) / max(1, len(words | key))
            if others == named and shared >= 0.5:
                return Rejection("duplicate", text)
        self._texts[key] = question
        self._asked.append((key, named, question))
        return None


def _collect_content_words(question: str) -> frozenset[str]:
    """Return the words of a question without question words; equal keys are one question."""
    words = normalise_for_matching(question).split()
    return frozenset(word for word in words if word not in _QUESTION_WORDS) or frozenset(words)


def drop_repeated_answers(answers: Answers) -> Answers:
    """Return the answers without later ones of which a spelling occurred before."""
    merged, seen = [], set[str]()
    for spellings in answers:
        keys = {normalise_for_matching(spelling) for spelling in spellings}
        if keys & seen:
            continue
        seen |= keys
        merged.append(spellings)
    return tuple(merged)


def check_single_question(question: str, answers: Answers) -> Rejection | None:
    """Return the first reason to leave out a question, whatever the others are; None without one.

    `answers` have no repetition (`drop_repeated_answers`).
    """
    words = question.split()
    if len(words) < LEAST_WORDS and len(question.strip()) < LEAST_CHARACTERS:
        return Rejection("too_short", question)
    if len(question) > LONGEST_QUESTION:
        return Rejection("too_long", f"{len(question)} characters, at most {LONGEST_QUESTION}")
    if not _ASKS.search(question):
        return Rejection("no_question")
    open_answers = [text for spellings in answers for text in spellings if _OPEN.search(text)]
    if open_answers:
        return Rejection("open_list", open_answers[0])
    if len(answers) < 2:
        return Rejection("single_answer", "; ".join(spellings[0] for spellings in answers))
    if len(answers) > MOST_ANSWERS:
        return Rejection("too_many", f"{len(answers)} answers, at most {MOST_ANSWERS}")
    long = [text for spellings in answers for text in spellings if len(text) > LONGEST_ANSWER]
    if long:
        return Rejection("too_long", f"an answer of {len(long[0])} characters")
    padded = f" {normalise_for_matching(question)} "
    inside = [
        text
        for spellings in answers
        for text in spellings
        if f" {normalise_for_matching(text)} " in padded
    ]
    if inside:
        return Rejection("answer_in_question", inside[0])
    return _check_answer_count(question, len(answers))


def _check_answer_count(question: str, n_answers: int) -> Rejection | None:
    """Return the rejection if a question asks for an unclear or a different number of answers."""
    vague = _VAGUE.search(question) or _ANY_NUMBER.search(question)
    if vague:
        return Rejection("vague_count", vague[0].strip())
    exact = _EXACT_NUMBER.search(question)
    if exact is None:
        return None
    word = exact[1].casefold()
    wanted = COUNTS.get(word) or int(word)
    if wanted == n_answers:
        return None
    return Rejection("count_differs", f"“{exact[0].strip()}”, {n_answers} answers")
